"""Contradictions inside a capture, each planted once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rcv_py.base.problems import Severity
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from tests.analysis import build
from tests.analysis.in_memory import check_waves
from tests.support.opened import VARIED
from tests.support.read_twice import opened_plainly
from tests.support.samples import sample_path

TEXTS = ["; kernel", "v_add", "s_waitcnt", "s_endpgm"]


def healthy(pictures: tuple[str, ...] = ("..VVV|ii|II", "..VVVV|ii|II")) -> tuple[Trace, list[TracedWave]]:
    """A trace of waves in which nothing is wrong."""
    waves = [
        build.wave(text, [1, 2, 3], row=row, begin=100 * row, place=(0, 0, 0, row))
        for row, text in enumerate(pictures)
    ]
    return build.trace(build.counted(build.code(TEXTS), [build.batch(*waves)]), waves), waves


def found(trace: Trace, waves: list[TracedWave], missing: tuple[tuple[int, str], ...] = ()) -> list[str]:
    batch: WaveBatch = replace(build.batch(*waves), missing=missing)
    problems = check_waves(trace, [batch])
    assert all(problem.text.endswith(".") for problem in problems)
    return [problem.text for problem in problems]


def with_tokens(wave: TracedWave, **columns: object) -> TracedWave:
    return wave._replace(tokens=replace(wave.tokens, **columns))


def test_nothing_is_wrong_with_a_healthy_trace() -> None:
    assert found(*healthy()) == []


@pytest.fixture(params=VARIED)
def folder(request: pytest.FixtureRequest) -> Path:
    return sample_path(request.param)


def test_nothing_is_wrong_with_whole_captures(folder: Path) -> None:
    assert check_waves(*opened_plainly(folder)) == ()


def test_instructions_without_code() -> None:
    trace, (first, second) = healthy()
    lost = with_tokens(first, line=np.array([-1, 2, 3], dtype=np.int32))
    texts = found(trace, [lost, second])
    assert texts[0] == (
        "1 executed instruction of 6 match no line of code.json: 3 cycles are charged to no code."
    )


def test_unknown_kinds_are_only_worth_knowing() -> None:
    trace, (first, second) = healthy()
    strange = with_tokens(first, kind=np.array([99, 9, 11], dtype=np.uint8))
    problems = check_waves(trace, [build.batch(strange, second)])
    assert [(problem.severity, "99" in problem.text) for problem in problems] == [(Severity.INFO, True)]


def test_a_wave_that_was_cut_off() -> None:
    trace, (first, second) = healthy()
    cut = with_tokens(first, line=np.array([1, 2, 2], dtype=np.int32))
    assert "1 wave of 2 does not end with s_endpgm." in found(trace, [cut, second])


def test_a_wave_without_any_instruction_was_cut_off_too() -> None:
    trace, (first, second) = healthy()
    columns = {name: getattr(first.tokens, name)[:0] for name in ("offset", "stall", "busy", "kind", "line")}
    assert "1 wave of 2 does not end with s_endpgm." in found(trace, [with_tokens(first, **columns), second])


def test_instructions_outside_their_wave() -> None:
    trace, (first, second) = healthy()
    late = with_tokens(first, offset=first.tokens.offset + np.int32(60))
    assert any("lie outside the life of their wave" in text for text in found(trace, [late, second]))


def test_an_index_that_tells_other_times() -> None:
    trace, waves = healthy()
    wrong = replace(trace, waves=replace(trace.waves, begin=trace.waves.begin + 1))
    assert any(
        "disagree on when the wave lived, first se0/simd0/slot0/wv0" in text for text in found(wrong, waves)
    )


def test_two_waves_in_one_slot() -> None:
    trace, waves = healthy()
    crowded = replace(trace, waves=replace(trace.waves, begin=trace.waves.begin * 0))
    assert any(
        "a slot that was still in use, first se0/simd0/slot0/wv1" in text for text in found(crowded, waves)
    )


def test_states_that_do_not_last_as_long_as_the_wave() -> None:
    trace, (first, second) = healthy()
    short = first._replace(states=replace(first.states, length=3))
    assert any(text.startswith("The states of 1 wave do not last") for text in found(trace, [short, second]))


def test_totals_that_disagree_name_the_line_and_both_numbers() -> None:
    trace, waves = healthy()
    latency = trace.code.latency.copy()
    latency[2] += 5
    wrong = replace(trace, code=replace(trace.code, latency=latency))
    assert found(wrong, waves) == [
        "code.json and the waves disagree on latency of 1 code line: "
        "latency of instruction 2 is 9 in one and 4 in the other."
    ]
    assert found(wrong, waves[:1]) == [], "sums say nothing before every wave is there"


def test_a_wave_that_left_no_file() -> None:
    trace, waves = healthy()
    lives = [(0, 1, 0, 1, 0, 7, 1), (50, 0, 0, 1, 0, 7, 1)]
    known = [
        (time, is_start, 0, 1, 0, 0, 1)
        for wave in waves
        for time, is_start in ((wave.begin, 1), (wave.end, 0))
    ]
    unfinished = [(60, 1, 0, 1, 0, 6, 1)]
    other_cu = [(0, 1, 0, 5, 0, 7, 1), (50, 0, 0, 5, 0, 7, 1)]
    more = replace(trace, occupancy=build.events([*known, *lives, *unfinished, *other_cu]))
    assert found(more, waves) == ["1 wave ran on a traced compute unit but left no wave file."]


def test_a_file_whose_wave_never_was() -> None:
    trace, waves = healthy()
    one = [(waves[0].begin, 1, 0, 1, 0, 0, 1), (waves[0].end, 0, 0, 1, 0, 0, 1)]
    less = replace(trace, occupancy=build.events(one))
    assert found(less, waves) == ["occupancy.json does not know 1 wave that left a file."]


def test_simds_that_were_not_traced_leave_no_files() -> None:
    trace, waves = healthy()
    known = [
        (time, is_start, 0, 1, 0, wave.id.slot, 1)
        for wave in waves
        for time, is_start in ((wave.begin, 1), (wave.end, 0))
    ]
    sibling = [(0, 1, 0, 1, 1, 0, 1), (50, 0, 0, 1, 1, 0, 1)]
    assert found(replace(trace, occupancy=build.events([*known, *sibling])), waves) == []


def test_times_in_steps_of_eight_are_still_the_same_waves() -> None:
    waves = [
        build.wave("..VVVVVVVVVVVVVVVVVVV|ii|II", [1, 2, 3], begin=begin, row=row, place=(0, 0, 0, row))
        for row, begin in enumerate((0, 51, 109))
    ]
    trace = build.trace(build.counted(build.code(TEXTS), [build.batch(*waves)]), waves)
    coarse = replace(trace.occupancy, time=trace.occupancy.time // 8 * 8)
    assert found(replace(trace, occupancy=coarse), waves) == []


def test_waves_that_could_not_be_read() -> None:
    trace, waves = healthy()
    texts = found(trace, waves[:1], ((1, "se0.json is missing."), (1, "se0.json is missing.")))
    assert texts == ["1 wave could not be read. se0.json is missing."]


WAITING = ["; kernel", "global_load_dword v0", "s_waitcnt vmcnt(0)", "s_endpgm"]


@pytest.mark.parametrize(
    ("lists", "wrong"), [([(2, [1])], 0), ([(2, [0])], 1), ([(1, [1])], 1), ([], 0), (None, 0)]
)
def test_wait_lists_that_are_not_those_of_the_instructions(
    lists: list[tuple[int, list[int]]] | None, wrong: int
) -> None:
    made = [
        build.wave("..VVV|ii|II", [1, 2, 3], row=row, begin=100 * row, place=(0, 0, 0, row)) for row in (0, 1)
    ]
    listed = None if lists is None else build.waits(lists)
    waves = [made[0]._replace(waits=listed), made[1]._replace(waits=build.waits([(2, [1])]))]
    trace = build.trace(build.counted(build.code(WAITING), [build.batch(*waves)]), waves)
    text = "The wait lists of 1 wave of 2 do not belong to their instructions, first se0/simd0/slot0/wv0."
    assert found(trace, waves) == [text] * wrong
