"""Meetings: the n-th barriers of the waves of a workgroup, and who came to them last.

```
wave 0  ──b░░░░│──b░│──     its first and its second barrier
wave 1  ─────b░│─b░░│──     came last to the first meeting, which opened a moment later
wave 2  ──b░░░░│────■       ended instead of coming to the second: nobody waits for it any longer
```
The hardware counts: a barrier opens when as many waves have arrived as are left of the workgroup.  So a wave
that ends can be the one that all others waited for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.token_columns import Piece
from rcv_py.analysis.waves.workgroups import RELEASE, Crossings

# Cycles from the last arrival to the first release: 4 or 8 on gfx9, without exception in real captures.  Of
# later generations it is not known: the least of a capture counts there, if it is no longer than `SLOWEST`.
GFX9_DELAY = 4
SLOWEST = 16
LATER = 4  # cycles that a barrier may take longer than it does at least


@dataclass(frozen=True, eq=False)
class Meetings:
    """One row a meeting, by workgroup and turn.  Times are cycles on the clock of the crossings."""

    of: np.ndarray  # int64 [crossings], meeting of each
    waves: np.ndarray  # int64, how many of its waves were recorded there
    last: np.ndarray  # int64, crossing of the wave that arrived last
    left: np.ndarray  # int64, wave that ended after all arrivals and so opened the barrier; -1: none
    first_arrived: np.ndarray  # int64
    last_arrived: np.ndarray  # int64, when `last` arrived, or when `left` ended
    released: np.ndarray  # int64, the first release
    spread: np.ndarray  # int64, cycles from the first to the last release of waves that were held
    delay: int  # cycles from the last arrival to the first release that the barrier itself takes, at least

    def __len__(self) -> int:
        return len(self.last)

    @property
    def is_seen(self) -> np.ndarray:
        """Whether the wave they waited for was recorded, bool: else it opened long after all that were."""
        return self.released - self.last_arrived <= self.delay + LATER


def meetings(at: Crossings, group: np.ndarray, last_end: np.ndarray, slowest: int = SLOWEST) -> Meetings:
    """Return the meetings of waves with these workgroups.

    `last_end` is the end of each wave's last token (int64 [waves]).  How long the barrier itself takes is the
    least time from a last arrival to a release, but not more than `slowest`: where it always took longer,
    other waves came last that were not recorded.
    """
    order = np.lexsort((at.arrived, at.nth, group[at.wave]))
    of_group, nth = group[at.wave[order]], at.nth[order]
    is_first = np.append(True, (np.diff(of_group) != 0) | (np.diff(nth) != 0))[: len(order)]
    first = np.flatnonzero(is_first)
    of = np.empty(len(order), dtype=np.int64)
    of[order] = np.cumsum(is_first) - 1
    if not len(first):
        none = np.zeros(0, dtype=np.int64)
        return Meetings(of, none, none, none, none, none, none, none, slowest)
    ends = np.append(first[1:], len(order)) - 1
    last = order[ends]
    arrived = at.arrived[order]
    # A wave that was not held may have passed later than the barrier opened.
    far, low = int(at.released.max()), int(at.released.min())
    held = at.is_held[order]
    released = np.minimum.reduceat(np.where(held, at.released[order], far), first)
    latest = np.maximum.reduceat(np.where(held, at.released[order], low), first)
    left, when = _left(at, group, last_end, (of_group[first], nth[first]), (arrived[ends], released))
    delay = min(slowest, max(0, int((released - when).min())))
    spread = np.maximum(latest - released, 0)
    return Meetings(of, ends - first + 1, last, left, arrived[first], when, released, spread, delay)


def _left(
    at: Crossings,
    group: np.ndarray,
    last_end: np.ndarray,
    which: tuple[np.ndarray, np.ndarray],
    between: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the wave that ended last instead of coming to each meeting, and when the last came or ended."""
    of_group, nth = which
    arrived, released = between
    left, when = np.full(len(nth), -1, dtype=np.int64), arrived.copy()
    had = np.zeros(len(group), dtype=np.int64)
    np.maximum.at(had, at.wave, at.nth + 1)
    wide = int(max(nth.max(), had.max())) + 2
    key = of_group * wide + nth
    wave = np.flatnonzero(group >= 0)
    row = np.searchsorted(key, group[wave] * wide + had[wave])
    row_or_0 = np.minimum(row, len(key) - 1)
    fits = (key[row_or_0] == group[wave] * wide + had[wave]) & (last_end[wave] > arrived[row_or_0])
    fits &= last_end[wave] <= released[row_or_0] + RELEASE
    wave, row = wave[fits], row[fits]
    order = np.lexsort((last_end[wave], row))
    left[row[order]], when[row[order]] = wave[order], last_end[wave[order]]
    return left, when


def last_ends(piece: Piece) -> np.ndarray:
    """When the last token of each wave ended, int64 cycles; the begin of those without tokens."""
    ends = np.array([wave.begin for wave in piece.waves], dtype=np.int64)
    some = np.flatnonzero(np.diff(piece.first) > 0)
    last = piece.first[1:][some] - 1
    ends[some] = piece.start[last] + piece.duration[last]
    return ends
