"""Bubbles: cycles in which a SIMD holds waves and none of them issues, charged to the lines that wait.

```
wave 0   ████░░░░░░██      █ issues   ░ stalls or has nothing to do
wave 1   ░░░░░░██░░░░
SIMD     ████bb██bb██      b: a bubble, half of each charged to the line of either wave
```
A stall that another wave covers costs nothing here, which plain sums of stall do not tell.  A SIMD issues in
the union of [start + stall, end) of the tokens of its waves; every other cycle with a wave is split equally
among the waves that are there: each charges its share to the line it stalls in, to the line in front of which
it is idle, or, behind its last token, as drain to that last line.  Only waves that were recorded count.

A wave under s_endpgm waits for its last operations: behind its issue that is drain as well.  The reference
counts it as issue, which hides most bubbles of kernels that end with stores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.busy_intervals import inside, merged
from rcv_py.analysis.chosen import Piece, pieces
from rcv_py.analysis.program_ends import ends_of, under_end
from rcv_py.analysis.union import Union
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

WAYS = ("idle", "stall", "drain")
_MOST_PARTS = 1 << 24  # up to here a cycle is counted in whole parts that every number of waves divides


@dataclass(frozen=True, eq=False)
class Bubbles:
    """One row a code line that is charged anything, most first; cycles summed over SIMDs."""

    line: np.ndarray  # int32, code row; -1: tokens without a code line
    idle: np.ndarray  # float64, cycles in front of it
    stall: np.ndarray  # float64, cycles in it
    drain: np.ndarray  # float64, cycles behind it, as the last of its wave
    place: np.ndarray  # int32 [SIMDs], shader engine * 256 + SIMD
    resident_of: np.ndarray  # int64 [SIMDs], cycles with at least one wave
    issuing_of: np.ndarray  # int64 [SIMDs], cycles in which a wave issued
    bubble_of: np.ndarray  # int64 [SIMDs], cycles with a wave and none that issued
    waves: int  # how many were looked at

    def __len__(self) -> int:
        return len(self.line)

    @property
    def total(self) -> np.ndarray:
        """Charged cycles of each line, float64."""
        return self.idle + self.stall + self.drain

    @property
    def resident(self) -> int:
        """Cycles in which a SIMD held a wave, summed over SIMDs."""
        return int(self.resident_of.sum())

    @property
    def issuing(self) -> int:
        """Cycles in which a SIMD issued; a few may lie behind the recorded end of a wave."""
        return int(self.issuing_of.sum())

    @property
    def bubble(self) -> int:
        """Cycles in which a SIMD held waves and issued nothing."""
        return int(self.bubble_of.sum())

    @property
    def busy_share(self) -> float:
        """Issuing part of the resident cycles, 0 if there are none."""
        return self.issuing / self.resident if self.resident else 0.0


@dataclass(frozen=True, eq=False)
class _Axis:
    """All SIMDs one behind the other on one axis of time."""

    place: np.ndarray  # int32 [SIMDs]
    origin: int
    stride: int

    def shift(self, piece: Piece) -> np.ndarray:
        """What brings a time of each wave onto the axis, int64 [waves]."""
        return np.searchsorted(self.place, _places(piece)) * self.stride - self.origin


def bubbles(
    trace: Trace,
    batches: Iterable[WaveBatch],
    rows: Collection[int] | None = None,
    rule: ReferenceRule = ReferenceRule.OURS,
) -> Bubbles:
    """Return the bubbles of the waves whose index row is in `rows` (None: all), each wave once.

    With waves left out, cycles that those covered count as bubbles too.
    """
    found = [piece for piece in pieces(batches, rows) if len(piece.waves)]
    if not found:
        none, whole = np.zeros(0), np.zeros(0, dtype=np.int64)
        line = none.astype(np.int32)
        return Bubbles(line, none, none, none, line, whole, whole, whole, 0)
    axis = _axis(found)
    ends = ends_of(trace.code) if rule is ReferenceRule.OURS else np.zeros(0, dtype=bool)
    rests = [under_end(piece, ends) for piece in found]
    busy = _issuing(found, axis, rests)
    sweep = _Sweep(*_lives(found, axis), busy)
    charged = np.zeros((len(WAYS), len(trace.code) + 1), dtype=np.int64 if sweep.is_exact else np.float64)
    for piece, rest in zip(found, rests, strict=True):
        for way, (line, begin, end) in enumerate(_waiting(piece, axis.shift(piece), rest)):
            row = np.where((line >= 0) & (line < len(trace.code)), line, len(trace.code))
            np.add.at(charged[way], row, sweep.until(end) - sweep.until(begin))
    cycles = charged / sweep.parts
    whole = cycles.sum(axis=0)
    line = np.flatnonzero(whole)
    line = line[np.lexsort((line, -whole[line]))]
    begin = np.arange(len(axis.place)) * axis.stride
    sums = [inside(covered, begin, begin + axis.stride) for covered in (sweep.resident, busy)]
    sums.append(sweep.silent(begin, begin + axis.stride))
    named = np.where(line == len(trace.code), -1, line).astype(np.int32)
    waves = sum(len(one.waves) for one in found)
    return Bubbles(named, *cycles[:, line], axis.place, *sums, waves)


def _places(piece: Piece) -> np.ndarray:
    return np.array([wave.id.se * 256 + wave.id.simd for wave in piece.waves], dtype=np.int32)


def _axis(found: list[Piece]) -> _Axis:
    place = np.unique(np.concatenate([_places(piece) for piece in found]))
    waves = [wave for piece in found for wave in piece.waves]
    low = min(wave.begin for wave in waves)
    high = max(max(wave.begin, wave.end) for wave in waves)
    for piece in found:
        low = min(low, int(piece.start.min(initial=low)))
        high = max(high, int((piece.start + piece.duration).max(initial=high)))
    return _Axis(place, low, high - low + 1)


def _lives(found: list[Piece], axis: _Axis) -> tuple[np.ndarray, np.ndarray]:
    shift = np.concatenate([axis.shift(piece) for piece in found])
    begin = np.array([wave.begin for piece in found for wave in piece.waves], dtype=np.int64)
    end = np.array([wave.end for piece in found for wave in piece.waves], dtype=np.int64)
    return begin + shift, np.maximum(begin, end) + shift


def _issuing(found: list[Piece], axis: _Axis, rests: list[np.ndarray]) -> Union:
    """When each SIMD issues, without the `rests` of tokens: joined inside each wave first, so that little is
    left to sort.
    """
    begins, ends = [], []
    for piece, rest in zip(found, rests, strict=True):
        if not len(piece):
            continue
        shift = np.repeat(axis.shift(piece), np.diff(piece.first))
        begin, end = piece.start + piece.stall + shift, piece.start + piece.duration - rest + shift
        first = np.append(True, (begin[1:] > end[:-1]) | (begin[1:] < begin[:-1]) | piece.is_last[:-1])
        at = np.flatnonzero(first)
        begins.append(begin[at])
        ends.append(np.maximum.reduceat(end, at))
    if not begins:
        return merged(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    return merged(np.concatenate(begins), np.concatenate(ends))


def _waiting(
    piece: Piece, shift: np.ndarray, rest: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield (line, begin, end) of what waves wait for, in the order of WAYS: parts of their lives.

    What a token does while an earlier one of its wave is not done is the earlier one's, so that nothing is
    charged twice where tokens overlap.
    """
    count, owner = np.diff(piece.first), np.repeat(np.arange(len(piece.waves)), np.diff(piece.first))
    low = np.array([wave.begin for wave in piece.waves], dtype=np.int64) + shift
    high = np.maximum(low, np.array([wave.end for wave in piece.waves], dtype=np.int64) + shift)
    start = piece.start + shift[owner]
    idle = piece.idle
    waits = np.flatnonzero(idle)
    yield piece.line[waits], *_cut(start[waits] - idle[waits], start[waits], low, high, owner[waits])
    waits = np.flatnonzero(piece.stall)
    begin, end = start[waits], (start + piece.stall)[waits]
    yield (
        piece.line[waits],
        *_cut(np.maximum(begin, _done(piece, start, waits)), end, low, high, owner[waits]),
    )
    ran = np.flatnonzero(count)
    last = low.copy()
    if len(ran):
        last[ran] = np.maximum(
            last[ran], np.maximum.reduceat(start + piece.duration - rest, piece.first[ran])
        )
    line = np.full(len(count), -1, dtype=np.int64)
    line[ran] = piece.line[piece.first[ran + 1] - 1]
    yield line, np.minimum(last, high), high


def _done(piece: Piece, start: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The latest end of the tokens of the same wave in front of each of these rows."""
    end = start + piece.duration
    if not np.any((end[:-1] > start[1:]) & ~piece.is_last[:-1]):
        return start[rows]  # nothing overlaps
    owner = np.repeat(np.arange(len(piece.waves)), np.diff(piece.first))
    reach = int(end.max() - start.min()) + 1
    lift = owner * reach - start.min()
    latest = np.maximum.accumulate(np.append(0, (end + lift)[:-1]))
    return np.maximum(latest - lift, start.min())[rows]


def _cut(
    begin: np.ndarray, end: np.ndarray, low: np.ndarray, high: np.ndarray, owner: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    begin = np.clip(begin, low[owner], high[owner])
    return begin, np.maximum(begin, np.minimum(end, high[owner]))


class _Sweep:
    """The axis cut wherever a SIMD begins or ends to issue, or a wave comes or goes."""

    def __init__(self, begin: np.ndarray, end: np.ndarray, busy: Union) -> None:
        time = np.concatenate([begin, end])
        order = np.argsort(time, kind="stable")
        change = np.concatenate([np.ones(len(begin), np.int64), np.full(len(end), -1)])[order]
        time = time[order]
        last = np.append(time[1:] != time[:-1], True)
        time, waves = time[last], np.cumsum(change)[last]
        self.resident = merged(begin, end)
        # Three sorted runs: a stable sort merges them, which is much faster than `np.unique`.
        cut = np.sort(np.concatenate([time, busy.begin, busy.end]), kind="stable")
        self._cut = cut[np.append(True, cut[1:] != cut[:-1])]
        waves = waves[np.maximum(np.searchsorted(time, self._cut, side="right") - 1, 0)]
        covered = np.searchsorted(busy.begin, self._cut, side="right") - 1
        is_busy = (covered >= 0) & (self._cut < busy.end[covered]) if len(busy.begin) else waves < 0
        waves = np.where(is_busy, 0, waves)
        parts = int(np.lcm.reduce(np.unique(waves[waves > 0]), initial=1)) if waves.max(initial=0) < 24 else 0
        self.is_exact = 0 < parts <= _MOST_PARTS
        self.parts = parts if self.is_exact else 1
        self._rate = np.where(waves > 0, self.parts / np.maximum(waves, 1), 0)
        if self.is_exact:
            self._rate = self._rate.round().astype(np.int64)
        length = np.diff(self._cut, append=self._cut[-1:])
        self._before = np.append(0, np.cumsum(length * self._rate)[:-1])
        self._silent = np.append(0, np.cumsum(length * (waves > 0)))

    def until(self, time: np.ndarray) -> np.ndarray:
        """What one wave that is there all the time is charged before each time, in parts of a cycle."""
        row = np.maximum(np.searchsorted(self._cut, time, side="right") - 1, 0)
        return self._before[row] + (time - self._cut[row]) * self._rate[row]

    def silent(self, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Bubble cycles of spans that end at cuts or outside of any life, int64."""
        low, high = (np.searchsorted(self._cut, time) for time in (begin, end))
        return self._silent[high] - self._silent[low]
