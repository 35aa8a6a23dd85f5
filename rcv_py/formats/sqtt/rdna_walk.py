"""Walk a stream of RDNA: times, and the activity of each wave of the traced SIMD.

It runs twice over the same words: first it counts (the columns are empty then), then it fills columns of
exactly that size.  All state between tokens is in `state`, so that the walk can stop when the table of waves
is full and continue with a larger table.  Several threads can fill stretches of the stream in any order, each
from the state that the count reached there: every row is written once, when it is final, and repeated writes
to the table of waves are identical.  Rare tokens are only noted, with time and position: numpy reads them
(`rdna_notes`).
"""

from __future__ import annotations

from typing import NamedTuple

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
from rcv_py.formats.sqtt.records import FLAG_BARRIER, REPLAYED
from rcv_py.model.kinds import TokenKind, WaveState

SLOTS = 32  # five bits
SLOTS_READY = 16  # slots that a mask can name
PADDING = 4  # words after the last, so that a whole token can be read from any position
LAST_CYCLE = 1 << 60  # a later time means that the stream is corrupt
MAX_CYCLES = (1 << 31) - 1  # cycles that a column of 32 bits holds

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
    PREFIXED,  # the cycle after a load of scales for the next instruction, 0 without
    TOKEN_FIRST,  # first of its rows of the columns
    SEGMENT_FIRST,
    BREAK_FIRST,
    STATES,  # the end
) = range(COUNTS + TOKEN_TYPES, COUNTS + TOKEN_TYPES + 24 * SLOTS, SLOTS)

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
BARRIER, READY, TRAP, RETURN = int(Act.BARRIER), int(Act.READY), int(Act.TRAP), int(Act.RETURN)
ELSEWHERE, PREFIX, REPLAY = int(Act.ELSEWHERE), int(Act.PREFIX), int(Act.REPLAY)
EMPTY, IDLE, EXEC, WAIT, STALL = (int(state) for state in WaveState)
CONTEXT, MESSAGE = int(TokenKind.TRAP), int(TokenKind.MSG)
REJOINING_FIRST, REJOINING_LAST = 10, 14  # VALU instructions whose wave the short token can name afterwards
CONTEXT_FIRST, CONTEXT_LAST = 66, 89  # counts of a start that reports a context switch
SAVING, RESTORING = 0b0000110011, 0b1111001100  # which of them save it, which restore it
LOW = 0xFFFFFFFF


class Given(NamedTuple):
    """The input of a walk."""

    words: ndarray  # uint32, the stream, with PADDING after it
    end: int  # bits of the stream
    rules: ndarray  # int64 [256], see `rdna_tables`
    ops: ndarray  # int64 [OPS + TOKEN_TYPES]
    known: Known


class WalkOutput(NamedTuple):
    """The output of a walk: in the first one, which counts, all but `waves` are empty."""

    waves: ndarray  # int64 [room, WAVE_COLUMNS]
    times: ndarray  # int64 [tokens], when they start
    cycles: ndarray  # int32 or int64 [2 * tokens], stalls, then durations
    marks: ndarray  # uint8 [2 * tokens], kinds, then flags
    states: ndarray  # uint8 [segments], states of waves
    lasting: ndarray  # int32 or int64 [segments], cycles
    breaks: ndarray  # int64 [2 * breaks], tokens, then addresses
    notes: ndarray  # int64 [3 * notes], Token, times and positions of the tokens that numpy reads

    @classmethod
    def with_room(
        cls, waves: ndarray, dtype: type, sizes: tuple[int, int, int] = (0, 0, 0), notes: int = 0
    ) -> WalkOutput:
        """Return columns for these numbers of tokens, segments and breaks; columns of cycles have `dtype`."""
        tokens, segments, breaks = sizes
        return cls(
            waves=waves,
            times=np.empty(tokens, dtype=np.int64),
            cycles=np.empty(2 * tokens, dtype=dtype),
            marks=np.empty(2 * tokens, dtype=np.uint8),
            states=np.empty(segments, dtype=np.uint8),
            lasting=np.empty(segments, dtype=dtype),
            breaks=np.zeros(2 * breaks, dtype=np.int64),
            notes=np.empty(3 * notes, dtype=np.int64),
        )


def beginning() -> ndarray:
    """Return the state in which a walk begins."""
    state = np.zeros(STATES, dtype=np.int64)
    state[LATELY : LATELY + REJOINING] = -1
    state[WAVE : WAVE + SLOTS] = -1
    return state


@part
def bits_at(given: Given, at: int) -> int:
    """Return the 32 bits from a position on; bits above them are undefined."""
    word = at >> 5
    return (int(given.words[word]) & LOW | (int(given.words[word + 1]) & LOW) << 32) >> (at & 31)


@part
def end_segment(state: ndarray, slot: int, to: WalkOutput) -> None:
    """End the last segment of the wave, if there is one."""
    at = state[SEGMENT_FIRST + slot] + state[SEGMENTS + slot] - 1
    if state[SEGMENT + slot] >= 0 and 0 <= at < len(to.states):
        to.states[at] = state[SEGMENT + slot]
        to.lasting[at] = state[SINCE + slot] - state[SEGMENT_SINCE + slot]


@part
def set_state(state: ndarray, slot: int, new: int, time: int, to: WalkOutput) -> None:
    """Set a wave's state from a time on; it keeps the previous state until then."""
    since = state[SINCE + slot]
    if time > since:
        before = state[DOING + slot]
        if before != state[SEGMENT + slot]:
            end_segment(state, slot, to)
            state[SEGMENT + slot] = before
            state[SEGMENT_SINCE + slot] = since
            state[SEGMENTS + slot] += 1
        state[SINCE + slot] = time
    state[DOING + slot] = new


@part
def end_token(state: ndarray, slot: int, to: WalkOutput) -> None:
    """Write the last token of the wave, if there is one: it is final."""
    at = state[TOKEN_FIRST + slot] + state[TOKENS + slot] - 1
    room = len(to.times)
    if state[LAST_KIND + slot] >= 0 and 0 <= at < room:
        time = state[LAST_TIME + slot]
        to.times[at] = time
        to.cycles[at] = state[LAST_ISSUE + slot] - time
        to.cycles[room + at] = state[LAST_END + slot] - time
        to.marks[at] = state[LAST_KIND + slot]
        to.marks[room + at] = state[LAST_FLAGS + slot]


@part
def add_token(
    state: ndarray, slot: int, kind: int, time: int, until: int, busy: int, flags: int, to: WalkOutput
) -> None:
    """Add a token of the wave: it waits from `time` until it is issued, then takes some cycles."""
    end_token(state, slot, to)
    end = until + busy
    if end - time > MAX_CYCLES:
        state[IS_WIDE] = 1
    state[TOKENS + slot] += 1
    state[LAST_KIND + slot] = kind
    state[LAST_TIME + slot] = time
    state[LAST_ISSUE + slot] = until
    state[LAST_END + slot] = end
    state[LAST_FLAGS + slot] = flags
    state[LATEST + slot] = max(state[LATEST + slot], end)


@part
def extend_token(state: ndarray, slot: int, end: int, kind: int) -> None:
    """Correct end and kind of the wave's last token."""
    if end - state[LAST_TIME + slot] > MAX_CYCLES:
        state[IS_WIDE] = 1
    state[LAST_KIND + slot] = kind
    state[LAST_END + slot] = end
    state[LATEST + slot] = max(state[LATEST + slot], end)


@part
def add_break(state: ndarray, slot: int, to: WalkOutput) -> None:
    """Add a break: the program goes on elsewhere after the last token."""
    at = state[BREAK_FIRST + slot] + state[BREAKS + slot]
    room = len(to.breaks) >> 1
    if at < room:
        to.breaks[at] = state[TOKENS + slot] - 1
    state[BREAKS + slot] += 1


@part
def close_barrier(state: ndarray, slot: int, time: int, to: WalkOutput) -> None:
    """End a barrier at the next token of its wave."""
    state[IS_BARRIER + slot] = 0
    set_state(state, slot, WAIT, state[LAST_END + slot], to)
    set_state(state, slot, EXEC, time + 1, to)
    extend_token(state, slot, max(time, state[LAST_TIME + slot]), MESSAGE)


@part
def on_trap(state: ndarray, slot: int, act: int, time: int, to: WalkOutput) -> None:
    """Enter a trap, about which the stream reports nothing, or return from it."""
    if act == TRAP:
        add_token(state, slot, CONTEXT, time, time, 1, 0, to)
        state[IS_TRAPPED + slot] = 1
        return
    add_break(state, slot, to)
    state[IS_TRAPPED + slot] = 0
    if state[LAST_KIND + slot] == CONTEXT:
        extend_token(state, slot, max(state[LAST_END + slot], time + 1), CONTEXT)


@part
def on_issue(state: ndarray, slot: int, op: int, time: int, to: WalkOutput) -> None:
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
    early = 1 if 0 < state[PREFIXED + slot] <= begin else 0
    state[PREFIXED + slot] = 0
    add_token(state, slot, op & 0xFF, begin - early, time - early, (op >> OP_CYCLES) + early, flags, to)
    if waits:
        set_state(state, slot, WAIT, begin, to)
        state[IS_BARRIER + slot] = 1 if act == LONG_BARRIER else 0
    elif act == JUMP:
        add_break(state, slot, to)
    set_state(state, slot, EXEC, time + 1 if waits else time, to)


@part
def on_wave_token(state: ndarray, slot: int, op: int, time: int, to: WalkOutput) -> None:
    """Apply a token that names the wave of a slot."""
    if state[WAVE + slot] < 0 or state[IS_OVER + slot] != 0:
        return
    act = op >> OP_ACT & 0xFF
    if state[IS_BARRIER + slot] != 0:
        close_barrier(state, slot, time - 1 if act == READY else time, to)
    if act == READY:
        set_state(state, slot, STALL, time, to)
    elif TRAP <= act <= RETURN:
        on_trap(state, slot, act, time, to)
    elif state[IS_TRAPPED + slot] == 0:
        if act == PREFIX:
            state[PREFIXED + slot] = time + 1
        elif act == REPLAY:
            add_token(state, slot, REPLAYED, time, time, 0, 0, to)
            set_state(state, slot, STALL, time, to)
        else:
            on_issue(state, slot, op, time, to)


@part
def close_wave(state: ndarray, slot: int, wave: int, end: int, to: WalkOutput) -> None:
    """Record the end of a wave: no segment of it is longer than its lifetime."""
    if state[SINCE + slot] - to.waves[wave, W_BEGIN] > MAX_CYCLES:
        state[IS_WIDE] = 1
    to.waves[wave, W_END] = end
    to.waves[wave, W_ORDER] = state[ENDED]
    state[ENDED] += 1


@part
def retire_wave(state: ndarray, slot: int, to: WalkOutput) -> None:
    """Write the totals of the slot's wave: another wave takes the slot, or the stream ends."""
    wave = state[WAVE + slot]
    if wave < 0 or wave >= len(to.waves):
        return
    to.waves[wave, W_IS_COMPLETE] = state[IS_OVER + slot]
    if state[IS_OVER + slot] == 0:
        end = state[SINCE + slot]
        if state[LAST_KIND + slot] >= 0:
            end = max(end, state[LATEST + slot] + 4)
        set_state(state, slot, EMPTY, end, to)
        close_wave(state, slot, wave, end, to)
    end_token(state, slot, to)
    end_segment(state, slot, to)
    to.waves[wave, W_CONTEXTS] = state[CONTEXTS + slot]
    to.waves[wave, W_TOKENS] = state[TOKENS + slot]
    to.waves[wave, W_SEGMENTS] = state[SEGMENTS + slot]
    to.waves[wave, W_BREAKS] = state[BREAKS + slot]
    state[WAVE + slot] = -1


@part
def on_start(state: ndarray, slot: int, count: int, time: int, to: WalkOutput) -> None:
    """Handle a start on the traced SIMD: a new wave, or the save or restore of a context."""
    wave = state[WAVE + slot]
    is_there = wave >= 0 and state[IS_OVER + slot] == 0
    is_context = CONTEXT_FIRST <= count <= CONTEXT_LAST
    is_saved = is_context and is_there and SAVING >> (count - CONTEXT_FIRST) & 1 != 0
    is_back = is_context and RESTORING >> (count - CONTEXT_FIRST) & 1 != 0
    if not is_context or (is_back and not is_there):
        retire_wave(state, slot, to)
        wave = state[WAVES]
        state[WAVES] += 1
        for field in range(WAVE + slot, STATES, SLOTS):
            state[field] = 0
        state[WAVE + slot] = wave
        state[DOING + slot] = IDLE
        state[SINCE + slot] = time
        state[SEGMENT + slot] = -1
        state[LAST_KIND + slot] = -1
        state[TOKEN_FIRST + slot] = to.waves[wave, W_TOKEN_FIRST]
        state[SEGMENT_FIRST + slot] = to.waves[wave, W_SEGMENT_FIRST]
        state[BREAK_FIRST + slot] = to.waves[wave, W_BREAK_FIRST]
        to.waves[wave, W_SLOT] = slot
        to.waves[wave, W_NOTE] = state[NOTES]
        to.waves[wave, W_BEGIN] = time
    if is_saved:
        add_token(state, slot, CONTEXT, time, time, 1, 0, to)
    elif is_back and state[LAST_KIND + slot] == CONTEXT:
        extend_token(state, slot, max(state[LAST_END + slot], time + 1), CONTEXT)
    if is_saved or is_back:
        state[IS_TRAPPED + slot] = 1
        state[IS_BARRIER + slot] = 0
        state[CONTEXTS + slot] += 1


@part
def on_end(state: ndarray, slot: int, time: int, to: WalkOutput) -> None:
    """End the wave in a slot; it stays until another wave starts, since an address may follow."""
    wave = state[WAVE + slot]
    if wave < 0 or wave >= len(to.waves) or state[IS_OVER + slot] != 0:
        return
    set_state(state, slot, EMPTY, time, to)
    last = state[LAST_END + slot]
    if state[LAST_KIND + slot] >= 0 and last < time and state[IS_TRAPPED + slot] == 0:
        add_token(state, slot, MESSAGE, last, last, time - last, 0, to)  # s_endpgm leaves no token
    state[IS_OVER + slot] = 1
    close_wave(state, slot, wave, time, to)


@part
def on_address(state: ndarray, slot: int, address: int, time: int, to: WalkOutput) -> None:
    """Set the address at which the program of a wave goes on."""
    if state[WAVE + slot] < 0:
        return
    if state[IS_BARRIER + slot] != 0 and state[IS_OVER + slot] == 0:
        close_barrier(state, slot, time, to)
    if state[IS_TRAPPED + slot] != 0:
        return
    known = state[KNOWN + slot]
    if known >= state[BREAKS + slot]:
        add_break(state, slot, to)
    at = state[BREAK_FIRST + slot] + known
    room = len(to.breaks) >> 1
    if at < room:
        to.breaks[room + at] = address
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
def cycles_of(given: Given, at: int, low: int, rule: int) -> int:
    """Cycles that pass with a token; of a time stamp, the cycles that it adds."""
    if rule & 0xFF != STAMP:
        return (low >> (rule >> RULE_SHIFT & 0xFF) & (rule >> RULE_MASK & 0xFFF)) + (rule >> RULE_PLUS & 0xFF)
    gfxip = given.known.gfxip
    if gfxip == 10:
        is_clock, first, high = low >> 14 & 3 != 1, 16, 0xFFFF
    elif gfxip == 11:
        is_clock, first, high = low >> 9 & 1 != 0, 12, 0xF
    else:
        is_clock, first, high = low >> 7 & 1 != 0, 12, 0xFFFFF
    if is_clock:
        return 0
    return bits_at(given, at + first) & LOW | (bits_at(given, at + first + 32) & high) << 32


@part
def scan(given: Given, at: int) -> tuple[int, int]:
    """Return where the next cycle begins, and the waves that became ready in this one.

    gfx10 and gfx11 report readiness a cycle late, after all other tokens of that cycle.
    """
    first, ready = at, 0
    while at < given.end:
        low = bits_at(given, at)
        rule = given.rules[low & 0xFF]
        length = rule >> RULE_BITS & 0xFF
        if length == 0 or at + length > given.end:
            break
        if at > first and cycles_of(given, at, low, rule) > 0:
            break
        if rule & 0xFF == WAVE_READY:
            ready |= low >> 8 & 0xFFFF
        at += length
    return at, ready


@part
def on_control(
    given: Given, at: int, low: int, token: int, time: int, state: ndarray, to: WalkOutput
) -> None:
    """Apply a token of CONTROLS."""
    if token == NEW_PC:
        address = bits_at(given, at + 16) & LOW | (bits_at(given, at + 48) & LOW) << 32
        on_address(state, low >> 11 & 31, (address & given.known.pc_mask) << 2, time, to)
    elif token == MISC:
        if low >> given.known.misc_save & 1 != 0:
            for slot in range(SLOTS):
                state[IS_TRAPPED + slot] = 1
    elif token == WAVE_END:
        if low >> given.known.end_place & given.known.place_mask == given.known.place:
            slot = low >> given.known.end_slot & 31
            on_end(state, slot, time, to)
    elif low >> START_PLACE & given.known.place_mask == given.known.place:
        slot = low >> given.known.start_slot & 31
        on_start(state, slot, low >> START_COUNT & 127, time, to)


@part
def add_note(state: ndarray, token: int, time: int, at: int, to: WalkOutput) -> None:
    """Leave a token to numpy."""
    number, room = state[NOTES], len(to.notes) // 3
    if number < room:
        to.notes[number] = token
        to.notes[room + number] = time
        to.notes[2 * room + number] = at
    state[NOTES] += 1


@part
def slots_of(low: int, rule: int, number: int, given: Given, state: ndarray) -> tuple[int, int]:
    """Return a slot, and a mask of the slots that a token names, from that slot on."""
    if rule >> RULE_IS_MASK & 1 != 0:
        return 0, low >> 8 & 0xFFFF
    slot, recent = low >> (rule >> RULE_SLOT & 31) & 31, rule >> RULE_RECENT & 7
    if recent > 0 or (given.known.is_byte_aligned and REJOINING_FIRST <= number <= REJOINING_LAST):
        slot = rejoined(state, slot, recent)
    return max(slot, 0), 1 if slot >= 0 else 0


@part
def on_instruction(
    low: int,
    rule: int,
    number: int,
    op: int,
    ready: int,
    time: int,
    given: Given,
    state: ndarray,
    to: WalkOutput,
) -> None:
    """Apply a token that names waves; before it, waves that became ready a cycle earlier."""
    slot, todo, which = 0, 0, SLOTS_READY
    if op >> OP_ACT & 0xFF not in (NOTHING, ELSEWHERE):
        slot, todo = slots_of(low, rule, number, given, state)
    if ready != 0:
        todo, which = todo << SLOTS_READY | ready, 0
    while todo != 0:
        if todo & 1 != 0:
            who, does, when = slot + which - SLOTS_READY, op, time
            if which < SLOTS_READY:
                who, does, when = which, READY << OP_ACT, time - given.known.late
            on_wave_token(state, who, does, when, to)
        todo >>= 1
        which += 1


@kernel
def walk(  # noqa: C901 - one branch per kind of token and reason to stop
    given: Given, until: int, state: ndarray, to: WalkOutput
) -> None:
    """Walk to a bit, until no token fits, or until the table of waves is full.

    Args:
        given: the stream and its tables.
        until: bit where this call stops, at most `given.end`.
        state: int64 [STATES], position and state of the walk; changed.
        to: the columns; filled, except addresses of breaks that the stream does not report.
    """
    gfxip, late = given.known.gfxip, given.known.late
    at, time, scanned = state[AT], state[NOW], state[SCANNED]
    is_extended = state[IS_EXTENDED] != 0
    is_done = False
    while at < until and state[WAVES] < len(to.waves):
        low = bits_at(given, at)
        if is_extended and low & 1 != 0:
            at += 8
            continue
        rule = given.rules[low & 0xFF]
        token, length = rule & 0xFF, rule >> RULE_BITS & 0xFF
        is_done = at + length > given.end
        if is_done:
            break
        time += cycles_of(given, at, low, rule)
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
        number = low >> given.known.op & given.known.op_mask if token == INST else OPS + token
        op = given.ops[number]
        ready = 0
        if late != 0 and at >= scanned:
            scanned, ready = scan(given, at)
        if op != 0 or ready != 0:
            on_instruction(low, rule, number, op, ready, time, given, state, to)
        if rule >> RULE_IS_CONTROL & 1 != 0:
            on_control(given, at, low, token, time, state, to)
        if rule >> RULE_IS_NOTED & 1 != 0 or op >> OP_ACT & 0xFF == ELSEWHERE:
            add_note(state, token, time, at, to)
        at += length
    state[AT], state[NOW], state[SCANNED] = at, time, scanned
    state[IS_EXTENDED] = 1 if is_extended else 0
    if is_done or at >= given.end:
        state[IS_DONE] = 1
        for slot in range(SLOTS):
            retire_wave(state, slot, to)
