"""The n-th time that a wave ran a code line."""

from __future__ import annotations

import numpy as np

from rcv_py.model.tokens import Tokens
from rcv_py.model.window import TimeWindow


def rows_of_line(tokens: Tokens, line: int) -> np.ndarray:
    """Return the token rows that ran a code line, in order of time, int64: hit n is at place n."""
    return np.flatnonzero(tokens.line == line) if line >= 0 else np.zeros(0, dtype=np.int64)


def hit_of(tokens: Tokens, row: int) -> tuple[int, int]:
    """Return (how often the wave ran this token's line before, how often it runs it at all)."""
    same = tokens.line == tokens.line[row]
    return int(np.count_nonzero(same[:row])), int(np.count_nonzero(same))


def row_of_hit(tokens: Tokens, line: int, hit: int, window: TimeWindow | None = None) -> int | None:
    """Return the token row of the n-th hit (from 0); if there is no such hit, of the first in the window."""
    rows = rows_of_line(tokens, line)
    if 0 <= hit < len(rows):
        return int(rows[hit])
    if window is None:
        return None
    start = tokens.start[rows]
    inside = rows[(start < window.end) & (start + tokens.duration[rows] > window.begin)]
    return int(inside[0]) if len(inside) else None
