"""Occupancy in numbers, by place, and kernels grouped by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rcv_py.analysis.core.occupancy import residencies, steps
from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.device.occupancy_curves import (
    dispatch_curves,
    occupancy_curves,
    occupancy_numbers,
    slots_of_simd,
)
from rcv_py.formats.uiout.load import open_folder
from rcv_py.model.device import Dispatch
from tests.analysis import build
from tests.support import captures
from tests.support.reference_clock import open_as_reference
from tests.support.traces import CU, SE, made_trace


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_numbers_are_the_reference_s(name: str) -> None:
    trace = open_as_reference(captures.trace_path(name))
    golden = captures.golden(f"beyond/{name}.json")
    found = occupancy_numbers(steps(trace.occupancy)[-1])
    assert found.end - found.begin == golden["span"]
    assert found.mean == pytest.approx(golden["avg_waves"], abs=0.005)
    assert found.peak == golden["peak_waves"]
    assert 100 * found.tail == pytest.approx(golden["tail_below_half_pct"], abs=0.005)
    assert sum(one.waves for one in dispatch_curves(trace.occupancy)) == golden["waves_total"]


def test_mean_peak_tail_ramp_and_drain() -> None:
    curve = StepCurve(np.array([0, 10, 20, 60, 80, 100]), np.array([4, 10, 9, 5, 2, 0]))
    found = occupancy_numbers(curve)
    assert (found.area, found.mean, found.peak) == (40 + 100 + 360 + 100 + 40, 6.4, 10)
    assert (found.ramp, found.drain, found.tail) == (10, 40, 0.4)


def test_a_curve_without_duration() -> None:
    assert occupancy_numbers(StepCurve(np.zeros(0, np.int64), np.zeros(0, np.int32))).peak == 0
    alone = occupancy_numbers(StepCurve(np.array([7]), np.array([0], np.int32)))
    assert (alone.mean, alone.peak, alone.tail, alone.ramp, alone.drain) == (0.0, 0, 0.0, 0, 0)


def test_curves_by_place_and_what_the_units_can_hold() -> None:
    trace, _ = made_trace(("vvvv", "ssss"), target="gfx950")
    one = occupancy_curves(trace, "se")[0]
    assert (one.name, one.units, one.slots, int(one.steps.value.max())) == (f"SE{SE}", 2, 64, 4)
    unit = occupancy_curves(trace, "cu")
    assert [(one.name, one.slots, int(one.steps.value.max())) for one in unit] == [(f"SE{SE} CU{CU}", 32, 2)]
    simd = occupancy_curves(trace, "simd")
    assert [(one.name, one.slots) for one in simd] == [(f"SE{SE} CU{CU} SIMD0", 8)]
    assert occupancy_curves(trace, "all")[0].steps.area == one.steps.area


def test_a_limit_that_the_capture_disproves_is_no_limit() -> None:
    trace, _ = made_trace(("vvvv",), target="gfx950")
    lives = residencies(trace.occupancy)
    assert slots_of_simd(trace, lives) == 8
    assert slots_of_simd(trace, replace(lives, slot=lives.slot + 8)) == 0
    assert slots_of_simd(replace(trace, target="gfx9"), lives) == 0


@pytest.mark.parametrize("name", captures.THREAD_TRACES)
@pytest.mark.parametrize("by", ["all", "se"])
def test_areas_are_the_lengths_of_all_lives(name: str, by: str) -> None:
    trace = open_folder(captures.trace_path(name))
    lives = residencies(trace.occupancy)
    area = sum(one.steps.area for one in occupancy_curves(trace, by))
    assert area == int((lives.end - lives.begin).sum())
    assert area == sum(one.steps.area for one in dispatch_curves(trace.occupancy))


def test_kernels_of_one_name_are_one_and_a_nameless_id_costs_only_itself() -> None:
    rows = [(0, 1, 0, 0, 0, 0, 3), (9, 0, 0, 0, 0, 0, 3), (2, 1, 0, 0, 0, 1, 5), (6, 0, 0, 0, 0, 1, 5)]
    rows += [(1, 1, 0, 0, 0, 2, 77), (4, 0, 0, 0, 0, 2, 77), (5, 1, 0, 0, 0, 3, 78), (8, 0, 0, 0, 0, 3, 78)]
    found = dispatch_curves(build.events(rows, {3: "rope", 5: "rope", 6: "rope", 1: "other"}))
    assert [(one.name, one.ids, one.waves) for one in found] == [
        ("rope", (3, 5), 2),
        ("", (77,), 1),
        ("", (78,), 1),
    ]
    assert found[0].steps.time.tolist() == [0, 2, 6, 9]
    assert found[0].steps.value.tolist() == [1, 2, 1, 0]
    assert all(one.is_whole for one in found)


def test_a_launch_that_several_engines_record_is_one() -> None:
    rows = [(0, 1, 0, 0, 0, 0, 3), (9, 0, 0, 0, 0, 0, 3)]
    records = [Dispatch(0, 0, 3, "rope"), Dispatch(1, 1, 3, "rope"), Dispatch(40, 1, 3, "rope")]
    found = dispatch_curves(build.events(rows, {3: "rope"}), [*records, Dispatch(3, 0, 4, "other")])
    assert [one.launches for one in found] == [2]


def test_seven_ids_of_one_name_are_one_curve() -> None:
    trace = open_folder(captures.trace_path("fused_rope_cache"))
    assert len({k for k, name in trace.occupancy.names.items() if name.startswith("fused")}) == 7
    assert [one.name for one in dispatch_curves(trace.occupancy)] == ["fused_qk_rope_reshape_and_cache_0"]
    spread = replace(trace.occupancy, kernel=1 + np.arange(len(trace.occupancy), dtype=np.int32) % 7)
    found = dispatch_curves(spread)
    assert [(one.name, one.ids) for one in found] == [
        ("fused_qk_rope_reshape_and_cache_0", (1, 2, 3, 4, 5, 6, 7))
    ]
