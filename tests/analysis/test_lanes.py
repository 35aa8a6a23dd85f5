"""No two spans of a lane overlap, and no span is higher than it must be."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.lanes import MAX_LANES, lanes

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
