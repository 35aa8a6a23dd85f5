"""The decoding kernel of gfx9: walk the tokens and apply each to the wave of its slot.

A token begins at a byte; its low four bits are its type, which gives its length.  Tokens unrelated to waves
are only noted: `gfx9` reads them.  The kernel stops at a given byte, or where a column is full, and continues
from there.

A slot is SIMD * 16 + number.  A record is a token that a wave issued.
"""

import numpy as np
from numpy import ndarray

from rcv_py.base.machine.compiled import kernel, part
from rcv_py.formats.sqtt.registers import ENTRY_HIGH, ENTRY_LOW
from rcv_py.formats.sqtt.walked import (
    BEGINS,
    BREAK_AT,
    BREAK_FIRST,
    CONTEXTS,
    DOES,
    ENDED,
    ENDS,
    IS_COMPLETE,
    IS_FULL,
    M_KIND,
    OWN,
    R_AFTER,
    R_DURATION,
    R_STALL,
    R_STALLED,
    R_TIME,
    RANK,
    SEGMENT_AT,
    SEGMENT_FIRST,
    SINCE,
    SLOTS,
    SPARE,
    STALL_AT,
    STALL_FIRST,
    TOKEN_AT,
    TOKEN_FIRST,
    WAVE,
    Columns,
    Start,
    add_break,
    add_note,
    add_occupancy,
    add_row,
    add_segment,
    close_wave,
    name_break,
    open_wave,
)
from rcv_py.model.kinds import TokenKind, WaveState

MISC, STAMP, REGISTER, START, _, COMPUTE, END, _, _, _, KIND, PC, DATA, ISSUE, COUNTS, PRIVILEGED = range(16)
LENGTHS = 0x6846822222624882  # bytes of a token, four bits a type, type 0 lowest
SILENT = 1 << STAMP | 1 << 4 | 1 << 7 | 1 << 8 | 1 << 9  # types that are ignored
RESETS, LOSES, SAVES = 1, 2, 6  # values of MISC
STALL, INSTRUCTION, IMMEDIATE = 1, 2, 3  # values of ISSUE for a slot
JUMPS, ENTERS_TRAP = 7, 29  # values of KIND that do more than name a unit
SWITCH = 64  # a START with a higher count is part of a context switch
NORMAL, REQUESTED, SAVED, AWAITS = range(4)  # no switch, to be saved, saved, back but not in the program
ISSUES = 4  # cycles that an issue takes, the minimum

LAST_SLOT = 9  # of a SIMD: a token with a higher number is damaged
NEVER, GONE = -1, -2  # values of WAVE where no wave is: none was, or it ended
MAX_CONTEXTS = 255
REPLAYABLE = 17
PLACES = 1 << 10  # where waves run: compute unit, slot and SIMD
# `state` of each slot
(
    TRAP,  # NORMAL or how far a context switch is
    PENDING,  # records without a kind yet
    VANISHES,  # records that are not instructions
    FRONT,  # its oldest record without a kind yet, of the records of its wave
    IS_STARTED,  # the stream has its start
    LAST,  # and 16 more: its last record of each kind that can be replayed, -1 none
) = range(OWN, OWN + 6 * SLOTS, SLOTS)
# of the walk
POSITION, TIME, BASE, CONSUMED, PHASE, IS_TRUNCATED, HAS_LOST, CU, TOKENS, ENTRIES = range(
    LAST + REPLAYABLE * SLOTS, LAST + REPLAYABLE * SLOTS + 10
)  # ENTRIES: of ME and pipe, the low and the high half
# and of each place, its wave
RUNS, OF_START, SIZE = ENTRIES + 16, ENTRIES + 16 + PLACES, ENTRIES + 16 + 6 * PLACES

UNFINISHED, VANISHED = 255, 254  # of a record: no kind yet; no instruction
UNIT = np.zeros(32, dtype=np.int64)  # kind → unit, 0: no instruction
UNIT[[0, 16]] = TokenKind.SMEM
UNIT[[1, 7, 17]] = TokenKind.SALU
UNIT[[2, 3]] = TokenKind.VMEM
UNIT[[4, 14]] = TokenKind.FLAT
UNIT[[5, 18, 28]] = TokenKind.VALU
UNIT[[6, 12, 13, 15, 29]] = (TokenKind.LDS, TokenKind.JUMP, TokenKind.NEXT, TokenKind.MSG, TokenKind.TRAP)
LATE = np.zeros(32, dtype=np.int64)  # kind → how many cycles of four later its token comes
LATE[[0, 1, 16, 17]] = 5
LATE[[5, 18, 28]] = 2
LATE[[6, 12, 13, 15]] = 1
REPLAYED = np.full(32, -1, dtype=np.int64)  # kind → kind that is replayed
REPLAYED[19:25] = (0, 16, 2, 3, 4, 14)
UNKNOWN = (-1, -1, 0, -1, -1)  # facts of a start that the stream does not have
IMMED, TRAPPED = int(TokenKind.IMMED), int(TokenKind.TRAP)
IDLE, EXEC, WAIT, STALLED = map(int, (WaveState.IDLE, WaveState.EXEC, WaveState.WAIT, WaveState.STALL))


@kernel
def walk(  # noqa: C901, PLR0912, PLR0915 - one branch a type of token
    data: ndarray, stop: int, state: ndarray, to: Columns
) -> None:
    """Process the tokens of a stream (int8) that begin before byte `stop`, until a column is full.

    It changes the state, int64 [SIZE], and fills the columns.
    """
    at, now = state[POSITION], state[TIME]
    while at < stop and state[IS_FULL] == 0:
        head = data[at] & 0xFF
        what = head & 15
        size = LENGTHS >> 4 * what & 15
        if at + size > len(data):
            state[IS_TRUNCATED] = 1
            break
        state[TOKENS] += 1
        head |= (data[at + 1] & 0xFF) << 8
        if what == ISSUE:
            now += head >> 2 & 4
            left = head >> 8 | (data[at + 2] & 0xFF) << 8 | (data[at + 3] & 15) << 16
            s = (head >> 5 & 3) * 16
            while left:
                if left & 3 and state[WAVE + s] >= 0 and state[TRAP + s] == NORMAL:
                    on_issue(left & 3, s, now, state, to)
                left >>= 2
                s += 1
        elif what == KIND:
            now += head >> 2 & 4
            s = (head >> 9 & 3) * 16 + (head >> 5 & 15)
            is_lost = state[WAVE + s] == NEVER or (state[WAVE + s] == GONE and state[HAS_LOST])
            if is_lost and s & 15 <= LAST_SLOT:
                begin_wave(s, now, 0, UNKNOWN, state)  # it began before the trace, or its start is lost
            elif state[WAVE + s] >= 0:
                on_kind(head >> 11, s, now, state, to)
        elif what == MISC:
            now += (head >> 4 & 0xFF) * 4
            what = head >> 13
            if what == RESETS:
                now = next_time(data, at + 2, now, state)
            elif what:
                add_note(state, MISC, now, at, 0, to)
                if what == LOSES:
                    state[HAS_LOST] = 1
                for s in range(SLOTS if what == SAVES else 0):
                    state[TRAP + s] = REQUESTED
        else:
            if at != state[CONSUMED]:
                now += head >> 2 & 4
            if what == PC:
                on_address(data, at, state, to)
            elif what in (START, END):
                on_start_or_end(data, at, now, state, to)
            elif SILENT >> what & 1 == 0:
                add_note(state, what, now, at, 0, to)
                if what % 10 == COMPUTE and ENTRY_LOW <= head >> 9 <= ENTRY_HIGH:
                    queue = (head >> 7 & 1 ^ 1) << 2 | head >> 5 & 3
                    state[ENTRIES + 2 * queue + (head >> 9) - ENTRY_LOW] = bytes_at(data, at + 2, 4)
        at += size
    state[POSITION], state[TIME] = at, now
    if (at >= len(data) or state[IS_TRUNCATED] != 0) and state[IS_FULL] == 0:
        for s in range(SLOTS):
            if state[WAVE + s] >= 0:
                end_open(s, state, to)
                leave(s, state, to)


@part
def bytes_at(data: ndarray, at: int, count: int) -> int:
    """Return some bytes as a number."""
    number = 0
    for byte in range(count):
        number |= (data[at + byte] & 0xFF) << 8 * byte
    return number


@part
def next_time(data: ndarray, at: int, now: int, state: ndarray) -> int:
    """Return the time that the next timestamp sets, or `now` if another reset comes before one."""
    while at + 2 <= len(data):
        what = data[at] & 15
        size = LENGTHS >> 4 * what & 15
        if what == STAMP and at + size <= len(data):
            clock = bytes_at(data, at + 2, 6)
            state[CONSUMED] = at
            if state[BASE] == 0:
                state[BASE] = clock - now + 4
            return (clock - state[BASE]) & ~3 if clock > state[BASE] else now
        if what == MISC and (data[at + 1] & 0xFF) >> 5 == RESETS:
            return now
        at += size
    return now


@part
def begin_wave(s: int, now: int, is_started: int, start: Start, state: ndarray) -> None:
    """A wave begins in a slot."""
    open_wave(state, s, now, IDLE, start)
    for field in range(TRAP, LAST, SLOTS):
        state[field + s] = 0
    for field in range(LAST, LAST + REPLAYABLE * SLOTS, SLOTS):
        state[field + s] = -1
    state[IS_STARTED + s] = is_started


@part
def on_start_or_end(data: ndarray, at: int, now: int, state: ndarray, to: Columns) -> None:
    """A wave starts, ends, or is switched, on the traced compute unit or elsewhere."""
    head = bytes_at(data, at, 2)
    if head >> 10 & 15 > LAST_SLOT:
        return
    is_here, s = head >> 6 & 15 == state[CU] and head & 32 == 0, (head >> 14) * 16 + (head >> 10 & 15)
    start, counts = UNKNOWN, True
    if head & 15 == START:
        more = bytes_at(data, at + 2, 2)
        queue = ENTRIES + 2 * (more & 7)  # the lowest bit of the ME, and the pipe
        entry = state[queue] << 8 | (state[queue + 1] & 0xFF) << 40
        start = (more >> 2 & 3, more & 3, entry, more >> 13, -1)
        if is_here:
            counts = on_start(more >> 6 & 127, s, now, start, state, to)
    elif is_here:
        counts = on_end(s, now, state, to)
    if counts:
        on_turn(head >> 6, now, head & 15 == START, start, state, to)


@part
def on_start(count: int, s: int, now: int, start: Start, state: ndarray, to: Columns) -> bool:
    """A wave starts, or is switched; return whether it starts."""
    if count <= SWITCH:
        if state[WAVE + s] < 0:  # else already reported
            begin_wave(s, now, 1, start, state)
        return True
    if state[WAVE + s] >= 0 and state[TRAP + s] == REQUESTED:
        state[TRAP + s] = SAVED
        add_record(TRAPPED, s, now, 0, ISSUES, state, to)
        state[CONTEXTS + s] += 1
    elif state[TRAP + s] == SAVED:
        state[TRAP + s] = AWAITS
    return False


@part
def on_end(s: int, now: int, state: ndarray, to: Columns) -> bool:
    """A wave ends, or is switched; return whether it ends."""
    if state[WAVE + s] < 0:
        return True
    if state[TRAP + s] != NORMAL:
        return False
    end = now + ISSUES
    has_segment = state[SEGMENT_AT + s] > state[SEGMENT_FIRST + s]
    if has_segment and end > state[SINCE + s] and record_before(state[TOKEN_AT + s], s, state, to) >= 0:
        add_segment(state, s, state[DOES + s], end - state[SINCE + s], False, to)
    state[ENDS + s], state[IS_COMPLETE + s] = end, 1
    leave(s, state, to)
    return True


@part
def leave(s: int, state: ndarray, to: Columns) -> None:
    """The wave of a slot is over: it stays if it has a start or a record."""
    if state[PENDING + s] + state[VANISHES + s] > 0:
        keep_records(s, state, to)
    if state[IS_STARTED + s] != 0 or state[TOKEN_AT + s] > state[TOKEN_FIRST + s]:
        state[RANK + s] = state[ENDED]
        state[ENDED] += 1
        state[CONTEXTS + s] = min(state[CONTEXTS + s], MAX_CONTEXTS)
        close_wave(state, s, to)
    else:
        for first in range(TOKEN_FIRST, DOES, 2 * SLOTS):
            state[first + SLOTS + s] = state[first + s]
    state[WAVE + s] = GONE


@part
def keep_records(s: int, state: ndarray, to: Columns) -> None:
    """Leave out records that are not instructions, or whose kind the stream does not say."""
    first, kept, brk = state[TOKEN_FIRST + s], state[TOKEN_FIRST + s], state[BREAK_FIRST + s]
    for at in range(first, state[TOKEN_AT + s]):
        while brk < state[BREAK_AT + s] and to.rows[R_AFTER, brk] < at - first:
            to.rows[R_AFTER, brk] = kept - first - 1
            brk += 1
        if to.marks[M_KIND, at] < VANISHED:
            to.rows[R_TIME, kept], to.marks[M_KIND, kept] = to.rows[R_TIME, at], to.marks[M_KIND, at]
            to.rows[R_STALL, kept], to.rows[R_DURATION, kept] = to.rows[R_STALL, at], to.rows[R_DURATION, at]
            kept += 1
    for row in range(brk, state[BREAK_AT + s]):
        to.rows[R_AFTER, row] = kept - first - 1
    state[TOKEN_AT + s] = kept


@part
def end_open(s: int, state: ndarray, to: Columns) -> None:
    """The stream ends, and with it the wave of a slot, after its last record."""
    end = state[BEGINS + s] - ISSUES
    for at in range(state[TOKEN_FIRST + s], state[TOKEN_AT + s]):
        if to.marks[M_KIND, at] < VANISHED:
            end = max(end, to.rows[R_TIME, at] + to.rows[R_DURATION, at])
    state[ENDS + s] = end + ISSUES


@part
def on_turn(place: int, now: int, is_start: bool, start: Start, state: ndarray, to: Columns) -> None:
    """A wave began or ended anywhere; where one runs, a start is reported again.

    If it has no start it began before the stream; once data are lost, such an end is ignored.
    """
    runs, at = state[RUNS + place] != 0, OF_START + 5 * place
    is_recorded = runs != is_start or (not is_start and state[HAS_LOST] == 0)
    if is_start:
        state[at], state[at + 1], state[at + 2], state[at + 3], state[at + 4] = start
    elif runs:
        start = (state[at], state[at + 1], state[at + 2], state[at + 3], state[at + 4])
    state[RUNS + place] = 1 if is_start else 0
    spot, earlier = (place & 15, place >> 8, place >> 4 & 15), 0 if runs or is_start else 1
    for number in range(1 + earlier if is_recorded else 0):
        when, what = (0, 3) if number < earlier else (now, 1 if is_start else 0)
        add_occupancy(state, when, what, spot, start, to)


@part
def record_before(at: int, s: int, state: ndarray, to: Columns) -> int:
    """Return the record before one, -1 if there is none."""
    first = state[TOKEN_FIRST + s]
    if at <= first:
        return -1
    if to.marks[M_KIND, at - 1] != VANISHED:
        return at - 1
    return first + to.rows[R_TIME, at - 1] if to.rows[R_TIME, at - 1] >= 0 else -1


@part
def trim_record(at: int, end: int, to: Columns) -> None:
    """End a record when the next begins, but not before its minimum of cycles."""
    if end < to.rows[R_TIME, at] + to.rows[R_DURATION, at]:
        to.rows[R_DURATION, at] = max(end - to.rows[R_TIME, at], ISSUES)
        to.rows[R_STALL, at] = min(to.rows[R_STALL, at], to.rows[R_DURATION, at])


@part
def add_record(what: int, s: int, when: int, wait: int, length: int, state: ndarray, to: Columns) -> None:
    """Add a record to the wave of a slot."""
    at = state[TOKEN_AT + s] - state[TOKEN_FIRST + s]
    add_row(state, s, what, when, wait, length, 0, to)
    if what == UNFINISHED:
        state[PENDING + s] += 1
    elif state[FRONT + s] == at:
        state[FRONT + s] = at + 1


@part
def on_issue(what: int, s: int, now: int, state: ndarray, to: Columns) -> None:
    """Record a stall, the issue of an instruction, or of an instruction that needs no unit."""
    until, length = now, 0
    if what == IMMEDIATE:
        last = record_before(state[TOKEN_AT + s], s, state, to)
        if last >= 0 and to.marks[M_KIND, last] != UNFINISHED:
            trim_record(last, now, to)
            until = min(to.rows[R_TIME, last] + to.rows[R_DURATION, last], now)
        length = ISSUES + now - until
    if until > state[SINCE + s]:
        add_segment(state, s, state[DOES + s], until - state[SINCE + s], True, to)
        state[SINCE + s] = until
    if what == STALL:
        state[DOES + s] = STALLED
        at = state[STALL_AT + s]
        to.rows[R_STALLED, at] = now
        state[STALL_AT + s] = at + 1
        if at & to.last >= to.last - SPARE:
            state[IS_FULL] = 1
        return
    unit = UNFINISHED
    if what == IMMEDIATE:
        unit = IMMED
        add_segment(state, s, WAIT, length, False, to)
        state[SINCE + s] = max(now + ISSUES, state[SINCE + s])
    state[DOES + s] = EXEC
    add_record(unit, s, until, length, length, state, to)


@part
def on_kind(what: int, s: int, now: int, state: ndarray, to: Columns) -> None:
    """Set the kind of its oldest record without a kind, or return from the trap handler."""
    if state[TRAP + s] == AWAITS and what == JUMPS:
        state[TRAP + s] = NORMAL
        last = record_before(state[TOKEN_AT + s], s, state, to)
        if last >= 0 and to.marks[M_KIND, last] == TRAPPED:
            to.rows[R_DURATION, last] = max(now + ISSUES - to.rows[R_TIME, last], to.rows[R_STALL, last])
        add_break(state, s, state[TOKEN_AT + s] - state[TOKEN_FIRST + s] - 1, to)
    elif state[TRAP + s] == NORMAL and state[PENDING + s] > 0:
        state[PENDING + s] -= 1
        at = state[FRONT + s]
        set_kind(what, s, now, state, to)
        if what == JUMPS:
            add_break(state, s, at, to)
        elif what == ENTERS_TRAP:
            state[TRAP + s] = AWAITS
            move_break(s, state, to)


@part
def set_kind(what: int, s: int, now: int, state: ndarray, to: Columns) -> None:
    """Set kind of its oldest record without a kind, and its duration from the time of the token."""
    first = state[TOKEN_FIRST + s]
    at = first + state[FRONT + s]
    begin, floor = to.rows[R_TIME, at], 0
    last = record_before(state[TOKEN_AT + s], s, state, to)
    second = record_before(last, s, state, to)
    if second >= 0 and begin < to.rows[R_TIME, second] + to.rows[R_DURATION, second]:
        state[PHASE] += 1
    previous = record_before(at, s, state, to)
    if previous >= 0:
        trim_record(previous, begin, to)
        floor = to.rows[R_TIME, previous] + to.rows[R_DURATION, previous]
    unit, replayed = UNIT[what], REPLAYED[what]
    if unit:
        late = ((state[PHASE] + s // 16) % 4 + LATE[what]) // 4
        length = ISSUES + max(now - begin - 4 * late, 0)
        start, head = begin, state[STALL_FIRST + s]
        while head < state[STALL_AT + s] and to.rows[R_STALLED, head] < begin:
            start = max(to.rows[R_STALLED, head], floor)
            head += 1
        state[STALL_FIRST + s] = head
        if start != begin:
            length = max(begin + length - start, ISSUES)
        to.marks[M_KIND, at], to.rows[R_TIME, at] = unit, start
        to.rows[R_STALL, at], to.rows[R_DURATION, at] = max(begin - start, 0), length
        if what < REPLAYABLE:
            state[LAST + SLOTS * what + s] = at - first
    else:
        to.marks[M_KIND, at], to.rows[R_TIME, at] = VANISHED, previous - first if previous >= 0 else -1
        state[VANISHES + s] += 1
        if replayed >= 0:
            latest = LAST + SLOTS * replayed + s
            again = first + state[latest]
            if state[latest] >= 0:
                longer = max(now + ISSUES - to.rows[R_TIME, again] - to.rows[R_DURATION, again], 0)
                to.rows[R_STALL, again] += longer
                to.rows[R_DURATION, again] += longer
            state[latest] = -1
    at += 1
    while at < state[TOKEN_AT + s] and to.marks[M_KIND, at] != UNFINISHED:
        at += 1
    state[FRONT + s] = at - first


@part
def move_break(s: int, state: ndarray, to: Columns) -> None:
    """Its newest record enters the trap handler: move a break just before that record to after it."""
    row, last = state[BREAK_AT + s] - 1, record_before(state[TOKEN_AT + s], s, state, to)
    if row >= state[BREAK_FIRST + s] and last >= 0:
        previous, first = record_before(last, s, state, to), state[TOKEN_FIRST + s]
        if to.rows[R_AFTER, row] >= (previous - first if previous >= 0 else -1):
            to.rows[R_AFTER, row] = max(to.rows[R_AFTER, row], last - first)


@part
def on_address(data: ndarray, at: int, state: ndarray, to: Columns) -> None:
    """Set the address of its oldest break without an address, else of a new break after its newest record."""
    s = (data[at + 1] >> 1 & 3) * 16 + ((data[at] & 0xE0) >> 5 | (data[at + 1] & 1) << 3)
    if state[WAVE + s] >= 0 and state[TRAP + s] == NORMAL:
        address = bytes_at(data, at + 2, 6) << 2
        name_break(state, s, address, state[TOKEN_AT + s] - state[TOKEN_FIRST + s] - 1, to)
