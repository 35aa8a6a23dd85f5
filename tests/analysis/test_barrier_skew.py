"""Barriers: reference numbers, and workgroups of known truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rcv_py.analysis.latency.barrier_skew import barrier_skew
from rcv_py.analysis.waves.workgroups import KnownBy
from rcv_py.formats.open import open_trace
from tests.analysis import build
from tests.support import captures
from tests.support.samples import write_sample

TEXTS = ["v_mov_b32 v0, 0", "s_barrier", "s_endpgm"]


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_skew_is_the_reference_number(name: str) -> None:
    golden = captures.golden(f"beyond/{name}.json")["barriers"]
    trace = captures.real_trace(name)
    found = barrier_skew(trace, [trace.reader.read(list(range(len(trace.waves))))])
    assert (len(found), found.median) == (golden["instances"], golden["arrival_skew_median"])
    if len(found):
        assert found.skew.max() == golden["arrival_skew_max"]
        assert found.spread.max() == golden["release_spread_max"]


def test_the_last_to_arrive_is_named() -> None:
    one = build.wave("VV|iiiiiiI|V", [0, 1, 2], row=0, place=(0, 0, 0, 0))
    two = build.wave("VVVVV|iiiI|V", [0, 1, 2], row=1, place=(0, 1, 0, 0))
    other = build.wave("VV" + "V" * 40 + "|I|V", [0, 1, 2], row=2, place=(0, 0, 1, 0))
    found = barrier_skew(build.trace(build.code(TEXTS), [one, two, other]), [build.batch(one, two, other)])
    assert (found.skew.tolist(), found.last.tolist(), found.waves.tolist()) == ([3], [1], [2])
    assert found.arrived.tolist() == [2]
    assert (found.known_by, found.is_guess) == (KnownBy.BARRIERS, False)


def test_waves_that_leave_at_other_times_are_no_group() -> None:
    one = build.wave("VV|iiI|V", [0, 1, 2], row=0, place=(0, 0, 0, 0))
    far = build.wave("VV|iiI|V", [0, 1, 2], row=1, begin=500, place=(0, 1, 0, 0))
    found = barrier_skew(build.trace(build.code(TEXTS), [one, far]), [build.batch(one, far)])
    assert (len(found), found.dropped) == (0, 0)


def test_a_numbered_group_whose_waves_leave_apart_is_dropped() -> None:
    one = replace(build.wave("VV|iiI|" + "V" * 600, [0, 1, 2], row=0, place=(0, 0, 0, 0)), workgroup=3)
    far = replace(build.wave("VV|iiI|V", [0, 1, 2], row=1, begin=500, place=(0, 1, 0, 0)), workgroup=3)
    found = barrier_skew(build.trace(build.code(TEXTS), [one, far]), [build.batch(one, far)])
    assert (len(found), found.dropped, found.known_by) == (0, 1, KnownBy.CAPTURE)


def test_waves_that_are_not_asked_for_still_arrive_but_cost_nothing() -> None:
    one = build.wave("VV|iiiiiiI|V", [0, 1, 2], row=0, place=(0, 0, 0, 0))
    two = build.wave("VVVVV|iiiI|V", [0, 1, 2], row=1, place=(0, 1, 0, 0))
    trace = build.trace(build.code(TEXTS), [one, two])
    found = barrier_skew(trace, [build.batch(one, two)], {0})
    assert (found.skew.tolist(), found.last.tolist(), found.stall.tolist()) == ([3], [1], [7])
    assert barrier_skew(trace, [build.batch(one, two)]).stall.tolist() == [11]
    assert len(barrier_skew(trace, [build.batch(one, two)], set())) == 0


def test_workgroup_numbers_are_believed_if_there_are_any() -> None:
    one = replace(build.wave("V|iI|V", [0, 1, 2], row=0, place=(0, 0, 3, 0)), workgroup=7)
    two = replace(build.wave("V|iI|V", [0, 1, 2], row=1, place=(0, 1, 5, 2)), workgroup=7)
    alone = replace(build.wave("V|iI|V", [0, 1, 2], row=2, place=(0, 2, 3, 0)), workgroup=8)
    found = barrier_skew(build.trace(build.code(TEXTS), [one, two, alone]), [build.batch(one, two, alone)])
    assert (len(found), found.is_guess) == (1, False)


def test_simulated_workgroups_are_found(tmp_path: Path) -> None:
    truth = write_sample("matmul_tiled", tmp_path)
    trace = open_trace(tmp_path)
    batch = trace.reader.read(list(range(len(trace.waves))))
    found = barrier_skew(trace, [batch])
    groups: dict[tuple[int, int], int] = {}
    for (se, _, _, _), wave in truth.waves.items():
        groups[se, wave.workgroup] = groups.get((se, wave.workgroup), 0) + 1
    assert len(found) > 0
    assert found.waves.max() <= max(groups.values())
    assert (found.spread.max(), found.dropped) == (0, 0), "what is taken for a group leaves together"
