"""Occupancy in numbers, by place, and kernels grouped by name."""

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.core.occupancy import all_resident, residencies
from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.device.occupancy_curves import (
    dispatch_curves,
    occupancy_curves,
    occupancy_numbers,
    slots_of_simd,
)
from rcv_py.model.device import Dispatch
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support.opened import VARIED, sample_trace, traces_of
from tests.support.traces import CU, SE, made_trace

trace = traces_of(VARIED)


def test_numbers_are_those_of_waves_counted_cycle_by_cycle(trace: Trace) -> None:
    events = trace.occupancy
    begin, end = int(events.time.min()), int(events.time.max())
    waves = np.zeros(end - begin, dtype=np.int64)
    for time, is_start in zip(events.time.tolist(), events.is_start.tolist(), strict=True):
        waves[time - begin :] += 1 if is_start else -1
    found = occupancy_numbers(all_resident(events))
    assert (found.begin, found.end, found.peak) == (begin, end, waves.max())
    assert found.mean == pytest.approx(waves.mean())
    many = np.flatnonzero(2 * waves > waves.max())
    assert found.tail == pytest.approx(1 - (many[-1] + 1) / len(waves))
    assert sum(one.waves for one in dispatch_curves(events)) == int(events.is_start.sum())


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


@pytest.mark.parametrize("by", ["all", "se"])
def test_areas_are_the_lengths_of_all_lives(trace: Trace, by: str) -> None:
    lives = residencies(trace.occupancy)
    area = sum(one.steps.area for one in occupancy_curves(trace, by))
    assert area == int((lives.end - lives.begin).sum())
    assert area == sum(one.steps.area for one in dispatch_curves(trace.occupancy))


def test_kernels_of_one_name_are_one_and_a_nameless_id_costs_only_itself() -> None:
    rows = [(0, 1, 0, 0, 0, 0, 3), (9, 0, 0, 0, 0, 0, 3), (2, 1, 0, 0, 0, 1, 5), (6, 0, 0, 0, 0, 1, 5)]
    rows += [(1, 1, 0, 0, 0, 2, 77), (4, 0, 0, 0, 0, 2, 77), (5, 1, 0, 0, 0, 3, 78), (8, 0, 0, 0, 0, 3, 78)]
    found = dispatch_curves(build.events(rows, {3: "rope", 5: "rope", 6: "rope", 1: "other"}))
    kernels = [(one.name, one.ids, one.waves) for one in found]
    assert kernels == [("rope", (3, 5), 2), ("", (77,), 1), ("", (78,), 1)]
    assert found[0].steps.time.tolist() == [0, 2, 6, 9]
    assert found[0].steps.value.tolist() == [1, 2, 1, 0]
    assert all(one.is_whole for one in found)


def test_a_launch_that_several_engines_record_is_one() -> None:
    rows = [(0, 1, 0, 0, 0, 0, 3), (9, 0, 0, 0, 0, 0, 3)]
    records = [Dispatch(0, 0, 3, "rope"), Dispatch(1, 1, 3, "rope"), Dispatch(40, 1, 3, "rope")]
    found = dispatch_curves(build.events(rows, {3: "rope"}), [*records, Dispatch(3, 0, 4, "other")])
    assert [one.launches for one in found] == [2]


def test_seven_ids_of_one_name_are_one_curve() -> None:
    occupancy = sample_trace("reduction").occupancy
    (whole,) = dispatch_curves(occupancy)
    kernel = 1 + np.arange(len(occupancy), dtype=np.int32) % 7
    spread = replace(occupancy, kernel=kernel, names=dict.fromkeys(range(1, 8), "rope"))
    (found,) = dispatch_curves(spread)
    assert (found.name, found.ids) == ("rope", (1, 2, 3, 4, 5, 6, 7))
    assert found.waves == whole.waves
    assert found.steps.area == whole.steps.area
