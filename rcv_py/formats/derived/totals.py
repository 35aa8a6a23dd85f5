"""Totals of code rows, and how many waves are in each state, as the tool that writes folders counts them."""

from __future__ import annotations

import numpy as np

from rcv_py.base.records import dataclass
from rcv_py.base.runs import borders
from rcv_py.model.device import StateCurve

EXACT = 1 << 52  # whole numbers below twice that are exact in a double, which numpy sums up
LIFTED = 1 << 62  # times stay below it when they are lifted above those of other waves


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """What code rows cost, summed up over waves; int64 [rows] each, cycles but for the hits."""

    hits: np.ndarray
    latency: np.ndarray
    stall: np.ndarray
    idle: np.ndarray

    @classmethod
    def none(cls, rows: int) -> Totals:
        """Of rows that nobody executed."""
        return cls(*(np.zeros(rows, dtype=np.int64) for _ in range(4)))

    def at(self, rows: np.ndarray) -> Totals:
        """Return what some rows cost."""
        return Totals(self.hits[rows], self.latency[rows], self.stall[rows], self.idle[rows])

    def add(self, at: np.ndarray, other: Totals) -> None:
        """Add what rows of another table cost, which are rows `at` of this one."""
        for name in ("hits", "latency", "stall", "idle"):
            np.add.at(getattr(self, name), at, getattr(other, name))


def totals(
    line: np.ndarray,
    *,
    first: np.ndarray,
    begin: np.ndarray,
    time: np.ndarray,
    stall: np.ndarray,
    duration: np.ndarray,
    rows: int,
) -> Totals:
    """Return what each of `rows` code rows cost.

    Wave i began at `begin[i]` and owns tokens `first[i]:first[i + 1]`: their code rows (-1: none, they count
    nowhere), times (int64, of the clock that `begin` has), stalls, and durations with stall, in cycles.

    A row's idle time is that between an instruction and the end of all that its wave issued before it:
    `max(time - end, 0)`, where the first of a wave counts from its beginning.
    """
    kept = np.flatnonzero(line >= 0)
    first = np.searchsorted(kept, first)
    line, time, stall = line[kept], time[kept], stall[kept].astype(np.int64)
    latency = np.maximum(duration[kept], stall)
    reached = np.empty(len(kept) + 1, dtype=np.int64)  # where all before a token have ended
    reached[1:] = time + latency
    reached[first[:-1]] = begin  # of empty waves it is overwritten by the next
    _latest(reached, first)
    idle = np.maximum(time - reached[:-1], 0)

    def summed(values: np.ndarray) -> np.ndarray:
        if values.sum(dtype=np.float64) < EXACT:
            return np.bincount(line, values, rows).astype(np.int64)
        sums = np.zeros(rows, dtype=np.int64)
        np.add.at(sums, line, values)
        return sums

    return Totals(
        hits=np.bincount(line, minlength=rows).astype(np.int64),
        latency=summed(latency),
        stall=summed(stall),
        idle=summed(idle),
    )


def _latest(reached: np.ndarray, first: np.ndarray) -> None:
    """Let each of the times of a wave be that of the latest so far; `reached` is changed.

    The times of all waves are lifted so that each wave lies above those before it, if 64 bits hold that.
    """
    count = np.diff(first)
    has = np.flatnonzero(count)
    if not len(has):
        return
    owned = reached[: first[-1]]
    low = np.minimum.reduceat(owned, first[has])
    height = int((np.maximum.reduceat(owned, first[has]) - low).max()) + 1
    if height * len(has) < LIFTED:
        lift = np.repeat(height * np.arange(len(has)) - low, count[has])
        owned += lift
        np.maximum.accumulate(owned, out=owned)
        owned -= lift
        return
    for lower, upper in zip(first[has].tolist(), first[has + 1].tolist(), strict=True):
        np.maximum.accumulate(owned[lower:upper], out=owned[lower:upper])


def state_curves(
    state: np.ndarray, duration: np.ndarray, *, first: np.ndarray, begin: np.ndarray
) -> tuple[StateCurve, ...]:
    """Return how many waves were in each state that occurs, one point a time at which a span begins or ends.

    Wave i owns spans `first[i]:first[i + 1]`, of which the first begins at `begin[i]`, in cycles.
    """
    total = borders(duration)
    start = total[:-1] + np.repeat(begin - total[first[:-1]], np.diff(first))
    curves = []
    for number in np.flatnonzero(np.bincount(state, minlength=1)).tolist():
        chosen = state == number
        edges = np.concatenate([start[chosen], start[chosen] + duration[chosen]])
        time, place = np.unique(edges, return_inverse=True)
        change = np.bincount(place[: len(place) // 2], minlength=len(time))
        change -= np.bincount(place[len(place) // 2 :], minlength=len(time))
        curves.append(StateCurve(number, time, np.cumsum(change).astype(np.int32)))
    return tuple(curves)
