"""Totals of each code line over the tokens of one wave or of many."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np

from rcv_py.analysis.core.chosen import Piece, of_waves, pieces
from rcv_py.model.code import CodeTable
from rcv_py.model.waves import Wave, WaveBatch


@dataclass(frozen=True, eq=False)
class LineStats:
    """One row a code line.  Tokens that matched no code line count nowhere, but fill the time they took."""

    hits: np.ndarray  # int64, executions
    latency: np.ndarray  # int64, cycles: stall + busy
    stall: np.ndarray  # int64, cycles
    longest: np.ndarray  # int64, latency of the longest execution
    idle: np.ndarray  # int64, cycles between the latest end so far in the wave and the start
    idle_gaps: np.ndarray  # int64, executions that had any idle

    def __len__(self) -> int:
        return len(self.hits)

    def on(self, code: CodeTable) -> CodeTable:
        """Return the code table with these totals instead of its own."""
        return replace(code, hits=self.hits, latency=self.latency, stall=self.stall, idle=self.idle)

    def __add__(self, other: LineStats) -> LineStats:
        return LineStats(
            self.hits + other.hits,
            self.latency + other.latency,
            self.stall + other.stall,
            np.maximum(self.longest, other.longest),
            self.idle + other.idle,
            self.idle_gaps + other.idle_gaps,
        )


def wave_lines(wave: Wave, n: int) -> LineStats:
    """Return the totals of one wave over the `n` rows of the code table."""
    return _of_piece(of_waves([wave]), n)


def all_lines(batches: Iterable[WaveBatch], n: int, rows: Collection[int] | None = None) -> LineStats:
    """Return the totals of the waves whose index row is in `rows` (None: all), each wave once."""
    total = LineStats(*(np.zeros(n, dtype=np.int64) for _ in range(6)))
    for piece in pieces(batches, rows):
        total = total + _of_piece(piece, n)
    return total


def _of_piece(piece: Piece, n: int) -> LineStats:
    known = (piece.line >= 0) & (piece.line < n)
    line = piece.line[known].astype(np.int64)
    duration, idle = piece.duration[known], piece.idle[known]
    longest = np.zeros(n, dtype=np.int64)
    np.maximum.at(longest, line, duration)
    return LineStats(
        np.bincount(line, minlength=n),
        total(line, duration, n),
        total(line, piece.stall[known], n),
        longest,
        total(line, idle, n),
        np.bincount(line[idle > 0], minlength=n),
    )


def total(group: np.ndarray, value: np.ndarray, n: int) -> np.ndarray:
    """Return the sum of `value` by `group` (0 to n - 1), int64, exact below 2^53."""
    return np.bincount(group, weights=value, minlength=n).astype(np.int64)
