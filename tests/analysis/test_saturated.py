"""Sums that end at the limits of int64, against Python's numbers without limits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.saturated import MAX_CYCLES, later, since, sums, total

CYCLES = st.one_of(st.integers(0, 5000), st.integers(0, MAX_CYCLES))


@given(st.lists(st.tuples(st.integers(0, 3), CYCLES), max_size=30))
def test_sums_are_those_of_python_until_they_do_not_fit(rows: list[tuple[int, int]]) -> None:
    place = np.array([at for at, _ in rows], dtype=np.int64)
    cycles = np.array([number for _, number in rows], dtype=np.int64)
    expected = [min(MAX_CYCLES, sum(number for at, number in rows if at == row)) for row in range(4)]
    assert sums(place, cycles, 4).tolist() == expected
    assert total(cycles) == min(MAX_CYCLES, sum(number for _, number in rows))


@given(st.integers(-MAX_CYCLES - 1, MAX_CYCLES), CYCLES)
def test_a_later_time_does_not_wrap(time: int, cycles: int) -> None:
    found = later(np.array([time]), np.array([cycles]))
    assert found.dtype == np.int64
    assert found.tolist() == [min(MAX_CYCLES, time + cycles)]


@given(
    st.integers(-MAX_CYCLES - 1, MAX_CYCLES),
    st.integers(-MAX_CYCLES - 1, MAX_CYCLES),
    st.integers(0, MAX_CYCLES),
)
def test_times_since_a_base_do_not_wrap(one: int, other: int, most: int) -> None:
    base, time = sorted((one, other))
    assert since(np.array([time]), base, most).tolist() == [min(most, time - base)]
