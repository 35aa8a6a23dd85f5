"""Play a recording: one loop over all waves of a compute unit.

Every resident wave has one next event: it arrives at a barrier, its token tries to take a unit, or it ends.
Events that share something happen in order of time; events at the same time keep the order of the recording.
What an event shares decides how far the loop may go on without looking at other waves :

    OWN      a token without a unit depends on its own wave alone
    OF_SIMD  arithmetic, and the end of a wave, whose slot the next one takes, depend on waves of the SIMD
    OF_ALL   memory and barriers depend on all waves

So the loop stays with a wave, and then with a SIMD, for as long as that is the next in its range.  While
a wave waits at a barrier, which any other wave may open, events of its SIMD are in order with those of all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rcv_py.analysis.whatif.queues import CLASSES, FAR, FINE
from rcv_py.analysis.whatif.recording import NARROW, NO_INDEX, PLACES, Recording
from rcv_py.base.machine.compiled import kernel, part, prefetch
from rcv_py.base.runs import borders, starts_run

OWN, OF_SIMD, OF_ALL, ARRIVES = range(4)  # what the next event of a wave shares; ARRIVES: at a barrier
# Columns of tokens, named as those of a recording.  WORD has what is small, from low bits to high: what its
# next event shares, 1 + its queue, the class of its return, `least`, and 1 + the unit that it takes.
PACE, DELAY, WORD, HOLD, RANK, SERVICE, AWAIT, AWAIT_END = range(8)
COLUMNS = {PACE: "pace", DELAY: "delay", HOLD: "hold", RANK: "rank", SERVICE: "service"}
IN_WORD = ("meeting", "signals", "queue", "in_order", "least", "resource")
APART = ("order", "meeting", "signals", "latency")  # columns of a recording as they are
QUEUE_BIT, CLASS_BIT, LEAST_BIT, UNIT_BIT = 2, 4, 6, 16
# Columns of slots: the key of the next event, see `key_of`, and what follows the moment in the key of another
# attempt; 1 + the unit that it takes; the wave; the place in `order` of its next token, and its end; what the
# event shares; the SIMD.
KEY, RETRY, TAKES, WAVE, AT, LAST, RANGE, SIMD = range(8)
# Columns of waves, named as those of a recording.  BEGIN is FAR until the wave before in the slot has ended;
# AFTER begins after it in its pool of slots; BESIDE arrived before at the barrier where it waits; TURN is the
# rank of its first token.  LATEST and the columns behind it are when all operations of a class have returned.
FIRST, BEGIN, END, LEAD, TAIL, POOL, AFTER, BEFORE, HANDOVER, TURN, SLOT, BESIDE, LATEST = range(13)
# Columns of SIMDs: the first slot; the keys of the next events of two slots, or smaller ones; waves that wait
# at barriers.
SEAT, DUE, THEN, HELD = range(4)
# Columns of units, from 1 on: when they are free; the key from which on they take tokens; the cycles of work
# that they accept before they refuse; whether waves take their turns there.  Unit 0 accepts always.
FREE, ACCEPTS, DEPTH, IN_TURN = range(4)
# Columns of meetings: arrivals that open it; cycles until it opens; the last arrival, and their number; the
# wave that last began to wait.
MEMBERS, OPENING, LATELY, ARRIVED, WAITING = range(5)
# Tables are flat, since a row that begins at a constant multiple is found without a multiplication.
ROW, WAVE_ROW = 8, 16  # columns of a row, of waves and of all others
# Tokens that are prefetched, as each wave reads on where no other does: 0.83 of the time in four pairs
AHEAD = 8
LINE = 64  # bytes of a line of the cache, which holds two tokens if they have 4 bytes a column


@dataclass(frozen=True, eq=False)
class Played:
    """When each event happened, in int64 cycles since the base of the recording."""

    issue: np.ndarray  # [tokens]; empty if only waves were asked for
    begin: np.ndarray  # [waves]
    end: np.ndarray  # [waves]
    before: np.ndarray  # int64 [waves], the wave whose end freed its slot, NO_INDEX: it began as recorded

    @property
    def unended(self) -> int:
        """Number of waves that never ended: they wait for each other, so that the times mean nothing."""
        return int(np.count_nonzero(self.end >= FAR))

    @property
    def span(self) -> int:
        """Cycles from the first begin to the last end."""
        return int(self.end.max() - self.begin.min()) if len(self.end) else 0


class KeyBits(NamedTuple):
    """How keys of events are made."""

    slot: int  # bits of the slot
    both: int  # bits of rank and slot


class LoopState(NamedTuple):
    """All that the loop reads and modifies, int64 unless stated otherwise; the columns are named above."""

    rows: ndarray  # int32 or int64 [tokens * ROW]
    order: ndarray  # of the recording; this and the next ones have the type of `rows`
    meeting: ndarray
    signals: ndarray
    latency: ndarray  # most experiments change it alone
    awaited: ndarray
    issue: ndarray  # when each token issued, or empty
    back: ndarray  # when its operation returned
    waves: ndarray  # [(waves + 1) * WAVE_ROW]
    next: ndarray  # [pools], the wave that begins when one of the pool ends, NO_INDEX: none
    slots: ndarray  # [slots * ROW]
    simds: ndarray  # [(simds + 1) * ROW]
    units: ndarray  # [(units + 1) * ROW]
    served: ndarray  # [queues], when they are empty, in parts of a cycle
    meetings: ndarray  # [meetings * ROW]
    keys: KeyBits


class Board:
    """The tokens of a compute unit in rows: all of a token beside each other, as the loop needs them.

    From one play to the next only what differs is written, which for an experiment is little.
    """

    def __init__(self) -> None:
        self._one = Lock()  # a play at a time
        self._shown: Recording | None = None
        self._rows = _rows(0, NARROW.dtype)
        self._back = np.empty(0, dtype=np.int64)

    def play(self, recording: Recording, *, waves_only: bool = False) -> Played:
        """Return when each event happens; `waves_only`: when waves begin and end."""
        with self._one:
            self._show(recording)
            self._back.fill(FAR)
            return _played(recording, self._rows, self._back, waves_only)

    def _show(self, recording: Recording) -> None:
        """Write the columns of a recording into the rows."""
        shown = self._shown
        self._shown = None  # until all is written
        if shown is None or len(shown) != len(recording):
            shown, self._rows = None, _rows(len(recording), NARROW.dtype)
            self._back = np.empty(len(recording), dtype=np.int64)
        for place, name in COLUMNS.items():
            if len(rows := _changed(recording, shown, name)):
                self._write(rows, place, getattr(recording, name)[rows])
        if shown is None or recording.await_first is not shown.await_first:
            self._write(slice(None), AWAIT, recording.await_first[:-1])
            self._write(slice(None), AWAIT_END, recording.await_first[1:])
        for name in IN_WORD:
            if len(rows := _changed(recording, shown, name)):
                self._write(rows, WORD, _words(recording, rows))
        self._shown = recording

    def _write(self, rows: slice | np.ndarray, column: int, values: np.ndarray) -> None:
        if not NARROW.min <= values.min(initial=0) <= values.max(initial=0) <= NARROW.max:
            wide = _rows(len(self._rows), np.dtype(np.int64))
            wide[:] = self._rows
            self._rows = wide
        self._rows[rows, column] = values


def _changed(recording: Recording, shown: Recording | None, name: str) -> np.ndarray:
    """Return the tokens whose number in a column is not the one that is shown, int64."""
    if shown is None:
        return np.arange(len(recording))
    new, old = getattr(recording, name), getattr(shown, name)
    return np.flatnonzero(new != old) if new is not old else np.zeros(0, dtype=np.int64)


def _words(recording: Recording, rows: np.ndarray) -> np.ndarray:
    """The column WORD of some tokens, int64."""
    meeting, signals, queue, kind, least, resource = (getattr(recording, name)[rows] for name in IN_WORD)
    unit, queue = resource.astype(np.int64) + 1, queue + 1
    is_alone = (unit == 0) & (queue == 0)
    shares = np.where(unit > PLACES, OF_SIMD, np.where(is_alone, OWN, OF_ALL))
    shares[(meeting >= 0) | (signals >= 0)] = ARRIVES
    small = shares | queue << QUEUE_BIT | kind << CLASS_BIT | least << LEAST_BIT
    return small | unit << UNIT_BIT


def _rows(count: int, kind: np.dtype[np.signedinteger]) -> np.ndarray:
    """Return empty rows that begin with a line of the cache."""
    found = np.zeros(count * ROW + LINE, dtype=kind)
    skipped = -found.ctypes.data % LINE // kind.itemsize
    return found[skipped : skipped + count * ROW].reshape(count, ROW)


def play(recording: Recording) -> Played:
    """Return when each event happens."""
    return Board().play(recording)


def _played(recording: Recording, rows: np.ndarray, back: np.ndarray, waves_only: bool) -> Played:
    heads = np.flatnonzero(recording.before < 0)
    simd = np.unique(recording.simd, return_inverse=True)[1]
    heads = heads[np.argsort(simd[heads], kind="stable")]
    pool, following, after = _pools(recording)
    slot_bits = len(heads).bit_length()
    waves = _waves(recording, heads, pool, after)
    kind = np.result_type(rows, *(getattr(recording, name) for name in APART))
    state = LoopState(
        rows=rows.astype(kind, copy=False).ravel(),
        **{name: getattr(recording, name).astype(kind, copy=False) for name in APART},
        awaited=recording.awaited,
        issue=back[:0] if waves_only else back.copy(),
        back=back,
        waves=waves.ravel(),
        next=following,
        slots=_table(len(heads), {SIMD: simd[heads]}),
        simds=_table(
            int(simd.max(initial=-1)) + 2,
            {
                SEAT: borders(np.bincount(simd[heads], minlength=int(simd.max(initial=-1)) + 1)),
                DUE: FAR,
                THEN: FAR,
                HELD: 0,
            },
        ),
        units=_table(
            len(recording.depth) + 1,
            {
                FREE: -FAR,
                ACCEPTS: -FAR,
                DEPTH: np.append(0, recording.depth),
                IN_TURN: np.append(0, recording.in_turn),
            },
        ),
        served=np.full(int(recording.queue.max(initial=0)) + 1, -FAR, dtype=np.int64),
        meetings=_table(
            len(recording.members),
            {
                MEMBERS: recording.members,
                OPENING: recording.opening,
                LATELY: -FAR,
                ARRIVED: 0,
                WAITING: NO_INDEX,
            },
        ),
        keys=KeyBits(slot_bits, slot_bits + max(16, int(recording.rank.max(initial=0)).bit_length())),
    )
    loop(state)
    begin, end, before = (waves[:-1, column].copy() for column in (BEGIN, END, BEFORE))
    return Played(state.issue, begin, end, before)


def _waves(recording: Recording, heads: np.ndarray, pool: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The waves of `LoopState`; `heads` are those that begin as recorded, in slots 0, 1, 2…"""
    waves = np.zeros((len(recording.begin) + 1, WAVE_ROW), dtype=np.int64)
    waves[:, FIRST] = recording.first
    own = waves[:-1]
    own[:, [BEGIN, END]], own[:, [BEFORE, BESIDE]] = FAR, NO_INDEX
    own[heads, BEGIN], own[heads, SLOT] = recording.begin[heads], np.arange(len(heads))
    own[:, LEAD], own[:, TAIL], own[:, HANDOVER] = recording.lead, recording.tail, recording.handover
    own[:, POOL], own[:, AFTER] = pool, after
    some = np.flatnonzero(np.diff(recording.first))
    own[some, TURN] = recording.rank[recording.order[recording.first[some]]]
    own[:, LATEST : LATEST + CLASSES] = -FAR
    return waves


def _table(rows: int, columns: Mapping[int, np.ndarray | int]) -> np.ndarray:
    """Return a flat table of int64 with some columns, the others 0."""
    found = np.zeros((rows, ROW), dtype=np.int64)
    for place, column in columns.items():
        found[:, place] = column
    return found.ravel()


def _pools(recording: Recording) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pool of each wave, and the next waves of pools and of waves; a slot is a pool for two waves."""
    waves = len(recording.begin)
    followers, after = np.full((2, waves), NO_INDEX, dtype=np.int64)
    alone = np.flatnonzero((recording.before >= 0) & (recording.pool < 0))
    followers[recording.before[alone]] = alone
    shared = np.flatnonzero((recording.before >= 0) & (recording.pool >= 0))
    shared = shared[np.lexsort((recording.turn[shared], recording.pool[shared]))]
    is_first = starts_run(recording.pool[shared])
    after[shared[:-1][~is_first[1:]]] = shared[1:][~is_first[1:]]
    of_pools = np.full(int(recording.pool.max(initial=-1)) + 1, NO_INDEX, dtype=np.int64)
    of_pools[recording.pool[shared[is_first]]] = shared[is_first]
    pool = np.where(recording.pool >= 0, recording.pool + waves, np.arange(waves))
    return pool, np.concatenate([followers, of_pools]), after


@part
def never(bits: KeyBits) -> int:
    """The first key that is no event's: later moments do not happen."""
    return 1 << 61 >> bits.both << bits.both


@part
def key_of(bits: KeyBits, moment: int) -> int:
    """The moment as a key, which orders events: from high bits to low its moment, its rank, and its slot."""
    limit = 1 << 61 >> bits.both
    return max(-limit, min(moment, limit)) << bits.both


@part
def put(slots: ndarray, bits: KeyBits, slot: int, event: tuple[int, int, int]) -> int:
    """Set the next event of a slot: its moment, its rank, and the key of the event that caused it.

    It follows its cause, even at the same moment with a lower rank.  If a unit refuses it, it tries again
    with its own rank.
    """
    moment, rank, cause = event
    retry = rank << bits.slot | slot
    slots[slot * ROW + RETRY] = retry
    key = max(key_of(bits, moment) | retry, cause >> bits.slot << bits.slot | slot)
    slots[slot * ROW + KEY] = key
    return key


@part
def due_of(units: ndarray, bits: KeyBits, event: tuple[int, int, int]) -> int:
    """The key of an event that waits until its unit accepts it; `event`: its key, unit, and key to try again.

    If waves take their turns there, those that wait come before those that arrive, the longest first.
    """
    key, unit, retry = event
    accepts = int(units[unit * ROW + ACCEPTS])
    if not units[unit * ROW + IN_TURN]:
        return max(key, accepts + retry)
    came = key >> bits.both << bits.both
    latest = (1 << bits.both - bits.slot) - 1
    waited = min(latest, max(0, accepts - came >> bits.both))
    slot = key & (1 << bits.slot) - 1
    return max(key, max(accepts, came) + (latest - waited << bits.slot | slot))


@part
def due(slots: ndarray, units: ndarray, bits: KeyBits, slot: int) -> int:
    """The key of the next event of a slot."""
    at = slot * ROW
    return due_of(units, bits, (int(slots[at + KEY]), int(slots[at + TAKES]), int(slots[at + RETRY])))


@part
def expect(simds: ndarray, slots: ndarray, slot: int) -> None:
    """Tell a SIMD the next event of one of its slots."""
    at, key = int(slots[slot * ROW + SIMD]) * ROW, int(slots[slot * ROW + KEY])
    simds[at + THEN] = min(int(simds[at + THEN]), max(int(simds[at + DUE]), key))
    simds[at + DUE] = min(int(simds[at + DUE]), key)


@part
def ready_at(state: LoopState, token: int, now: int) -> int:
    """When the dependencies of a token that arrives now are met, other waves aside.

    All of these times are known: the operations belong to its own wave, which issues in order.
    """
    rows = state.rows
    ready = now + (int(rows[token * ROW + WORD]) >> LEAST_BIT & (1 << UNIT_BIT - LEAST_BIT) - 1)
    for at in range(int(rows[token * ROW + AWAIT]), int(rows[token * ROW + AWAIT_END])):
        back = int(state.back[int(state.awaited[at])])
        ready = max(ready, back if back < FAR else ready)
    return ready


@part
def come_to(state: LoopState, slot: int, token: int, now: int) -> int:
    """Come to the next token of a slot; return when it tries to issue, or arrives at its barrier."""
    word = int(state.rows[token * ROW + WORD])
    state.slots[slot * ROW + RANGE] = word & 3
    if word & 3 == ARRIVES:
        state.slots[slot * ROW + TAKES] = 0
        return now
    state.slots[slot * ROW + TAKES] = word >> UNIT_BIT
    return ready_at(state, token, now) + int(state.rows[token * ROW + DELAY])


@part
def set_out(state: LoopState, wave: int, slot: int, cause: int) -> None:
    """Begin a wave in a slot because of an event with a key: go to its first token, or to its end."""
    waves, slots = state.waves, state.slots
    waves[wave * WAVE_ROW + SLOT] = slot
    slots[slot * ROW + WAVE] = wave
    slots[slot * ROW + AT] = waves[wave * WAVE_ROW + FIRST]
    slots[slot * ROW + LAST] = waves[(wave + 1) * WAVE_ROW + FIRST]
    now = int(waves[wave * WAVE_ROW + BEGIN]) + int(waves[wave * WAVE_ROW + LEAD])
    if slots[slot * ROW + AT] < slots[slot * ROW + LAST]:
        now = come_to(state, slot, int(state.order[int(slots[slot * ROW + AT])]), now)
    put(state.slots, state.keys, slot, (now, int(waves[wave * WAVE_ROW + TURN]), cause))


@part
def come(meetings: ndarray, meeting: int, now: int) -> bool:
    """Arrive at a meeting; return whether all members have arrived."""
    meetings[meeting * ROW + ARRIVED] += 1
    meetings[meeting * ROW + LATELY] = max(int(meetings[meeting * ROW + LATELY]), now)
    return bool(meetings[meeting * ROW + ARRIVED] >= meetings[meeting * ROW + MEMBERS])


@part
def try_later(state: LoopState, slot: int, ready: int, cause: int) -> None:
    """Let the barrier token of a slot try to issue when it is ready."""
    rows, token = state.rows, int(state.order[int(state.slots[slot * ROW + AT])])
    put(
        state.slots,
        state.keys,
        slot,
        (ready + int(rows[token * ROW + DELAY]), int(rows[token * ROW + RANK]), cause),
    )
    state.slots[slot * ROW + TAKES] = int(rows[token * ROW + WORD]) >> UNIT_BIT


@part
def open_meeting(state: LoopState, meeting: int, cause: int) -> None:
    """Release the waves that wait for a meeting, because of an event with a key."""
    meetings = state.meetings
    opens = int(meetings[meeting * ROW + LATELY]) + int(meetings[meeting * ROW + OPENING])
    wave = int(meetings[meeting * ROW + WAITING])
    meetings[meeting * ROW + WAITING] = NO_INDEX
    while wave >= 0:
        slot = int(state.waves[wave * WAVE_ROW + SLOT])
        try_later(state, slot, opens, cause)
        state.simds[int(state.slots[slot * ROW + SIMD]) * ROW + HELD] -= 1
        expect(state.simds, state.slots, slot)
        wave = int(state.waves[wave * WAVE_ROW + BESIDE])


@part
def arrive(state: LoopState, slot: int, token: int, key: int) -> bool:
    """Arrive at a barrier: try to issue later, or wait until it opens; return whether it opens now."""
    meetings, slots = state.meetings, state.slots
    now = key >> state.keys.both
    comes, waits = int(state.signals[token]), int(state.meeting[token])
    opens = comes >= 0 and comes == waits and come(meetings, comes, now)
    slots[slot * ROW + RANGE] = OF_ALL
    if waits >= 0 and meetings[waits * ROW + ARRIVED] < meetings[waits * ROW + MEMBERS]:
        state.waves[int(slots[slot * ROW + WAVE]) * WAVE_ROW + BESIDE] = meetings[waits * ROW + WAITING]
        meetings[waits * ROW + WAITING] = slots[slot * ROW + WAVE]
        state.simds[int(slots[slot * ROW + SIMD]) * ROW + HELD] += 1
        slots[slot * ROW + KEY] = never(state.keys)
        return False
    ready = ready_at(state, token, now)
    if waits >= 0:
        ready = max(ready, int(meetings[waits * ROW + LATELY]) + int(meetings[waits * ROW + OPENING]))
    try_later(state, slot, ready, key)
    return opens


@part
def send(state: LoopState, wave: int, token: int, now: int) -> None:
    """Determine when an operation that leaves its unit now returns."""
    rows, waves, served = state.rows, state.waves, state.served
    word = int(rows[token * ROW + WORD])
    queue, kind = (word >> QUEUE_BIT & 3) - 1, word >> CLASS_BIT & 3
    gone = now
    if queue >= 0:
        done = max(int(served[queue]), now * FINE) + int(rows[token * ROW + SERVICE])
        served[queue] = done
        gone = -(-done // FINE)
    back = gone + int(state.latency[token])
    if kind > 0:
        back = max(back, int(waves[wave * WAVE_ROW + LATEST + kind]))
    state.back[token] = back
    if queue >= 0:
        waves[wave * WAVE_ROW + LATEST + kind] = max(int(waves[wave * WAVE_ROW + LATEST + kind]), back)


@part
def issue(state: LoopState, wave: int, token: int, now: int) -> bool:
    """Issue the token of a wave, which its unit accepts; return whether a meeting that it signals opens."""
    rows, units, word = state.rows, state.units, int(state.rows[token * ROW + WORD])
    unit, is_queued = word >> UNIT_BIT, word >> QUEUE_BIT & 3
    sent = now
    if unit:
        free = max(now, int(units[unit * ROW + FREE])) + int(rows[token * ROW + HOLD])
        units[unit * ROW + FREE] = free
        units[unit * ROW + ACCEPTS] = key_of(state.keys, free - int(units[unit * ROW + DEPTH]))
        sent = free if is_queued else now
    if len(state.issue):
        state.issue[token] = now
    if is_queued or state.latency[token]:
        send(state, wave, token, sent)
    if word & 3 != ARRIVES:
        return False
    comes = int(state.signals[token])
    return comes >= 0 and comes != int(state.meeting[token]) and come(state.meetings, comes, now)


@part
def end_at(waves: ndarray, wave: int, now: int) -> int:
    """When a wave ends whose last token issues now."""
    ends = now + int(waves[wave * WAVE_ROW + TAIL])
    for kind in range(CLASSES):
        ends = max(ends, int(waves[wave * WAVE_ROW + LATEST + kind]))
    return ends


@part
def finish(state: LoopState, slot: int, key: int) -> None:
    """End the wave of a slot, and begin the next one there."""
    waves, slots = state.waves, state.slots
    wave, now = int(slots[slot * ROW + WAVE]), key >> state.keys.both
    waves[wave * WAVE_ROW + END] = now
    pool = int(waves[wave * WAVE_ROW + POOL])
    after = int(state.next[pool])
    slots[slot * ROW + KEY] = never(state.keys)
    slots[slot * ROW + TAKES] = 0
    if after >= 0:
        state.next[pool] = waves[after * WAVE_ROW + AFTER]
        waves[after * WAVE_ROW + BEFORE] = wave
        waves[after * WAVE_ROW + BEGIN] = now + int(waves[after * WAVE_ROW + HANDOVER])
        set_out(state, after, slot, key)


@part
def run(state: LoopState, key: int, near: int, far: int) -> bool:
    """Play the wave whose event has a key until another one is due; return whether a barrier opened.

    `near` and `far` are keys of the next events of other waves, with which those that share something with
    its SIMD or with all waves have to keep order.
    """
    slots, rows = state.slots, state.rows
    slot = key & (1 << state.keys.slot) - 1
    at, last, wave = int(slots[slot * ROW + AT]), int(slots[slot * ROW + LAST]), int(slots[slot * ROW + WAVE])
    if at >= last:
        finish(state, slot, key)
        return False
    token = int(state.order[at])
    if slots[slot * ROW + RANGE] == ARRIVES:
        opens = arrive(state, slot, token, key)
        if opens:
            open_meeting(state, int(state.signals[token]), key)
        return opens
    while True:
        now = key >> state.keys.both
        opens = issue(state, wave, token, now)
        if opens:
            open_meeting(state, int(state.signals[token]), key)
        at += 1
        if at >= last:
            slots[slot * ROW + RANGE] = OF_SIMD
            slots[slot * ROW + TAKES] = 0
            put(
                state.slots,
                state.keys,
                slot,
                (end_at(state.waves, wave, now), int(rows[token * ROW + RANK]), key),
            )
            break
        now += int(rows[token * ROW + PACE])
        prefetch(rows, (token + AHEAD) * ROW)
        prefetch(state.back, token + AHEAD)
        prefetch(state.order, at + AHEAD)
        prefetch(state.latency, token + AHEAD)
        token = int(state.order[at])
        word = int(rows[token * ROW + WORD])
        shares, takes = word & 3, 0
        if shares != ARRIVES:
            takes = word >> UNIT_BIT
            now = ready_at(state, token, now) + int(rows[token * ROW + DELAY])
        own = put(state.slots, state.keys, slot, (now, int(rows[token * ROW + RANK]), key))
        key = due_of(state.units, state.keys, (own, takes, int(slots[slot * ROW + RETRY])))
        is_next = shares == OWN or key < (far if shares >= OF_ALL else near)
        if opens or not is_next or shares == ARRIVES or key >= never(state.keys):
            slots[slot * ROW + RANGE] = shares
            slots[slot * ROW + TAKES] = takes
            break
    slots[slot * ROW + AT] = at
    return opens


@part
def next_simd(simds: ndarray, last: int) -> tuple[int, int]:
    """The SIMD with the earliest event, and the key of the next event of another one, at most `last`."""
    simd, first, others = 0, last, last
    for one in range(len(simds) // ROW - 1):
        key = int(simds[one * ROW + DUE])
        simd = one if key < first else simd
        others = min(others, max(first, key))
        first = min(first, key)
    return simd, others


@part
def next_of(state: LoopState, simd: int) -> tuple[int, int]:
    """The keys of the next two events of different waves of a SIMD."""
    first = second = never(state.keys)
    for slot in range(int(state.simds[simd * ROW + SEAT]), int(state.simds[(simd + 1) * ROW + SEAT])):
        key = due(state.slots, state.units, state.keys, slot)
        second = min(second, max(first, key))
        first = min(first, key)
    return first, second


@kernel
def loop(state: LoopState) -> None:
    """Fill in when tokens issue and when waves begin and end; waves that follow none have a given begin.

    Every index comes from a recording whose columns agree.
    """
    simds, slots, places = state.simds, state.slots, (1 << state.keys.slot) - 1
    for wave in range(len(state.waves) // WAVE_ROW - 1):
        if state.waves[wave * WAVE_ROW + BEGIN] < FAR:
            slot = int(state.waves[wave * WAVE_ROW + SLOT])
            set_out(state, wave, slot, -FAR)
            expect(state.simds, state.slots, slot)
    while len(simds) > ROW:
        simd, others = next_simd(simds, never(state.keys))
        key, beside = int(simds[simd * ROW + DUE]), int(simds[simd * ROW + THEN])
        if key >= never(state.keys):
            break
        if (
            due(slots, state.units, state.keys, key & places) != key
        ):  # its unit has accepted another token since
            key, beside = next_of(state, simd)
        opens = False
        while key < never(state.keys) and not opens:
            is_held = simds[simd * ROW + HELD] > 0
            if key > others and (is_held or slots[(key & places) * ROW + RANGE] >= OF_ALL):
                break
            far = min(beside, others)
            opens = run(state, key, far if is_held else beside, far)
            key, beside = next_of(state, simd)
        simds[simd * ROW + DUE] = key
        simds[simd * ROW + THEN] = beside
