"""Working times of each SIMD: a traced wave issues on it, or one of its units executes.

```
wave 0        ██░░░░░░░░░░░░██       █ issues   ░ stalls
wave 1        ░░░░░░██░░░░░░░░
matrix unit   mmmmmmmmmm······       m: the passes of the matrix instruction of wave 0
SIMD          wwwwwwwwww····ww       no-issue cycles: 10; nothing happens in 4 of them
```
A no-issue cycle is not lost while the matrix unit computes: a bound on what a change can win counts only
cycles in which nothing happens at all.  Recorded times are used unchanged: on gfx9 a token is busy while it
issues, which for slow arithmetic is as long as its pipe takes (v_exp_f32: 8 cycles on gfx950, after which the
next instruction issues at once), and on later generations while it executes.  Only matrix passes last longer
than their record.  They begin at the issue, and queue on the matrix unit of the SIMD (`matrix_passes`).

Waves that do not count (`rows`) still issue and keep units busy; they just do not make a SIMD resident.
LDS and the memory path are outside the SIMD: on a SIMD that only waits for them nothing happens.
"""

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.intervals import IntervalSet, serial_busy
from rcv_py.analysis.core.median import median
from rcv_py.analysis.core.parcels import FOREVER, Parcel
from rcv_py.analysis.core.reduction import Reduction, stacked
from rcv_py.analysis.core.saturated import MAX_CYCLES, summed, sums
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.analysis.program.branches import ends_of, rests
from rcv_py.analysis.program.matrix_forms import MatrixPasses, passes_of
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, join_texts, plural
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace

MAX_DISTANCE = 1 << 48  # cycles, more than a day: thousands of SIMDs with such stretches fit the axis


class SimdAxis(Value):
    """All SIMDs in sequence on a single axis of time, so that one sort serves all of them."""

    place: np.ndarray  # int64 [SIMDs], shader engine * 256 + SIMD, ascending
    origin: int  # cycle that lies at the begin of each SIMD's stretch
    stride: int  # length of a stretch, cycles

    def shift(self, tokens: TokenColumns) -> np.ndarray:
        """Return the offset that moves times of each wave onto the axis, int64 [waves]."""
        return np.searchsorted(self.place, tokens.places) * self.stride - self.origin

    def held(self, time: np.ndarray) -> np.ndarray:
        """Clip aligned times, before the shift, to the axis range of a SIMD; int64."""
        return np.clip(time, self.origin, self.origin + self.stride - 1)

    def by_simd(self, covered: IntervalSet) -> np.ndarray:
        """Return the covered cycles of each SIMD, int64 [SIMDs]."""
        begins = np.arange(len(self.place), dtype=np.int64) * self.stride
        return covered.covered(begins, begins + self.stride)


class SimdWork(Record):
    """Activity of SIMDs, each column a union of spans on the axis."""

    axis: SimdAxis
    resident: IntervalSet  # at least one wave that counts is on the SIMD
    issue: IntervalSet  # a wave issues (later than gfx9: issues or executes), without time under s_endpgm
    matrix: IntervalSet  # the matrix unit works
    waves: int  # waves that count
    assumption: str  # what is assumed about matrix instructions and times, "" if nothing is
    left_out: frozenset[int] = frozenset()  # index rows of waves whose times do not fit any axis

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


def work_of(
    trace: Trace, parcel: Parcel, left_out: frozenset[int], rule: ReferenceRule = ReferenceRule.OURS
) -> SimdWork:
    """Return when SIMDs were resident and worked, inside the slab; `left_out` is the result of ASTRAY.

    Chosen waves are resident; all waves issue and keep units busy.  The reference rule counts time under
    s_endpgm as issue and ignores the work of units.  `waves` counts the waves that begin in the slab.
    """
    is_ours, passes, tokens = rule is ReferenceRule.OURS, passes_of(trace), parcel.tokens
    ends = ends_of(trace.code) if is_ours else np.zeros(0, dtype=bool)
    left_out = left_out & set(tokens.rows.tolist())
    chosen = parcel.chosen[~np.isin(tokens.rows, list(left_out))]
    if left_out:
        tokens = of_waves(wave for wave in tokens.waves if wave.row not in left_out)
    at, cycles = passes.of_tokens(tokens)
    axis = _axis(tokens, int(cycles.sum()))
    worked = at[: len(at) if is_ours else 0]
    shift = axis.shift(tokens)
    issue = tokens.issue.take(worked) + shift.take(tokens.owner.take(worked))
    begin = np.repeat(shift, np.diff(tokens.first))
    begin += tokens.issue
    end = begin + tokens.busy
    under_end, rest = rests(tokens, ends)
    end[under_end] -= rest
    work = SimdWork(
        axis=axis,
        resident=IntervalSet.of(*(time[chosen] for time in lives(tokens, axis))),
        issue=IntervalSet.of(begin, end),
        matrix=serial_busy(issue, cycles[: len(worked)]),
        waves=int(chosen.sum()),
        assumption=assumption(passes, left_out, rule),
        left_out=left_out,
    )
    return work_inside(work, parcel)


def work_inside(work: SimdWork, parcel: Parcel) -> SimdWork:
    """Return the part of work that lies in the slab of a parcel of the same waves."""
    begin, end = (work.axis.held(np.array([time])) - work.axis.origin for time in (parcel.begin, parcel.end))
    if parcel.end == FOREVER:
        end = np.array([work.axis.stride])
    of_simd = np.arange(len(work.axis.place), dtype=np.int64) * work.axis.stride
    slab = IntervalSet.of(of_simd + begin, of_simd + end)
    return replace(
        work,
        resident=work.resident & slab,
        issue=work.issue & slab,
        matrix=work.matrix & slab,
        waves=sum(wave.row not in work.left_out for wave in parcel.own.waves),
    )


def assumption(passes: MatrixPasses, left_out: Collection[int], rule: ReferenceRule) -> str:
    """Return what is assumed about matrix instructions and times, "" if nothing is."""
    sentences = [passes.assumption] if rule is ReferenceRule.OURS else []
    if left_out:
        whose = "its times" if len(left_out) == 1 else "their times"
        sentences.append(
            Message("{0} left out: {1} lie days apart from the others.", plural(len(left_out), "wave"), whose)
        )
    return join_texts(" ", filter(None, sentences))


class SimdCycles(ColumnTable):
    """Working cycles of SIMDs: one row a SIMD, int64."""

    place: np.ndarray  # shader engine * 256 + SIMD, ascending
    resident: np.ndarray
    issuing: np.ndarray  # a few may lie after the recorded end of a wave
    no_issue: np.ndarray
    matrix: np.ndarray  # resident, and the matrix unit works
    nothing: np.ndarray


def simd_cycles(work: SimdWork) -> SimdCycles:
    """Return the cycles of each SIMD."""
    by_simd, lived = work.axis.by_simd, work.resident
    simd, resident = lived.begin // work.axis.stride, by_simd(lived)

    def while_resident(covered: IntervalSet) -> np.ndarray:
        return sums(simd, covered.covered(lived.begin, lived.end), len(resident))

    return SimdCycles(
        place=work.axis.place,
        resident=resident,
        issuing=by_simd(work.issue),
        no_issue=resident - while_resident(work.issue),
        matrix=while_resident(work.matrix),
        nothing=by_simd(work.nothing),
    )


def joined_cycles(parts: Sequence[SimdCycles]) -> SimdCycles:
    """Return the sums of several slabs by SIMD."""
    one = joined([SimdCycles.empty(), *parts])
    place, *sums = summed(one.place, one.resident, one.issuing, one.no_issue, one.matrix, one.nothing)
    return SimdCycles(place, *sums)


def _times(trace: Trace, parcel: Parcel) -> np.ndarray:
    """Index row, begin, first and last time of each wave, int64 [waves, 4]."""
    tokens = parcel.begun
    begin, end = tokens.lives
    low, high = np.minimum(begin, end), np.maximum(begin, end)
    some = np.flatnonzero(np.diff(tokens.first))
    if len(some):
        first = tokens.first[some]
        low[some] = np.minimum(low[some], np.minimum.reduceat(tokens.start, first))
        high[some] = np.maximum(high[some], np.maximum.reduceat(tokens.end, first))
    return np.column_stack([tokens.rows, begin, low, high])


def _astray(trace: Trace, times: np.ndarray) -> frozenset[int]:
    """Index rows of waves with a time so far from the others that only damage explains it."""
    if not len(times):
        return frozenset()
    row, begin, low, high = times.T
    middle = int(median(begin))
    is_far = (high > min(middle + MAX_DISTANCE, MAX_CYCLES)) | (low < max(middle - MAX_DISTANCE, -MAX_CYCLES))
    return frozenset(row[is_far].tolist())


ASTRAY = Reduction(_times, stacked(4), _astray)


def lives(tokens: TokenColumns, axis: SimdAxis) -> tuple[np.ndarray, np.ndarray]:
    """Return begin and end of waves on the axis, int64 each; no wave ends before it begins."""
    shift, (begin, end) = axis.shift(tokens), tokens.lives
    return begin + shift, np.maximum(begin, end) + shift


def _axis(tokens: TokenColumns, work: int) -> SimdAxis:
    """An axis with stretches that hold the recorded times and all matrix passes (`work` cycles) in a row."""
    if not tokens.waves:
        return SimdAxis(np.zeros(0, dtype=np.int64), 0, 1)
    begin, end = tokens.lives
    low = min(int(begin.min()), int(tokens.start.min(initial=begin.min())))
    high = max(int(begin.max()), int(end.max()), tokens.last_end)
    return SimdAxis(ascending(tokens.places), low, high - low + work + 1)
