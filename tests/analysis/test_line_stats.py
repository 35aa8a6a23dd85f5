"""Totals by code line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.cost_columns import LineStats, cost_columns, executions, wave_lines
from rcv_py.model.modes import LatencyMode
from rcv_py.model.waves import TracedWave
from tests.analysis import build
from tests.analysis.in_memory import all_lines

#                    line 0  1      0       0
LOOP = build.wave("..vvVV.LLL...vvvV|VVV", [0, 1, 0, 0])


def test_a_token_adds_its_stall_its_latency_and_the_idle_before_it() -> None:
    stats = wave_lines(LOOP, 3)
    assert stats.hits.tolist() == [3, 1, 0]
    assert stats.latency.tolist() == [4 + 4 + 3, 3, 0]
    assert stats.stall.tolist() == [2 + 3, 0, 0]
    assert stats.longest.tolist() == [4, 3, 0]
    assert stats.idle.tolist() == [2 + 3, 1, 0]


def test_a_token_without_a_code_line_counts_nowhere_but_is_no_idle_time() -> None:
    stats = wave_lines(build.wave("VV|SSSS.VV", [0, -1, 0]), 1)
    assert (stats.hits[0], stats.latency[0], stats.idle[0]) == (2, 4, 1)


def test_idle_is_measured_from_the_latest_end_not_from_the_last_token() -> None:
    tokens = build.tokens(0, [0, 2, 12], 0, [10, 2, 1], line=[0, 1, 2])
    assert wave_lines(build.of_tokens(tokens, end=13), 3).idle.tolist() == [0, 0, 2]


def test_a_wave_in_two_batches_counts_once_and_only_chosen_waves_count() -> None:
    first, second = build.wave("VV", [0], row=0), build.wave("VVVV", [0], row=1)
    batches = [build.batch(first, second), build.batch(second), build.batch(second, first)]
    assert all_lines(batches, 1).latency.tolist() == [6]
    assert all_lines(batches, 1, {1}).latency.tolist() == [4]
    assert all_lines(batches, 1, set()).latency.tolist() == [0]
    assert all_lines([], 2).hits.tolist() == [0, 0]


@st.composite
def waves(draw: st.DrawFn) -> list[TracedWave]:
    """Waves with tokens that may overlap, stall for long, and match no code line."""
    found = []
    for row in range(draw(st.integers(1, 4))):
        n = draw(st.integers(0, 12))
        gaps = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
        stall, busy = (draw(st.lists(st.integers(0, 70_000), min_size=n, max_size=n)) for _ in range(2))
        lines = draw(st.lists(st.integers(-1, 4), min_size=n, max_size=n))
        begin = draw(st.integers(-5, 2**40))
        tokens = build.tokens(begin, np.cumsum(gaps), stall, busy, line=lines)
        found.append(build.of_tokens(tokens, row=row, begin=begin, end=begin + 5))
    return found


def slow(some: list[TracedWave], n: int) -> LineStats:
    """The definition, one token after the other."""
    rows = [[0] * n for _ in range(5)]
    for wave in some:
        latest = wave.begin
        for row in range(len(wave.tokens)):
            span, line = wave.tokens.span(row), int(wave.tokens.line[row])
            start = wave.tokens.base + int(wave.tokens.offset[row])
            duration = int(wave.tokens.duration[row])
            if line >= 0:
                rows[0][line] += 1
                rows[1][line] += duration
                rows[2][line] += int(wave.tokens.stall[row])
                rows[3][line] = max(rows[3][line], duration)
                rows[4][line] += max(0, start - latest)
            assert span.begin == start
            latest = max(latest, start + duration)
    return LineStats(*(np.array(row) for row in rows))


@given(waves())
def test_sums_over_batches_equal_the_definition(some: list[TracedWave]) -> None:
    expected = slow(some, 5)
    for batches in ([build.batch(*some)], [build.batch(wave) for wave in some]):
        found = all_lines(batches, 5)
        for name in ("hits", "latency", "stall", "longest", "idle"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name


CODE = build.code(["v_a", "v_b", "v_c"], hits=[5, 2, 0], latency=[12, 7, 0], stall=[7, 0, 0], idle=[13, 1, 0])


#                  hits       latency    stall      idle
EXPECTED = {
    (LatencyMode.SUM_ALL, None): ([5, 2, 0], [12, 7, 0], [7, 0, 0], [13, 1, 0]),
    (LatencyMode.MEAN_ALL, None): ([5, 2, 0], [2, 4, 0], [1, 0, 0], [3, 1, 0]),  # half goes up
    (LatencyMode.ITERATION, 0): ([3, 1, 0], [4, 3, 0], [2, 0, 0], [2, 1, 0]),
    (LatencyMode.ITERATION, 1): ([3, 1, 0], [4, 0, 0], [3, 0, 0], [3, 0, 0]),
    (LatencyMode.ITERATION, 9): ([3, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]),
    (LatencyMode.ITERATION, None): ([3, 1, 0], [4, 3, 0], [2, 0, 0], [2, 1, 0]),
    (LatencyMode.SUM_WAVE, None): ([3, 1, 0], [11, 3, 0], [5, 0, 0], [5, 1, 0]),
    (LatencyMode.MEAN_WAVE, None): ([3, 1, 0], [4, 3, 0], [2, 0, 0], [2, 1, 0]),
    (LatencyMode.MAX_WAVE, None): ([3, 1, 0], [4, 3, 0], [2, 0, 0], [2, 1, 0]),  # the first of equals
}


@pytest.mark.parametrize(("mode", "hit"), list(EXPECTED))
def test_each_mode(mode: LatencyMode, hit: int | None) -> None:
    columns = cost_columns(CODE, mode, LOOP, hit)
    found = tuple(column.tolist() for column in (columns.hits, columns.latency, columns.stall, columns.idle))
    assert found == EXPECTED[mode, hit]
    assert columns.total == sum(found[1]) + sum(found[3]) == int(columns.cost.sum())


@pytest.mark.parametrize("mode", list(LatencyMode))
def test_modes_of_a_wave_are_zero_without_one(mode: LatencyMode) -> None:
    columns = cost_columns(CODE, mode, None, None)
    all_waves = mode in (LatencyMode.SUM_ALL, LatencyMode.MEAN_ALL)
    assert bool(columns.latency.any()) == all_waves
    assert columns.label


def test_a_clock_range_replaces_the_totals_of_the_code_table() -> None:
    counted = wave_lines(LOOP, 3)
    columns = cost_columns(CODE, LatencyMode.SUM_ALL, None, None, counted)
    assert columns.latency.tolist() == [11, 3, 0]
    assert "range" in columns.label


@given(st.lists(st.integers(-1, 3), max_size=20), st.integers(0, 4))
def test_executions_are_the_nth_of_each_line(lines: list[int], hit: int) -> None:
    expected = [row for row, line in enumerate(lines) if lines[:row].count(line) == hit]
    assert executions(np.array(lines, dtype=np.int16), hit).tolist() == expected


def test_a_hit_is_counted_from_the_first_time_its_line_ran() -> None:
    tokens = LOOP.tokens
    assert tokens.line.tolist() == [0, 1, 0, 0]
    hits = [LOOP.executions(line) for line in tokens.line.tolist()]
    assert [(one.before(row), len(one)) for row, one in enumerate(hits)] == [(0, 3), (0, 1), (1, 3), (2, 3)]
