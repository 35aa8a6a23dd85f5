"""When each SIMD works: a traced wave issues on it, or a unit of it works on what was issued.

```
wave 0        ██░░░░░░░░░░░░██       █ issues   ░ stalls
wave 1        ░░░░░░██░░░░░░░░
matrix unit   mmmmmmmmmm······       m: the passes of the matrix instruction of wave 0
SIMD          wwwwwwwwww····ww       no-issue cycles: 10; nothing happens in 4 of them
```
A cycle in which no wave issues is not lost while the matrix unit computes: a bound on what a change can win
counts only cycles in which nothing happens at all.  Recorded times are taken as they are: on gfx9 a token is
busy while it issues, which for slow arithmetic is as long as its pipe takes (v_exp_f32: 8 cycles on gfx950,
after which the next instruction issues at once), and on later generations while it executes.  Only matrix
passes last longer than their record.  They begin at the issue, and each queues after the one before on the
unit of the SIMD (`matrix_passes`).

Waves that do not count (`rows`) still issue and keep units busy; they only do not make a SIMD resident.
LDS and the memory path belong to the compute unit or beyond: a SIMD that only waits for them does nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet, serial_busy
from rcv_py.analysis.core.saturated import MAX_CYCLES
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves, token_columns
from rcv_py.analysis.program.matrix_forms import UNKNOWN_CYCLES, MatrixPasses, matrix_passes
from rcv_py.analysis.program.program_ends import ends_of, under_end
from rcv_py.base.text import plural
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch

MAX_DISTANCE = 1 << 48  # cycles, more than a day: thousands of SIMDs with such stretches fit the axis


@dataclass(frozen=True, eq=False)
class SimdAxis:
    """All SIMDs one after the other on one axis of time, so that one sort serves all of them."""

    place: np.ndarray  # int64 [SIMDs], shader engine * 256 + SIMD, ascending
    origin: int  # cycle that lies at the begin of each SIMD's stretch
    stride: int  # length of a stretch, cycles

    def shift(self, waves: Iterable[Wave]) -> np.ndarray:
        """Return what brings a time of each wave onto the axis, int64 [waves]."""
        return np.searchsorted(self.place, _places(waves)) * self.stride - self.origin

    def shift_of(self, se: np.ndarray, simd: np.ndarray) -> np.ndarray:
        """Return the same for times on SIMDs that the axis has, by engine and SIMD; int64."""
        return np.searchsorted(self.place, se * 256 + simd) * self.stride - self.origin

    def held(self, time: np.ndarray) -> np.ndarray:
        """Return aligned times cut to what the axis holds of a SIMD, int64; before they are shifted."""
        return np.clip(time, self.origin, self.origin + self.stride - 1)

    @property
    def begins(self) -> np.ndarray:
        """Where the stretch of each SIMD begins, int64 [SIMDs]."""
        return np.arange(len(self.place), dtype=np.int64) * self.stride

    def by_simd(self, covered: IntervalSet) -> np.ndarray:
        """Return the covered cycles of each SIMD, int64 [SIMDs]."""
        return covered.covered(self.begins, self.begins + self.stride)


@dataclass(frozen=True, eq=False)
class SimdWork:
    """What SIMDs did, each column a union of spans on the axis."""

    axis: SimdAxis
    resident: IntervalSet  # at least one wave that counts is on the SIMD
    issue: IntervalSet  # a wave issues (later than gfx9: issues or executes), without time under s_endpgm
    matrix: IntervalSet  # the matrix unit works
    waves: int  # waves that count
    assumption: str  # what is taken for granted about matrix instructions and times, "" if nothing is
    left_out: frozenset[int] = frozenset()  # index rows of waves whose times no axis can hold

    @cached_property
    def work(self) -> IntervalSet:
        """A wave issues or a unit of the SIMD works."""
        return self.issue | self.matrix

    @cached_property
    def no_issue(self) -> IntervalSet:
        """Resident, and no wave issues."""
        return self.resident - self.issue

    @cached_property
    def nothing(self) -> IntervalSet:
        """Resident, and no wave issues and no unit of the SIMD works: nothing happens."""
        return self.resident - self.work

    @cached_property
    def resident_matrix(self) -> IntervalSet:
        """Resident, and the matrix unit works."""
        return self.resident & self.matrix

    @property
    def resident_cycles(self) -> int:
        """Cycles in which a SIMD held a wave that counts, summed over SIMDs."""
        return self.resident.total

    @property
    def no_issue_cycles(self) -> int:
        """Of the resident cycles those in which no wave of the SIMD issued."""
        return self.no_issue.total

    @property
    def nothing_cycles(self) -> int:
        """Of the resident cycles those in which nothing happened on the SIMD."""
        return self.nothing.total

    @property
    def matrix_cycles(self) -> int:
        """Of the resident cycles those in which the matrix unit worked."""
        return self.resident_matrix.total


def simd_work(
    trace: Trace,
    batches: Iterable[WaveBatch],
    rows: Collection[int] | None = None,
    rule: ReferenceRule = ReferenceRule.OURS,
) -> SimdWork:
    """Return when the SIMDs of the waves whose index row is in `rows` (None: all) were resident and worked.

    All waves of the batches issue and keep units busy.  The reference's rule counts time under s_endpgm as
    issue and knows no work of units.
    """
    is_ours = rule is ReferenceRule.OURS
    found = [piece for piece in token_columns(batches) if len(piece.waves)]
    left_out = _astray(found)
    found = without_rows(found, left_out)
    passes = matrix_passes(trace.code, trace.target)
    ends = ends_of(trace.code) if is_ours else np.zeros(0, dtype=bool)
    axis = _axis(found, passes)
    counted = [wave for piece in found for wave in piece.waves if rows is None or wave.row in rows]
    issued = [_issuing(piece, axis, under_end(piece, ends)) for piece in found]
    worked = [_matrix(piece, axis, passes) for piece in found] if is_ours else []
    return SimdWork(
        axis,
        IntervalSet.of(*lives(counted, axis)),
        IntervalSet.of(*_columns(issued)),
        serial_busy(*_columns(worked)),
        len(counted),
        " ".join(filter(None, (passes.assumption if is_ours else "", _said(left_out)))),
        left_out,
    )


def without_rows(found: list[TokenColumns], rows: Collection[int]) -> list[TokenColumns]:
    """Return the columns without the waves of these index rows; none of them is empty."""
    if not rows:
        return found
    kept = ([wave for wave in piece.waves if wave.row not in rows] for piece in found)
    return [of_waves(waves) for waves in kept if waves]


def _astray(found: list[TokenColumns]) -> frozenset[int]:
    """Index rows of waves of which a time lies so far from the others that only damage explains it."""
    waves = [wave for piece in found for wave in piece.waves]
    if not waves:
        return frozenset()
    middle = sorted(wave.begin for wave in waves)[len(waves) // 2]
    return frozenset(wave.row for piece in found for wave in _far(piece, middle))


def _far(piece: TokenColumns, middle: int) -> list[Wave]:
    """The waves of a piece with a time that is farther from the middle than MAX_DISTANCE."""
    begin = np.array([wave.begin for wave in piece.waves], dtype=np.int64)
    end = np.array([wave.end for wave in piece.waves], dtype=np.int64)
    ran = np.flatnonzero(np.diff(piece.first))
    low, high = np.minimum(begin, end), np.maximum(begin, end)
    if len(ran):
        low[ran] = np.minimum(low[ran], np.minimum.reduceat(piece.start, piece.first[ran]))
        high[ran] = np.maximum(high[ran], np.maximum.reduceat(piece.end, piece.first[ran]))
    is_far = (high > min(middle + MAX_DISTANCE, MAX_CYCLES)) | (low < max(middle - MAX_DISTANCE, -MAX_CYCLES))
    return [piece.waves[at] for at in np.flatnonzero(is_far).tolist()]


def _said(left_out: Collection[int]) -> str:
    """A sentence about waves that are left out."""
    if not left_out:
        return ""
    of = "its times" if len(left_out) == 1 else "their times"
    return f"{plural(len(left_out), 'wave')} left out: {of} lie days apart from the others."


def lives(waves: list[Wave], axis: SimdAxis) -> tuple[np.ndarray, np.ndarray]:
    """Return begin and end of waves on the axis, int64 each; no wave ends before it begins."""
    shift = axis.shift(waves)
    begin = np.array([wave.begin for wave in waves], dtype=np.int64)
    end = np.array([wave.end for wave in waves], dtype=np.int64)
    return begin + shift, np.maximum(begin, end) + shift


def _places(waves: Iterable[Wave]) -> np.ndarray:
    return np.array([wave.id.se * 256 + wave.id.simd for wave in waves], dtype=np.int64)


def _axis(found: list[TokenColumns], passes: MatrixPasses) -> SimdAxis:
    """Stretches are long enough for the recorded times and for all matrix passes one after the other."""
    if not found:
        return SimdAxis(np.zeros(0, dtype=np.int64), 0, 1)
    low, high, work = np.iinfo(np.int64).max, np.iinfo(np.int64).min, 0
    for piece in found:
        low = min(low, *(wave.begin for wave in piece.waves), int(piece.start.min(initial=low)))
        high = max(high, *(max(wave.begin, wave.end) for wave in piece.waves))
        high = max(high, int((piece.start + piece.duration).max(initial=high)))
        work += int(_pass_cycles(piece, passes)[1].sum())
    place = np.unique(np.concatenate([_places(piece.waves) for piece in found]))
    return SimdAxis(place, low, high - low + work + 1)


def _issuing(piece: TokenColumns, axis: SimdAxis, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """When waves issue: joined inside each wave first, so that little is left to sort."""
    begin = piece.start + np.repeat(axis.shift(piece.waves), np.diff(piece.first)) + piece.stall
    end = begin + piece.busy - rest
    if not len(begin):
        return begin, end
    apart = (begin[1:] > end[:-1]) | (begin[1:] < begin[:-1]) | piece.is_last[:-1]
    at = np.flatnonzero(np.append(True, apart))
    return begin[at], np.maximum.reduceat(end, at)


def _pass_cycles(piece: TokenColumns, passes: MatrixPasses) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens of matrix instructions and how long each keeps the unit busy, int64 each."""
    at = np.flatnonzero(piece.kind == TokenKind.MATRIX)
    line = piece.line[at].astype(np.int64)
    is_known = (line >= 0) & (line < len(passes.cycles))
    cycles = np.full(len(at), UNKNOWN_CYCLES, dtype=np.int64)
    cycles[is_known] = passes.cycles[line[is_known]]
    return at, cycles


def _matrix(piece: TokenColumns, axis: SimdAxis, passes: MatrixPasses) -> tuple[np.ndarray, np.ndarray]:
    """Return when matrix instructions issue, on the axis, and their cycles."""
    at, cycles = _pass_cycles(piece, passes)
    owner = np.searchsorted(piece.first, at, side="right") - 1
    return (piece.start + piece.stall)[at] + axis.shift(piece.waves)[owner], cycles


def _columns(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    none = np.zeros(0, dtype=np.int64)
    first, second = (np.concatenate([none, *(part[i] for part in parts)]) for i in (0, 1))
    return first, second
