"""Walk a stream of RDNA: times, and the activity of each wave of the traced SIMD.

It runs twice over the same words: first it counts (the columns are empty then), then it fills columns of
exactly that size.  All state between tokens is in `state`, so that the walk can stop when the table of waves
is full and continue with a larger table.  Several threads can fill stretches of the stream in any order, each
from the state that the count reached there: every row is written once, when it is final, and repeated writes
to the table of waves are identical.  Rare tokens are only noted, with time and position: numpy reads them
(`rdna_notes`).
"""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from rcv_py.base.machine.compiled import kernel, part
from rcv_py.formats.sqtt.rdna_tables import (
    OP_ACT,
    OP_CYCLES,
    OPS,
    REJOINING,
    RULE_BITS,
    RULE_IS_CONTROL,
    RULE_IS_MASK,
    RULE_IS_NOTED,
    RULE_IS_QUIET,
    RULE_MASK,
    RULE_PLUS,
    RULE_RECENT,
    RULE_SHIFT,
    RULE_SLOT,
    START_COUNT,
    START_PLACE,
    TOKEN_TYPES,
    Act,
    Known,
    Token,
)
from rcv_py.formats.sqtt.records import FLAG_BARRIER
from rcv_py.model.kinds import TokenKind, WaveState

SLOTS = 32  # five bits
SLOTS_READY = 16  # slots that a mask can name
PADDING = 4  # words after the last, so that a whole token can be read from any position
LAST_CYCLE = 1 << 60  # a later time means that the stream is corrupt
WIDEST = (1 << 31) - 1  # cycles that a column of 32 bits holds

# `state`: the position of the walk
AT = 0  # bits
NOW = 1  # cycles
SCANNED = 2  # bits that were scanned for waves that became ready
WAVES = 3
ENDED = 4  # waves that have a rank in the order of ends
NOTES = 5
IS_LOST = 6  # no token fits here, or the time is corrupt
IS_EXTENDED = 7  # the previous token is a wave start, which may continue
IS_DONE = 8  # the walk is complete
IS_WIDE = 9  # a number of cycles is too great for the columns
LATELY = 10  # slots that issued last, -1 none
COUNTS = LATELY + REJOINING  # tokens of each type
# and of each slot, `state[field + slot]`
(
    WAVE,  # its number, -1 if the slot is empty
    IS_OVER,
    DOING,  # WaveState
    SINCE,  # time up to which states are recorded
    SEGMENT,  # state of the last segment, -1 before the first
    SEGMENT_SINCE,  # when that began
    TOKENS,
    SEGMENTS,
    BREAKS,
    KNOWN,  # breaks whose address the stream reported
    IS_TRAPPED,
    IS_BARRIER,  # the last token is a barrier, which goes on until the next one
    LAST_KIND,  # of the last token, -1 before the first
    LAST_TIME,
    LAST_ISSUE,  # when it was issued
    LAST_END,
    LAST_FLAGS,
    LATEST,  # end of any token
    CONTEXTS,  # saves and restores of its context
    TOKEN_FIRST,  # first of its rows of the columns
    SEGMENT_FIRST,
    BREAK_FIRST,
    STATES,  # the end
) = range(COUNTS + TOKEN_TYPES, COUNTS + TOKEN_TYPES + 23 * SLOTS, SLOTS)

# Columns of `waves`
(
    W_SLOT,
    W_NOTE,  # number of the note of its start
    W_BEGIN,
    W_END,
    W_ORDER,  # in which they ended
    W_IS_COMPLETE,
    W_CONTEXTS,
    W_TOKENS,
    W_SEGMENTS,
    W_BREAKS,
    W_TOKEN_FIRST,  # given to the second walk
    W_SEGMENT_FIRST,
    W_BREAK_FIRST,
    WAVE_COLUMNS,
) = range(14)

INST, WAVE_READY, NEW_PC, MISC = int(Token.INST), int(Token.WAVE_READY), int(Token.NEW_PC), int(Token.MISC)
START_EXT, WAVE_END, STAMP = int(Token.WAVE_START_EXT), int(Token.WAVE_END), int(Token.TIMESTAMP)
NOTHING, JUMP, WAITS, LONG_BARRIER = int(Act.NOTHING), int(Act.JUMP), int(Act.WAIT), int(Act.LONG_BARRIER)
BARRIER, READY, TRAP, ELSEWHERE = int(Act.BARRIER), int(Act.READY), int(Act.TRAP), int(Act.ELSEWHERE)
EMPTY, IDLE, EXEC, WAIT, STALL = (int(state) for state in WaveState)
CONTEXT, MESSAGE = int(TokenKind.TRAP), int(TokenKind.MSG)
OP, OP_MASK, START_SLOT, END_SLOT = (
    int(Known.OP),
    int(Known.OP_MASK),
    int(Known.START_SLOT),
    int(Known.END_SLOT),
)
PLACE, PLACE_MASK, END_PLACE = int(Known.PLACE), int(Known.PLACE_MASK), int(Known.END_PLACE)
PC_MASK, MISC_SAVE = int(Known.PC_MASK), int(Known.MISC_SAVE)
GFXIP, LATE, IS_BYTE_ALIGNED = int(Known.GFXIP), int(Known.LATE), int(Known.IS_BYTE_ALIGNED)
REJOINING_FIRST, REJOINING_LAST = 10, 14  # VALU instructions whose wave the short token can name afterwards
CONTEXT_FIRST, CONTEXT_LAST = 66, 89  # counts of a start that reports a context switch
SAVING, RESTORING = 0b0000110011, 0b1111001100  # which of them save it, which restore it
LOW = 0xFFFFFFFF


def beginning() -> ndarray:
    """Return the state in which a walk begins."""
    state = np.zeros(STATES, dtype=np.int64)
    state[LATELY : LATELY + REJOINING] = -1
    state[WAVE : WAVE + SLOTS] = -1
    return state


@part
def bits_at(words: ndarray, at: int) -> int:
    """Return the 32 bits from a position on; bits above them are undefined."""
    word = at >> 5
    return (int(words[word]) & LOW | (int(words[word + 1]) & LOW) << 32) >> (at & 31)


@part
def end_segment(state: ndarray, slot: int, states: ndarray, lasting: ndarray) -> None:
    """End the last segment of the wave, if there is one."""
    at = state[SEGMENT_FIRST + slot] + state[SEGMENTS + slot] - 1
    if state[SEGMENT + slot] >= 0 and 0 <= at < len(states):
        states[at] = state[SEGMENT + slot]
        lasting[at] = state[SINCE + slot] - state[SEGMENT_SINCE + slot]


@part
def become(state: ndarray, slot: int, new: int, time: int, states: ndarray, lasting: ndarray) -> None:
    """Set a wave's state from a time on; it keeps the previous state until then."""
    since = state[SINCE + slot]
    if time > since:
        before = state[DOING + slot]
        if before != state[SEGMENT + slot]:
            end_segment(state, slot, states, lasting)
            state[SEGMENT + slot] = before
            state[SEGMENT_SINCE + slot] = since
            state[SEGMENTS + slot] += 1
        state[SINCE + slot] = time
    state[DOING + slot] = new


@part
def end_token(state: ndarray, slot: int, times: ndarray, cycles: ndarray, marks: ndarray) -> None:
    """Write the last token of the wave, if there is one: it is final."""
    at = state[TOKEN_FIRST + slot] + state[TOKENS + slot] - 1
    room = len(times)
    if state[LAST_KIND + slot] >= 0 and 0 <= at < room:
        time = state[LAST_TIME + slot]
        times[at] = time
        cycles[at] = state[LAST_ISSUE + slot] - time
        cycles[room + at] = state[LAST_END + slot] - time
        marks[at] = state[LAST_KIND + slot]
        marks[room + at] = state[LAST_FLAGS + slot]


@part
def add(
    state: ndarray,
    slot: int,
    kind: int,
    time: int,
    until: int,
    busy: int,
    flags: int,
    times: ndarray,
    cycles: ndarray,
    marks: ndarray,
) -> None:
    """Add a token of the wave: it waits from `time` until it is issued, then takes some cycles."""
    end_token(state, slot, times, cycles, marks)
    end = until + busy
    if end - time > WIDEST:
        state[IS_WIDE] = 1
    state[TOKENS + slot] += 1
    state[LAST_KIND + slot] = kind
    state[LAST_TIME + slot] = time
    state[LAST_ISSUE + slot] = until
    state[LAST_END + slot] = end
    state[LAST_FLAGS + slot] = flags
    state[LATEST + slot] = max(state[LATEST + slot], end)


@part
def lengthen(state: ndarray, slot: int, end: int, kind: int) -> None:
    """Correct end and kind of the wave's last token."""
    if end - state[LAST_TIME + slot] > WIDEST:
        state[IS_WIDE] = 1
    state[LAST_KIND + slot] = kind
    state[LAST_END + slot] = end
    state[LATEST + slot] = max(state[LATEST + slot], end)


@part
def add_break(state: ndarray, slot: int, breaks: ndarray) -> None:
    """Add a break: the program goes on elsewhere after the last token."""
    at = state[BREAK_FIRST + slot] + state[BREAKS + slot]
    room = len(breaks) >> 1
    if at < room:
        breaks[at] = state[TOKENS + slot] - 1
    state[BREAKS + slot] += 1


@part
def close_barrier(state: ndarray, slot: int, time: int, states: ndarray, lasting: ndarray) -> None:
    """End a barrier at the next token of its wave."""
    state[IS_BARRIER + slot] = 0
    become(state, slot, WAIT, state[LAST_END + slot], states, lasting)
    become(state, slot, EXEC, time + 1, states, lasting)
    lengthen(state, slot, max(time, state[LAST_TIME + slot]), MESSAGE)


@part
def turn(
    state: ndarray,
    slot: int,
    act: int,
    time: int,
    times: ndarray,
    cycles: ndarray,
    marks: ndarray,
    breaks: ndarray,
) -> None:
    """Enter a trap, about which the stream reports nothing, or return from it."""
    if act == TRAP:
        add(state, slot, CONTEXT, time, time, 1, 0, times, cycles, marks)
        state[IS_TRAPPED + slot] = 1
        return
    add_break(state, slot, breaks)
    state[IS_TRAPPED + slot] = 0
    if state[LAST_KIND + slot] == CONTEXT:
        lengthen(state, slot, max(state[LAST_END + slot], time + 1), CONTEXT)


@part
def issue(
    state: ndarray,
    slot: int,
    op: int,
    time: int,
    times: ndarray,
    cycles: ndarray,
    marks: ndarray,
    states: ndarray,
    lasting: ndarray,
    breaks: ndarray,
) -> None:
    """Issue an instruction: the wave stalled before if it was ready; a wait begins after the last token."""
    act = op >> OP_ACT & 0xFF
    begin = time
    waits = WAITS <= act <= LONG_BARRIER
    if waits:
        if state[LAST_KIND + slot] >= 0:
            begin = min(time, state[LAST_END + slot])
    elif state[DOING + slot] == STALL:
        begin = min(time, state[SINCE + slot])
    flags = FLAG_BARRIER if BARRIER <= act <= LONG_BARRIER else 0
    add(state, slot, op & 0xFF, begin, time, op >> OP_CYCLES, flags, times, cycles, marks)
    if waits:
        become(state, slot, WAIT, begin, states, lasting)
        state[IS_BARRIER + slot] = 1 if act == LONG_BARRIER else 0
    elif act == JUMP:
        add_break(state, slot, breaks)
    become(state, slot, EXEC, time + 1 if waits else time, states, lasting)


@part
def tell(
    state: ndarray,
    slot: int,
    op: int,
    time: int,
    times: ndarray,
    cycles: ndarray,
    marks: ndarray,
    states: ndarray,
    lasting: ndarray,
    breaks: ndarray,
) -> None:
    """Apply a token that names the wave of a slot."""
    if state[WAVE + slot] < 0 or state[IS_OVER + slot] != 0:
        return
    act = op >> OP_ACT & 0xFF
    if state[IS_BARRIER + slot] != 0:
        close_barrier(state, slot, time - 1 if act == READY else time, states, lasting)
    if act == READY:
        become(state, slot, STALL, time, states, lasting)
    elif act >= TRAP:
        turn(state, slot, act, time, times, cycles, marks, breaks)
    elif state[IS_TRAPPED + slot] == 0:
        issue(state, slot, op, time, times, cycles, marks, states, lasting, breaks)


@part
def close(state: ndarray, slot: int, wave: int, end: int, waves: ndarray) -> None:
    """Record the end of a wave: no segment of it is longer than its lifetime."""
    if state[SINCE + slot] - waves[wave, W_BEGIN] > WIDEST:
        state[IS_WIDE] = 1
    waves[wave, W_END] = end
    waves[wave, W_ORDER] = state[ENDED]
    state[ENDED] += 1


@part
def leave(
    state: ndarray,
    slot: int,
    waves: ndarray,
    times: ndarray,
    cycles: ndarray,
    marks: ndarray,
    states: ndarray,
    lasting: ndarray,
) -> None:
    """Write the totals of the slot's wave: another wave takes the slot, or the stream ends."""
    wave = state[WAVE + slot]
    if wave < 0 or wave >= len(waves):
        return
    waves[wave, W_IS_COMPLETE] = state[IS_OVER + slot]
    if state[IS_OVER + slot] == 0:
        end = state[SINCE + slot]
        if state[LAST_KIND + slot] >= 0:
            end = max(end, state[LATEST + slot] + 4)
        become(state, slot, EMPTY, end, states, lasting)
        close(state, slot, wave, end, waves)
    end_token(state, slot, times, cycles, marks)
    end_segment(state, slot, states, lasting)
    waves[wave, W_CONTEXTS] = state[CONTEXTS + slot]
    waves[wave, W_TOKENS] = state[TOKENS + slot]
    waves[wave, W_SEGMENTS] = state[SEGMENTS + slot]
    waves[wave, W_BREAKS] = state[BREAKS + slot]
    state[WAVE + slot] = -1


@part
def start(
    state: ndarray,
    slot: int,
    count: int,
    time: int,
    waves: ndarray,
    times: ndarray,
    cycles: ndarray,
    marks: ndarray,
    states: ndarray,
    lasting: ndarray,
) -> None:
    """Handle a start on the traced SIMD: a new wave, or the save or restore of a context."""
    wave = state[WAVE + slot]
    is_there = wave >= 0 and state[IS_OVER + slot] == 0
    is_context = CONTEXT_FIRST <= count <= CONTEXT_LAST
    is_saved = is_context and is_there and SAVING >> (count - CONTEXT_FIRST) & 1 != 0
    is_back = is_context and RESTORING >> (count - CONTEXT_FIRST) & 1 != 0
    if not is_context or (is_back and not is_there):
        leave(state, slot, waves, times, cycles, marks, states, lasting)
        wave = state[WAVES]
        state[WAVES] += 1
        for field in range(WAVE + slot, STATES, SLOTS):
            state[field] = 0
        state[WAVE + slot] = wave
        state[DOING + slot] = IDLE
        state[SINCE + slot] = time
        state[SEGMENT + slot] = -1
        state[LAST_KIND + slot] = -1
        state[TOKEN_FIRST + slot] = waves[wave, W_TOKEN_FIRST]
        state[SEGMENT_FIRST + slot] = waves[wave, W_SEGMENT_FIRST]
        state[BREAK_FIRST + slot] = waves[wave, W_BREAK_FIRST]
        waves[wave, W_SLOT] = slot
        waves[wave, W_NOTE] = state[NOTES]
        waves[wave, W_BEGIN] = time
    if is_saved:
        add(state, slot, CONTEXT, time, time, 1, 0, times, cycles, marks)
    elif is_back and state[LAST_KIND + slot] == CONTEXT:
        lengthen(state, slot, max(state[LAST_END + slot], time + 1), CONTEXT)
    if is_saved or is_back:
        state[IS_TRAPPED + slot] = 1
        state[IS_BARRIER + slot] = 0
        state[CONTEXTS + slot] += 1


@part
def end_wave(
    state: ndarray,
    slot: int,
    time: int,
    waves: ndarray,
    times: ndarray,
    cycles: ndarray,
    marks: ndarray,
    states: ndarray,
    lasting: ndarray,
) -> None:
    """End the wave in a slot; it stays until another wave starts, since an address may follow."""
    wave = state[WAVE + slot]
    if wave < 0 or wave >= len(waves) or state[IS_OVER + slot] != 0:
        return
    become(state, slot, EMPTY, time, states, lasting)
    last = state[LAST_END + slot]
    if state[LAST_KIND + slot] >= 0 and last < time and state[IS_TRAPPED + slot] == 0:
        add(
            state, slot, MESSAGE, last, last, time - last, 0, times, cycles, marks
        )  # s_endpgm leaves no token
    state[IS_OVER + slot] = 1
    close(state, slot, wave, time, waves)


@part
def resume(
    state: ndarray,
    slot: int,
    address: int,
    time: int,
    states: ndarray,
    lasting: ndarray,
    breaks: ndarray,
) -> None:
    """Set the address at which the program of a wave goes on."""
    if state[WAVE + slot] < 0:
        return
    if state[IS_BARRIER + slot] != 0 and state[IS_OVER + slot] == 0:
        close_barrier(state, slot, time, states, lasting)
    if state[IS_TRAPPED + slot] != 0:
        return
    known = state[KNOWN + slot]
    if known >= state[BREAKS + slot]:
        add_break(state, slot, breaks)
    at = state[BREAK_FIRST + slot] + known
    room = len(breaks) >> 1
    if at < room:
        breaks[room + at] = address
    state[KNOWN + slot] = known + 1


@part
def rejoined(state: ndarray, slot: int, recent: int) -> int:
    """Return the slot of a VALU instruction: the given slot, or a numbered entry of the recent slots.

    It becomes the latest of the recent slots, and the others keep their order.
    """
    at = LATELY
    if recent > 0:
        at = LATELY + recent - 1
        slot = state[at]
    else:
        while at < LATELY + REJOINING - 1 and state[at] != slot:
            at += 1
    while at > LATELY:
        state[at] = state[at - 1]
        at -= 1
    state[LATELY] = slot
    return slot


@part
def passing(words: ndarray, at: int, low: int, rule: int, gfxip: int) -> int:
    """Cycles that pass with a token; of a time stamp, the cycles that it adds."""
    if rule & 0xFF != STAMP:
        return (low >> (rule >> RULE_SHIFT & 0xFF) & (rule >> RULE_MASK & 0xFFF)) + (rule >> RULE_PLUS & 0xFF)
    if gfxip == 10:
        is_clock, first, high = low >> 14 & 3 != 1, 16, 0xFFFF
    elif gfxip == 11:
        is_clock, first, high = low >> 9 & 1 != 0, 12, 0xF
    else:
        is_clock, first, high = low >> 7 & 1 != 0, 12, 0xFFFFF
    if is_clock:
        return 0
    return bits_at(words, at + first) & LOW | (bits_at(words, at + first + 32) & high) << 32


@part
def scan(words: ndarray, at: int, end: int, rules: ndarray, gfxip: int) -> tuple[int, int]:
    """Return where the next cycle begins, and the waves that became ready in this one.

    gfx10 and gfx11 report readiness a cycle late, after all other tokens of that cycle.
    """
    first, ready = at, 0
    while at < end:
        low = bits_at(words, at)
        rule = rules[low & 0xFF]
        length = rule >> RULE_BITS & 0xFF
        if length == 0 or at + length > end:
            break
        if at > first and passing(words, at, low, rule, gfxip) > 0:
            break
        if rule & 0xFF == WAVE_READY:
            ready |= low >> 8 & 0xFFFF
        at += length
    return at, ready


@part
def control(
    words: ndarray,
    at: int,
    low: int,
    token: int,
    time: int,
    known: ndarray,
    state: ndarray,
    waves: ndarray,
    times: ndarray,
    cycles: ndarray,
    marks: ndarray,
    states: ndarray,
    lasting: ndarray,
    breaks: ndarray,
) -> None:
    """Apply a token of CONTROLS."""
    if token == NEW_PC:
        address = (bits_at(words, at + 16) & LOW | (bits_at(words, at + 48) & LOW) << 32) & known[PC_MASK]
        resume(state, low >> 11 & 31, address << 2, time, states, lasting, breaks)
    elif token == MISC:
        if low >> known[MISC_SAVE] & 1 != 0:
            for slot in range(SLOTS):
                state[IS_TRAPPED + slot] = 1
    elif token == WAVE_END:
        if low >> known[END_PLACE] & known[PLACE_MASK] == known[PLACE]:
            slot = low >> known[END_SLOT] & 31
            end_wave(state, slot, time, waves, times, cycles, marks, states, lasting)
    elif low >> START_PLACE & known[PLACE_MASK] == known[PLACE]:
        slot = low >> known[START_SLOT] & 31
        start(state, slot, low >> START_COUNT & 127, time, waves, times, cycles, marks, states, lasting)


@part
def note(state: ndarray, token: int, time: int, at: int, notes: ndarray) -> None:
    """Leave a token to numpy."""
    number, room = state[NOTES], len(notes) // 3
    if number < room:
        notes[number] = token
        notes[room + number] = time
        notes[2 * room + number] = at
    state[NOTES] += 1


@part
def named(low: int, rule: int, number: int, known: ndarray, state: ndarray) -> tuple[int, int]:
    """Return a slot, and a mask of the slots that a token names, from that slot on."""
    if rule >> RULE_IS_MASK & 1 != 0:
        return 0, low >> 8 & 0xFFFF
    slot, recent = low >> (rule >> RULE_SLOT & 31) & 31, rule >> RULE_RECENT & 7
    if recent > 0 or (known[IS_BYTE_ALIGNED] != 0 and REJOINING_FIRST <= number <= REJOINING_LAST):
        slot = rejoined(state, slot, recent)
    return max(slot, 0), 1 if slot >= 0 else 0


@part
def instruct(
    low: int,
    rule: int,
    number: int,
    op: int,
    ready: int,
    time: int,
    known: ndarray,
    state: ndarray,
    times: ndarray,
    cycles: ndarray,
    marks: ndarray,
    states: ndarray,
    lasting: ndarray,
    breaks: ndarray,
) -> None:
    """Apply a token that names waves; before it, waves that became ready a cycle earlier."""
    slot, todo, which = 0, 0, SLOTS_READY
    if op >> OP_ACT & 0xFF not in (NOTHING, ELSEWHERE):
        slot, todo = named(low, rule, number, known, state)
    if ready != 0:
        todo, which = todo << SLOTS_READY | ready, 0
    while todo != 0:
        if todo & 1 != 0:
            who, does, when = slot + which - SLOTS_READY, op, time
            if which < SLOTS_READY:
                who, does, when = which, READY << OP_ACT, time - known[LATE]
            tell(state, who, does, when, times, cycles, marks, states, lasting, breaks)
        todo >>= 1
        which += 1


@kernel
def walk(  # noqa: C901 - one branch per kind of token and reason to stop
    words: ndarray,
    end: int,
    until: int,
    rules: ndarray,
    ops: ndarray,
    known: ndarray,
    state: ndarray,
    waves: ndarray,
    times: ndarray,
    cycles: ndarray,
    marks: ndarray,
    states: ndarray,
    lasting: ndarray,
    breaks: ndarray,
    notes: ndarray,
) -> None:
    """Walk to a bit, until no token fits, or until the table of waves is full.

    Args:
        words: uint32, the stream, with PADDING after it.
        end: bits of the stream.
        until: bit where this call stops, at most `end`.
        rules, ops: int64 [256] and [OPS + TOKEN_TYPES], tables of `rdna_tables`.
        known: int64, by Known.
        state: int64 [STATES], position and state of the walk; changed.
        waves: int64 [room, WAVE_COLUMNS]; filled.
        times: int64, starts of tokens; filled.
        cycles: int32 or int64, stalls, then durations; filled.
        marks: uint8, kinds, then flags; filled.
        states, lasting: uint8 and as `cycles`, segments of waves and the cycles they last; filled.
        breaks: int64, tokens, then addresses; filled, except addresses that the stream does not report.
        notes: int64, Token, times and positions of the tokens that numpy reads; filled.
    """
    gfxip, late = known[GFXIP], known[LATE]
    at, time, scanned = state[AT], state[NOW], state[SCANNED]
    is_extended = state[IS_EXTENDED] != 0
    is_done = False
    while at < until and state[WAVES] < len(waves):
        low = bits_at(words, at)
        if is_extended and low & 1 != 0:
            at += 8
            continue
        rule = rules[low & 0xFF]
        token, length = rule & 0xFF, rule >> RULE_BITS & 0xFF
        is_done = at + length > end
        if is_done:
            break
        time += passing(words, at, low, rule, gfxip)
        if length == 0 or time > LAST_CYCLE:
            state[IS_LOST] = 1
            is_done = True
            break
        state[COUNTS + token] += 1
        if rule >> RULE_IS_QUIET & 1 != 0 and (late == 0 or at < scanned):
            at += length
            is_extended = False
            continue
        is_extended = token == START_EXT and gfxip == 12
        number = low >> known[OP] & known[OP_MASK] if token == INST else OPS + token
        op = ops[number]
        ready = 0
        if late != 0 and at >= scanned:
            scanned, ready = scan(words, at, end, rules, gfxip)
        if op != 0 or ready != 0:
            instruct(
                low,
                rule,
                number,
                op,
                ready,
                time,
                known,
                state,
                times,
                cycles,
                marks,
                states,
                lasting,
                breaks,
            )
        if rule >> RULE_IS_CONTROL & 1 != 0:
            control(
                words,
                at,
                low,
                token,
                time,
                known,
                state,
                waves,
                times,
                cycles,
                marks,
                states,
                lasting,
                breaks,
            )
        if rule >> RULE_IS_NOTED & 1 != 0 or op >> OP_ACT & 0xFF == ELSEWHERE:
            note(state, token, time, at, notes)
        at += length
    state[AT], state[NOW], state[SCANNED] = at, time, scanned
    state[IS_EXTENDED] = 1 if is_extended else 0
    if is_done or at >= end:
        state[IS_DONE] = 1
        for slot in range(SLOTS):
            leave(state, slot, waves, times, cycles, marks, states, lasting)
