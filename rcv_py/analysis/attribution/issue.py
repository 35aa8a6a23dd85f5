"""Stalls of instructions that could not issue, and idle cycles between two instructions of a wave.

The order of the rules is in `attribute.stalls`.  An operand that is not there always holds an instruction
back, so registers come first; a full queue shows in operations in flight and by elimination, so it is late.
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.ledger import Ledger, Within
from rcv_py.analysis.attribution.lines import (
    BRANCH,
    LDS,
    MATRIX,
    NONE,
    SALU,
    SMEM,
    TAIL,
    TO_MEMORY,
    VALU,
    VMEM,
)
from rcv_py.analysis.attribution.stream import Stream, largest_in, overwritten, uses
from rcv_py.analysis.attribution.survey import place_of
from rcv_py.analysis.core.intervals import IntervalSet, at_least, owned
from rcv_py.base.runs import ends_run

_FAR = 1 << 62  # cycles before all others
READING = 16  # turns after its issue in which a memory instruction may still read registers

_QUEUES = {VMEM: Cause.MEMORY_QUEUE, LDS: Cause.LDS_QUEUE, SMEM: Cause.SCALAR_QUEUE}
# So many operations of the unit must be in flight.  In real captures stalls grow with their number:
# with fewer they last a cycle on average, as with none; with more, ten to a hundred times as long.
CROWD = {VMEM: 3, LDS: 3, SMEM: 9}


def claim_registers(stream: Stream, ledger: Ledger) -> None:
    """Charge stalls until matrix results, and on gfx10 and later any result, could be read."""
    unit, lines = stream.unit, stream.lines
    rows = ledger.open(np.isin(unit, (VALU, MATRIX, VMEM, LDS, SALU)))
    is_writer = np.isin(lines.unit, (VALU, MATRIX) if lines.step == 4 else (VALU, MATRIX, SALU))
    pairs = uses(stream, ledger.token[rows], is_writer)
    reader = unit[ledger.token[rows[pairs.row]]]
    # On gfx9 vector arithmetic that follows vector arithmetic never waits for its result.
    waits = (lines.step != 4) | (unit[pairs.writer] == MATRIX) | (reader == VMEM)
    row, writer = pairs.row[waits], pairs.writer[waits]
    line = stream.line[writer]
    ready = stream.issue[writer] + lines.result[line]
    if lines.step == 4:
        is_vector = unit[writer] == VALU
        ready[is_vector] = stream.issue[writer[is_vector]] + TO_MEMORY * lines.step
    else:
        ready = np.maximum(ready, stream.end[writer])
    # The operand that is there last decides.
    order = np.lexsort((ready, row))
    chosen = order[ends_run(row[order])]
    row, writer, ready = row[chosen], writer[chosen], ready[chosen]
    cause = np.where(unit[writer] == MATRIX, int(Cause.MATRIX_RESULT), int(Cause.REGISTER))
    ledger.until(rows[row], ready, cause, writer)


def claim_matrix_unit(stream: Stream, ledger: Ledger) -> None:
    """Charge stalls while their SIMD's matrix unit worked, to the matrix instruction in front.

    It holds back matrix instructions, and on gfx9 packed and double precision arithmetic, which need it too.
    """
    lines, line = stream.lines, stream.line
    work = np.flatnonzero(stream.unit == MATRIX)
    for is_meant, tail in ((stream.unit == MATRIX, 0), (lines.shares_matrix[line], TAIL)):
        rows = ledger.open(is_meant)
        if not len(rows) or not len(work):
            continue
        lane, token = stream.shift(stream.simd), ledger.token[rows]
        begin = stream.issue[work] + lines.lead[line[work]]
        until = begin + lines.passes[line[work]] + tail
        busy = IntervalSet.of(begin + lane[work], until + lane[work])
        cycles = busy.covered(ledger.at[rows] + lane[token], ledger.end[rows] + lane[token])
        blamed = _held_longest(stream, lane, (work, until), ledger, rows)
        ledger.take(rows, cycles, Cause.MATRIX_BUSY, blamed, Within(busy, lane[token]))


def claim_own_unit(stream: Stream, ledger: Ledger) -> None:
    """Charge what the wave's previous instruction, or for vector ones its last such, held by its form."""
    unit, hold = stream.unit, stream.lines.hold[stream.line]
    is_vector = (unit == VALU) | (unit == MATRIX)
    rows = ledger.open(np.ones(len(stream), dtype=bool))
    token = ledger.token[rows]
    before = np.where(is_vector[token], stream.last_of(is_vector)[token], token - 1)
    known = (before >= stream.first[token]) & is_vector[before]
    rows, before = rows[known], before[known]
    ledger.until(rows, stream.issue[before] + hold[before], Cause.UNIT_BUSY, before)


def claim_arbitration(stream: Stream, ledger: Ledger) -> None:
    """Charge cycles in which another wave of the SIMD issued to the same unit.

    The producer is the instruction of another wave that had the unit for most of these cycles.
    """
    unit = np.where(stream.unit == MATRIX, VALU, stream.unit)
    for each in np.unique(unit[ledger.token[ledger.left > 0]]).tolist():
        rows = ledger.open(unit == each)
        if each == NONE or not len(rows):
            continue
        work = np.flatnonzero(unit == each)
        begin, end = stream.issue[work], _until(stream, work)
        busy = owned(begin, end, stream.owner[work], stream.stride, stream.simd)
        token, lane = ledger.token[rows], stream.shift(stream.simd)
        own = stream.owner[token] * stream.stride
        cycles = busy.by_others(ledger.at[rows], ledger.end[rows], lane[token], own)
        blamed = _held_longest(stream, lane, (work, end), ledger, rows)
        ledger.take(rows, cycles, Cause.ARBITRATION, blamed, Within(busy.all, lane[token]))


def claim_queues(stream: Stream, ledger: Ledger) -> None:
    """Charge memory instructions that were not accepted while a CROWD of others of the unit was in flight.

    The producer is the operation behind which the unit took nothing for the longest part of the stall: one
    of several in the queue, which the trace does not show.
    """
    for each, cause in _QUEUES.items():
        rows = ledger.open(stream.unit == each)
        work = np.flatnonzero(stream.unit == each)
        if not len(rows) or not len(work):
            continue
        lane, token = stream.shift(stream.cu), ledger.token[rows]
        flight = at_least((stream.issue + lane)[work], (stream.released + lane)[work], CROWD[each])
        cycles = flight.covered(ledger.at[rows] + lane[token], ledger.end[rows] + lane[token])
        blamed = _held_longest(stream, lane, (work, _next_taken(stream, work)), ledger, rows, queue=each)
        ledger.take(rows, cycles, cause, blamed, Within(flight, lane[token]))


def claim_operand_reads(stream: Stream, ledger: Ledger) -> None:
    """Charge vector arithmetic to a memory instruction of its wave that may still read its operands.

    Issued at most READING turns before and not waited for since, that is either the last vector instruction
    in front, or a copy to LDS whose address is overwritten.  In real captures such arithmetic stalls without
    another cause more often than other arithmetic: behind vector memory 2 to 14 times, behind LDS accesses 3
    to 5 times, overwriting 5 times as often as what is just as near and overwrites nothing.  Behind
    cross-lane moves, for matrix instructions behind LDS and for the addresses of other loads no such thing is
    seen: they are no evidence.
    """
    unit, lines = stream.unit, stream.lines
    is_vector = (unit == VALU) | (unit == MATRIX)
    is_access = (unit == LDS) & (lines.form[stream.line] == Cause.WAIT_LDS)
    vector = stream.last_of(is_vector)
    for is_late, is_memory in ((is_vector, unit == VMEM), (unit == VALU, is_access)):
        rows = ledger.open(is_late)
        token = ledger.token[rows]
        memory = stream.last_of(is_memory)[token]
        recent = stream.start[token] - stream.issue[np.maximum(memory, 0)] <= READING * lines.step
        pending = stream.released[np.maximum(memory, 0)] > stream.start[token]
        follows = (memory >= 0) & (memory > vector[token]) & recent & pending
        ledger.rest(rows[follows], Cause.OPERAND_READ, memory[follows])
    rows = ledger.open(is_vector)
    token = ledger.token[rows]
    pairs = overwritten(stream, token, lines.form == Cause.WAIT_DMA)
    begin = stream.start[token[pairs.row]]
    near = begin - stream.issue[pairs.writer] <= READING * lines.step
    near &= stream.released[pairs.writer] > begin
    row, first = np.unique(pairs.row[near], return_index=True)
    ledger.rest(rows[row], Cause.OPERAND_READ, pairs.writer[near][first])


def claim_drain(stream: Stream, ledger: Ledger) -> None:
    """Charge s_endpgm to the newest operation that nothing had waited for."""
    rows = ledger.open(stream.lines.is_end[stream.line])
    token = ledger.token[rows]
    pending = np.isin(stream.unit, (VMEM, LDS, SMEM))
    pending[stream.links.producers] = False
    last = stream.last_of(pending)[token]
    some = last >= 0
    ledger.rest(rows[some], Cause.DRAIN, last[some])


def _until(stream: Stream, work: np.ndarray) -> np.ndarray:
    """When the units are free again: on gfx9 by the trace, later by the form."""
    held = stream.issue[work] + stream.lines.hold[stream.line[work]]
    return np.maximum(held, stream.end[work]) if stream.lines.step == 4 else held


def _next_taken(stream: Stream, work: np.ndarray) -> np.ndarray:
    """When the unit took the next operation of its compute unit after each of `work`; int64."""
    order = np.argsort((stream.issue + stream.shift(stream.cu))[work], kind="stable")
    following = np.empty(len(work), dtype=np.int64)
    following[order] = stream.issue[work[np.append(order[1:], order[-1:])]]
    return np.where(following >= stream.issue[work], following, stream.stride)


def _held_longest(
    stream: Stream,
    shift: np.ndarray,
    taken: tuple[np.ndarray, np.ndarray],
    ledger: Ledger,
    rows: np.ndarray,
    *,
    queue: int = NONE,
) -> np.ndarray:
    """Return the token that had the unit longest while each row stalled, the first of equals; -1: none.

    `shift` keeps the units apart, `taken` are the tokens that had one and when each left it.  A wave issues
    nothing while it stalls, so what is issued meanwhile is of others; of what was issued before, the last may
    still have the unit.  A `queue` holds its last operation until it takes the next: it may be one of a wave
    that is not there, as in `Ledger`.
    """
    (work, until), token = taken, ledger.token[rows]
    order = np.argsort((stream.issue + shift)[work], kind="stable")
    work, until = work[order], until[order]
    key, held = (stream.issue + shift)[work], until - stream.issue[work]
    begin, end = ledger.at[rows], ledger.end[rows]
    first = np.searchsorted(key, begin + shift[token], side="right")
    chosen = largest_in(held, first, np.searchsorted(key, end + shift[token], side="left"))
    early = np.maximum(first - 1, 0)
    is_there = (first > 0) & (shift[work[early]] == shift[token])
    left = np.where(is_there, np.minimum(until[early], end) - begin, 0)
    front = work[early]
    if queue != NONE:
        outside = _outside(stream, np.where(is_there, front, -1), token, begin, queue)
        following = stream.issue[work[np.minimum(first, len(work) - 1)]]
        left = np.where(outside < -1, np.minimum(following, end) - begin, left)
        front = np.where(outside < -1, outside, front)
    is_front = left >= np.where(chosen >= 0, held[chosen], 1)
    return np.where(is_front, front, np.where(chosen >= 0, work[chosen], -1))


def _outside(
    stream: Stream, front: np.ndarray, token: np.ndarray, time: np.ndarray, queue: int
) -> np.ndarray:
    """Return the last operation of a queue before each time if a wave that is not there issued it.

    -2 less its row in LastOperations, else -1; `front` is the last one of those that are there, -1: none.
    """
    outside = np.full(len(token), -1, dtype=np.int64)
    last, owner = stream.survey.last, stream.owner[token]
    index = np.array([wave.row for wave in stream.tokens.waves], dtype=np.int64)
    issued = np.where(front >= 0, stream.issue[front], -_FAR)
    wave = index[stream.owner[front]]
    for number in np.unique(stream.cu[owner]).tolist():
        mine = np.flatnonzero(stream.cu[owner] == number)
        one = stream.tokens.waves[int(owner[mine[0]])]
        rows = last.of(place_of(one.id.se, one.cu, queue))
        issue = last.issue[rows] - stream.base
        at = np.searchsorted(issue, time[mine], side="right") - 1
        mine, at = mine[at >= 0], at[at >= 0]
        other = last.wave[rows][at]
        is_later = (issue[at] > issued[mine]) | ((issue[at] == issued[mine]) & (other > wave[mine]))
        is_later &= ~np.isin(other, index)
        outside[mine[is_later]] = -2 - (rows.start + at[is_later])
    return outside


MAX_CHANGE = 3  # turns: gaps up to here between different units are the change itself
MAX_RESULT = 6  # turns that a scalar result of vector arithmetic takes at most
MAX_DISTANCE = 2  # instructions: how far back a scalar result is looked for


def gaps(stream: Stream, is_meant: np.ndarray | None = None) -> Ledger:
    """Return the idle cycles of tokens (None: all) with causes."""
    idle = stream.tokens.idle
    token = np.flatnonzero(idle > 0 if is_meant is None else (idle > 0) & is_meant)
    begin = stream.start[token] - np.minimum(idle[token], stream.start[token])
    ledger = Ledger(token, begin, stream.start[token], idle[token])
    is_first = token == stream.first[token]
    ledger.rest(np.flatnonzero(is_first), Cause.LAUNCH)
    claim_drain(stream, ledger)
    before = np.maximum(np.arange(len(stream)) - 1, 0)  # a first token has no gap left
    line, unit, block = stream.line, stream.unit, stream.lines.block
    # What follows a branch, taken or not, waits for its decision and for instructions.
    rows = ledger.open(unit[before] == BRANCH)
    ledger.rest(rows, Cause.FETCH, before[ledger.token[rows]])
    _claim_scalar_results(stream, ledger)
    rows = ledger.open(unit[before] != unit)
    rows = rows[ledger.left[rows] <= MAX_CHANGE * stream.lines.step]
    ledger.rest(rows, Cause.SWITCH, before[ledger.token[rows]])
    ledger.rest(ledger.open(block[line] != block[line[before]]), Cause.FETCH)
    claim_arbitration(stream, ledger)
    return ledger


def _claim_scalar_results(stream: Stream, ledger: Ledger) -> None:
    """Scalar results of arithmetic take some turns before other units see them."""
    rows = np.flatnonzero((ledger.left > 0) & (ledger.left <= MAX_RESULT * stream.lines.step))
    token = ledger.token[rows]
    pairs = uses(stream, token, np.isin(stream.lines.unit, (VALU, SALU)))
    near = token[pairs.row] - pairs.writer <= MAX_DISTANCE
    near &= stream.unit[pairs.writer] != stream.unit[token[pairs.row]]
    row, first = np.unique(pairs.row[near], return_index=True)
    ledger.rest(rows[row], Cause.REGISTER, pairs.writer[near][first])
