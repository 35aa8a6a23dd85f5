"""How much of a window is covered by spans that may overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.model.window import TimeWindow


@dataclass(frozen=True, eq=False)
class Union:
    """The covered stretches of a set of spans, in order of time and apart from each other."""

    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles
    before: np.ndarray  # int64 [n + 1]: cycles covered by the stretches in front of each

    def inside(self, window: TimeWindow) -> int:
        """Covered cycles of a window."""
        return self._until(window.end) - self._until(window.begin)

    def _until(self, time: int) -> int:
        row = int(np.searchsorted(self.begin, time, side="right")) - 1
        if row < 0:
            return 0
        return int(self.before[row]) + min(time, int(self.end[row])) - int(self.begin[row])


def union(start: np.ndarray, end: np.ndarray) -> Union:
    """Merge spans sorted by start."""
    start, latest = start.astype(np.int64), np.maximum.accumulate(end.astype(np.int64))
    first = np.flatnonzero(np.append(True, start[1:] > latest[:-1])[: len(start)])
    begin, stop = start[first], latest[np.append(first[1:], len(start))[: len(first)] - 1]
    return Union(begin, stop, np.append(0, np.cumsum(stop - begin)))
