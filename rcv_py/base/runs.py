"""Runs of a column: rows that follow each other and hold the same.

```
column        5 5 7 7 7 5
starts_run    1 0 1 0 0 1       the first row of each run
ends_run      0 1 0 0 1 1       the last row of each run
run_starts    0 2 5
borders       0 2 5 6           of their lengths 2, 3, 1
ranges        0 1 0 1 2 0       of rows 0 … and those lengths
distinct      0 2               the first row of each value, and 0 0 1 1 1 0: which value each row holds
values_in     5 7
is_in         1 1 0 0 0 1       whether each row holds one of 3 5
```
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


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
    """The first of the rows that hold the same, in order of what they hold, and which each row is; int64."""
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:  # one at a time: numbers of rows never overflow
        value = np.unique(column, return_inverse=True)[1]
        number = np.unique(number * (int(value.max(initial=0)) + 1) + value, return_inverse=True)[1]
    return np.unique(number, return_index=True)[1], number


def values_in(column: np.ndarray) -> np.ndarray:
    """What rows hold, each once, ascending; of the same dtype.

    As `np.unique` without more questions, which would import `numpy.ma` for this alone: a tenth of a start.
    """
    ordered = np.sort(column, axis=None)
    return ordered[starts_run(ordered)] if len(ordered) else ordered


def is_in(column: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Whether each row holds one of some values; bool [n].  As `np.isin`, without `numpy.ma` either."""
    ordered = np.sort(held, axis=None)
    if not len(ordered):
        return np.zeros(len(column), dtype=bool)
    return ordered[np.minimum(np.searchsorted(ordered, column), len(ordered) - 1)] == column


def borders(counts: np.ndarray | Sequence[int]) -> np.ndarray:
    """Where each of several parts of these lengths begins, and where the last one ends; int64 [n + 1]."""
    first = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, dtype=np.int64, out=first[1:])
    return first


def ranges(first: np.ndarray | int, count: np.ndarray) -> np.ndarray:
    """The `count[i]` numbers from `first[i]` on of each part, one part after the other; int64."""
    return np.arange(int(count.sum())) + np.repeat(first - borders(count)[:-1], count)
