"""The median: one definition for every number of that name.

For an odd count it is the middle value, for an even count the mean of the two middle values.  Percentiles are
samples, the value at n · part // whole of the sorted n; `at_ranks` computes both for groups of values.
"""

from collections.abc import Sequence

import numpy as np


def median(values: np.ndarray) -> float:
    """Return the median in the unit of the values, an int if it is whole; nan if there are none."""
    if not len(values):
        return float("nan")
    middle = float(np.median(values))
    return int(middle) if middle.is_integer() else middle


def nearest_to_median(values: np.ndarray) -> int:
    """Return the index of the value nearest to the median; of equally near the smallest, then the first.

    Raises IndexError if there are no values.
    """
    return int(np.lexsort((values, np.abs(values - median(values))))[0])


MEDIAN = (1, 2)  # a rank of `at_ranks`


def at_ranks(
    group: np.ndarray,
    value: np.ndarray,
    groups: int,
    ranks: Sequence[tuple[int, int]],
    times: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Return the value at n · part // whole of the n sorted values of each group, per rank (part, whole).

    For the rank MEDIAN that is the median; a rank of n gives the last value.  `group` counts from 0 to
    groups - 1; each value occurs `times` times (None: once).  Columns are float64 [groups], nan for a group
    without values.
    """
    order = np.lexsort((value, group))
    times = np.ones(len(order), np.int64) if times is None else times[order]
    value, upto = value[order], np.cumsum(times)
    n = np.bincount(group[order], times, groups).astype(np.int64)
    some, columns = np.flatnonzero(n), []
    first = (np.cumsum(n) - n)[some]
    n = n[some]

    def sample(rank: np.ndarray) -> np.ndarray:
        return value[np.searchsorted(upto, first + rank, side="right")].astype(np.float64)

    for part, whole in ranks:
        column = np.full(groups, np.nan)
        column[some] = sample(np.minimum(n * part // whole, n - 1))
        if (part, whole) == MEDIAN:
            column[some] = (sample((n - 1) // 2) + column[some]) / 2
        columns.append(column)
    return columns
