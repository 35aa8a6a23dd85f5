"""Barriers: drawings, and workgroups of known truth."""

import json
import statistics

import pytest

from rcv_py.analysis.latency.barrier_skew import BARRIER_SKEW
from rcv_py.analysis.waves.workgroups import KnownBy
from tests.analysis import build
from tests.support.opened import all_waves, sample_trace
from tests.support.samples import sample

TEXTS = ["v_mov_b32 v0, 0", "s_barrier", "s_endpgm"]


def test_the_last_to_arrive_is_named() -> None:
    one = build.wave("VV|iiiiiiI|V", [0, 1, 2], row=0, place=(0, 0, 0, 0))
    two = build.wave("VVVVV|iiiI|V", [0, 1, 2], row=1, place=(0, 1, 0, 0))
    other = build.wave("VV" + "V" * 40 + "|I|V", [0, 1, 2], row=2, place=(0, 0, 1, 0))
    found = BARRIER_SKEW.of(build.trace(build.code(TEXTS), [one, two, other]), [build.batch(one, two, other)])
    assert (found.skew.tolist(), found.last.tolist(), found.waves.tolist()) == ([3], [1], [2])
    assert found.arrived.tolist() == [2]
    assert (found.known_by, found.is_guess) == (KnownBy.BARRIERS, False)


def test_waves_that_leave_at_other_times_are_no_group() -> None:
    one = build.wave("VV|iiI|V", [0, 1, 2], row=0, place=(0, 0, 0, 0))
    far = build.wave("VV|iiI|V", [0, 1, 2], row=1, begin=500, place=(0, 1, 0, 0))
    found = BARRIER_SKEW.of(build.trace(build.code(TEXTS), [one, far]), [build.batch(one, far)])
    assert (len(found), found.dropped) == (0, 0)


def test_a_numbered_group_whose_waves_leave_apart_is_dropped() -> None:
    one = build.wave("VV|iiI|" + "V" * 600, [0, 1, 2], row=0, place=(0, 0, 0, 0))._replace(workgroup=3)
    far = build.wave("VV|iiI|V", [0, 1, 2], row=1, begin=500, place=(0, 1, 0, 0))._replace(workgroup=3)
    found = BARRIER_SKEW.of(build.trace(build.code(TEXTS), [one, far]), [build.batch(one, far)])
    assert (len(found), found.dropped, found.known_by) == (0, 1, KnownBy.CAPTURE)


def test_waves_that_are_not_asked_for_still_arrive_but_cost_nothing() -> None:
    one = build.wave("VV|iiiiiiI|V", [0, 1, 2], row=0, place=(0, 0, 0, 0))
    two = build.wave("VVVVV|iiiI|V", [0, 1, 2], row=1, place=(0, 1, 0, 0))
    trace = build.trace(build.code(TEXTS), [one, two])
    found = BARRIER_SKEW.of(trace, [build.batch(one, two)], {0})
    assert (found.skew.tolist(), found.last.tolist(), found.stall.tolist()) == ([3], [1], [7])
    assert BARRIER_SKEW.of(trace, [build.batch(one, two)]).stall.tolist() == [11]
    assert len(BARRIER_SKEW.of(trace, [build.batch(one, two)], set())) == 0


def test_workgroup_numbers_are_believed_if_there_are_any() -> None:
    one = build.wave("V|iI|V", [0, 1, 2], row=0, place=(0, 0, 3, 0))._replace(workgroup=7)
    two = build.wave("V|iI|V", [0, 1, 2], row=1, place=(0, 1, 5, 2))._replace(workgroup=7)
    alone = build.wave("V|iI|V", [0, 1, 2], row=2, place=(0, 2, 3, 0))._replace(workgroup=8)
    found = BARRIER_SKEW.of(build.trace(build.code(TEXTS), [one, two, alone]), [build.batch(one, two, alone)])
    assert (len(found), found.is_guess) == (1, False)


Meeting = tuple[int, int, int, int, int]  # first arrival, skew, spread, waves, stall


def meetings(name: str) -> list[Meeting]:
    """Barriers of at least two waves, as the files tell them and the simulator knows their workgroups."""
    folder, truth = sample(name)
    texts = [row[0] for row in json.loads((folder / "code.json").read_text())["code"]]
    met: dict[tuple[int, int, int, int], list[tuple[int, int]]] = {}
    for (se, simd, slot, wid), wave in truth.waves.items():
        file = json.loads((folder / f"se{se}_sm{simd}_sl{slot}_wv{wid}.json").read_text())
        rows = [row for row in file["wave"]["instructions"] if texts[row[4]].startswith("s_barrier")]
        for count, (time, _, _, duration, _) in enumerate(rows):
            begin = time + truth.offset_of_se[se]
            met.setdefault((se, wave.kernel, wave.workgroup, count), []).append((begin, begin + duration))
    found = []
    for spans in (spans for spans in met.values() if len(spans) > 1):
        arrived, released = zip(*spans, strict=True)
        first, stall = min(arrived), sum(released) - sum(arrived)
        found.append((first, max(arrived) - first, max(released) - min(released), len(spans), stall))
    return sorted(found)


@pytest.mark.parametrize("name", ["matmul_small", "reduction", "groups_512", "groups_1024", "ping_pong"])
def test_barriers_are_those_of_the_simulated_workgroups(name: str) -> None:
    trace = sample_trace(name)
    found = BARRIER_SKEW.of(trace, [all_waves(trace)])
    expected = meetings(name)
    assert expected
    columns = (found.arrived, found.skew, found.spread, found.waves, found.stall)
    assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert found.median == statistics.median(skew for _, skew, *_ in expected)
    assert found.dropped == 0
