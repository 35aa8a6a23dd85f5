"""Barriers: how far apart the waves of a workgroup arrive, and which one is last.

```
wave 0  ──b░░░░░░░░──    arrives first, and stalls until the last is there
wave 1  ───────b░░░──
wave 2  ──────────b──    the last: the skew is the distance of these two arrivals
```
The waves of a workgroup are those with the same number of it; captures without such numbers show waves with
the same shader engine, slot and wave id on several SIMDs, which is taken for one.  The n-th barriers that
the waves of a group ran are one instance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.chosen import Piece, pieces
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

NEAR = 64  # cycles within which waves leave the same barrier; beyond it they are of different groups


@dataclass(frozen=True, eq=False)
class BarrierSkew:
    """One row an instance with at least two waves, by group and time."""

    line: np.ndarray  # int32, code row of the barrier
    waves: np.ndarray  # int32, how many of the group were recorded
    arrived: np.ndarray  # int64, cycles, aligned: the first arrival
    skew: np.ndarray  # int64, cycles from the first to the last arrival
    spread: np.ndarray  # int64, cycles from the first to the last release
    last: np.ndarray  # int32, row of the wave index of the last to arrive
    stall: np.ndarray  # int64, cycles of stall of all waves
    dropped: int  # instances whose waves were released too far apart to be of one group
    is_guess: bool  # groups are told by slot and wave id

    def __len__(self) -> int:
        return len(self.line)

    @property
    def median(self) -> int | None:
        """The skew at n // 2 of the sorted n, cycles; None without instances."""
        return int(np.sort(self.skew)[len(self) // 2]) if len(self) else None


def barrier_skew(
    trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> BarrierSkew:
    """Return the barriers of the waves whose index row is in `rows` (None: all), each wave once."""
    is_barrier = np.array([_is_barrier(text) for text in trace.code.text], dtype=bool)
    parts = [_arrivals(piece, is_barrier) for piece in pieces(batches, rows)] if is_barrier.any() else []
    empty = np.zeros((0, 9), dtype=np.int64)
    table = np.concatenate([empty, *parts])
    is_guess = bool(np.any(table[:, 3] < 0))
    if is_guess:  # of the same workgroup: nobody says, so waves of one slot and id on all SIMDs
        table[:, 3] = -1
    else:
        table[:, 1:3] = 0
    order = np.lexsort((table[:, 6], table[:, 5], table[:, 4], *table[:, 3::-1].T))
    table = table[order]
    return _instances(table, is_guess)


def _is_barrier(text: str) -> bool:
    return text.startswith("s_barrier") and not text.startswith(("s_barrier_signal", "s_barrier_init"))


def _arrivals(piece: Piece, is_barrier: np.ndarray) -> np.ndarray:
    """Return (se, slot, wave id, workgroup, nth, line, arrival, release, index row) of each barrier."""
    line = np.where((piece.line >= 0) & (piece.line < len(is_barrier)), piece.line, 0)
    at = np.flatnonzero(is_barrier[line] & (piece.line >= 0))
    owner = np.searchsorted(piece.first, at, side="right") - 1
    count = np.bincount(owner, minlength=len(piece.waves))
    number = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
    who = np.array(
        [(one.id.se, one.id.slot, one.id.wid, one.workgroup, one.row) for one in piece.waves], dtype=np.int64
    ).reshape(-1, 5)[owner]
    start = piece.start[at]
    end = start + piece.duration[at]
    return np.stack([*who[:, :4].T, number, piece.line[at].astype(np.int64), start, end, who[:, 4]], axis=1)


def _instances(table: np.ndarray, is_guess: bool) -> BarrierSkew:
    key = table[:, :6]
    first = np.flatnonzero(np.append(True, np.any(key[1:] != key[:-1], axis=1))[: len(key)])
    count = np.diff(np.append(first, len(key)))
    if not len(first):
        i4, i8 = np.zeros(0, np.int32), np.zeros(0, np.int64)
        return BarrierSkew(i4, i4, i8, i8, i8, i4, i8, 0, is_guess)
    last = first + count - 1
    arrived, release = table[:, 6], table[:, 7]
    skew = arrived[last] - arrived[first]
    spread = np.maximum.reduceat(release, first) - np.minimum.reduceat(release, first)
    stall = np.add.reduceat(release - arrived, first)
    several, near = count > 1, spread <= NEAR
    keep = np.flatnonzero(several & near)
    return BarrierSkew(
        table[first, 5][keep].astype(np.int32),
        count[keep].astype(np.int32),
        arrived[first][keep],
        skew[keep],
        spread[keep],
        table[last, 8][keep].astype(np.int32),
        stall[keep],
        int(np.count_nonzero(several & ~near)),
        is_guess,
    )
