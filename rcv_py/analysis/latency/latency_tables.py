"""Tables of latency: what of a line is hidden, and memory latency by counters beside that by waits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.latency.hidden_latency import HiddenLatency
from rcv_py.analysis.latency.memory_latency import MemoryLatency
from rcv_py.analysis.waits.wait_latency import WaitLatency
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


def matched_lines(
    table: MemoryLatency, waits: WaitLatency | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the code line of each row, and its row in either table or -1; what counters know first.

    Lines of which waits tell upper bounds only are left out; `waits` is None until they are known.
    """
    line = table.line.astype(np.int64)
    counter = np.arange(len(line))
    if waits is None or not len(waits.line):
        return line, counter, np.full(len(line), -1)
    other = waits.line.astype(np.int64)
    place = np.full(int(max(other.max(), line.max(initial=0))) + 1, -1)
    place[other] = np.arange(len(other))
    rest = np.flatnonzero(~np.isin(other, line) & (waits.exact > 0))
    rest = rest[np.argsort(-waits.median[rest], kind="stable")]
    return (
        np.concatenate([line, other[rest]]),
        np.concatenate([counter, np.full(len(rest), -1)]),
        np.concatenate([place[line], rest]),
    )


def entries(column: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the entries of a column as float64, NaN where the row is -1."""
    if not len(column):
        return np.full(len(rows), np.nan)
    return np.where(rows >= 0, column[rows].astype(np.float64), np.nan)
