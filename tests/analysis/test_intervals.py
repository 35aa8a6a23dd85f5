"""Sets of cycles, beside sets of numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.intervals import IntervalSet, at_least

Spans = list[tuple[int, int]]
SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=12)


def made(spans: Spans) -> tuple[IntervalSet, set[int]]:
    begin, length = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    numbers = {cycle for low, size in spans for cycle in range(low, low + size)}
    return IntervalSet.of(begin, begin + length), numbers


def cycles(covered: IntervalSet) -> set[int]:
    """The cycles of a set, whose stretches are apart and in order."""
    begin, end = covered.begin.tolist(), covered.end.tolist()
    assert all(low < high for low, high in zip(begin, end, strict=True))
    assert all(high < low for high, low in zip(end, begin[1:], strict=False))
    return {cycle for low, high in zip(begin, end, strict=True) for cycle in range(low, high)}


@given(SPANS, SPANS)
def test_sets_are_joined_cut_and_subtracted(some: Spans, others: Spans) -> None:
    (one, left), (other, right) = made(some), made(others)
    assert cycles(one) == left
    assert cycles(one | other) == left | right
    assert cycles(one & other) == left & right
    assert cycles(one - other) == left - right


@given(SPANS, SPANS)
def test_covered_cycles_of_spans_are_counted(some: Spans, spans: Spans) -> None:
    one, inside = made(some)
    begin, length = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    edges = begin, begin + length
    before = [[sum(cycle < time for cycle in inside) for time in column] for column in edges]
    assert [column.tolist() for column in one.covered_before_each(*edges)] == before
    assert one.covered(*edges).tolist() == [b - a for a, b in zip(*before, strict=True)]


@given(SPANS, st.integers(1, 4))
def test_spans_are_crowded_where_so_many_are_open(spans: Spans, count: int) -> None:
    begin, length = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    crowd = at_least(begin, begin + length, count)
    crowds = [sum(low <= cycle < low + size for low, size in spans) for cycle in range(40)]
    assert cycles(crowd) == {cycle for cycle, here in enumerate(crowds) if here >= count}
