"""The median: one definition for every number of that name, except where the reference defines another.

For an odd count it is the middle value, for an even count the mean of the two middle values.  Statistics
whose reference results require an order statistic (`wait_latency`, `load_to_use`, `loop_summary` and
`barrier_skew`: the samples at n // 10, n // 2 and 9 n // 10) say so where they are defined; `at_ranks`
computes them.
"""

from __future__ import annotations

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


def at_ranks(
    group: np.ndarray,
    value: np.ndarray,
    groups: int,
    ranks: Sequence[tuple[int, int]],
    times: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Return the value at n · part // whole of the n sorted values of each group, per rank (part, whole).

    `group` counts from 0 to groups - 1; each value occurs `times` times (None: once).  Columns are float64
    [groups], nan for a group without values; a rank of n gives the last value.
    """
    order = np.lexsort((value, group))
    times = np.ones(len(order), np.int64) if times is None else times[order]
    value, upto = value[order], np.cumsum(times)
    n = np.bincount(group[order], times, groups).astype(np.int64)
    some, columns = np.flatnonzero(n), []
    for part, whole in ranks:
        column = np.full(groups, np.nan)
        rank = np.cumsum(n) - n + np.minimum(n * part // whole, n - 1)
        column[some] = value[np.searchsorted(upto, rank[some], side="right")]
        columns.append(column)
    return columns
