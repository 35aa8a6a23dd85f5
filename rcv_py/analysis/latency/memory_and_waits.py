"""Memory latency by counters beside what waits tell of it: one row a code line that either knows."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.latency.memory_latency import MemoryLatency
from rcv_py.analysis.waits.wait_latency import WaitLatency


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
