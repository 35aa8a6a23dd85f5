"""Walk a stream of RDNA: times, and the activity of each wave of the traced SIMD.

It runs over a window of the stream at a time.  All state between tokens is in `state`, so that it can stop
where a column is full or the window ends.  Rare tokens are only noted, with time and bits: numpy reads them
(`rdna`).
"""

from typing import NamedTuple

from numpy import ndarray

from rcv_py.base.machine.compiled import kernel, part
from rcv_py.formats.sqtt.rdna_tables import (
    CLUSTER_FIRST,
    CLUSTER_LAST,
    CLUSTER_NUMBER,
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
    SA_SHIFT,
    START_COUNT,
    START_PLACE,
    TOKEN_TYPES,
    Act,
    Known,
    Token,
)
from rcv_py.formats.sqtt.records import FLAG_BARRIER, REPLAYED
from rcv_py.formats.sqtt.registers import ENTRY_HIGH, ENTRY_LOW
from rcv_py.formats.sqtt.walked import (
    CONTEXTS,
    DOES,
    ENDED,
    ENDS,
    IS_COMPLETE,
    IS_FULL,
    M_KIND,
    OWN,
    R_DURATION,
    R_TIME,
    RANK,
    SINCE,
    SLOTS,
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

MAX_CONTEXTS = 32767  # of a wave: they fit into 16 bits
OF_MASK = 16  # slots that a mask can name
PADDING = 4  # words after the last, so that a whole token can be read from any position
MAX_BITS = 128  # bits: no token, and none with its padding, is longer
LAST_CYCLE = 1 << 60  # a later time means that the stream is corrupt
PLACES = 1 << 12  # where waves run: eight bits of shader array, SIMD and WGP at most, five of the slot

# `state` of each slot
(
    IS_OVER,
    IS_TRAPPED,
    IS_BARRIER,  # the last token is a barrier, which goes on until the next one
    LATEST,  # end of any token
    PREFIXED,  # the cycle after a load of scales for the next instruction, 0 without
    OF_WALK,
) = range(OWN, OWN + 6 * SLOTS, SLOTS)
# of the walk
(
    AT,  # bits of the window
    NOW,  # cycles
    SCANNED,  # bits that were scanned for waves that became ready
    IS_LOST,  # no token fits here, or the time is corrupt
    IS_EXTENDED,  # the previous token is a wave start, which may continue
    IS_DONE,  # the walk is complete
    LOSSES,  # of data, that the hardware reported
    CLUSTERS,  # the last token about a cluster
    IS_CLUSTER,  # no wave started since
    LATELY,  # and others: slots that issued last, -1 none
) = range(OF_WALK, OF_WALK + 10)
COUNTS = LATELY + REJOINING  # tokens of each type
ENTRIES = COUNTS + TOKEN_TYPES  # of ME and pipe, the low and the high half
# and of each place
RUNS, BEGAN_AT, LOST, LAUNCHED_AT, IS_SAVED, STATES = range(ENTRIES + 16, ENTRIES + 17 + 5 * PLACES, PLACES)

INST, WAVE_READY, NEW_PC, MISC = int(Token.INST), int(Token.WAVE_READY), int(Token.NEW_PC), int(Token.MISC)
START_EXT, WAVE_END, STAMP = int(Token.WAVE_START_EXT), int(Token.WAVE_END), int(Token.TIMESTAMP)
REG = int(Token.REG)
NOTHING, JUMP, WAITS, LONG_BARRIER = int(Act.NOTHING), int(Act.JUMP), int(Act.WAIT), int(Act.LONG_BARRIER)
BARRIER, READY, TRAP, RETURN = int(Act.BARRIER), int(Act.READY), int(Act.TRAP), int(Act.RETURN)
ELSEWHERE, PREFIX, REPLAY = int(Act.ELSEWHERE), int(Act.PREFIX), int(Act.REPLAY)
EMPTY, IDLE, EXEC, WAIT, STALL = (int(state) for state in WaveState)
CONTEXT, MESSAGE = int(TokenKind.TRAP), int(TokenKind.MSG)
REJOINING_FIRST, REJOINING_LAST = 10, 14  # VALU instructions whose wave the short token can name afterwards
CONTEXT_FIRST, CONTEXT_LAST = 66, 89  # counts of a start that reports a context switch
SAVING, RESTORING = 0b0000110011, 0b1111001100  # which of them save it, which restore it
STARTED, RESTORED, SAVED, ENDED_HERE, NEITHER = range(5)  # meanings of a start or an end of a wave
LOW = 0xFFFFFFFF


class Given(NamedTuple):
    """The input of a walk."""

    words: ndarray  # uint32, a window of the stream, with PADDING after it
    until: int  # bit where this call stops: MAX_BITS before the end of the window, the end if it is the last
    end: int  # bits of the window
    rules: ndarray  # int64 [256], see `rdna_tables`
    ops: ndarray  # int64 [OPS + TOKEN_TYPES]
    known: Known


@part
def bits_at(given: Given, at: int) -> int:
    """Return the 32 bits from a position on; bits above them are undefined."""
    word = at >> 5
    return (int(given.words[word]) & LOW | (int(given.words[word + 1]) & LOW) << 32) >> (at & 31)


@part
def set_state(state: ndarray, slot: int, new: int, time: int, to: Columns) -> None:
    """Set a wave's state from a time on; it keeps the previous state until then."""
    lasts = time - state[SINCE + slot]
    if lasts > 0:
        add_segment(state, slot, state[DOES + slot], lasts, True, to)
        state[SINCE + slot] = time
    state[DOES + slot] = new


@part
def add_token(
    state: ndarray, slot: int, kind: int, time: int, until: int, busy: int, flags: int, to: Columns
) -> None:
    """Add a token of the wave: it waits from `time` until it is issued, then takes some cycles."""
    end = until + busy
    add_row(state, slot, kind, time, until - time, end - time, flags, to)
    state[LATEST + slot] = max(state[LATEST + slot], end)


@part
def last_kind(state: ndarray, slot: int, to: Columns) -> int:
    """The kind of the wave's last token, -1 if there is none."""
    at = state[TOKEN_AT + slot]
    return int(to.marks[M_KIND, at - 1]) if at > state[TOKEN_FIRST + slot] else -1


@part
def last_end(state: ndarray, slot: int, to: Columns) -> int:
    """The end of the wave's last token, 0 if there is none."""
    at = state[TOKEN_AT + slot]
    return to.rows[R_TIME, at - 1] + to.rows[R_DURATION, at - 1] if at > state[TOKEN_FIRST + slot] else 0


@part
def extend_token(state: ndarray, slot: int, end: int, kind: int, to: Columns) -> None:
    """Correct end and kind of the wave's last token."""
    at = state[TOKEN_AT + slot] - 1
    to.marks[M_KIND, at], to.rows[R_DURATION, at] = kind, end - to.rows[R_TIME, at]
    state[LATEST + slot] = max(state[LATEST + slot], end)


@part
def add_jump(state: ndarray, slot: int, to: Columns) -> None:
    """The program goes on elsewhere after the wave's last token."""
    add_break(state, slot, state[TOKEN_AT + slot] - state[TOKEN_FIRST + slot] - 1, to)


@part
def close_barrier(state: ndarray, slot: int, time: int, to: Columns) -> None:
    """End a barrier at the next token of its wave."""
    state[IS_BARRIER + slot] = 0
    set_state(state, slot, WAIT, last_end(state, slot, to), to)
    set_state(state, slot, EXEC, time + 1, to)
    extend_token(state, slot, max(time, to.rows[R_TIME, state[TOKEN_AT + slot] - 1]), MESSAGE, to)


@part
def on_trap(state: ndarray, slot: int, act: int, time: int, to: Columns) -> None:
    """Enter a trap, about which the stream reports nothing, or return from it."""
    if act == TRAP:
        add_token(state, slot, CONTEXT, time, time, 1, 0, to)
        state[IS_TRAPPED + slot] = 1
        return
    add_jump(state, slot, to)
    state[IS_TRAPPED + slot] = 0
    if last_kind(state, slot, to) == CONTEXT:
        extend_token(state, slot, max(last_end(state, slot, to), time + 1), CONTEXT, to)


@part
def on_issue(state: ndarray, slot: int, op: int, time: int, to: Columns) -> None:
    """Issue an instruction: the wave stalled before if it was ready; a wait begins after the last token."""
    act = op >> OP_ACT & 0xFF
    begin = time
    waits = WAITS <= act <= LONG_BARRIER
    if waits:
        if state[TOKEN_AT + slot] > state[TOKEN_FIRST + slot]:
            begin = min(time, last_end(state, slot, to))
    elif state[DOES + slot] == STALL:
        begin = min(time, state[SINCE + slot])
    flags = FLAG_BARRIER if BARRIER <= act <= LONG_BARRIER else 0
    early = 1 if 0 < state[PREFIXED + slot] <= begin else 0
    state[PREFIXED + slot] = 0
    add_token(state, slot, op & 0xFF, begin - early, time - early, (op >> OP_CYCLES) + early, flags, to)
    if waits:
        set_state(state, slot, WAIT, begin, to)
        state[IS_BARRIER + slot] = 1 if act == LONG_BARRIER else 0
    elif act == JUMP:
        add_jump(state, slot, to)
    set_state(state, slot, EXEC, time + 1 if waits else time, to)


@part
def on_wave_token(state: ndarray, slot: int, op: int, time: int, to: Columns) -> None:
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
def end_wave(state: ndarray, slot: int, end: int) -> None:
    """Record the end of a wave."""
    state[ENDS + slot] = end
    state[RANK + slot] = state[ENDED]
    state[ENDED] += 1


@part
def retire_wave(state: ndarray, slot: int, to: Columns) -> None:
    """The slot's wave leaves: another wave takes the slot, or the stream ends."""
    if state[WAVE + slot] < 0:
        return
    state[IS_COMPLETE + slot] = state[IS_OVER + slot]
    if state[IS_OVER + slot] == 0:
        end = state[SINCE + slot]
        if state[TOKEN_AT + slot] > state[TOKEN_FIRST + slot]:
            end = max(end, state[LATEST + slot] + 4)
        set_state(state, slot, EMPTY, end, to)
        end_wave(state, slot, end)
    state[CONTEXTS + slot] = min(state[CONTEXTS + slot], MAX_CONTEXTS)
    close_wave(state, slot, to)
    state[WAVE + slot] = -1


@part
def on_start(state: ndarray, slot: int, meaning: int, time: int, start: Start, to: Columns) -> None:
    """Handle a start on the traced SIMD: a new wave, or the save or restore of a context."""
    is_there = state[WAVE + slot] >= 0 and state[IS_OVER + slot] == 0
    is_back = meaning == RESTORED
    if meaning == STARTED or (is_back and not is_there):
        retire_wave(state, slot, to)
        if is_back:  # which does not say where the wave began
            start = (start[0], start[1], 0, start[3], -1)
        open_wave(state, slot, time, IDLE, start)
        for field in range(OWN + slot, OF_WALK, SLOTS):
            state[field] = 0
    if meaning == SAVED and is_there:
        add_token(state, slot, CONTEXT, time, time, 1, 0, to)
    elif is_back and last_kind(state, slot, to) == CONTEXT:
        extend_token(state, slot, max(last_end(state, slot, to), time + 1), CONTEXT, to)
    if is_back or (meaning == SAVED and is_there):
        state[IS_TRAPPED + slot] = 1
        state[IS_BARRIER + slot] = 0
        state[CONTEXTS + slot] += 1


@part
def on_end(state: ndarray, slot: int, time: int, to: Columns) -> None:
    """End the wave in a slot; it stays until another wave starts, since an address may follow."""
    if state[WAVE + slot] < 0 or state[IS_OVER + slot] != 0:
        return
    set_state(state, slot, EMPTY, time, to)
    last = last_end(state, slot, to)
    if last_kind(state, slot, to) >= 0 and last < time and state[IS_TRAPPED + slot] == 0:
        add_token(state, slot, MESSAGE, last, last, time - last, 0, to)  # s_endpgm leaves no token
    state[IS_OVER + slot] = 1
    end_wave(state, slot, time)


@part
def on_address(state: ndarray, slot: int, address: int, time: int, to: Columns) -> None:
    """Set the address at which the program of a wave goes on."""
    if state[WAVE + slot] < 0:
        return
    if state[IS_BARRIER + slot] != 0 and state[IS_OVER + slot] == 0:
        close_barrier(state, slot, time, to)
    if state[IS_TRAPPED + slot] == 0:
        name_break(state, slot, address, state[TOKEN_AT + slot] - state[TOKEN_FIRST + slot] - 1, to)


@part
def on_turn(state: ndarray, spot: int, slot: int, meaning: int, time: int, start: Start, to: Columns) -> None:
    """A wave began, ended, was saved or restored anywhere.

    The start of an end without a start was before the stream, if nothing was lost; a start where a wave runs
    follows a lost end.
    """
    at = spot << 5 | slot
    runs, before, entry = state[RUNS + at], state[BEGAN_AT + at], start[2]
    begins = 1 if meaning <= RESTORED else 0
    lost_end = meaning == STARTED and runs != 0 and state[LOSSES] > state[LOST + at]
    lost_start = meaning == ENDED_HERE and runs == 0 and state[LOSSES] == 0
    if meaning == STARTED:
        state[LAUNCHED_AT + at], state[IS_SAVED + at] = entry, 0
    elif meaning == RESTORED:
        entry = state[LAUNCHED_AT + at] if state[IS_SAVED + at] != 0 else 0
    else:
        entry = before if runs != 0 else 0
    if begins != 0:
        state[RUNS + at], state[BEGAN_AT + at], state[LOST + at] = 1, entry, state[LOSSES]
    elif meaning == ENDED_HERE:
        state[RUNS + at] = 0
    else:
        state[IS_SAVED + at] = 1
        if runs == 0:
            return
    for is_recorded in range(0 if lost_end or lost_start else 1, 2):
        when, is_start, facts = time, begins, (start[0], start[1], entry, start[3], start[4])
        if is_recorded == 0:
            when, is_start = (time - 1, 0) if lost_end else (0, 3)
            facts = (0, 0, before if lost_end else 0, -1, -1)
        place = (spot >> 3 | (spot & 1) << SA_SHIFT, spot >> 1 & 3, slot)
        add_occupancy(state, when, is_start, place, facts, to)


@part
def cluster_of(state: ndarray) -> int:
    """The cluster of a wave that starts, -1 none: the begin of one holds on, its end for one more start."""
    low, is_first = state[CLUSTERS], state[IS_CLUSTER]
    state[IS_CLUSTER] = 0
    if low == 0 or (is_first == 0 and low >> CLUSTER_LAST & 1 != 0):
        return -1
    return int(low >> CLUSTER_NUMBER & 15)


@part
def turn_of(given: Given, at: int, low: int, token: int, state: ndarray) -> tuple[int, int, int, Start]:
    """Return the meaning of a start or an end, shader array with SIMD and WGP, slot, and facts of a start."""
    if token == WAVE_END:
        spot, slot = low >> given.known.end_place & given.known.place_mask, low >> given.known.end_slot & 31
        return ENDED_HERE, spot, slot, (0, 0, 0, -1, -1)
    count, meaning = low >> START_COUNT & 127, STARTED
    if CONTEXT_FIRST <= count <= CONTEXT_LAST:
        meaning = NEITHER
        if SAVING >> (count - CONTEXT_FIRST) & 1 != 0:
            meaning = SAVED
        elif RESTORING >> (count - CONTEXT_FIRST) & 1 != 0:
            meaning = RESTORED
    me, pipe = low >> given.known.start_me & 1, low >> given.known.start_pipe & 3
    queue = ENTRIES + 2 * (me << 2 | pipe)
    entry = state[queue] << 8 | (state[queue + 1] & 0xFF) << 40
    workgroup = -1
    if token == START_EXT and given.known.gfxip == 12:
        more = bits_at(given, at + 32) & 63
        workgroup = -1 if more & 1 != 0 else more >> 1
    cluster = cluster_of(state) if meaning == STARTED else -1
    spot, slot = low >> START_PLACE & given.known.place_mask, low >> given.known.start_slot & 31
    return meaning, spot, slot, (me, pipe, entry, workgroup, cluster)


@part
def on_misc(given: Given, low: int, state: ndarray) -> None:
    """Apply a token of several bits: saves, losses, clusters."""
    if low >> given.known.misc_save & 1 != 0:
        for slot in range(32):
            state[IS_TRAPPED + slot] = 1
    if given.known.gfxip == 10:
        state[LOSSES] += low >> 16 & 1
    if given.known.is_byte_aligned and low >> CLUSTER_FIRST & 3 != 0:
        state[CLUSTERS], state[IS_CLUSTER] = low & 0xFFFFFF, 1


@part
def is_loss(given: Given, low: int) -> bool:
    """Whether a time stamp reports lost data."""
    clock = 9 if given.known.gfxip == 11 else 7
    return given.known.gfxip != 10 and low >> 8 & 1 != 0 and low >> clock & 1 == 0


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
    """Return where the next cycle begins, and the waves that became ready; -1: beyond the window.

    gfx10 and gfx11 report readiness a cycle late, after all other tokens of that cycle.
    """
    first, ready = at, 0
    while at < given.until:
        low = bits_at(given, at)
        rule = given.rules[low & 0xFF]
        length = rule >> RULE_BITS & 0xFF
        if length == 0 or at + length > given.end:
            return at, ready
        if at > first and cycles_of(given, at, low, rule) > 0:
            return at, ready
        if rule & 0xFF == WAVE_READY:
            ready |= low >> 8 & 0xFFFF
        at += length
    return at if given.until == given.end else -1, ready


@part
def on_control(given: Given, at: int, low: int, token: int, time: int, state: ndarray, to: Columns) -> None:
    """Apply a token of CONTROLS."""
    if token == NEW_PC:
        address = bits_at(given, at + 16) & LOW | (bits_at(given, at + 48) & LOW) << 32
        on_address(state, low >> 11 & 31, (address & given.known.pc_mask) << 2, time, to)
    elif token == MISC:
        on_misc(given, low, state)
    elif token == STAMP:
        state[LOSSES] += 1 if is_loss(given, low) else 0
    elif token == REG:
        register = low >> 16 & 0xFFFF
        if low >> 15 & 1 != 0 and ENTRY_LOW <= register <= ENTRY_HIGH:
            queue = (low >> 9 & 1) << 2 | low >> 7 & 3
            state[ENTRIES + 2 * queue + register - ENTRY_LOW] = bits_at(given, at + 32) & LOW
    else:
        meaning, spot, slot, start = turn_of(given, at, low, token, state)
        if meaning != NEITHER:
            on_turn(state, spot, slot, meaning, time, start, to)
        if spot == given.known.place and meaning == ENDED_HERE:
            on_end(state, slot, time, to)
        elif spot == given.known.place and meaning != NEITHER:
            on_start(state, slot, meaning, time, start, to)


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
    low: int, rule: int, number: int, ready: int, time: int, given: Given, state: ndarray, to: Columns
) -> None:
    """Apply a token that names waves; before it, waves that became ready a cycle earlier."""
    op, slot, todo, which = given.ops[number], 0, 0, OF_MASK
    if op >> OP_ACT & 0xFF not in (NOTHING, ELSEWHERE):
        slot, todo = slots_of(low, rule, number, given, state)
    if ready != 0:
        todo, which = todo << OF_MASK | ready, 0
    while todo != 0:
        if todo & 1 != 0:
            who, does, when = slot + which - OF_MASK, op, time
            if which < OF_MASK:
                who, does, when = which, READY << OP_ACT, time - given.known.late
            on_wave_token(state, who, does, when, to)
        todo >>= 1
        which += 1


@kernel
def walk(given: Given, state: ndarray, to: Columns) -> None:  # noqa: C901 - one branch per kind of token
    """Walk a window until a column is full, the window ends, or no token fits.

    It changes the state, int64 [STATES], and fills the columns.
    """
    gfxip, late = given.known.gfxip, given.known.late
    at, time, scanned = state[AT], state[NOW], state[SCANNED]
    is_extended = state[IS_EXTENDED] != 0
    is_done = False
    while at < given.until and state[IS_FULL] == 0:
        low = bits_at(given, at)
        if is_extended and low & 1 != 0:
            at += 8
            continue
        rule = given.rules[low & 0xFF]
        token, length = rule & 0xFF, rule >> RULE_BITS & 0xFF
        is_done = at + length > given.end
        if is_done:
            break
        now = time + cycles_of(given, at, low, rule)
        if length == 0 or now > LAST_CYCLE:
            state[IS_LOST] = 1
            is_done = True
            break
        ready = 0
        if late != 0 and at >= scanned:
            following, ready = scan(given, at)
            if following < 0:
                break
            scanned = following
        time = now
        state[COUNTS + token] += 1
        if rule >> RULE_IS_QUIET & 1 != 0 and ready == 0:
            at += length
            is_extended = False
            continue
        is_extended = token == START_EXT and gfxip == 12
        number = low >> given.known.op & given.known.op_mask if token == INST else OPS + token
        op = given.ops[number]
        if op != 0 or ready != 0:
            on_instruction(low, rule, number, ready, time, given, state, to)
        if rule >> RULE_IS_CONTROL & 1 != 0:
            on_control(given, at, low, token, time, state, to)
        if rule >> RULE_IS_NOTED & 1 != 0 or op >> OP_ACT & 0xFF == ELSEWHERE:
            add_note(state, token, time, low & LOW, bits_at(given, at + 32) & LOW, to)
        at += length
    state[AT], state[NOW], state[SCANNED] = at, time, scanned
    state[IS_EXTENDED] = 1 if is_extended else 0
    if is_done or at >= given.end:
        state[IS_DONE] = 1
        for slot in range(32):
            retire_wave(state, slot, to)
