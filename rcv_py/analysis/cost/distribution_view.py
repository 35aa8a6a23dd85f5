"""One measure of the hits of a code line, ready to be shown: bars, marks, order and groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.analysis.cost.distribution import NEVER, Histogram, LineHits, Spread, histogram, slowest, spread

GROUPS = ("none", "engine", "wave")
LISTED = 200  # hits in the table


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to show: one of MEASURES, how many bars, which scale, what splits the bars."""

    measure: str = "latency"
    bins: int = 40
    is_log: bool = False
    group: str = "none"
    wave: int = -1  # index row that the group "wave" tells from the others

    @property
    def shape(self) -> tuple[str, int, bool]:
        """What decides where bars begin and end."""
        return self.measure, self.bins, self.is_log


@dataclass(frozen=True, eq=False)
class DistributionView:
    """The values are one a row of `hits`; NEVER marks hits that have none."""

    hits: LineHits
    wanted: Wanted
    values: np.ndarray  # int64
    order: np.ndarray  # int64: rows of `hits` that have a value, the smallest first, then by time
    spread: Spread | None  # None if no hit has a value
    histogram: Histogram
    groups: tuple[str, ...]  # what splits the bars; one if nothing does

    def slowest(self, count: int = LISTED) -> np.ndarray:
        """Rows of the hits with the largest values, the largest first, equal ones in order of time."""
        return self.ranked[:count]

    @cached_property
    def ranked(self) -> np.ndarray:
        """Rows of all hits that have a value, the largest first, equal ones in order of time."""
        return slowest(self.hits, self.wanted.measure, 0)

    def in_bin(self, number: int) -> np.ndarray:
        """Rows of the hits in a bar, the largest first, equal ones in order of time."""
        low, high = (int(self.histogram.edges[at]) for at in (number, number + 1))
        values = self.values[self.ranked]
        return self.ranked[(values >= low) & (values < high)]

    def step(self, row: int, direction: int) -> int:
        """The hit that follows in the order of values, -1 behind the last; from -1 the slowest."""
        if not len(self.order):
            return -1
        at = np.flatnonzero(self.order == row)
        if not len(at):
            return int(self.order[-1])
        place = int(at[0]) + direction
        return int(self.order[place]) if 0 <= place < len(self.order) else -1


def distribution_view(hits: LineHits, wanted: Wanted, step: int = 1) -> DistributionView:
    """Return what is shown of the hits; `step` is the smallest difference of times."""
    values = hits.measure(wanted.measure)
    rows = np.flatnonzero(values != NEVER)
    order = rows[np.lexsort((hits.start[rows], values[rows]))]
    group, names = _groups(hits, wanted)
    bars = histogram(
        values[rows],
        wanted.bins,
        is_log=wanted.is_log,
        step=step,
        group=group[rows],
        groups=len(names),
    )
    return DistributionView(hits, wanted, values, order, spread(values[rows]), bars, names)


def _groups(hits: LineHits, wanted: Wanted) -> tuple[np.ndarray, tuple[str, ...]]:
    if wanted.group == "engine" and len(hits):
        engines, group = np.unique(hits.se, return_inverse=True)
        return group.reshape(-1), tuple(f"SE {se}" for se in engines.tolist())
    if wanted.group == "wave":
        return (hits.wave != wanted.wave).astype(np.int64), ("selected wave", "other waves")
    return np.zeros(len(hits), dtype=np.int64), ("all hits",)
