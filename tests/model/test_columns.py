"""Some rows of a table of columns, and several tables as one."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

import numpy as np
import pytest

from rcv_py.model.columns import ColumnTable, joined, memoized


class Lines(ColumnTable):
    """Two columns, one of them two-dimensional, and what is said of all rows."""

    line: np.ndarray
    kinds: np.ndarray
    note: str = ""


def lines(*numbers: int, note: str = "") -> Lines:
    column = np.array(numbers, dtype=np.int32)
    return Lines(line=column, kinds=np.stack([column, -column], axis=1), note=note)


@pytest.mark.parametrize("rows", [np.array([2, 0]), np.array([True, False, True]), slice(1, None)])
def test_rows_of_a_table_are_rows_of_every_column(rows: np.ndarray | slice) -> None:
    whole = lines(5, 6, 7, note="a note")
    some = whole.at(rows)
    assert some.line.tolist() == whole.line[rows].tolist()
    assert some.kinds.tolist() == whole.kinds[rows].tolist()
    assert some.note == "a note"


def test_joined_tables_follow_each_other_and_keep_their_types() -> None:
    both = joined([lines(5, 6, note="the first"), lines(), lines(7)])
    assert both.line.tolist() == [5, 6, 7]
    assert both.line.dtype == np.int32
    assert both.kinds.tolist() == [[5, -5], [6, -6], [7, -7]]
    assert both.note == "the first"


def test_no_table_cannot_be_joined() -> None:
    with pytest.raises(ValueError, match="no table"):
        joined(list[Lines]())


def test_of_threads_that_ask_for_the_same_one_makes_it() -> None:
    both, made = Barrier(2), list[Lines]()

    @memoized
    def slow(table: Lines) -> int:
        made.append(table)
        with suppress(BrokenBarrierError):  # only another thread that makes it, too, ends this early
            both.wait(0.2)
        return len(table)

    table = lines(5, 6)
    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(slow, [table, table])] == [2, 2]
    assert len(made) == 1
