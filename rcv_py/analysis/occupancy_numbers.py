"""Occupancy in a few numbers: how full the device was, how long it took to fill and to drain.

```
waves          ┌──────────┐             peak
           ┌───┘          └─┐
half   ----│----------------└──┐-----
       ┌───┘                   └───────
       | ramp  |               | tail  |
```
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.occupancy import Residencies, Steps, residencies, steps
from rcv_py.model.device import WaveEvents
from rcv_py.model.modes import ReferenceRule

FULL = 0.9  # of the peak: what counts as filled


@dataclass(frozen=True, slots=True)
class OccupancyNumbers:
    """All over the time from the first start to the last end of any wave that the trace saw."""

    waves: int  # how many lived
    mean: float  # resident waves, weighted by time
    peak: int  # most resident waves
    span: int  # cycles from the first start to the last end
    ramp: int  # cycles from the first start until nine tenths of the peak were resident
    tail: int  # cycles, after the peak was reached, in which at most half of it was resident

    @property
    def tail_share(self) -> float:
        """Share of the span that is tail, 0 to 1."""
        return self.tail / self.span if self.span else 0.0

    @property
    def fill(self) -> float:
        """Mean over peak, 0 to 1."""
        return self.mean / self.peak if self.peak else 0.0


NOTHING = OccupancyNumbers(0, 0.0, 0, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class UnitOccupancy:
    """One row a compute unit that had waves, sorted by (se, sa, cu); time from the device's first start."""

    se: np.ndarray  # int64
    sa: np.ndarray  # int64
    cu: np.ndarray  # int64
    waves: np.ndarray  # int64, waves that lived there
    cycles: np.ndarray  # int64, wave-cycles
    peak: np.ndarray  # int64, most waves at a time
    begin: np.ndarray  # int64, cycles, aligned: first start
    end: np.ndarray  # int64, cycles, aligned: last end
    span: int  # cycles of the device, which `mean` divides by

    def __len__(self) -> int:
        return len(self.se)

    @property
    def mean(self) -> np.ndarray:
        """Resident waves weighted by time, over the time of the whole device; float64."""
        return self.cycles / max(self.span, 1)


def occupancy_numbers(events: WaveEvents) -> OccupancyNumbers:
    """Return the numbers over all compute units; all zero if no wave was seen."""
    curve = steps(events).get(-1)
    if curve is None or len(curve) < 2:
        return NOTHING
    return of_curve(curve, len(residencies(events)))


def of_curve(curve: Steps, waves: int) -> OccupancyNumbers:
    """Return the numbers of a step function of at least two points."""
    length, level = np.diff(curve.time), curve.waves[:-1].astype(np.int64)
    peak, span = int(level.max()), int(length.sum())
    filled, highest = int(np.argmax(level >= FULL * peak)), int(np.argmax(level))
    return OccupancyNumbers(
        waves,
        curve.area / span if span else 0.0,
        peak,
        span,
        int(curve.time[filled] - curve.time[0]),
        int(length[highest:][2 * level[highest:] <= peak].sum()),
    )


def unit_occupancy(events: WaveEvents, rule: ReferenceRule = ReferenceRule.OURS) -> UnitOccupancy:
    """Return the occupancy of each compute unit that had waves."""
    lives = residencies(events, rule=rule)
    if not len(lives):
        none = np.zeros(0, dtype=np.int64)
        return UnitOccupancy(*(none for _ in range(8)), 0)
    key = (lives.se.astype(np.int64) << 32) + (lives.sa.astype(np.int64) << 24) + lives.cu
    places, group = np.unique(key, return_inverse=True)
    group, n = group.reshape(-1), len(places)
    begin = np.full(n, np.iinfo(np.int64).max)
    end = np.full(n, np.iinfo(np.int64).min)
    np.minimum.at(begin, group, lives.begin)
    np.maximum.at(end, group, lives.end)
    return UnitOccupancy(
        places >> 32,
        places >> 24 & 0xFF,
        places & 0xFFFFFF,
        np.bincount(group, minlength=n).astype(np.int64),
        np.bincount(group, weights=lives.end - lives.begin, minlength=n).astype(np.int64),
        _peaks(lives, group, n),
        begin,
        end,
        int(lives.end.max() - lives.begin.min()),
    )


def _peaks(lives: Residencies, group: np.ndarray, n: int) -> np.ndarray:
    """Most lives of each group at a time: one running sum over all groups, each of which ends at zero."""
    time = np.concatenate([lives.begin, lives.end])
    change = np.repeat(np.array([1, -1]), len(lives))
    owner = np.concatenate([group, group])
    order = np.lexsort((change, time, owner))
    level = np.cumsum(change[order])
    peak = np.zeros(n, dtype=np.int64)
    np.maximum.at(peak, owner[order], level)
    return peak
