"""The decoding kernel of gfx9: walk the tokens and apply each to the wave of its slot.

A token begins at a byte; its low four bits are its type, which gives its length.  The kernel goes through a
stream twice: once to count the rows of each wave, once to fill columns of that size, in which records,
segments and breaks of a wave are contiguous.  Tokens unrelated to waves are only noted: `gfx9` reads them.
The kernel stops at a given byte, so that its caller can check for cancellation, and continues from there.

A slot is SIMD * 16 + number.  Field F of slot S is `state[F + S]`, fact F of wave W `facts[FACTS * W + F]`.
A record is a token that a wave issued.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rcv_py.base.machine.compiled import kernel, part
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

SLOTS = 64
LAST_SLOT = 9  # of a SIMD: a token with a higher number is damaged
# `state[…]`: tokens of each of 16 types; then the kernel's position and results
POSITION, TIME, LATEST, BASE, CONSUMED, PHASE, IS_TRUNCATED, HAS_LOST, CU, WAVES, ENDED, OTHERS = range(
    16, 28
)
(
    WAVE,  # number of the wave, in the order in which they opened; NEVER or GONE: none
    TRAP,  # NORMAL or how far a context switch is
    PENDING,  # records without a kind yet
    DOES,  # its state, and since when
    SINCE,
    FIRST,  # its first record, the end of its records, its oldest record without a kind yet
    COUNT,
    FRONT,
    DID_FIRST,  # its first segment, the end of its segments
    DID,
    _,
    BREAK_FIRST,  # its first break, the end of its breaks, its oldest break without an address
    BREAK,
    BREAK_OPEN,
    STALL_HEAD,  # its oldest stall that no record took, the end of its stalls
    STALL_AT,
    _,
    LAST,  # and 16 more: its last record of each kind that can be replayed
) = range(SLOTS, 19 * SLOTS, SLOTS)
GROUP = 3 * SLOTS  # the fields of records, of segments, of breaks and of stalls
NEVER, GONE = -1, -2
REPLAYABLE = 17
SIZE = LAST + REPLAYABLE * SLOTS  # of `state`

FACTS = 10  # rows of a wave, later its first rows; its rank by end; its description
F_RECORDS, F_DID, F_BREAKS, F_STALLS, F_RANK, F_SLOT, F_BEGIN, F_END, F_START, F_CONTEXTS = range(FACTS)

UNFINISHED, VANISHED = -1, -2  # of a record: no kind yet; no instruction
UNUSED, UNUSED_BREAK = -1, -2  # of a segment, of the record before a break
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
IMMED, TRAPPED = int(TokenKind.IMMED), int(TokenKind.TRAP)
IDLE, EXEC, WAIT, STALLED = map(int, (WaveState.IDLE, WaveState.EXEC, WaveState.WAIT, WaveState.STALL))


class Rows(NamedTuple):
    """Columns of a walk."""

    fills: bool  # else rows are only counted: the columns are empty, except `facts`
    facts: ndarray  # int64 [FACTS * waves]
    time: ndarray  # int64, cycle of each record; of a vanished record the record before it
    kind: ndarray  # int8, their units
    stall: ndarray  # int32 or int64, cycles that they waited
    duration: ndarray  # the same, cycles that they took
    did: ndarray  # int8, state of the wave in each segment
    lasted: ndarray  # int32 or int64, cycles of each segment
    breaks: ndarray  # int64 [2 * breaks], the record after which a program goes on elsewhere, and where
    stalls: ndarray  # int64, when waves stalled
    others: ndarray  # int64 [2 * tokens], time and byte of tokens that waves do not need


@kernel
def walk(  # noqa: C901, PLR0912 - one branch a type of token
    data: ndarray, stop: int, state: ndarray, rows: Rows
) -> None:
    """Process the tokens that begin before byte `stop`.

    Args:
        data: int8, the whole stream.
        stop: a byte of it.
        state: int64 [SIZE], changed.
        rows: the columns, filled.
    """
    at, now = state[POSITION], state[TIME]
    while at < stop:
        head = data[at] & 0xFF
        what = head & 15
        size = LENGTHS >> 4 * what & 15
        if at + size > len(data):
            state[IS_TRUNCATED] = 1
            break
        state[what] += 1
        head |= (data[at + 1] & 0xFF) << 8
        if what == ISSUE:
            now += head >> 2 & 4
            left = head >> 8 | (data[at + 2] & 0xFF) << 8 | (data[at + 3] & 15) << 16
            s = (head >> 5 & 3) * 16
            while left:
                if left & 3 and state[WAVE + s] >= 0 and state[TRAP + s] == NORMAL:
                    on_issue(left & 3, s, now, state, rows)
                left >>= 2
                s += 1
        elif what == KIND:
            now += head >> 2 & 4
            s = (head >> 9 & 3) * 16 + (head >> 5 & 15)
            is_lost = state[WAVE + s] == NEVER or (state[WAVE + s] == GONE and state[HAS_LOST])
            if is_lost and s & 15 <= LAST_SLOT:
                open_wave(s, now, -1, state, rows)  # it began before the trace, or its start is lost
            elif state[WAVE + s] >= 0:
                on_kind(head >> 11, s, now, state, rows)
        elif what == MISC:
            now += (head >> 4 & 0xFF) * 4
            what = head >> 13
            if what == RESETS:
                now = next_time(data, at + 2, now, state)
            elif what:
                add_note(now, at, state, rows)
                if what == LOSES:
                    state[HAS_LOST] = 1
                for s in range(SLOTS if what == SAVES else 0):
                    state[TRAP + s] = REQUESTED
        else:
            if at != state[CONSUMED]:
                now += head >> 2 & 4
            if what == PC:
                on_address(data, at, state, rows)
            elif what in (START, END):
                if on_start_or_end(data, at, now, state, rows):
                    add_note(now, at, state, rows)
            elif SILENT >> what & 1 == 0:
                add_note(now, at, state, rows)
        at += size
    state[POSITION], state[TIME], state[LATEST] = at, now, max(now, state[LATEST])


@part
def six_bytes(data: ndarray, at: int) -> int:
    """Return six bytes as a number."""
    number = 0
    for byte in range(6):
        number |= (data[at + byte] & 0xFF) << 8 * byte
    return number


@part
def add_note(now: int, at: int, state: ndarray, rows: Rows) -> None:
    """Keep time and byte of a token."""
    row = state[OTHERS]
    if rows.fills:
        if 2 * row + 2 > len(rows.others):
            return
        rows.others[2 * row], rows.others[2 * row + 1] = now, at
    state[OTHERS] = row + 1


@part
def next_time(data: ndarray, at: int, now: int, state: ndarray) -> int:
    """Return the time that the next timestamp sets, or `now` if another reset comes before one."""
    state[LATEST] = max(now, state[LATEST])
    while at + 2 <= len(data):
        what = data[at] & 15
        size = LENGTHS >> 4 * what & 15
        if what == STAMP and at + size <= len(data):
            clock = six_bytes(data, at + 2)
            state[CONSUMED] = at
            if state[BASE] == 0:
                state[BASE] = clock - now + 4
            return (clock - state[BASE]) & ~3 if clock > state[BASE] else now
        if what == MISC and (data[at + 1] & 0xFF) >> 5 == RESETS:
            return now
        at += size
    return now


# -- waves come and go -------------------------------------------------------------------------------------


@part
def open_wave(s: int, now: int, start: int, state: ndarray, rows: Rows) -> None:
    """A wave begins; `start` is the row of `others` that holds its start, -1 if the stream has none."""
    wave = state[WAVES]
    fact = FACTS * wave
    if fact + FACTS > len(rows.facts):
        return
    state[WAVES] = wave + 1
    state[WAVE + s], state[TRAP + s], state[PENDING + s] = wave, NORMAL, 0
    state[DOES + s], state[SINCE + s] = IDLE, now
    for field in range(FIRST, LAST, SLOTS):
        state[field + s] = rows.facts[fact + (field - FIRST) // GROUP] if rows.fills else 0
    if rows.fills:
        rows.facts[fact + F_SLOT], rows.facts[fact + F_BEGIN], rows.facts[fact + F_START] = s, now, start


@part
def on_start_or_end(data: ndarray, at: int, now: int, state: ndarray, rows: Rows) -> bool:
    """A wave starts, ends, or is switched on the traced compute unit; return whether it counts elsewhere."""
    low, high = data[at] & 0xFF, data[at + 1] & 0xFF
    if high >> 2 & 15 > LAST_SLOT:
        return False
    if low >> 6 | (high & 3) << 2 != state[CU] or low & 32:
        return True
    s = (high >> 6) * 16 + (high >> 2 & 15)
    if low & 15 == END:
        return on_end(s, now, state, rows)
    count = (data[at + 2] & 0xC0) >> 6 | (data[at + 3] & 31) << 2
    return on_start(count, s, now, state, rows)


@part
def on_start(count: int, s: int, now: int, state: ndarray, rows: Rows) -> bool:
    """A wave starts, or is switched; return whether it starts."""
    if count <= SWITCH:
        if state[WAVE + s] < 0:  # else already reported
            open_wave(s, now, state[OTHERS], state, rows)
        return True
    if state[WAVE + s] >= 0 and state[TRAP + s] == REQUESTED:
        state[TRAP + s] = SAVED
        add_record(TRAPPED, s, now, 0, ISSUES, state, rows)
        if rows.fills:
            rows.facts[FACTS * state[WAVE + s] + F_CONTEXTS] += 1
    elif state[TRAP + s] == SAVED:
        state[TRAP + s] = AWAITS
    return False


@part
def on_end(s: int, now: int, state: ndarray, rows: Rows) -> bool:
    """A wave ends, or is switched; return whether it ends."""
    wave = state[WAVE + s]
    if wave < 0:
        return True
    if state[TRAP + s] != NORMAL:
        return False
    fact = FACTS * wave
    if rows.fills:
        end = now + ISSUES
        has_record = (
            state[DID + s] > state[DID_FIRST + s] and record_before(state[COUNT + s], s, state, rows) >= 0
        )
        if has_record and end > state[SINCE + s]:
            add_segment(state[DOES + s], s, end - state[SINCE + s], False, state, rows)
        rows.facts[fact + F_END] = end
    else:
        for group in range(4):
            rows.facts[fact + group] = state[COUNT + GROUP * group + s]
        rows.facts[fact + F_DID] += 1  # its last one
        rows.facts[fact + F_RANK] = state[ENDED]
        state[ENDED] += 1
    state[WAVE + s] = GONE
    return True


# -- records and segments ----------------------------------------------------------------------------------


@part
def record_before(at: int, s: int, state: ndarray, rows: Rows) -> int:
    """Return the record before one, -1 if there is none."""
    if at <= state[FIRST + s]:
        return -1
    return rows.time[at - 1] if rows.kind[at - 1] == VANISHED else at - 1


@part
def trim_record(at: int, end: int, rows: Rows) -> None:
    """End a record when the next begins, but not before its minimum of cycles."""
    if end < rows.time[at] + rows.duration[at]:
        rows.duration[at] = max(end - rows.time[at], ISSUES)
        rows.stall[at] = min(rows.stall[at], rows.duration[at])


@part
def add_record(what: int, s: int, when: int, wait: int, length: int, state: ndarray, rows: Rows) -> None:
    """Add a record to the wave of a slot."""
    at = state[COUNT + s]
    if rows.fills:
        if at >= len(rows.kind):
            return
        rows.time[at], rows.kind[at] = when, what
        rows.stall[at], rows.duration[at] = wait, length
    state[COUNT + s] = at + 1
    if what == UNFINISHED:
        state[PENDING + s] += 1
    elif state[FRONT + s] == at:
        state[FRONT + s] = at + 1


@part
def add_segment(what: int, s: int, length: int, joins: bool, state: ndarray, rows: Rows) -> None:
    """Add a segment to the wave of a slot; an adjacent segment of the same state extends the last."""
    at = state[DID + s]
    if rows.fills:
        if joins and at > state[DID_FIRST + s] and rows.did[at - 1] == what:
            rows.lasted[at - 1] = rows.lasted[at - 1] + length
            return
        if at >= len(rows.did):
            return
        rows.did[at], rows.lasted[at] = what, length
    state[DID + s] = at + 1


# -- tokens about the wave of a slot ------ -----------------------------------------------------------------


@part
def on_issue(what: int, s: int, now: int, state: ndarray, rows: Rows) -> None:
    """Record a stall, the issue of an instruction, or of an instruction that needs no unit."""
    until, length = now, 0
    if what == IMMEDIATE:
        if rows.fills:
            last = record_before(state[COUNT + s], s, state, rows)
            if last >= 0 and rows.kind[last] != UNFINISHED:
                trim_record(last, now, rows)
                until = min(rows.time[last] + rows.duration[last], now)
        length = ISSUES + now - until
    if until > state[SINCE + s]:
        add_segment(state[DOES + s], s, until - state[SINCE + s], True, state, rows)
        state[SINCE + s] = until
    if what == STALL:
        state[DOES + s] = STALLED
        at = state[STALL_AT + s]
        if rows.fills:
            if at >= len(rows.stalls):
                return
            rows.stalls[at] = now
        state[STALL_AT + s] = at + 1
        return
    unit = UNFINISHED
    if what == IMMEDIATE:
        unit = IMMED
        add_segment(WAIT, s, length, False, state, rows)
        state[SINCE + s] = max(now + ISSUES, state[SINCE + s])
    state[DOES + s] = EXEC
    add_record(unit, s, until, length, length, state, rows)


@part
def on_kind(what: int, s: int, now: int, state: ndarray, rows: Rows) -> None:
    """Set the kind of its oldest record without a kind, or return from the trap handler."""
    if state[TRAP + s] == AWAITS and what == JUMPS:
        state[TRAP + s] = NORMAL
        last = record_before(state[COUNT + s], s, state, rows) if rows.fills else -1
        if last >= 0 and rows.kind[last] == TRAPPED:
            rows.duration[last] = max(now + ISSUES - rows.time[last], rows.stall[last])
        add_break(state[COUNT + s] - 1, s, state, rows)
    elif state[TRAP + s] == NORMAL and state[PENDING + s] > 0:
        state[PENDING + s] -= 1
        at = state[FRONT + s]
        if rows.fills:
            set_kind(what, s, now, state, rows)
        if what == JUMPS:
            add_break(at, s, state, rows)
        elif what == ENTERS_TRAP:
            state[TRAP + s] = AWAITS
            if rows.fills:
                move_break(s, state, rows)


@part
def set_kind(what: int, s: int, now: int, state: ndarray, rows: Rows) -> None:
    """Set kind of its oldest record without a kind, and its duration from the time of the token."""
    at = state[FRONT + s]
    begin, floor = rows.time[at], 0
    last = record_before(state[COUNT + s], s, state, rows)
    second = record_before(last, s, state, rows)
    if second >= 0 and begin < rows.time[second] + rows.duration[second]:
        state[PHASE] += 1
    previous = record_before(at, s, state, rows)
    if previous >= 0:
        trim_record(previous, begin, rows)
        floor = rows.time[previous] + rows.duration[previous]
    unit, replayed = UNIT[what], REPLAYED[what]
    if unit:
        late = ((state[PHASE] + s // 16) % 4 + LATE[what]) // 4
        length = ISSUES + max(now - begin - 4 * late, 0)
        start, head = begin, state[STALL_HEAD + s]
        while head < state[STALL_AT + s] and rows.stalls[head] < begin:
            start = max(rows.stalls[head], floor)
            head += 1
        state[STALL_HEAD + s] = head
        if start != begin:
            length = max(begin + length - start, ISSUES)
        rows.kind[at], rows.time[at] = unit, start
        rows.stall[at], rows.duration[at] = max(begin - start, 0), length
        if what < REPLAYABLE:
            state[LAST + SLOTS * what + s] = at
    else:
        rows.kind[at], rows.time[at] = VANISHED, previous
        if replayed >= 0:
            latest = LAST + SLOTS * replayed + s
            at = state[latest]
            state[latest] = -1
            if at >= state[FIRST + s]:  # not of a wave that had the slot before
                longer = max(now + ISSUES - rows.time[at] - rows.duration[at], 0)
                rows.stall[at] += longer
                rows.duration[at] += longer
    at = state[FRONT + s] + 1
    while at < state[COUNT + s] and rows.kind[at] != UNFINISHED:
        at += 1
    state[FRONT + s] = at


@part
def add_break(at: int, s: int, state: ndarray, rows: Rows) -> None:
    """Add a break after a record: the program goes on at an address that a later token reports."""
    row = state[BREAK + s]
    if rows.fills:
        if 2 * row + 2 > len(rows.breaks):
            return
        at -= state[FIRST + s]
        if row > state[BREAK_FIRST + s]:
            at = max(at, rows.breaks[2 * row - 2])
        rows.breaks[2 * row], rows.breaks[2 * row + 1] = at, 0
    state[BREAK + s] = row + 1


@part
def move_break(s: int, state: ndarray, rows: Rows) -> None:
    """Its newest record enters the trap handler: move a break just before that record to after it."""
    row, last = state[BREAK + s] - 1, record_before(state[COUNT + s], s, state, rows)
    if row >= state[BREAK_FIRST + s] and last >= 0:
        previous = record_before(last, s, state, rows)
        if rows.breaks[2 * row] >= (previous - state[FIRST + s] if previous >= 0 else -1):
            rows.breaks[2 * row] = max(rows.breaks[2 * row], last - state[FIRST + s])


@part
def on_address(data: ndarray, at: int, state: ndarray, rows: Rows) -> None:
    """Set the address of its oldest break without an address, else of a new break after its newest record."""
    s = (data[at + 1] >> 1 & 3) * 16 + ((data[at] & 0xE0) >> 5 | (data[at + 1] & 1) << 3)
    if state[WAVE + s] < 0 or state[TRAP + s] != NORMAL:
        return
    if state[BREAK_OPEN + s] == state[BREAK + s]:
        add_break(state[COUNT + s] - 1, s, state, rows)
    row = state[BREAK_OPEN + s]
    if row < state[BREAK + s]:
        if rows.fills:
            rows.breaks[2 * row + 1] = six_bytes(data, at + 2) << 2
        state[BREAK_OPEN + s] = row + 1
