"""No two spans of a lane overlap, and no span is higher than it must be."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.lanes import FEW_GROUPS, MAX_LANES, lanes, lanes_of_rows

FAR = st.sampled_from([0, 1 << 40])  # cycles that every other row is away
SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), min_size=1, max_size=60)


def greedy(start: list[int], end: list[int]) -> list[int]:
    free: list[int] = []
    chosen = []
    for begin, stop in zip(start, end, strict=True):
        lane = next((i for i, until in enumerate(free) if until <= begin), len(free))
        free[lane : lane + 1] = [stop]
        chosen.append(lane)
    return chosen


@given(SPANS)
def test_lanes_are_those_of_a_slow_greedy_loop(spans: list[tuple[int, int]]) -> None:
    start, length = (np.array(column) for column in zip(*sorted(spans), strict=True))
    wanted = greedy(start.tolist(), (start + length).tolist())
    made = lanes(start, start + length)
    if made is None:
        assert max(wanted) == 0
    elif max(wanted) < MAX_LANES - 1:
        assert made.tolist() == wanted


@given(SPANS)
def test_spans_of_a_lane_do_not_overlap(spans: list[tuple[int, int]]) -> None:
    start, length = (np.array(column) for column in zip(*sorted(spans), strict=True))
    made = lanes(start, start + length)
    if made is None:
        made = np.zeros(len(start), np.uint8)
    for lane in range(MAX_LANES - 1):
        own = made == lane
        assert np.all((start + length)[own][:-1] <= start[own][1:])


def test_an_overlap_within_the_slack_needs_no_lane() -> None:
    start, end = np.array([0, 8, 20]), np.array([12, 20, 24])
    assert lanes(start, end, slack=4) is None
    assert lanes(start, end) is not None


def test_nothing_has_no_lanes() -> None:
    assert lanes(np.zeros(0), np.zeros(0)) is None


@given(st.lists(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=12), max_size=40), FAR)
def test_many_rows_have_the_lanes_of_each(rows: list[list[tuple[int, int]]], far: int) -> None:
    spans = [np.array(sorted(row), dtype=np.int64).reshape(-1, 2) for row in rows]
    first = np.cumsum([0, *map(len, spans)])
    start, length = np.concatenate([np.zeros((0, 2), dtype=np.int64), *spans]).T
    start = start + np.repeat(far * (np.arange(len(spans)) % 2), np.diff(first))
    wanted = np.zeros(len(start), np.uint8)
    for begin, stop in pairwise(first.tolist()):
        own = lanes(start[begin:stop], (start + length)[begin:stop], 2)
        wanted[begin:stop] = 0 if own is None else own
    assert lanes_of_rows(first, start, start + length, 2).tolist() == wanted.tolist()


@pytest.mark.parametrize("rows", [1, FEW_GROUPS - 1, FEW_GROUPS, 3 * FEW_GROUPS])
def test_long_groups_have_their_lanes_however_many_there_are(rows: int) -> None:
    start = np.arange(0, 200, 2)
    length = np.arange(100) * 7 % 23
    own = lanes(start, start + length)
    found = lanes_of_rows(np.arange(rows + 1) * 100, np.tile(start, rows), np.tile(start + length, rows))
    assert found.reshape(rows, 100).tolist() == [own.tolist()] * rows


def test_rows_of_endless_spans_do_not_wrap() -> None:
    start = np.array([0, 5, 0, 5])
    end = start + (1 << 61)
    assert lanes_of_rows(np.array([0, 2, 4]), start, end).tolist() == [0, 1, 0, 1]
