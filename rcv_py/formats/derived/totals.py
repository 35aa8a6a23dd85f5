"""Totals of code rows, and waves in each state, as the writer of ui_output folders counts them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from rcv_py.base.runs import borders
from rcv_py.model.device import StateCurve

MAX_CYCLES = 1 << 62  # maximum cycles of a sum: clocks of real captures never reach it


class Totals(NamedTuple):
    """Costs of code rows, summed over waves; int64 [rows] each, cycles except the hits."""

    hits: np.ndarray
    latency: np.ndarray
    stall: np.ndarray
    idle: np.ndarray

    @classmethod
    def none(cls, rows: int) -> Totals:
        """Return totals of rows without executions."""
        return cls(*(np.zeros(rows, dtype=np.int64) for _ in range(4)))

    def at(self, rows: np.ndarray) -> Totals:
        """Return the costs of some rows."""
        return Totals(self.hits[rows], self.latency[rows], self.stall[rows], self.idle[rows])

    def add(self, at: np.ndarray, other: Totals) -> None:
        """Add the costs of another table's rows, which are rows `at` of this table."""
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
    """Return the costs of each of `rows` code rows.

    Wave i began at `begin[i]` and owns tokens `first[i]:first[i + 1]`: their code rows (-1: none, they count
    nowhere), times (int64, of the clock that `begin` has), stalls, and durations with stall, in cycles.

    A row's idle time is the time between the end of all earlier instructions of the wave and its start:
    `max(time - end, 0)`, where the first of a wave counts from its beginning.
    """
    sums = np.zeros((4, rows), dtype=np.int64)
    compiled(_walk)(
        line.astype(np.int32, copy=False), first, begin,
        *(column.astype(np.int64, copy=False) for column in (time, stall, duration)),
        sums,
    )  # fmt: skip
    return Totals(*sums)


@cache
def compiled(walk: Callable[..., None]) -> Callable[..., None]:
    """Return a function as a kernel, see `base.machine.compiled`, whose import takes a while."""
    from rcv_py.base.machine.compiled import kernel  # noqa: PLC0415 - a third of a second, for many waves

    return kernel(walk)


_HITS, _LATENCY, _STALL, _IDLE = range(4)


def _walk(  # noqa: PLR0917 - compiled
    line: np.ndarray,
    first: np.ndarray,
    begin: np.ndarray,
    time: np.ndarray,
    stall: np.ndarray,
    duration: np.ndarray,
    sums: np.ndarray,
) -> None:
    for wave in range(len(first) - 1):
        reached = int(begin[wave])  # end of all earlier tokens
        for token in range(int(first[wave]), int(first[wave + 1])):
            row = int(line[token])
            if 0 <= row < sums.shape[1]:
                latency = max(int(duration[token]), int(stall[token]))
                sums[_HITS, row] += 1
                sums[_LATENCY, row] = min(int(sums[_LATENCY, row]) + latency, MAX_CYCLES)
                sums[_STALL, row] = min(int(sums[_STALL, row]) + int(stall[token]), MAX_CYCLES)
                idle = max(int(time[token]) - reached, 0)
                sums[_IDLE, row] = min(int(sums[_IDLE, row]) + idle, MAX_CYCLES)
                reached = max(reached, int(time[token]) + latency)


def state_curves(
    state: np.ndarray, duration: np.ndarray, *, first: np.ndarray, begin: np.ndarray
) -> tuple[StateCurve, ...]:
    """Return the waves in each state that occurs, one point per time at which a span begins or ends.

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
