"""Bubbles: cycles in which a SIMD holds waves and nothing happens, charged to the instructions that wait.

```
wave 0        ████░░░░░░██      █ issues   ░ stalls or has nothing to do
wave 1        ░░░░░░██░░░░
matrix unit   mmmmm·······
SIMD          ████·b██bb██      b: a bubble, half of each charged to the instruction of either wave
```
A stall that another wave covers costs nothing here, which plain sums of stall do not tell, and neither does
one under which the matrix unit works (`simd_work`: what counts as work).  Every other cycle with a wave is
split equally among the waves that are there: each charges its share to the instruction it stalls in, to the
one before which it is idle, or, behind its last token, as drain to that last one.  Only waves that were
recorded count.

A wave under s_endpgm waits for its last operations: behind its issue that is drain as well.  The reference
counts it as issue, which hides most bubbles of kernels that end with stores, and counts cycles in which only
the matrix unit works as bubbles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.token_columns import TokenColumns, token_columns
from rcv_py.analysis.device.simd_work import lives, simd_work, without_rows
from rcv_py.analysis.program.program_ends import ends_of, under_end
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

WAYS = ("idle", "stall", "drain")
_MAX_PARTS = 1 << 24  # up to here a cycle is counted in whole parts that every number of waves divides


@dataclass(frozen=True, eq=False)
class Bubbles:
    """One row an instruction that is charged anything, most first; cycles summed over SIMDs."""

    line: np.ndarray  # int32, code row; -1: tokens without a code line
    idle: np.ndarray  # float64, cycles before it
    stall: np.ndarray  # float64, cycles in it
    drain: np.ndarray  # float64, cycles behind it, as the last of its wave
    place: np.ndarray  # int32 [SIMDs], shader engine * 256 + SIMD
    resident_of: np.ndarray  # int64 [SIMDs], cycles with at least one wave
    issuing_of: np.ndarray  # int64 [SIMDs], cycles in which a wave issued
    no_issue_of: np.ndarray  # int64 [SIMDs], cycles with a wave and none that issued
    matrix_of: np.ndarray  # int64 [SIMDs], cycles with a wave in which the matrix unit worked
    bubble_of: np.ndarray  # int64 [SIMDs], cycles with a wave in which nothing happened
    waves: int  # how many were looked at
    assumption: str = ""  # what is taken for granted about matrix instructions

    @classmethod
    def empty(cls) -> Bubbles:
        """Nothing of no waves."""
        cycles, whole, narrow = np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
        return cls(narrow, cycles, cycles, cycles, narrow, *(whole,) * 5, waves=0)

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
    def no_issue(self) -> int:
        """Cycles in which a SIMD held waves and issued nothing."""
        return int(self.no_issue_of.sum())

    @property
    def matrix(self) -> int:
        """Cycles in which a SIMD held waves and its matrix unit worked; 0 by the reference's rule."""
        return int(self.matrix_of.sum())

    @property
    def bubble(self) -> int:
        """Cycles in which a SIMD held waves and nothing happened; by the reference's rule: none issued."""
        return int(self.bubble_of.sum())

    @property
    def busy_share(self) -> float:
        """Issuing part of the resident cycles, 0 if there are none."""
        return self.issuing / self.resident if self.resident else 0.0


def bubbles(
    trace: Trace,
    batches: Iterable[WaveBatch],
    rows: Collection[int] | None = None,
    rule: ReferenceRule = ReferenceRule.OURS,
) -> Bubbles:
    """Return the bubbles of the waves whose index row is in `rows` (None: all), each wave once.

    Waves that are left out still issue and keep units busy; bubbles are split among those that count.
    """
    batches = tuple(batches)
    found = [piece for piece in token_columns(batches, rows) if len(piece.waves)]
    work = simd_work(trace, batches, rows, rule)
    found = without_rows(found, work.left_out)
    if not found:
        return Bubbles.empty()
    axis = work.axis
    ends = ends_of(trace.code) if rule is ReferenceRule.OURS else np.zeros(0, dtype=bool)
    sweep = _Sweep(*lives([wave for piece in found for wave in piece.waves], axis), work.work)
    charged = np.zeros((len(WAYS), len(trace.code) + 1), dtype=np.int64 if sweep.is_exact else np.float64)
    for piece in found:
        rest = under_end(piece, ends)
        for way, (line, begin, end) in enumerate(_waiting(piece, axis.shift(piece.waves), rest)):
            row = np.where((line >= 0) & (line < len(trace.code)), line, len(trace.code))
            np.add.at(charged[way], row, sweep.until(end) - sweep.until(begin))
    cycles = charged / sweep.parts
    whole = cycles.sum(axis=0)
    rows = np.flatnonzero(whole)
    rows = rows[np.lexsort((rows, -whole[rows]))]
    idle, stall, drain = cycles[:, rows]
    return Bubbles(
        line=np.where(rows == len(trace.code), -1, rows).astype(np.int32),
        idle=idle,
        stall=stall,
        drain=drain,
        place=axis.place.astype(np.int32),
        resident_of=axis.by_simd(work.resident),
        issuing_of=axis.by_simd(work.issue),
        no_issue_of=axis.by_simd(work.no_issue),
        matrix_of=axis.by_simd(work.resident_matrix),
        bubble_of=axis.by_simd(work.nothing),
        waves=work.waves,
        assumption=work.assumption,
    )


def _waiting(
    piece: TokenColumns, shift: np.ndarray, rest: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield (line, begin, end) of what waves wait for, in the order of WAYS: parts of their lives.

    What a token does while an earlier one of its wave is not done is the earlier one's, so that nothing is
    charged twice where tokens overlap.
    """
    count, owner = np.diff(piece.first), piece.owner
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


def _done(piece: TokenColumns, start: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The latest end of the tokens of the same wave before each of these rows."""
    end = start + piece.duration
    if not np.any((end[:-1] > start[1:]) & ~piece.is_last[:-1]):
        return start[rows]  # nothing overlaps
    reach = int(end.max() - start.min()) + 1
    lift = piece.owner * reach - start.min()
    latest = np.maximum.accumulate(np.append(0, (end + lift)[:-1]))
    return np.maximum(latest - lift, start.min())[rows]


def _cut(
    begin: np.ndarray, end: np.ndarray, low: np.ndarray, high: np.ndarray, owner: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    begin = np.clip(begin, low[owner], high[owner])
    return begin, np.maximum(begin, np.minimum(end, high[owner]))


class _Sweep:
    """The axis cut wherever a SIMD begins or ends to work, or a wave comes or goes."""

    def __init__(self, begin: np.ndarray, end: np.ndarray, busy: IntervalSet) -> None:
        time = np.concatenate([begin, end])
        order = np.argsort(time, kind="stable")
        change = np.concatenate([np.ones(len(begin), np.int64), np.full(len(end), -1)])[order]
        time = time[order]
        last = np.append(time[1:] != time[:-1], True)
        time, waves = time[last], np.cumsum(change)[last]
        # Three sorted runs: a stable sort merges them, which is much faster than `np.unique`.
        cut = np.sort(np.concatenate([time, busy.begin, busy.end]), kind="stable")
        self._cut = cut[np.append(True, cut[1:] != cut[:-1])]
        waves = waves[np.maximum(np.searchsorted(time, self._cut, side="right") - 1, 0)]
        covered = np.searchsorted(busy.begin, self._cut, side="right") - 1
        is_busy = (covered >= 0) & (self._cut < busy.end[covered]) if len(busy.begin) else waves < 0
        waves = np.where(is_busy, 0, waves)
        parts = int(np.lcm.reduce(np.unique(waves[waves > 0]), initial=1)) if waves.max(initial=0) < 24 else 0
        self.is_exact = 0 < parts <= _MAX_PARTS
        self.parts = parts if self.is_exact else 1
        self._rate = np.where(waves > 0, self.parts / np.maximum(waves, 1), 0)
        if self.is_exact:
            self._rate = self._rate.round().astype(np.int64)
        length = np.diff(self._cut, append=self._cut[-1:])
        self._before = np.append(0, np.cumsum(length * self._rate)[:-1])

    def until(self, time: np.ndarray) -> np.ndarray:
        """What one wave that is there all the time is charged before each time, in parts of a cycle."""
        row = np.maximum(np.searchsorted(self._cut, time, side="right") - 1, 0)
        return self._before[row] + (time - self._cut[row]) * self._rate[row]
