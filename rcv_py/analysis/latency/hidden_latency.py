"""Hidden latency: the part of idle, stall and issue during which the SIMD did other useful work.

It is an estimate.  Latency that other waves cover costs no time; the rest is worth working on.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rcv_py.analysis.core.cost_columns import split_cycles
from rcv_py.analysis.core.intervals import IntervalSet, owned, serial_busy
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, by_field, totals
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.core.token_columns import TokenColumns, of_waves
from rcv_py.analysis.program.matrix_forms import matrix_passes
from rcv_py.base.progress import checkpoint
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import distinct, starts_run
from rcv_py.base.text import Message, join_texts
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import TokenKind
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import NOT_RUN, Trace
from rcv_py.model.waves import TracedWave

MATRIX, VALU, VMEM, SCALAR, OTHER = range(5)  # units, the most important first

_UNITS = {
    **{TokenKind.MATRIX: MATRIX, TokenKind.VALU: VALU},
    **dict.fromkeys((TokenKind.VMEM, TokenKind.FLAT, TokenKind.LDS), VMEM),
    **dict.fromkeys((TokenKind.SALU, TokenKind.SMEM), SCALAR),
}


class SimdTokens(Record):
    """Tokens of all waves, one wave after the other.  Times are int64 cycles since `base`."""

    places: tuple[tuple[int, int], ...]  # (se, simd) of each lane
    lane: np.ndarray  # int64 [waves], the SIMD a wave ran on: index in `places`
    begin: np.ndarray  # int64 [waves]
    wave: np.ndarray  # int64 [n], index of the token's wave
    start: np.ndarray  # int64 [n]
    issue: np.ndarray  # int64 [n]
    end: np.ndarray  # int64 [n]
    unit: np.ndarray  # uint8 [n], MATRIX to OTHER
    line: np.ndarray  # int64 [n], -1 if no code line matched
    base: int

    def __len__(self) -> int:
        return len(self.line)

    @property
    def span(self) -> int:
        """Greater than all times."""
        return int(max(self.end.max(initial=0), self.start.max(initial=0), self.begin.max(initial=0))) + 1

    @property
    def before(self) -> np.ndarray:
        """The end of the previous token, for the first token the begin of the wave; int64."""
        return np.where(starts_run(self.wave), self.begin[self.wave], np.roll(self.end, 1))

    @property
    def latest(self) -> np.ndarray:
        """The latest end of all earlier tokens, for the first token the begin of the wave; int64."""
        shift = self.wave * self.span
        return np.maximum.accumulate(self.before + shift) - shift


def simd_tokens(tokens: TokenColumns) -> SimdTokens:
    """Return the tokens of some waves."""
    se, simd, begin = tokens.engines, tokens.simds, tokens.lives[0]
    first, lane = distinct(se, simd)
    far = np.iinfo(np.int64).max
    base = int(min(tokens.start.min(initial=far), begin.min(initial=far)))
    unit = np.full(256, OTHER, dtype=np.uint8)
    unit[list(_UNITS)] = list(_UNITS.values())
    start = tokens.start - base
    issue = start + tokens.stall
    return SimdTokens(
        places=tuple(zip(se[first].tolist(), simd[first].tolist(), strict=True)),
        lane=lane,
        begin=begin - base,
        wave=tokens.owner,
        start=start,
        issue=issue,
        end=issue + tokens.busy,
        unit=unit[tokens.kind],
        line=tokens.line.astype(np.int64),
        base=base,
    )


ASSUMPTION = (
    "The reference viewer's rule: overlapping work of a unit is queued, a wave may hide its own latency, and "
    "three quarters of a matrix instruction's issue count as vector arithmetic."
)

OFFICIAL_ASSUMPTION = (
    "AMD's decoder computed this, by the rule of the reference viewer: overlapping work of a unit is queued, "
    "and a wave may hide its own latency."
)
_MATH, _VECTOR, _ALL = "math", "vector", "all"
_CANDIDATES = (  # unit, list A, list B, lists in which issue does not count
    (MATRIX, VALU, MATRIX, (True, True)),
    (VALU, VALU, MATRIX, (True, False)),
    (VMEM, _MATH, VMEM, (False, True)),
    (SCALAR, _VECTOR, SCALAR, (False, True)),
    (OTHER, _ALL, None, (False, False)),
)


def reference_parts(tokens: SimdTokens) -> np.ndarray:
    """Return the hidden idle, stall and issue of every token, int64 [3, n], cycles."""
    length = tokens.end - tokens.issue
    stride = 2 * tokens.span + int(length.sum()) * 2
    shift = tokens.lane[tokens.wave] * stride
    lists = _lists(tokens, tokens.issue + shift, length)
    checkpoint()
    before = tokens.before
    parts = np.zeros((3, len(tokens)), dtype=np.int64)
    for unit, one, other, is_own in _CANDIDATES:
        checkpoint()
        rows = np.flatnonzero(tokens.unit == unit)
        moved = shift[rows]
        edges = tuple(column[rows] + moved for column in (before, tokens.start, tokens.issue, tokens.end))
        first = _covered(lists[one], edges, is_own[0])
        second = _covered(lists[other], edges, is_own[1]) if other is not None else np.zeros_like(first)
        parts[:, rows] = np.where(first.sum(axis=0) > second.sum(axis=0), first, second)
    return parts


def _lists(tokens: SimdTokens, issue: np.ndarray, length: np.ndarray) -> dict[int | str, IntervalSet]:
    """The busy intervals of each unit and of their unions, on the axis of SIMDs."""
    lists: dict[int | str, IntervalSet] = {}
    is_matrix = tokens.unit == MATRIX
    for unit in (MATRIX, VALU, VMEM, SCALAR):
        checkpoint()
        rows = np.flatnonzero(tokens.unit == unit)
        begin, work = issue[rows], length[rows]
        if unit == VALU:
            begin = np.concatenate([begin, issue[is_matrix]])
            work = np.concatenate([work, length[is_matrix] * 3 // 4])
        lists[unit] = serial_busy(begin, work)
    checkpoint()
    lists[_MATH] = lists[VALU] | lists[MATRIX]
    lists[_VECTOR] = lists[_MATH] | lists[VMEM]
    lists[_ALL] = lists[_VECTOR] | lists[SCALAR]
    return lists


def _covered(busy: IntervalSet, edges: tuple[np.ndarray, ...], is_own: bool) -> np.ndarray:
    """Cycles of idle, stall and issue inside a list, int64 [3, n]; `is_own`: issue does not count."""
    parts = [busy.covered(begin, end) for begin, end in pairwise(edges)]
    return np.stack(parts) * [[1], [1], [0 if is_own else 1]]


SAMPLED = (
    "This capture has PC samples instead of a thread trace: no wave was followed, so nothing hides anything."
)
NO_WAVES = (
    "No wave was traced on the target compute unit, so it is not known what hides what. Record with a target "
    "compute unit (--att-target-cu) that gets waves."
)

# For each unit, the least important unit whose work covers a stall or idle, and the one that covers an issue
# (an issue is never covered by work of its own unit).
_COVERS_WAIT = {MATRIX: VALU, VALU: VALU, VMEM: VMEM, SCALAR: SCALAR, OTHER: SCALAR}
_COVERS_ISSUE = {VALU: MATRIX, VMEM: VALU, SCALAR: VMEM, OTHER: SCALAR}


class HiddenLatency(Value):
    """Hidden cycles of each code line, summed over the counted waves."""

    idle: np.ndarray  # int64 [code rows]
    stall: np.ndarray  # int64 [code rows]
    issue: np.ndarray  # int64 [code rows]
    assumption: str  # what the estimate assumes
    waves: int = 0  # counted waves
    code: CodeTable | None = None  # the program with the totals of these waves; None: the trace's own

    def parts(self, code: CodeTable, show_idle: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return hidden idle, stall and issue, each limited to the line's total; int64 each."""
        idle, stall, issue = split_cycles(code.latency, code.stall, code.idle, show_idle)
        return np.clip(self.idle, 0, idle), np.clip(self.stall, 0, stall), np.clip(self.issue, 0, issue)

    def hidden(self, code: CodeTable, show_idle: bool = True) -> np.ndarray:
        """Return the hidden cycles of each line, int64; without idle if that is not shown."""
        idle, stall, issue = self.parts(code, show_idle)
        return stall + issue + idle

    def nonhidden(self, code: CodeTable) -> np.ndarray:
        """Return what remains of each line's latency and idle, int64."""
        return np.maximum(code.latency, 0) + np.maximum(code.idle, 0) - self.hidden(code)


class _Hidden(Value):
    cycles: np.ndarray  # int64 [3, code rows]: hidden idle, stall and issue
    counted: int  # waves
    read: int  # waves


def _map(trace: Trace, parcel: Parcel) -> _Hidden:
    tokens = simd_tokens(parcel.tokens)
    parts = _parts(tokens, matrix_passes(trace.code, trace.target).cycles, trace)
    cycles = _by_line(tokens, parts, parcel.is_counted, len(trace.code))
    return _Hidden(cycles, len(parcel.own.waves), len(parcel.begun.waves))


def _by_line(tokens: SimdTokens, parts: np.ndarray, counts: np.ndarray, lines: int) -> np.ndarray:
    known = (tokens.line >= 0) & (tokens.line < lines) & counts
    return np.stack([sums(tokens.line[known], part[known], lines) for part in parts])


_merge = by_field(_Hidden, cycles=totals(3, 1), counted=sum, read=sum)


def _finish(trace: Trace, part: _Hidden) -> HiddenLatency:
    passes = matrix_passes(trace.code, trace.target).assumption
    parts = [
        "Estimate: a cycle is hidden while another wave of the same SIMD keeps a unit of the same or higher "
        "importance busy (matrix, vector arithmetic, memory, scalar)."
    ]
    if trace.architecture.busy_is_issue:
        text = "On gfx9 units but the matrix unit are busy only while they issue, as the trace shows no more."
        parts.append(text)
    if len(trace.other_simd):
        parts.append("Memory instructions of the sibling SIMD count as busy.")
    return _answer(trace, part, join_texts(" ", filter(None, (*parts, passes))))


def _answer(trace: Trace, part: _Hidden, assumption: str) -> HiddenLatency:
    idle, stall, issue = np.broadcast_to(part.cycles, (3, len(trace.code)))
    if part.read < len(trace.waves):
        text = " Only {0:,} of {1:,} waves are read, the rest hides nothing yet."
        assumption += Message(text, part.read, len(trace.waves))
    return HiddenLatency(idle, stall, issue, assumption, part.counted)


# The reference queues all work of a unit from the first wave to the last, so covered cycles are known only at
# the end: a partial result has the waves themselves, and whether each counts.
_Waves = tuple[tuple[TracedWave, bool], ...]


def _map_reference(trace: Trace, parcel: Parcel) -> _Waves:
    waves = zip(parcel.tokens.waves, parcel.is_own.tolist(), parcel.chosen.tolist(), strict=True)
    return tuple((wave, counts) for wave, is_own, counts in waves if is_own)


def _merge_reference(parts: Sequence[_Waves]) -> _Waves:
    return tuple(sorted((one for part in parts for one in part), key=lambda one: one[0].row))


def _finish_reference(trace: Trace, part: _Waves) -> HiddenLatency:
    if trace.code.hidden is not None and len(part) == sum(counts for _, counts in part) == len(trace.waves):
        stated = np.ascontiguousarray(trace.code.hidden.T)
        return _answer(trace, _Hidden(stated, len(part), len(part)), OFFICIAL_ASSUMPTION)
    found = [_Hidden(np.zeros((3, len(trace.code)), dtype=np.int64), 0, 0)]
    by_simd: dict[tuple[int, int], list[tuple[TracedWave, bool]]] = {}
    for one in part:
        by_simd.setdefault((one[0].id.se, one[0].id.simd), []).append(one)
    for some in by_simd.values():  # SIMDs share no queue
        checkpoint()
        waves, counts = zip(*some, strict=True)
        tokens = simd_tokens(of_waves(waves))
        counted = np.array(counts, dtype=bool)
        cycles = _by_line(tokens, reference_parts(tokens), counted[tokens.wave], len(trace.code))
        found.append(_Hidden(cycles, sum(counts), len(waves)))
    return _answer(trace, _merge(found), ASSUMPTION)


# Our rule: a cycle is hidden while another wave of the SIMD, counted or not, keeps a unit of at least equal
# importance busy (matrix, vector arithmetic, vector and local memory, scalar).  Overlapping busy times of a
# unit count once; a matrix instruction is busy for the passes of its form.  `reference_parts` is the
# reference's rule.
HIDDEN: dict[ReferenceRule, Reduction[Any, HiddenLatency]] = {
    ReferenceRule.OURS: Reduction(_map, _merge, _finish, is_together=True, is_of_simd=True),
    ReferenceRule.REFERENCE: Reduction(_map_reference, _merge_reference, _finish_reference),
}


def why_not_hidden(trace: Trace) -> str:
    """Return why there is no hidden latency to report, "" if there is."""
    if trace.is_static:
        return NOT_RUN
    if not trace.has_thread_trace:
        return SAMPLED
    return "" if len(trace.waves) else NO_WAVES


def _parts(tokens: SimdTokens, cycles: np.ndarray, trace: Trace) -> np.ndarray:
    """Hidden idle, stall and issue of every token by our rule, int64 [3, n]."""
    begin, end, owner, unit, lane = _busy(tokens, cycles, trace)
    stride = int(max(tokens.span, end.max(initial=0))) + 1
    latest = tokens.latest
    lane_shift, owner_shift = tokens.lane[tokens.wave] * stride, tokens.wave * stride
    edges = (
        (0, latest, tokens.start, _COVERS_WAIT),
        (1, tokens.start, tokens.issue, _COVERS_WAIT),
        (2, tokens.issue, tokens.end, _COVERS_ISSUE),
    )
    parts = np.zeros((3, len(tokens)), dtype=np.int64)
    for least in (MATRIX, VALU, VMEM, SCALAR):
        checkpoint()
        chosen = unit <= least
        busy = owned(begin[chosen], end[chosen], owner[chosen], stride, lane)
        if not len(busy.all.begin):
            continue
        for part, first, last, covers in edges:
            kinds = [kind for kind, by in covers.items() if by == least]
            rows = np.flatnonzero(np.isin(tokens.unit, kinds) & (last > first))
            parts[part, rows] = busy.by_others(first[rows], last[rows], lane_shift[rows], owner_shift[rows])
    return parts


def _busy(tokens: SimdTokens, cycles: np.ndarray, trace: Trace) -> tuple[np.ndarray, ...]:
    """Begin, end, owner and unit of all work, and the lane of every owner.

    Matrix work lasts for the passes of its instruction.  Every record of a sibling SIMD is its own owner,
    since its wave is unknown.
    """
    rows = np.flatnonzero(tokens.unit != OTHER)
    begin, end, unit = tokens.issue[rows], tokens.end[rows].copy(), tokens.unit[rows]
    matrix = np.flatnonzero(unit == MATRIX)
    line = tokens.line[rows[matrix]]
    known = (line >= 0) & (line < len(cycles))
    end[matrix[known]] = np.maximum(end[matrix[known]], begin[matrix[known]] + cycles[line[known]])
    work = [(begin, end, unit, tokens.lane)]
    for place, (se, simd) in enumerate(tokens.places):
        for other in trace.other_simd:
            if other.se == se and other.simd != simd:
                start = np.maximum(other.time - tokens.base, 0)
                stop = other.time + np.maximum(other.duration, 0) - tokens.base
                here = (stop > 0) & (start < tokens.span)
                start, stop = start[here], stop[here]
                some = np.full(len(start), place, dtype=np.int64)
                work.append((start, stop, np.full(len(start), VMEM), some))
    siblings = np.arange(len(tokens.lane), sum(len(part[3]) for part in work))
    owner = np.concatenate([tokens.wave[rows], siblings])
    begin, end, unit, lane = (np.concatenate([part[i] for part in work]) for i in range(4))
    return begin, end, owner, unit, lane


class HiddenTable(Value):
    """Code lines with any cost; all columns int64, cycles summed over waves.

    `total` is `seen` plus `hidden`; `hidden` is the sum of the three hidden parts.
    """

    line: np.ndarray  # row of the code table
    total: np.ndarray  # latency, and idle if it is shown
    seen: np.ndarray  # the part that nothing hides
    hidden: np.ndarray
    idle: np.ndarray  # hidden part of the idle time; 0 if idle is not shown
    stall: np.ndarray  # hidden part of the stall
    issue: np.ndarray  # hidden part of the issue
    seen_parts: np.ndarray  # [3, n]: stall, issue and idle that nothing hides

    @property
    def share(self) -> np.ndarray:
        """Hidden part of each line's total, float64."""
        return self.hidden / np.maximum(self.total, 1)


def hidden_table(code: CodeTable, latency: HiddenLatency, show_idle: bool = True) -> HiddenTable:
    """Return the lines that cost anything, the most expensive remainder first."""
    whole = np.stack(split_cycles(code.latency, code.stall, code.idle, show_idle))
    hidden = np.stack(latency.parts(code, show_idle))
    seen, total = whole - hidden, whole.sum(axis=0)
    rest = seen.sum(axis=0)
    rows = np.flatnonzero((total > 0) & ~code.is_label)
    rows = rows[np.lexsort((rows, -total[rows], -rest[rows]))]
    parts = dict(zip(("idle", "stall", "issue"), hidden[:, rows], strict=True))
    costs = {"total": total[rows], "seen": rest[rows], "hidden": hidden[:, rows].sum(axis=0)}
    return HiddenTable(line=rows, **costs, **parts, seen_parts=seen[[1, 2, 0]][:, rows])
