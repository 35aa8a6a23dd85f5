"""Exposed cycles: what waves wait for while nothing else of their SIMD issues.

```
wave 0   ████░░░░░░██      █ issues   ░ stalls
wave 1   ░░░░░░██░░░░
SIMD     ████xx██xx██      wave 0 stalls for 6 cycles, 4 of them exposed; wave 1 for 10, 4 of them exposed
```
A stall that another wave covers costs nothing.  Unlike bubbles, which share a silent cycle among the waves
that wait, every wave counts here with all of it: no change to one line can win more cycles than its waits
are exposed, and none more than there are silent cycles.  Time under s_endpgm is no issue: a wave waits there
for its last operations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.busy_intervals import inside, merged
from rcv_py.analysis.chosen import Piece, pieces
from rcv_py.analysis.program_ends import ends_of, under_end
from rcv_py.analysis.union import Union
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


@dataclass(frozen=True, eq=False)
class Exposure:
    """Exposed cycles of each code line, and what there is of silent ones."""

    stall: np.ndarray  # int64 [code rows], exposed cycles in which a wave stalled in the line
    idle: np.ndarray  # int64 [code rows], exposed cycles in which a wave was idle in front of it
    resident: int  # cycles in which a SIMD held a wave, summed over SIMDs
    silent: int  # of them, cycles in which none of its waves issued
    lives: int  # cycles that waves lived, summed over waves
    waves: int
    ending: int = 0  # cycles under s_endpgm, summed over waves
    exposed_ending: int = 0  # of them, cycles in which none of the SIMD's waves issued

    @property
    def issuing(self) -> int:
        """Cycles in which a SIMD with a wave issued, summed over SIMDs."""
        return self.resident - self.silent


def exposure(trace: Trace, batches: Iterable[WaveBatch]) -> Exposure:
    """Return what is exposed in the waves of the batches, each once."""
    found = [piece for piece in pieces(batches) if len(piece.waves)]
    rows = len(trace.code)
    stall, idle = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    shifts = _shifts(found)
    if not found:
        return Exposure(stall, idle, 0, 0, 0, 0)
    ends = ends_of(trace.code)
    rests = [under_end(piece, ends) for piece in found]
    issued = [_issuing(*each) for each in zip(found, shifts, rests, strict=True)]
    busy = merged(*(np.concatenate([part[i] for part in issued]) for i in (0, 1)))
    lives = [_lives(piece, shift) for piece, shift in zip(found, shifts, strict=True)]
    resident = merged(*(np.concatenate([life[i] for life in lives]) for i in (0, 1)))
    exposed_ending = 0
    for piece, shift, rest in zip(found, shifts, rests, strict=True):
        _add(stall, idle, piece, shift, busy)
        exposed_ending += _exposed_ending(piece, shift, rest, busy)
    whole = int(resident.before[-1])
    issuing = int(inside(busy, resident.begin, resident.end).sum())
    lived = sum(int((end - begin).sum()) for begin, end in lives)
    waves, ending = sum(len(piece.waves) for piece in found), sum(int(rest.sum()) for rest in rests)
    return Exposure(stall, idle, whole, whole - issuing, lived, waves, ending, exposed_ending)


def _shifts(found: list[Piece]) -> list[np.ndarray]:
    """What brings a time of each wave onto one axis with all SIMDs one behind the other, int64 [waves]."""
    if not found:
        return []
    places = [np.array([one.id.se * 256 + one.id.simd for one in piece.waves]) for piece in found]
    distinct = np.unique(np.concatenate(places))
    low = min(wave.begin for piece in found for wave in piece.waves)
    high = max(max(wave.begin, wave.end) for piece in found for wave in piece.waves)
    for piece in found:
        low = min(low, int(piece.start.min(initial=low)))
        high = max(high, int((piece.start + piece.duration).max(initial=high)))
    return [np.searchsorted(distinct, place) * (high - low + 1) - low for place in places]


def _lives(piece: Piece, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    begin = np.array([wave.begin for wave in piece.waves], dtype=np.int64)
    end = np.array([wave.end for wave in piece.waves], dtype=np.int64)
    return begin + shift, np.maximum(begin, end) + shift


def _issuing(piece: Piece, shift: np.ndarray, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """When waves issue: joined inside each wave first, so that little is left to sort."""
    begin = piece.start + np.repeat(shift, np.diff(piece.first)) + piece.stall
    end = begin + piece.busy - rest
    if not len(begin):
        return begin, end
    apart = (begin[1:] > end[:-1]) | (begin[1:] < begin[:-1]) | piece.is_last[:-1]
    at = np.flatnonzero(np.append(True, apart))
    return begin[at], np.maximum.reduceat(end, at)


def _add(stall: np.ndarray, idle: np.ndarray, piece: Piece, shift: np.ndarray, busy: Union) -> None:
    """Add what is exposed in some waves."""
    shift = np.repeat(shift, np.diff(piece.first))
    known = (piece.line >= 0) & (piece.line < len(stall))
    gap = piece.idle
    for column, length, before in ((stall, piece.stall, False), (idle, gap, True)):
        at = np.flatnonzero(known & (length > 0))
        long = length[at].astype(np.int64)
        begin = piece.start[at] + shift[at] - (long if before else 0)
        exposed = long - inside(busy, begin, begin + long)
        column[:] += np.bincount(piece.line[at], exposed, len(column)).astype(np.int64)


def _exposed_ending(piece: Piece, shift: np.ndarray, rest: np.ndarray, busy: Union) -> int:
    at = np.flatnonzero(rest)
    end = (piece.start + np.repeat(shift, np.diff(piece.first)) + piece.duration)[at]
    return int((rest[at] - inside(busy, end - rest[at], end)).sum())
