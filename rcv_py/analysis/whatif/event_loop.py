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
from rcv_py.base.machine.compiled import kernel, part
from rcv_py.base.runs import borders, starts_run

OWN, OF_SIMD, OF_ALL, ARRIVES = range(4)  # what the next event of a wave shares; ARRIVES: at a barrier
# Columns of tokens, named as those of a recording; AWAIT has a row more.
COLUMNS = (
    *("order", "pace", "least", "delay", "resource", "hold", "rank", "queue", "service", "latency"),
    *("in_order", "await_first", "meeting", "signals"),
)
ORDER, PACE, LEAST, DELAY, UNIT, HOLD, RANK, QUEUE, SERVICE, LATENCY = range(10)
CLASS, AWAIT, MEETING, SIGNALS = range(10, 14)
WIDTH = 16  # columns, which with 4 bytes each are a line of the cache
LINE = 64  # bytes
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


class LoopState(NamedTuple):
    """All that the loop reads and modifies, int64 unless stated otherwise; the columns are named above."""

    rows: ndarray  # int32 or int64 [tokens + 1, WIDTH]
    awaited: ndarray  # of the recording
    issue: ndarray  # when each token issued, or empty
    back: ndarray  # when its operation returned
    waves: ndarray  # [waves + 1, WIDTH]
    next: ndarray  # [pools], the wave that begins when one of the pool ends, NO_INDEX: none
    slots: ndarray  # [slots, SIMD + 1]
    simds: ndarray  # [simds + 1, HELD + 1]
    units: ndarray  # [units + 1, IN_TURN + 1]
    served: ndarray  # [queues], when they are empty, in parts of a cycle
    meetings: ndarray  # [meetings, WAITING + 1]
    slot_bits: int  # of a key
    bits: int  # of a key that are rank and slot


class Board:
    """The tokens of a compute unit in rows: all of a token beside each other, as the loop needs them.

    From one play to the next only what differs is written, which for an experiment is little.
    """

    def __init__(self) -> None:
        self._one = Lock()  # a play at a time
        self._shown: Recording | None = None
        self._rows = np.zeros((0, WIDTH), dtype=np.int32)

    def play(self, recording: Recording, *, waves_only: bool = False) -> Played:
        """Return when each event happens; `waves_only`: when waves begin and end."""
        with self._one:
            self._show(recording)
            return _played(recording, self._rows, waves_only)

    def _show(self, recording: Recording) -> None:
        """Write the columns of a recording into the rows."""
        shown = self._shown
        self._shown = None  # until all is written
        if shown is None or len(shown) != len(recording):
            shown, self._rows = None, _rows(len(recording) + 1, np.dtype(np.int32))
        for place, name in enumerate(COLUMNS):
            new, old = getattr(recording, name), None if shown is None else getattr(shown, name)
            if new is not old:
                changed = slice(len(new)) if old is None else np.flatnonzero(new != old)
                self._write(changed, place, new[changed])
        self._shown = recording

    def _write(self, rows: slice | np.ndarray, column: int, values: np.ndarray) -> None:
        if not NARROW.min <= values.min(initial=0) <= values.max(initial=0) <= NARROW.max:
            wide = _rows(len(self._rows), np.dtype(np.int64))
            wide[:] = self._rows
            self._rows = wide
        self._rows[rows, column] = values


def _rows(count: int, kind: np.dtype[np.signedinteger]) -> np.ndarray:
    """Return empty rows that begin with a line of the cache."""
    found = np.zeros(count * WIDTH + LINE, dtype=kind)
    skipped = -found.ctypes.data % LINE // kind.itemsize
    return found[skipped : skipped + count * WIDTH].reshape(count, WIDTH)


def play(recording: Recording) -> Played:
    """Return when each event happens."""
    return Board().play(recording)


def _played(recording: Recording, rows: np.ndarray, waves_only: bool) -> Played:
    back = np.full(len(recording), FAR, dtype=np.int64)
    heads = np.flatnonzero(recording.before < 0)
    simd = np.unique(recording.simd, return_inverse=True)[1]
    heads = heads[np.argsort(simd[heads], kind="stable")]
    pool, following, after = _pools(recording)
    slot_bits = len(heads).bit_length()
    state = LoopState(
        rows=rows,
        awaited=recording.awaited,
        issue=back[:0] if waves_only else back.copy(),
        back=back,
        waves=_waves(recording, heads, pool, after),
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
        slot_bits=slot_bits,
        bits=slot_bits + max(16, int(recording.rank.max(initial=0)).bit_length()),
    )
    loop(state)
    begin, end, before = (state.waves[:-1, column].copy() for column in (BEGIN, END, BEFORE))
    return Played(state.issue, begin, end, before)


def _waves(recording: Recording, heads: np.ndarray, pool: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The waves of `LoopState`; `heads` are those that begin as recorded, in slots 0, 1, 2…"""
    waves = np.zeros((len(recording.begin) + 1, WIDTH), dtype=np.int64)
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
    """Return a table of int64 with some columns, the others 0."""
    found = np.zeros((rows, max(columns) + 1), dtype=np.int64)
    for place, column in columns.items():
        found[:, place] = column
    return found


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
def never(state: LoopState) -> int:
    """The first key that is no event's: later moments do not happen."""
    return 1 << 61 >> state.bits << state.bits


@part
def key_of(state: LoopState, moment: int) -> int:
    """The moment as a key, which orders events: from high bits to low its moment, its rank, and its slot."""
    limit = 1 << 61 >> state.bits
    return max(-limit, min(moment, limit)) << state.bits


@part
def put(state: LoopState, slot: int, event: tuple[int, int, int]) -> None:
    """Set the next event of a slot: its moment, its rank, and the key of the event that caused it.

    It follows its cause, even at the same moment with a lower rank.  If a unit refuses it, it tries again
    with its own rank.
    """
    moment, rank, cause = event
    bits = state.slot_bits
    state.slots[slot, RETRY] = rank << bits | slot
    key = key_of(state, moment) | int(state.slots[slot, RETRY])
    state.slots[slot, KEY] = max(key, cause >> bits << bits | slot)


@part
def due(state: LoopState, slot: int) -> int:
    """The key of the next event of a slot, which waits until its unit accepts it.

    If waves take their turns there, those that wait come before those that arrive, the longest first.
    """
    key, unit = int(state.slots[slot, KEY]), int(state.slots[slot, TAKES])
    accepts = int(state.units[unit, ACCEPTS])
    if not state.units[unit, IN_TURN]:
        return max(key, accepts + int(state.slots[slot, RETRY]))
    came = key >> state.bits << state.bits
    latest = (1 << state.bits - state.slot_bits) - 1
    waited = min(latest, max(0, accepts - came >> state.bits))
    return max(key, max(accepts, came) + (latest - waited << state.slot_bits | slot))


@part
def expect(state: LoopState, slot: int) -> None:
    """Tell a SIMD the next event of one of its slots."""
    simds, simd, key = state.simds, int(state.slots[slot, SIMD]), int(state.slots[slot, KEY])
    simds[simd, THEN] = min(int(simds[simd, THEN]), max(int(simds[simd, DUE]), key))
    simds[simd, DUE] = min(int(simds[simd, DUE]), key)


@part
def next_token(state: LoopState, slot: int) -> int:
    """The next token of the wave in a slot."""
    return int(state.rows[int(state.slots[slot, AT]), ORDER])


@part
def ready_at(state: LoopState, token: int, now: int) -> int:
    """When the dependencies of a token that arrives now are met, other waves aside.

    All of these times are known: the operations belong to its own wave, which issues in order.
    """
    rows = state.rows
    ready = now + int(rows[token, LEAST])
    for at in range(int(rows[token, AWAIT]), int(rows[token + 1, AWAIT])):
        back = int(state.back[int(state.awaited[at])])
        ready = max(ready, back if back < FAR else ready)
    return ready


@part
def come_to(state: LoopState, slot: int, token: int, now: int) -> int:
    """Come to the next token of a slot; return when it tries to issue, or arrives at its barrier."""
    rows, slots = state.rows, state.slots
    if rows[token, MEETING] >= 0 or rows[token, SIGNALS] >= 0:
        slots[slot, RANGE] = ARRIVES
        slots[slot, TAKES] = 0
        return now
    unit = int(rows[token, UNIT])
    is_own = unit < 0 and rows[token, QUEUE] < 0
    slots[slot, RANGE] = OF_SIMD if unit >= PLACES else OWN if is_own else OF_ALL
    slots[slot, TAKES] = unit + 1
    return ready_at(state, token, now) + int(rows[token, DELAY])


@part
def set_out(state: LoopState, wave: int, slot: int, cause: int) -> None:
    """Begin a wave in a slot because of an event with a key: go to its first token, or to its end."""
    waves, slots = state.waves, state.slots
    waves[wave, SLOT] = slot
    slots[slot, WAVE] = wave
    slots[slot, AT] = waves[wave, FIRST]
    slots[slot, LAST] = waves[wave + 1, FIRST]
    now = int(waves[wave, BEGIN]) + int(waves[wave, LEAD])
    if slots[slot, AT] < slots[slot, LAST]:
        now = come_to(state, slot, next_token(state, slot), now)
    put(state, slot, (now, int(waves[wave, TURN]), cause))


@part
def come(meetings: ndarray, meeting: int, now: int) -> bool:
    """Arrive at a meeting; return whether all members have arrived."""
    meetings[meeting, ARRIVED] += 1
    meetings[meeting, LATELY] = max(int(meetings[meeting, LATELY]), now)
    return bool(meetings[meeting, ARRIVED] >= meetings[meeting, MEMBERS])


@part
def try_later(state: LoopState, slot: int, ready: int, cause: int) -> None:
    """Let the barrier token of a slot try to issue when it is ready."""
    rows, token = state.rows, next_token(state, slot)
    put(state, slot, (ready + int(rows[token, DELAY]), int(rows[token, RANK]), cause))
    state.slots[slot, TAKES] = int(rows[token, UNIT]) + 1


@part
def open_meeting(state: LoopState, meeting: int, cause: int) -> None:
    """Release the waves that wait for a meeting, because of an event with a key."""
    meetings = state.meetings
    opens = int(meetings[meeting, LATELY]) + int(meetings[meeting, OPENING])
    wave = int(meetings[meeting, WAITING])
    meetings[meeting, WAITING] = NO_INDEX
    while wave >= 0:
        slot = int(state.waves[wave, SLOT])
        try_later(state, slot, opens, cause)
        state.simds[int(state.slots[slot, SIMD]), HELD] -= 1
        expect(state, slot)
        wave = int(state.waves[wave, BESIDE])


@part
def arrive(state: LoopState, slot: int, token: int, key: int) -> bool:
    """Arrive at a barrier: try to issue later, or wait until it opens; return whether it opens now."""
    meetings, slots = state.meetings, state.slots
    now = key >> state.bits
    comes, waits = int(state.rows[token, SIGNALS]), int(state.rows[token, MEETING])
    opens = comes >= 0 and comes == waits and come(meetings, comes, now)
    slots[slot, RANGE] = OF_ALL
    if waits >= 0 and meetings[waits, ARRIVED] < meetings[waits, MEMBERS]:
        state.waves[int(slots[slot, WAVE]), BESIDE] = meetings[waits, WAITING]
        meetings[waits, WAITING] = slots[slot, WAVE]
        state.simds[int(slots[slot, SIMD]), HELD] += 1
        slots[slot, KEY] = never(state)
        return False
    ready = ready_at(state, token, now)
    if waits >= 0:
        ready = max(ready, int(meetings[waits, LATELY]) + int(meetings[waits, OPENING]))
    try_later(state, slot, ready, key)
    return opens


@part
def send(state: LoopState, wave: int, token: int, now: int) -> None:
    """Determine when an operation that leaves its unit now returns."""
    rows, waves, served = state.rows, state.waves, state.served
    queue, kind = int(rows[token, QUEUE]), int(rows[token, CLASS])
    gone = now
    if queue >= 0:
        done = max(int(served[queue]), now * FINE) + int(rows[token, SERVICE])
        served[queue] = done
        gone = -(-done // FINE)
    back = gone + int(rows[token, LATENCY])
    if kind > 0:
        back = max(back, int(waves[wave, LATEST + kind]))
    state.back[token] = back
    if queue >= 0:
        waves[wave, LATEST + kind] = max(int(waves[wave, LATEST + kind]), back)


@part
def issue(state: LoopState, slot: int, token: int, now: int) -> bool:
    """Issue the token of a slot, which its unit accepts; return whether a meeting that it signals opens."""
    rows, units = state.rows, state.units
    unit, queue = int(rows[token, UNIT]), int(rows[token, QUEUE])
    sent = now
    if unit >= 0:
        free = max(now, int(units[unit + 1, FREE])) + int(rows[token, HOLD])
        units[unit + 1, FREE] = free
        units[unit + 1, ACCEPTS] = key_of(state, free - int(units[unit + 1, DEPTH]))
        sent = free if queue >= 0 else now
    if len(state.issue):
        state.issue[token] = now
    if queue >= 0 or rows[token, LATENCY]:
        send(state, int(state.slots[slot, WAVE]), token, sent)
    comes = int(rows[token, SIGNALS])
    return comes >= 0 and comes != int(rows[token, MEETING]) and come(state.meetings, comes, now)


@part
def go_on(state: LoopState, slot: int, token: int, key: int) -> int:
    """Go to what follows the issue of a token; return its key."""
    slots, waves, now = state.slots, state.waves, key >> state.bits
    at = int(slots[slot, AT]) + 1
    slots[slot, AT] = at
    following = token
    if at < slots[slot, LAST]:
        following = next_token(state, slot)
        now = come_to(state, slot, following, now + int(state.rows[token, PACE]))
    else:
        wave = int(slots[slot, WAVE])
        now += int(waves[wave, TAIL])
        for kind in range(CLASSES):
            now = max(now, int(waves[wave, LATEST + kind]))
        slots[slot, RANGE] = OF_SIMD
        slots[slot, TAKES] = 0
    put(state, slot, (now, int(state.rows[following, RANK]), key))
    return due(state, slot)


@part
def finish(state: LoopState, slot: int, key: int) -> None:
    """End the wave of a slot, and begin the next one there."""
    waves, slots = state.waves, state.slots
    wave, now = int(slots[slot, WAVE]), key >> state.bits
    waves[wave, END] = now
    pool = int(waves[wave, POOL])
    after = int(state.next[pool])
    slots[slot, KEY] = never(state)
    slots[slot, TAKES] = 0
    if after >= 0:
        state.next[pool] = waves[after, AFTER]
        waves[after, BEFORE] = wave
        waves[after, BEGIN] = now + int(waves[after, HANDOVER])
        set_out(state, after, slot, key)


@part
def run(state: LoopState, key: int, near: int, far: int) -> bool:
    """Play the wave whose event has a key until another one is due; return whether a barrier opened.

    `near` and `far` are keys of the next events of other waves, with which those that share something with
    its SIMD or with all waves have to keep order.
    """
    slots, rows = state.slots, state.rows
    slot = key & (1 << state.slot_bits) - 1
    while True:
        if slots[slot, AT] >= slots[slot, LAST]:
            finish(state, slot, key)
            return False
        token = next_token(state, slot)
        arrives = slots[slot, RANGE] == ARRIVES
        opens = arrive(state, slot, token, key) if arrives else issue(state, slot, token, key >> state.bits)
        if opens:
            open_meeting(state, int(rows[token, SIGNALS]), key)
        if not arrives:
            key = go_on(state, slot, token, key)
        shares = int(slots[slot, RANGE])
        is_next = shares == OWN or key < (far if shares >= OF_ALL else near)
        if arrives or opens or not is_next or key >= never(state):
            return opens


@part
def next_simd(state: LoopState) -> tuple[int, int]:
    """The SIMD with the earliest event, and the key of the next event of another one."""
    simd, first, others = 0, never(state), never(state)
    for one in range(len(state.simds) - 1):
        key = int(state.simds[one, DUE])
        simd = one if key < first else simd
        others = min(others, max(first, key))
        first = min(first, key)
    return simd, others


@part
def next_of(state: LoopState, simd: int) -> tuple[int, int]:
    """The keys of the next two events of different waves of a SIMD."""
    first, second = never(state), never(state)
    for slot in range(int(state.simds[simd, SEAT]), int(state.simds[simd + 1, SEAT])):
        key = due(state, slot)
        second = min(second, max(first, key))
        first = min(first, key)
    return first, second


@kernel
def loop(state: LoopState) -> None:
    """Fill in when tokens issue and when waves begin and end; waves that follow none have a given begin.

    Every index comes from a recording whose columns agree.
    """
    simds, slots, places = state.simds, state.slots, (1 << state.slot_bits) - 1
    for wave in range(len(state.waves) - 1):
        if state.waves[wave, BEGIN] < FAR:
            slot = int(state.waves[wave, SLOT])
            set_out(state, wave, slot, -FAR)
            expect(state, slot)
    while len(simds) > 1:
        simd, others = next_simd(state)
        key, beside = int(simds[simd, DUE]), int(simds[simd, THEN])
        if key >= never(state):
            break
        if due(state, key & places) != key:  # its unit has accepted another token since
            key, beside = next_of(state, simd)
        opens = False
        while key < never(state) and not opens:
            is_held = simds[simd, HELD] > 0
            if key > others and (is_held or slots[key & places, RANGE] >= OF_ALL):
                break
            far = min(beside, others)
            opens = run(state, key, far if is_held else beside, far)
            key, beside = next_of(state, simd)
        simds[simd, DUE] = key
        simds[simd, THEN] = beside
