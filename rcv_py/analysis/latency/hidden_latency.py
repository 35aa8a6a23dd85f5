"""Hidden latency: which part of idle, stall and issue passed while the SIMD was busy with something better.

It is an estimate.  Latency that other waves cover costs no time; what remains is worth working on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.cost_columns import total
from rcv_py.analysis.core.intervals import owned
from rcv_py.analysis.core.simd_tokens import MATRIX, OTHER, SCALAR, VALU, VMEM, SimdTokens, tokens_by_engine
from rcv_py.analysis.latency.hidden_reference import ASSUMPTION, reference_parts
from rcv_py.analysis.program.matrix_passes import matrix_passes
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

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


@dataclass(frozen=True, eq=False)
class HiddenLatency:
    """Hidden cycles of each code line, summed over the waves that were counted."""

    idle: np.ndarray  # int64 [code rows]
    stall: np.ndarray  # int64 [code rows]
    issue: np.ndarray  # int64 [code rows]
    assumption: str  # what the estimate takes for granted
    waves: int = 0  # that were counted
    code: CodeTable | None = None  # the program with the totals of these waves; None: as the trace has it

    def parts(self, code: CodeTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return hidden idle, stall and issue, none of them more than the line has of it; int64 each."""
        active = np.maximum(code.latency, 0)
        stall = np.clip(code.stall, 0, active)
        return (
            np.clip(self.idle, 0, np.maximum(code.idle, 0)),
            np.clip(self.stall, 0, stall),
            np.clip(self.issue, 0, active - stall),
        )

    def hidden(self, code: CodeTable, show_idle: bool = True) -> np.ndarray:
        """Return the hidden cycles of each line, int64; without idle if that is not shown."""
        idle, stall, issue = self.parts(code)
        return stall + issue + idle if show_idle else stall + issue

    def nonhidden(self, code: CodeTable, show_idle: bool = True) -> np.ndarray:
        """Return what remains of each line's latency (and idle), int64."""
        whole = np.maximum(code.latency, 0)
        if show_idle:
            whole = whole + np.maximum(code.idle, 0)
        return whole - self.hidden(code, show_idle)


def hidden_latency(
    trace: Trace,
    batches: Iterable[WaveBatch],
    rule: ReferenceRule = ReferenceRule.OURS,
    rows: Collection[int] | None = None,
) -> HiddenLatency:
    """Return the hidden idle, stall and issue of every code line over the waves in `rows` (None: all).

    `rows` are rows of the wave index; the other waves hide latency all the same.

    Our rule: a cycle counts as hidden when another wave of the SIMD keeps a unit of at least the same
    importance busy (matrix, vector arithmetic, vector and local memory, scalar).  Busy times of a unit are
    united; a matrix instruction is busy for the passes of its form.  The reference's: `hidden_reference`.
    """
    is_reference, lines = rule is ReferenceRule.REFERENCE, len(trace.code)
    passes = matrix_passes(trace.code, trace.target)
    sums, counted, read = np.zeros((3, lines), dtype=np.int64), 0, 0
    chosen = None if rows is None else np.array(sorted(rows), dtype=np.int64)
    for tokens in tokens_by_engine(batches):
        parts = reference_parts(tokens) if is_reference else _parts(tokens, passes.cycles, trace)
        known = (tokens.line >= 0) & (tokens.line < lines)
        mine = np.ones(len(tokens.row), dtype=bool) if chosen is None else np.isin(tokens.row, chosen)
        known &= mine[tokens.wave]
        sums += [total(tokens.line[known], part[known], lines) for part in parts]
        counted += int(np.count_nonzero(mine))
        read += len(tokens.row)
    assumption = ASSUMPTION if is_reference else _assumption(trace, passes.assumption)
    if read < len(trace.waves):
        assumption += f" Only {read:,} of {len(trace.waves):,} waves are read, the rest hides nothing yet."
    return HiddenLatency(sums[0], sums[1], sums[2], assumption, counted)


def why_not_hidden(trace: Trace) -> str:
    """Return why there is no hidden latency to tell, "" if there is."""
    if not trace.has_thread_trace:
        return SAMPLED
    return "" if len(trace.waves) else NO_WAVES


def _assumption(trace: Trace, passes: str) -> str:
    text = (
        "Estimate: a cycle is hidden while another wave of the same SIMD keeps a unit of the same or higher "
        "importance busy (matrix, vector arithmetic, memory, scalar)."
    )
    if trace.gfxip <= 9:
        text += (
            " On gfx9 units but the matrix unit are busy only while they issue, as the trace tells no more."
        )
    if len(trace.other_simd):
        text += " Memory instructions of the sibling SIMD count as busy."
    return f"{text} {passes}".rstrip()


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
        chosen = unit <= least
        busy = owned(begin[chosen], end[chosen], owner[chosen], stride, lane)
        if not len(busy.all.begin):
            continue
        for part, first, last, covers in edges:
            wanted = np.zeros(OTHER + 1, dtype=bool)
            wanted[[kind for kind, by in covers.items() if by == least]] = True
            rows = np.flatnonzero(wanted[tokens.unit] & (last > first))
            parts[part, rows] = busy.by_others(first[rows], last[rows], lane_shift[rows], owner_shift[rows])
    return parts


def _busy(tokens: SimdTokens, cycles: np.ndarray, trace: Trace) -> tuple[np.ndarray, ...]:
    """Begin, end, owner and unit of all work, and the lane of every owner.

    Matrix work lasts for the passes of its instruction.  Every record of a sibling SIMD is its own owner, as
    nobody knows its wave.
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
                some = np.full(len(start), place, dtype=np.int64)
                work.append((start, stop, np.full(len(start), VMEM), some))
    siblings = np.arange(len(tokens.lane), sum(len(part[3]) for part in work))
    owner = np.concatenate([tokens.wave[rows], siblings])
    begin, end, unit, lane = (np.concatenate([part[i] for part in work]) for i in range(4))
    return begin, end, owner, unit, lane
