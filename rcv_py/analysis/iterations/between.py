"""Time from one instruction to another, over all iterations.

```
wave     A ... B .. A ..... B . B . A ...      A → B: from each A to the first B after it, before the next A
              ^            ^                   the second B belongs to no A, the last A to no B
```
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.median import MEDIAN, at_ranks
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added
from rcv_py.model.trace import Trace


@dataclass(frozen=True, slots=True)
class PairDistance:
    """Cycles from the start of an execution of A to the end of the next execution of B in the same wave."""

    count: int  # pairs; if 0, so are the others
    least: int
    median: float
    most: int
    total: int


def pairs(line: np.ndarray, first: np.ndarray, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the token rows of each A and of its B, int64.

    `line` is the code row of each token, wave after wave, `first` int64 [waves + 1] where each wave begins.
    """
    at_a, at_b = np.flatnonzero(line == a), np.flatnonzero(line == b)
    if not len(at_a) or not len(at_b):
        return (np.zeros(0, dtype=np.int64),) * 2
    after = np.searchsorted(at_b, at_a, side="right")
    stop = first[np.searchsorted(first, at_a, side="right")]  # where the wave of each A ends
    stop[:-1] = np.minimum(stop[:-1], at_a[1:] + (a == b))
    partner = np.append(at_b, len(line))[after]
    has = partner < stop
    return at_a[has], partner[has]


def _map(a: int, b: int, _trace: Trace, parcel: Parcel) -> saturated.Sums:
    tokens = parcel.own
    begin, end = pairs(tokens.line, tokens.first, a, b)
    cycles = np.maximum(tokens.ends_at(end) - tokens.start[begin], 0)
    return saturated.summed(cycles, np.ones_like(cycles))


def _finish(_trace: Trace, part: saturated.Sums) -> PairDistance:
    cycles, times = part
    count = int(times.sum())
    if not count:
        return PairDistance(0, 0, 0.0, 0, 0)
    (middle,) = at_ranks(np.zeros_like(cycles), cycles, 1, (MEDIAN,), times)
    total = min(saturated.MAX_CYCLES, sum(map(int.__mul__, cycles.tolist(), times.tolist())))
    return PairDistance(count, int(cycles[0]), float(middle[0]), int(cycles[-1]), total)


def between_of(a: int, b: int) -> Reduction[saturated.Sums, PairDistance]:
    """Return the reduction for the time from code row A to code row B, over all iterations of each wave."""
    return Reduction(partial(_map, a, b), added(1), _finish)
