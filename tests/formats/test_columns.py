import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.formats.input.columns import LIMIT, fit, int_table, tight, whole_number

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


@given(st.lists(INT64), st.sampled_from([np.uint8, np.int16, np.int32, np.int64]))
def test_a_column_holds_the_same_numbers_or_is_refused(numbers, dtype):
    values = np.array(numbers, dtype=np.int64)
    fits = all(np.iinfo(dtype).min <= number <= np.iinfo(dtype).max for number in numbers)
    if not fits:
        with pytest.raises(ValueError, match="lies outside"):
            fit(values, dtype)
        return
    column = fit(values, dtype)
    assert column.tolist() == numbers
    assert column.dtype == dtype
    assert not column.flags.writeable


@given(st.lists(INT64))
def test_a_tight_column_has_32_bits_unless_it_needs_more(numbers):
    column = tight(np.array(numbers, dtype=np.int64))
    assert column.tolist() == numbers
    assert (column.dtype == np.int32) == all(-(1 << 31) <= number < 1 << 31 for number in numbers)


def test_rows_of_whole_numbers_become_a_table():
    assert int_table([[1, 2.0], [-3, 4]], 2).tolist() == [[1, 2], [-3, 4]]
    assert int_table(None, 3).shape == (0, 3)
    assert int_table([], 3).shape == (0, 3)


ROWS = [[[1, 2, 3]], [[1], [1, 2, 3]], [1, 2], {"a": 1}, "ab", 7]
VALUES = [None, "2", 2.5, True, [2], LIMIT, 1e300, 1 << 70]


@pytest.mark.parametrize("rows", [*ROWS, *([[1, value]] for value in VALUES)])
def test_anything_else_is_refused(rows):
    with pytest.raises(ValueError, match=r"row|number|columns"):
        int_table(rows, 2)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (7, 7),
        (-7, -7),
        (7.0, 7),
        (7.5, -1),
        (None, -1),
        (True, -1),
        ("7", -1),
        (LIMIT, -1),
        (float("inf"), -1),
        ([], -1),
    ],
)
def test_a_fact_of_a_file_is_a_whole_number_or_the_default(value, number):
    assert whole_number(value, -1) == number
