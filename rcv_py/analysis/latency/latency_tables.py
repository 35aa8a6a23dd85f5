"""Hidden latency as a ranked table: one row a code line, what nothing hides first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.latency.hidden_latency import HiddenLatency
from rcv_py.model.code import CodeTable


@dataclass(frozen=True, eq=False)
class HiddenTable:
    """Code lines with any cost; all columns int64, cycles summed over waves.

    `total` is `seen` plus `hidden`; `hidden` is the sum of the three hidden parts.
    """

    line: np.ndarray  # row of the code table
    total: np.ndarray  # latency, and idle if it is shown
    seen: np.ndarray  # what nothing hides
    hidden: np.ndarray
    idle: np.ndarray  # hidden part of the idle time; 0 if idle is not shown
    stall: np.ndarray  # hidden part of the stall
    issue: np.ndarray  # hidden part of the issue
    seen_parts: np.ndarray  # [3, n]: stall, issue and idle that nothing hides

    @property
    def share(self) -> np.ndarray:
        """Hidden part of each line's total, float64."""
        return self.hidden / np.maximum(self.total, 1)


def hidden_table(code: CodeTable, found: HiddenLatency, show_idle: bool = True) -> HiddenTable:
    """Return the lines that cost anything, the most expensive remainder first."""
    idle, stall, issue = found.parts(code)
    whole_idle = np.maximum(code.idle, 0) if show_idle else np.zeros(len(code), dtype=np.int64)
    idle = np.minimum(idle, whole_idle)
    latency = np.maximum(code.latency, 0)
    whole_stall = np.clip(code.stall, 0, latency)
    seen = np.stack([whole_stall - stall, latency - whole_stall - issue, whole_idle - idle])
    total = latency + whole_idle
    rest = seen.sum(axis=0)
    rows = np.flatnonzero((total > 0) & ~code.is_label)
    rows = rows[np.lexsort((rows, -total[rows], -rest[rows]))]
    return HiddenTable(
        line=rows,
        total=total[rows],
        seen=rest[rows],
        hidden=(idle + stall + issue)[rows],
        idle=idle[rows],
        stall=stall[rows],
        issue=issue[rows],
        seen_parts=seen[:, rows],
    )
