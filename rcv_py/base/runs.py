"""Runs of a column: consecutive rows with equal values.

```
column        5 5 7 7 7 5
starts_run    1 0 1 0 0 1       the first row of each run
ends_run      0 1 0 0 1 1       the last row of each run
run_starts    0 2 5
borders       0 2 5 6           of their lengths 2, 3, 1
ranges        0 1 0 1 2 0       of rows 0 … and those lengths
of_ranges     0 0 1 1 1 2       which of them each number is of, and the same numbers
distinct      0 2               the first row of each value, and 0 0 1 1 1 0: which value each row holds
is_in         1 1 0 0 0 1       whether each row holds one of 3 5
ascending     5 7               each value once
numbered      5 7, 0 0 1 1 1 0  the same, and which of them each row holds
order         0 1 5 2 3 4       the rows by value, stable
```
"""

from collections.abc import Sequence

import numpy as np

LONG_RISE = 64  # rows between two that fall, on average: from here on merging is faster than sorting
ODD = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio
_MAX_NUMBER = 1 << 62  # larger numbers do not fit into one number together with a row


def starts_run(*columns: np.ndarray) -> np.ndarray:
    """Whether each row differs from the row before it in any column, as the first one does; bool [n]."""
    is_start = np.ones(len(columns[0]), dtype=bool)
    is_start[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        is_start[1:] |= column[1:] != column[:-1]
    return is_start


def ends_run(*columns: np.ndarray) -> np.ndarray:
    """Whether each row differs from the row after it in any column, as the last one does; bool [n]."""
    return np.roll(starts_run(*columns), -1)


def run_starts(*columns: np.ndarray) -> np.ndarray:
    """The first row of each run, int64."""
    return np.flatnonzero(starts_run(*columns))


def distinct(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each distinct value, in order of value, and the index of each row's value; int64."""
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:  # one at a time: numbers of rows never overflow
        value = np.unique(column, return_inverse=True)[1]
        number = np.unique(number * (int(value.max(initial=0)) + 1) + value, return_inverse=True)[1]
    return np.unique(number, return_index=True)[1], number


def ascending(column: np.ndarray) -> np.ndarray:
    """Each value once, ascending; if most differ, far faster than `np.unique`, which hashes.

    `np.unique` also imports `numpy.ma`: a tenth of the start time.
    """
    column = np.sort(column)
    return column[starts_run(column)]


def numbered(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each value of whole numbers (int64) once, ascending, and which of them each row holds, int64."""
    rows = order(column)
    column = column.take(rows)
    is_first = starts_run(column)
    number = np.empty(len(rows), dtype=np.int64)
    number[rows] = borders(is_first)[1:] - 1
    return column.take(np.flatnonzero(is_first)), number


def order(column: np.ndarray) -> np.ndarray:
    """Stable sort order of the rows of whole numbers (int64) by value, int64.

    Numbers of 16 bits are counted into their places, which numpy does several times as fast as it compares.
    Else value and row are sorted as one number if they fit into one: numpy sorts numbers with wide registers,
    rows without; where they rise for long they are merged.
    """
    n = len(column)
    falls = np.count_nonzero(column[1:] < column[:-1])
    if not falls:
        return np.arange(n)
    low, high, bits = int(column.min()), int(column.max()), (n - 1).bit_length()
    if high - low < 1 << 16:
        return np.argsort(np.subtract(column, low, dtype=np.int64).astype(np.uint16), kind="stable")
    if high - low >= 1 << (63 - bits):
        return np.argsort(column, kind="stable")
    packed = np.subtract(column, low, dtype=np.int64)
    packed <<= bits
    packed |= np.arange(n)
    packed.sort(kind="stable" if falls * LONG_RISE < n else None)
    packed &= (1 << bits) - 1
    return packed


def first_from(
    column: np.ndarray, first: np.ndarray, stop: np.ndarray, limit: np.ndarray | int
) -> np.ndarray:
    """The first of rows `first` to `stop - 1` of each range that holds its limit or more, else `stop`; int64.

    The column ascends in each range.  All ranges are halved at once, without temporary arrays of the column's
    length.
    """
    low, high = first.copy(), np.maximum(first, stop)
    while (is_open := low < high).any():
        middle = (low + high) >> 1
        is_less = is_open & (column.take(middle, mode="clip") < limit)  # finished ranges may end past it
        low, high = np.where(is_less, middle + 1, low), np.where(is_less, high, middle)
    return low


def largest_in(value: np.ndarray, first: np.ndarray, stop: np.ndarray, is_last: bool = False) -> np.ndarray:
    """Return the row of the largest of rows `first` to `stop - 1` of each range, the first (last) of equals.

    `value` is int64 or narrower; int64, -1 for a range without rows.  Where ranges hold few of the rows from
    the first to the last of them, only these are read.
    """
    largest = np.full(len(first), -1, dtype=np.int64)
    some = np.flatnonzero(stop > first)
    if not len(some):
        return largest
    first, stop = first.take(some), stop.take(some)
    low, high, held = int(first.min()), int(stop.max()), stop - first
    if 2 * int(held.sum()) < high - low:
        rows, edge = ranges(first, held), borders(held)
        largest[some] = rows.take(largest_in(value.take(rows), edge[:-1], edge[1:], is_last))
        return largest
    value, count, row = value[low:high], high - low, np.arange(high - low)
    edges = np.column_stack([first - low, stop - low]).reshape(-1)
    place = row if is_last else row[::-1]
    rank = np.zeros(count + 1, dtype=np.int64)  # a range may end where the rows end
    bits = count.bit_length()
    if max(int(value.max()), -int(value.min())) < _MAX_NUMBER >> bits:
        np.left_shift(value, bits, out=rank[:-1], dtype=np.int64)
        rank[:-1] += place
        found = place.take(np.maximum.reduceat(rank, edges)[::2] & (1 << bits) - 1)
    else:
        order = np.lexsort((place, value))
        rank[order] = row
        found = order[np.maximum.reduceat(rank, edges)[::2]]
    largest[some] = low + found
    return largest


def is_in(column: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Whether each row holds one of some values; bool [n].  As `np.isin`, without `numpy.ma` either."""
    ordered = np.sort(held, axis=None)
    if not len(ordered):
        return np.zeros(len(column), dtype=bool)
    return ordered[np.minimum(np.searchsorted(ordered, column), len(ordered) - 1)] == column


def borders(counts: np.ndarray | Sequence[int]) -> np.ndarray:
    """Where each of several parts of these lengths begins, and where the last one ends; int64 [n + 1]."""
    first = np.zeros(len(counts) + 1, dtype=np.int64)
    # Converted before: a conversion inside numpy's sum takes twice as long.
    np.cumsum(np.asarray(counts, dtype=np.int64), out=first[1:])
    return first


def ranges(first: np.ndarray | int, count: np.ndarray) -> np.ndarray:
    """The `count[i]` numbers from `first[i]` on of each part, one part after the other; int64."""
    rows = np.repeat(first - borders(count)[:-1], count)
    rows += np.arange(len(rows))
    return rows


def of_ranges(first: np.ndarray | int, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The part of each of the numbers of `ranges`, and these numbers; int64."""
    part = np.repeat(np.arange(len(count)), count)
    rows = (first - borders(count)[:-1]).take(part)
    rows += np.arange(len(part))
    return part, rows


def scrambled(number: np.ndarray) -> np.ndarray:
    """A pseudo-random number for each number, uint64: the finalizer of splitmix64."""
    mixed = number.astype(np.uint64) + np.uint64(ODD)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return mixed ^ mixed >> np.uint64(31)
