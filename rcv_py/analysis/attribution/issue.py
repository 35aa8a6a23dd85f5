"""Stalls of instructions that could not issue, and idle cycles between two instructions of a wave.

The order of the rules is in `attribute.stalls`.  A missing operand always holds an instruction back, so
registers come first; a full queue is inferred from operations in flight and by elimination, so it comes late.
"""

import numpy as np

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.ledger import Ledger, Within
from rcv_py.analysis.attribution.lines import (
    BRANCH,
    LDS,
    MATRIX,
    MEMORY,
    NONE,
    SALU,
    SMEM,
    TAIL,
    TO_MEMORY,
    VALU,
    VMEM,
)
from rcv_py.analysis.attribution.stream import TokenStream, UnitOperations
from rcv_py.analysis.attribution.survey import place_of
from rcv_py.analysis.attribution.uses import overwritten, uses
from rcv_py.analysis.core.intervals import IntervalSet, at_least, owned
from rcv_py.base.runs import ascending, largest_in, ranges, run_starts

_FAR = 1 << 62  # cycles; before all other times
READING = 16  # turns after its issue in which a memory instruction may still read registers

_QUEUES = {VMEM: Cause.MEMORY_QUEUE, LDS: Cause.LDS_QUEUE, SMEM: Cause.SCALAR_QUEUE}
# Operations of the unit that must be in flight.  In real captures, stalls grow with their number:
# with fewer they last a cycle on average, as with none; with more, ten to a hundred times as long.
CROWD = {VMEM: 3, LDS: 3, SMEM: 9}


def claim_registers(stream: TokenStream, ledger: Ledger) -> None:
    """Charge stalls until matrix results, and on gfx10 and later any result, could be read."""
    lines = stream.lines
    rows = ledger.of_lines(np.isin(lines.unit, (VALU, MATRIX, VMEM, LDS, SALU)))
    writers = (VALU, MATRIX) if lines.step == 4 else (VALU, MATRIX, SALU)
    pairs = uses(lines, stream.history, ledger.token.take(rows), writers)
    row, writer = pairs.row, pairs.writer
    of_writer = lines.unit.take(stream.line.take(writer))
    if lines.step == 4:  # on gfx9 vector arithmetic after vector arithmetic never waits for its result
        reader = lines.unit.take(ledger.line.take(rows)).take(row)
        waits = np.flatnonzero((of_writer == MATRIX) | (reader == VMEM))
        row, writer, of_writer = (column.take(waits) for column in (row, writer, of_writer))
        result = lines.result.take(stream.line.take(writer))
        ready = stream.issue.take(writer)
        ready += np.where(of_writer == VALU, TO_MEMORY * lines.step, result)
    else:
        ready = np.maximum(stream.issue[writer] + lines.result[stream.line[writer]], stream.ends(writer))
    # The last operand to be ready decides; on a tie, the writer furthest back.
    first = run_starts(row)
    if not len(first):
        return
    chosen = largest_in(ready, first, np.append(first[1:], len(row)), is_last=True)
    row, writer, ready, of_writer = row[chosen], writer[chosen], ready[chosen], of_writer[chosen]
    cause = np.where(of_writer == MATRIX, int(Cause.MATRIX_RESULT), int(Cause.REGISTER))
    ledger.until(rows[row], ready, cause, writer)


def claim_matrix_unit(stream: TokenStream, ledger: Ledger) -> None:
    """Charge stalls while their SIMD's matrix unit worked to the matrix instruction that occupied it.

    It delays matrix instructions, and on gfx9 packed and double precision arithmetic, which need it too.
    """
    lines = stream.lines
    for is_meant, tail in ((lines.unit == MATRIX, 0), (lines.shares_matrix, TAIL)):
        rows = ledger.of_lines(is_meant)
        if not len(rows) or not len(stream.of_unit(MATRIX)):
            continue
        work = stream.matrix_work
        if (MATRIX, tail) not in stream.unions:
            begin = work.key + lines.lead.take(stream.line.take(work.token))
            stream.unions[MATRIX, tail] = IntervalSet.of(begin, work.key + work.held + tail)
        busy = stream.unions[MATRIX, tail]
        rows, cycles, shift = _covered(stream, stream.simd, busy, ledger, rows)
        blamed = _held_longest(stream, stream.simd, work, ledger, rows, tail=tail)
        ledger.take(rows, cycles, Cause.MATRIX_BUSY, blamed, Within(busy, shift))


def _covered(
    stream: TokenStream, lane: np.ndarray, busy: IntervalSet, ledger: Ledger, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows with some covered cycles, these cycles, and the shifts of the rows to their lanes."""
    shift = _shift(stream, lane, ledger.token.take(rows))
    cycles = busy.covered(ledger.at.take(rows) + shift, ledger.end.take(rows) + shift)
    some = np.flatnonzero(cycles)
    return rows.take(some), cycles.take(some), shift.take(some)


def _shift(stream: TokenStream, lane: np.ndarray, token: np.ndarray) -> np.ndarray:
    """The offset that puts times of tokens on an axis where lanes (int64 [waves]) do not overlap, int64."""
    return (lane * stream.stride).take(stream.owner.take(token))


def claim_own_unit(stream: TokenStream, ledger: Ledger) -> None:
    """Charge stalls to the wave's previous (or last vector) instruction while its form held the unit."""
    unit = stream.lines.unit
    is_vector = (unit == VALU) | (unit == MATRIX)
    rows = np.flatnonzero(ledger.left > 0)
    token = ledger.token[rows]
    last = stream.last_of(stream.vector, token)
    before = np.where(is_vector[ledger.line[rows]] | (last == token - 1), last, -1)
    known = np.flatnonzero(before >= 0)
    rows, before = rows[known], before[known]
    ledger.until(rows, stream.issue[before] + stream.lines.hold[stream.line[before]], Cause.UNIT_BUSY, before)


def claim_arbitration(stream: TokenStream, ledger: Ledger) -> None:
    """Charge cycles in which another wave of the SIMD issued to the same unit.

    The producer is the instruction of another wave that held the unit for most of these cycles.
    """
    of_line = np.where(stream.lines.unit == MATRIX, VALU, stream.lines.unit)
    open_ = ledger.open(stream.has_mates.take(stream.owner.take(ledger.token)))
    unit = of_line.take(ledger.line.take(open_))
    for each in np.flatnonzero(np.bincount(unit)).tolist():
        if each == NONE:
            continue
        rows, work = open_.take(np.flatnonzero(unit == each)), stream.work(each)
        token = ledger.token.take(rows)
        shift = _shift(stream, stream.simd, token)
        begin, end = (column.take(rows) + shift for column in (ledger.begin, ledger.end))
        # What may hold the unit meanwhile: often so few rows are left that few operations are near.
        first = np.searchsorted(work.reach, begin, side="right")
        spans = IntervalSet.of(first, np.searchsorted(work.key, end, side="left"))
        near = np.sort(work.token.take(ranges(spans.begin, spans.end - spans.begin)))
        issue = stream.issue.take(near)
        until, owner = issue + stream.held(near, issue), stream.owner.take(near)
        busy = owned(issue, until, owner, stream.stride, stream.simd)
        own = stream.owner.take(token) * stream.stride
        cycles = busy.by_others(ledger.at.take(rows), ledger.end.take(rows), shift, own)
        some = np.flatnonzero(cycles)
        rows, cycles, shift = rows.take(some), cycles.take(some), shift.take(some)
        blamed = _held_longest(stream, stream.simd, work, ledger, rows)
        ledger.take(rows, cycles, Cause.ARBITRATION, blamed, Within(busy.all, shift))


def claim_queues(stream: TokenStream, ledger: Ledger) -> None:
    """Charge memory instructions that their unit did not accept while CROWD of its operations were in flight.

    The producer is the operation after which the unit took nothing for the longest part of the stall: one of
    several in the queue, which the trace does not show.
    """
    for each, cause in _QUEUES.items():
        rows = ledger.of_lines(stream.lines.unit == each)
        if not len(rows):
            continue
        work = stream.queue(each)
        if (each, CROWD[each]) not in stream.unions:
            until = work.key + stream.flight.take(work.token)
            stream.unions[each, CROWD[each]] = at_least(work.key, until, CROWD[each])
        flight = stream.unions[each, CROWD[each]]
        rows, cycles, shift = _covered(stream, stream.cu, flight, ledger, rows)
        blamed = _held_longest(stream, stream.cu, work, ledger, rows, queue=each)
        ledger.take(rows, cycles, cause, blamed, Within(flight, shift))


def claim_operand_reads(stream: TokenStream, ledger: Ledger) -> None:
    """Charge vector arithmetic to a memory instruction of its wave that may still read its operands.

    The memory instruction issued at most READING turns before and was not waited for since.  It is either the
    last vector instruction before, or a copy to LDS whose address is overwritten.  In real captures, such
    arithmetic stalls without another cause more often than other arithmetic: 2 to 14 times after vector
    memory, 3 to 5 times after LDS accesses, and 5 times for overwriting, compared to equally near
    instructions that overwrite nothing.  There is no such effect after cross-lane moves, for matrix
    instructions after LDS and for the addresses of other loads: they are not evidence.
    """
    lines, unit = stream.lines, stream.lines.unit
    is_vector = (unit == VALU) | (unit == MATRIX)
    for is_late, operations in ((is_vector, stream.of_unit(VMEM)), (unit == VALU, stream.lds_accesses)):
        rows = ledger.of_lines(is_late)
        token = ledger.token[rows]
        memory = stream.last_of(operations, token)
        rows, token, memory = (column[memory >= 0] for column in (rows, token, memory))
        recent = stream.start[token] - stream.issue[memory] <= READING * lines.step
        rows, token, memory = (column[recent] for column in (rows, token, memory))
        follows = memory > stream.last_of(stream.vector, token)
        follows &= stream.released(memory) > stream.start[token]
        ledger.rest(rows[follows], Cause.OPERAND_READ, memory[follows])
    rows = ledger.of_lines(is_vector)
    token = ledger.token[rows]
    pairs = overwritten(lines, stream.history, token, Cause.WAIT_DMA)
    begin = stream.start[token[pairs.row]]
    near = begin - stream.issue[pairs.writer] <= READING * lines.step
    near &= stream.released(pairs.writer) > begin
    row, writer = pairs.row[near], pairs.writer[near]
    first = run_starts(row)
    ledger.rest(rows[row[first]], Cause.OPERAND_READ, writer[first])


def claim_drain(stream: TokenStream, ledger: Ledger) -> None:
    """Charge s_endpgm to the newest operation that nothing had waited for."""
    rows = ledger.of_lines(stream.lines.is_end)
    if not len(rows):
        return
    is_pending = np.zeros(len(stream), dtype=bool)
    for unit in MEMORY:
        is_pending[stream.of_unit(unit)] = True
    is_pending[stream.links.producers] = False
    last = stream.last_of(np.flatnonzero(is_pending), ledger.token[rows])
    some = last >= 0
    ledger.rest(rows[some], Cause.DRAIN, last[some])


def _held_longest(
    stream: TokenStream,
    lane: np.ndarray,
    work: UnitOperations,
    ledger: Ledger,
    rows: np.ndarray,
    *,
    tail: int = 0,
    queue: int = NONE,
) -> np.ndarray:
    """Return the token that held the unit longest while each row stalled, the first on a tie; -1: none.

    `lane` (int64 [waves]) is the unit of each wave, `work` are the operations; each holds the unit for `tail`
    additional cycles.  A wave issues nothing while it stalls, so operations issued meanwhile belong to other
    waves; of the earlier operations, only the last may still hold the unit.  A `queue` holds its last
    operation until it takes the next; that operation may belong to an absent wave, as in `Ledger`.
    """
    token = ledger.token.take(rows)
    shift = _shift(stream, lane, token)
    begin, end = ledger.at.take(rows) + shift, ledger.end.take(rows) + shift
    first = np.searchsorted(work.key, begin, side="right")
    stop = np.searchsorted(work.key, end, side="left")
    chosen = largest_in(work.held, first, stop)
    early = np.maximum(first - 1, 0)
    front, key = work.token.take(early), work.key.take(early)
    is_there = (first > 0) & (key >= shift)
    left = np.where(is_there, np.minimum(key + work.held.take(early) + tail, end) - begin, 0)
    if queue != NONE:
        outside = _outside(stream, np.where(is_there, front, -1), token, begin - shift, queue)
        some = np.flatnonzero(outside < -1)
        following = work.key[np.minimum(first[some], len(work) - 1)] % work.stride + shift[some]
        left[some] = np.minimum(following, end[some]) - begin[some]
        front = np.where(outside < -1, outside, front)
    is_front = left >= np.where(chosen >= 0, work.held.take(chosen) + tail, 1)
    return np.where(is_front, front, np.where(chosen >= 0, work.token.take(chosen), -1))


def _outside(
    stream: TokenStream, front: np.ndarray, token: np.ndarray, time: np.ndarray, queue: int
) -> np.ndarray:
    """Return the last operation of a queue before each time if an absent wave issued it.

    The value is -2 less its row in LastOperations, else -1; `front` is the last operation of present waves,
    -1: none.
    """
    outside = np.full(len(token), -1, dtype=np.int64)
    last, owner = stream.survey.last, stream.owner[token]
    index = stream.tokens.rows
    issued = np.where(front >= 0, stream.issue[front], -_FAR)
    wave = index[stream.owner[front]]
    for number in ascending(stream.cu[owner]).tolist():
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


MAX_CHANGE = 3  # turns: gaps up to this length between different units are the change itself
MAX_RESULT = 6  # turns: maximum latency of a scalar result of vector arithmetic
MAX_DISTANCE = 2  # instructions: how far back a scalar result is searched


def gaps(stream: TokenStream, is_meant: np.ndarray | None = None) -> Ledger:
    """Return the idle cycles of tokens (None: all) with causes."""
    is_idle, lines = stream.tokens.idle > 0, stream.lines
    token = np.flatnonzero(is_idle if is_meant is None else is_idle & is_meant)
    line, start = stream.line.take(token), stream.start.take(token)
    idle = stream.tokens.idle.take(token).astype(np.int64)
    ledger = Ledger(token, line, start - np.minimum(idle, start), start, idle)
    ledger.rest(np.flatnonzero(stream.is_first(token)), Cause.LAUNCH)
    claim_drain(stream, ledger)
    before = np.maximum(token - 1, 0)  # a first token has no gap left
    line_before = stream.line.take(before)
    unit, unit_before = lines.unit.take(line), lines.unit.take(line_before)
    # An instruction after a branch, taken or not, waits for the decision and for instruction fetch.
    rows = ledger.open(unit_before == BRANCH)
    ledger.rest(rows, Cause.FETCH, before[rows])
    _claim_scalar_results(stream, ledger)
    rows = ledger.open((unit_before != unit) & (ledger.left <= MAX_CHANGE * lines.step))
    ledger.rest(rows, Cause.SWITCH, before[rows])
    ledger.rest(ledger.open(lines.block[line] != lines.block[line_before]), Cause.FETCH)
    claim_arbitration(stream, ledger)
    return ledger


def _claim_scalar_results(stream: TokenStream, ledger: Ledger) -> None:
    """Charge gaps until a scalar result of arithmetic is visible to another unit, which takes some turns."""
    rows = ledger.open(ledger.left <= MAX_RESULT * stream.lines.step)
    token, unit = ledger.token[rows], stream.lines.unit
    pairs = uses(stream.lines, stream.history, token, (VALU, SALU))
    near = token[pairs.row] - pairs.writer <= MAX_DISTANCE
    row, writer = pairs.row[near], pairs.writer[near]
    is_other = unit[stream.line[writer]] != unit[ledger.line[rows]][row]
    row, writer = row[is_other], writer[is_other]
    first = run_starts(row)
    ledger.rest(rows[row[first]], Cause.REGISTER, writer[first])
