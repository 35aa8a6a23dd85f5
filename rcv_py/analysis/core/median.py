"""The median: one definition for every number of that name, but for those that the reference defines.

Of an odd count it is the value in the middle, of an even one the mean of the two in the middle.  Statistics
whose reference results demand an order statistic (`wait_latency`, `load_to_use`, `loop_iterations` and
`barrier_skew`: the sample at n // 2, beside those at n // 10 and 9 n // 10) say so where they are defined.
"""

from __future__ import annotations

import numpy as np


def median(values: np.ndarray) -> float:
    """Return the median in the unit of the values, an int if it is whole; nan if there are none."""
    if not len(values):
        return float("nan")
    found = float(np.median(values))
    return int(found) if found.is_integer() else found


def nearest_to_median(values: np.ndarray) -> int:
    """Return the place of the value nearest to the median: of equally near ones the smallest, then the first.

    Raises IndexError if there are no values.
    """
    return int(np.lexsort((values, np.abs(values - median(values))))[0])
