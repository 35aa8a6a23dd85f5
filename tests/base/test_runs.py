"""Runs of columns, beside loops over their rows."""

from itertools import accumulate, groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.base.runs import (
    ascending,
    borders,
    distinct,
    ends_run,
    first_from,
    is_in,
    largest_in,
    numbered,
    of_ranges,
    order,
    ranges,
    run_starts,
    starts_run,
)

PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)))


@given(PAIRS)
def test_runs_begin_and_end_where_a_row_differs_from_its_neighbour(pairs: list[tuple[int, int]]) -> None:
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    sizes = [len(list(run)) for _, run in groupby(pairs)]
    assert run_starts(*columns).tolist() == borders(sizes)[:-1].tolist()
    assert np.flatnonzero(ends_run(*columns)).tolist() == [stop - 1 for stop in accumulate(sizes)]
    assert starts_run(columns[0])[:1].tolist() == [True][: len(pairs)]


@given(PAIRS)
def test_ranges_follow_one_another(parts: list[tuple[int, int]]) -> None:
    first, count = np.array(parts, dtype=np.int64).reshape(-1, 2).T
    assert ranges(first, count).tolist() == [one + i for one, size in parts for i in range(size)]
    part, number = of_ranges(first, count)
    assert part.tolist() == [at for at, (_, size) in enumerate(parts) for _ in range(size)]
    assert number.tolist() == ranges(first, count).tolist()
    assert borders(count).tolist() == [0, *accumulate(count.tolist())]


@given(st.lists(st.tuples(st.lists(st.integers(-9, 9)).map(sorted), st.integers(-10, 10))))
def test_the_first_row_from_a_limit_on_is_found_in_each_range(parts: list[tuple[list[int], int]]) -> None:
    column = np.array([value for part, _ in parts for value in part], dtype=np.int64)
    edge = borders([len(part) for part, _ in parts])
    limit = np.array([limit for _, limit in parts], dtype=np.int64)
    found = first_from(column, edge[:-1], edge[1:], limit) - edge[:-1]
    assert found.tolist() == [sum(value < least for value in part) for part, least in parts]


@given(
    st.lists(st.integers(-3, 3) | st.sampled_from((-(1 << 62), 1 << 62)), min_size=1),
    st.lists(st.tuples(st.integers(0, 99), st.integers(-1, 4) | st.integers(0, 99)), max_size=6),
    st.booleans(),
)
def test_the_largest_of_ranges_is_found_however_few_rows_they_hold(
    values: list[int], parts: list[tuple[int, int]], is_last: bool
) -> None:
    first = [at % len(values) for at, _ in parts]
    stop = [min(len(values), at + size) for at, (_, size) in zip(first, parts, strict=True)]
    column = np.array(values, dtype=np.int64)
    found = largest_in(column, *(np.array(edge, dtype=np.int64) for edge in (first, stop)), is_last)
    sign = 1 if is_last else -1
    edges = zip(first, stop, strict=True)
    expected = [max(range(*edge), key=lambda row: (values[row], sign * row), default=-1) for edge in edges]
    assert found.tolist() == expected


@given(st.lists(st.integers(-9, 9)), st.lists(st.integers(-9, 9)))
def test_rows_are_in_what_is_held(rows: list[int], held: list[int]) -> None:
    found = is_in(np.array(rows, dtype=np.int64), np.array(held, dtype=np.int64))
    assert found.tolist() == [row in held for row in rows]


def test_distinct_rows_are_numbered_in_order_of_what_they_hold() -> None:
    far = np.array([1 << 62, -(1 << 62), 1 << 62, 0])
    first, number = distinct(far, np.array([2, 1, 2, 1]))
    assert (first.tolist(), number.tolist()) == ([1, 3, 0], [2, 0, 2, 1])
    assert [len(column) for column in distinct(far[:0], far[:0])] == [0, 0]


FAR = st.sampled_from((-(1 << 63), -1, 0, 5, 1 << 40, (1 << 63) - 1))  # with a row, too far for one number


@given(st.lists(st.integers(-3, 3) | FAR))
def test_rows_are_ordered_and_values_numbered(values: list[int]) -> None:
    column = np.array(values, dtype=np.int64)
    assert order(column).tolist() == sorted(range(len(values)), key=values.__getitem__), "equal ones stay"
    assert ascending(column).tolist() == sorted({*values})
    known, number = numbered(column)
    assert known.tolist() == sorted({*values})
    assert known[number].tolist() == values


@pytest.mark.parametrize("span", [1 << 16, (1 << 16) + 1, 1 << 32, (1 << 32) + 1, 1 << 62])
@pytest.mark.parametrize("rise", [1, 200])  # rows that rise, one after the other
def test_rows_are_ordered_whatever_their_span(span: int, rise: int) -> None:
    random = np.random.default_rng(span + rise)
    column = np.sort(random.integers(0, span, (1000 // rise, rise)), axis=1).ravel() - 7
    column[[0, 3, 5]] = -7, span - 8, -7
    assert order(column).tolist() == np.lexsort((np.arange(len(column)), column)).tolist()


def test_narrow_columns_are_ordered_as_wide_ones() -> None:
    column = np.array([300, -300, 7, -300] * 100, dtype=np.int16)
    assert column[order(column)].tolist() == sorted(column.tolist())
