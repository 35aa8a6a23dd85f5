"""Play a recording: one loop over all waves of a compute unit.

Every resident wave has one next event: it arrives at a barrier, its token tries to take a unit, or it ends.
Events that share something happen in order of time; events at the same time keep the order of the recording.
What an event shares decides how far the loop may go on without looking at other waves (`RANGES`):

    OWN      a token without a unit depends on its own wave alone
    OF_SIMD  arithmetic, and the end of a wave, whose slot the next one takes, depend on waves of the SIMD
    OF_ALL   memory and barriers depend on all waves

So the loop stays with a wave, and then with a SIMD, for as long as that is the next in its range.  While
a wave waits at a barrier, which any other wave may open, events of its SIMD are in order with those of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rcv_py.analysis.whatif.queues import CLASSES, FAR, FINE
from rcv_py.analysis.whatif.recording import NO_INDEX, PLACES, Recording
from rcv_py.base.machine.compiled import kernel, part
from rcv_py.base.runs import borders, starts_run

RANGES = OWN, OF_SIMD, OF_ALL, ARRIVES = range(
    4
)  # what the next event of a wave shares; ARRIVES: at a barrier
# Columns of `LoopTokens.rows`, named as those of a recording; AWAIT has a row more.
COLUMNS = (
    *("order", "pace", "least", "delay", "resource", "hold", "rank", "queue", "service", "latency"),
    *("in_order", "await_first", "meeting", "signals"),
)
ORDER, PACE, LEAST, DELAY, UNIT, HOLD, RANK, QUEUE, SERVICE, LATENCY = range(10)
CLASS, AWAIT, MEETING, SIGNALS = range(10, 14)
# Columns of slots: the key of the next event, see `key_of`, and what follows the moment in the key of another
# attempt; 1 + the unit that it takes; the wave; the place in `order` of its next token, and its end; what the
# event shares; the SIMD.
KEY, RETRY, TAKES, WAVE, AT, LAST, RANGE, SIMD = range(8)
WIDTH = 16  # columns of a row, which with 4 bytes each is a line of the cache
LINE = 64  # bytes
NARROW = np.iinfo(np.int32)


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


class LoopTokens(NamedTuple):
    """Tokens of a `Recording`."""

    rows: ndarray  # int32 or int64 [tokens + 1, WIDTH]
    awaited: ndarray  # int64
    issue: ndarray  # int64, when each token issued, or empty; modified
    back: ndarray  # int64, when its operation returned; modified


class LoopWaves(NamedTuple):
    """Columns of waves, int64."""

    first: ndarray
    begin: ndarray  # FAR until the previous wave in the slot has ended; modified
    end: ndarray  # modified
    lead: ndarray
    tail: ndarray
    pool: ndarray  # of slots: the next wave of a pool begins when one of its waves ends
    next: ndarray  # [pools], the wave that begins next, NO_INDEX: none; modified
    after: ndarray  # the wave that begins after it in its pool, NO_INDEX: none
    before: ndarray  # the wave whose end freed its slot; modified
    handover: ndarray
    turn: ndarray  # the rank of its first token
    slot: ndarray  # modified
    beside: ndarray  # the wave that arrived before at the same barrier and waits there; modified
    latest: ndarray  # [waves * CLASSES], when all operations of a class have returned; modified


class Simds(NamedTuple):
    """Columns of SIMDs, int64."""

    first: ndarray  # [simds + 1], slots
    due: ndarray  # the key of its next event, or a smaller one; modified
    held: ndarray  # waves that wait at barriers; modified


class Shared(NamedTuple):
    """State that waves share, int64."""

    free: ndarray  # [1 + units], when units are free, the first one always; modified
    accepts: ndarray  # [1 + units], keys from which on they take tokens; modified
    depth: ndarray  # [1 + units], cycles of work that units accept before they refuse
    served: ndarray  # when queues are empty, in parts of a cycle; modified
    members: ndarray  # of meetings
    opening: ndarray  # of meetings
    last: ndarray  # last arrival at a meeting; modified
    arrived: ndarray  # number of arrivals; modified
    waiting: ndarray  # the wave that last began to wait for it; modified
    bits: ndarray  # [2]: of a key that are its slot, and its slot and rank


class LoopState(NamedTuple):
    """All that the loop reads and modifies."""

    tokens: LoopTokens
    waves: LoopWaves
    slots: ndarray  # int64 [slots, SIMD + 1], the next event of each
    simds: Simds
    shared: Shared


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
    tokens, waves, meetings = len(recording), len(recording.begin), len(recording.members)
    back = np.full(tokens, FAR, dtype=np.int64)
    issue = back[:0] if waves_only else back.copy()
    begin, end = np.full((2, waves), FAR, dtype=np.int64)
    before = np.full(waves, NO_INDEX, dtype=np.int64)
    turn = np.zeros(waves, dtype=np.int64)
    some = np.flatnonzero(np.diff(recording.first))
    turn[some] = recording.rank[recording.order[recording.first[some]]]
    heads = np.flatnonzero(recording.before < 0)
    begin[heads] = recording.begin[heads]

    simd = np.unique(recording.simd, return_inverse=True)[1]
    heads = heads[np.argsort(simd[heads], kind="stable")]
    slots = np.zeros((len(heads), SIMD + 1), dtype=np.int64)
    slots[:, SIMD] = simd[heads]
    slot = np.zeros(waves, dtype=np.int64)
    slot[heads] = np.arange(len(heads))
    count = np.bincount(slots[:, SIMD], minlength=int(simd.max(initial=-1)) + 1)
    bits = np.cumsum([len(heads).bit_length(), max(0, int(recording.rank.max(initial=0))).bit_length()])

    def full(size: int, value: int) -> np.ndarray:
        return np.full(size, value, dtype=np.int64)

    units = len(recording.depth) + 1
    state = LoopState(
        LoopTokens(rows, recording.awaited, issue, back),
        LoopWaves(
            first=recording.first,
            begin=begin,
            end=end,
            lead=recording.lead,
            tail=recording.tail,
            **_pools(recording),
            before=before,
            handover=recording.handover,
            turn=turn,
            slot=slot,
            beside=full(waves, NO_INDEX),
            latest=full(waves * CLASSES, -FAR),
        ),
        slots,
        Simds(borders(count), full(len(count), FAR), full(len(count), 0)),
        Shared(
            free=full(units, -FAR),
            accepts=full(units, -FAR),
            depth=np.append(0, recording.depth),
            served=full(int(recording.queue.max(initial=0)) + 1, -FAR),
            members=recording.members.astype(np.int64, copy=False),
            opening=recording.opening,
            last=full(meetings, -FAR),
            arrived=full(meetings, 0),
            waiting=full(meetings, NO_INDEX),
            bits=bits,
        ),
    )
    loop(state)
    return Played(issue, begin, end, before)


def _pools(recording: Recording) -> dict[str, np.ndarray]:
    """The pools of slots, as in `LoopWaves`; a slot alone is a pool for each pair of waves."""
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
    return {"pool": pool, "next": np.concatenate([followers, of_pools]), "after": after}


@part
def never(state: LoopState) -> int:
    """The first key that is no event's: later moments do not happen."""
    return 1 << 61 >> int(state.shared.bits[1]) << int(state.shared.bits[1])


@part
def key_of(state: LoopState, moment: int) -> int:
    """The moment as a key, which orders events: from high bits to low its moment, its rank, and its slot."""
    limit = 1 << 61 >> int(state.shared.bits[1])
    return max(-limit, min(moment, limit)) << int(state.shared.bits[1])


@part
def put(state: LoopState, slot: int, event: tuple[int, int, int]) -> None:
    """Set the next event of a slot: its moment, its rank, and the key of the event that caused it.

    It follows its cause, even at the same moment with a lower rank.  If a unit refuses it, it tries again
    with its own rank.
    """
    moment, rank, cause = event
    bits = int(state.shared.bits[0])
    state.slots[slot, RETRY] = rank << bits | slot
    key = key_of(state, moment) | int(state.slots[slot, RETRY])
    state.slots[slot, KEY] = max(key, cause >> bits << bits | slot)


@part
def due(state: LoopState, slot: int) -> int:
    """The key of the next event of a slot, which waits until its unit accepts it."""
    accepts = int(state.shared.accepts[int(state.slots[slot, TAKES])])
    return max(int(state.slots[slot, KEY]), accepts + int(state.slots[slot, RETRY]))


@part
def next_token(state: LoopState, slot: int) -> int:
    """The next token of the wave in a slot."""
    return int(state.tokens.rows[int(state.slots[slot, AT]), ORDER])


@part
def ready_at(state: LoopState, token: int, now: int) -> int:
    """When the dependencies of a token that arrives now are met, other waves aside.

    All of these times are known: the operations belong to its own wave, which issues in order.
    """
    tokens = state.tokens
    ready = now + int(tokens.rows[token, LEAST])
    for at in range(int(tokens.rows[token, AWAIT]), int(tokens.rows[token + 1, AWAIT])):
        back = int(tokens.back[int(tokens.awaited[at])])
        ready = max(ready, back if back < FAR else ready)
    return ready


@part
def come_to(state: LoopState, slot: int, token: int, now: int) -> int:
    """Come to the next token of a slot; return when it tries to issue, or arrives at its barrier."""
    rows, slots = state.tokens.rows, state.slots
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
    waves.slot[wave] = slot
    slots[slot, WAVE] = wave
    slots[slot, AT] = waves.first[wave]
    slots[slot, LAST] = waves.first[wave + 1]
    now = int(waves.begin[wave]) + int(waves.lead[wave])
    if slots[slot, AT] < slots[slot, LAST]:
        now = come_to(state, slot, next_token(state, slot), now)
    put(state, slot, (now, int(waves.turn[wave]), cause))


@part
def come(shared: Shared, meeting: int, now: int) -> bool:
    """Arrive at a meeting; return whether all members have arrived."""
    shared.arrived[meeting] += 1
    shared.last[meeting] = max(int(shared.last[meeting]), now)
    return bool(shared.arrived[meeting] >= shared.members[meeting])


@part
def try_later(state: LoopState, slot: int, ready: int, cause: int) -> None:
    """Let the barrier token of a slot try to issue when it is ready."""
    rows, token = state.tokens.rows, next_token(state, slot)
    put(state, slot, (ready + int(rows[token, DELAY]), int(rows[token, RANK]), cause))
    state.slots[slot, TAKES] = int(rows[token, UNIT]) + 1


@part
def open_meeting(state: LoopState, meeting: int, cause: int) -> None:
    """Release the waves that wait for a meeting, because of an event with a key."""
    shared, simds = state.shared, state.simds
    opens = int(shared.last[meeting]) + int(shared.opening[meeting])
    wave = int(shared.waiting[meeting])
    shared.waiting[meeting] = NO_INDEX
    while wave >= 0:
        slot = int(state.waves.slot[wave])
        simd = int(state.slots[slot, SIMD])
        try_later(state, slot, opens, cause)
        simds.held[simd] -= 1
        simds.due[simd] = min(int(simds.due[simd]), int(state.slots[slot, KEY]))
        wave = int(state.waves.beside[wave])


@part
def arrive(state: LoopState, slot: int, token: int, key: int) -> bool:
    """Arrive at a barrier: try to issue later, or wait until it opens; return whether it opens now."""
    shared, slots = state.shared, state.slots
    now = key >> int(shared.bits[1])
    comes, waits = int(state.tokens.rows[token, SIGNALS]), int(state.tokens.rows[token, MEETING])
    opens = comes >= 0 and comes == waits and come(shared, comes, now)
    slots[slot, RANGE] = OF_ALL
    if waits >= 0 and shared.arrived[waits] < shared.members[waits]:
        state.waves.beside[int(slots[slot, WAVE])] = shared.waiting[waits]
        shared.waiting[waits] = slots[slot, WAVE]
        state.simds.held[int(slots[slot, SIMD])] += 1
        slots[slot, KEY] = never(state)
        return False
    ready = ready_at(state, token, now)
    if waits >= 0:
        ready = max(ready, int(shared.last[waits]) + int(shared.opening[waits]))
    try_later(state, slot, ready, key)
    return opens


@part
def send(state: LoopState, wave: int, token: int, now: int) -> None:
    """Determine when an operation that leaves its unit now returns."""
    rows, waves, served = state.tokens.rows, state.waves, state.shared.served
    queue, kind = int(rows[token, QUEUE]), int(rows[token, CLASS])
    gone = now
    if queue >= 0:
        done = max(int(served[queue]), now * FINE) + int(rows[token, SERVICE])
        served[queue] = done
        gone = -(-done // FINE)
    back = gone + int(rows[token, LATENCY])
    at = wave * CLASSES + kind
    if kind > 0:
        back = max(back, int(waves.latest[at]))
    state.tokens.back[token] = back
    if queue >= 0:
        waves.latest[at] = max(int(waves.latest[at]), back)


@part
def issue(state: LoopState, slot: int, token: int, now: int) -> bool:
    """Issue the token of a slot, which its unit accepts; return whether a meeting that it signals opens."""
    tokens, shared = state.tokens, state.shared
    unit, queue = int(tokens.rows[token, UNIT]), int(tokens.rows[token, QUEUE])
    sent = now
    if unit >= 0:
        free = max(now, int(shared.free[unit + 1])) + int(tokens.rows[token, HOLD])
        shared.free[unit + 1] = free
        shared.accepts[unit + 1] = key_of(state, free - int(shared.depth[unit + 1]))
        sent = free if queue >= 0 else now
    if len(tokens.issue):
        tokens.issue[token] = now
    if queue >= 0 or tokens.rows[token, LATENCY]:
        send(state, int(state.slots[slot, WAVE]), token, sent)
    comes = int(tokens.rows[token, SIGNALS])
    return comes >= 0 and comes != int(tokens.rows[token, MEETING]) and come(shared, comes, now)


@part
def go_on(state: LoopState, slot: int, token: int, key: int) -> int:
    """Go to what follows the issue of a token; return its key."""
    slots, waves, now = state.slots, state.waves, key >> int(state.shared.bits[1])
    at = int(slots[slot, AT]) + 1
    slots[slot, AT] = at
    following = token
    if at < slots[slot, LAST]:
        following = next_token(state, slot)
        now = come_to(state, slot, following, now + int(state.tokens.rows[token, PACE]))
    else:
        wave = int(slots[slot, WAVE])
        now += int(waves.tail[wave])
        for kind in range(CLASSES):
            now = max(now, int(waves.latest[wave * CLASSES + kind]))
        slots[slot, RANGE] = OF_SIMD
        slots[slot, TAKES] = 0
    put(state, slot, (now, int(state.tokens.rows[following, RANK]), key))
    return due(state, slot)


@part
def finish(state: LoopState, slot: int, key: int) -> None:
    """End the wave of a slot, and begin the next one there."""
    waves, slots = state.waves, state.slots
    wave, now = int(slots[slot, WAVE]), key >> int(state.shared.bits[1])
    waves.end[wave] = now
    pool = int(waves.pool[wave])
    after = int(waves.next[pool])
    slots[slot, KEY] = never(state)
    slots[slot, TAKES] = 0
    if after >= 0:
        waves.next[pool] = waves.after[after]
        waves.before[after] = wave
        waves.begin[after] = now + int(waves.handover[after])
        set_out(state, after, slot, key)


@part
def run(state: LoopState, key: int, near: int, far: int) -> bool:
    """Play the wave whose event has a key until another one is due; return whether a barrier opened.

    `near` and `far` are keys of the next events of other waves, with which those that share something with
    its SIMD or with all waves have to keep order.
    """
    slots, rows = state.slots, state.tokens.rows
    slot = key & (1 << int(state.shared.bits[0])) - 1
    while True:
        if slots[slot, AT] >= slots[slot, LAST]:
            finish(state, slot, key)
            return False
        token = next_token(state, slot)
        arrives = slots[slot, RANGE] == ARRIVES
        if arrives:
            opens = arrive(state, slot, token, key)
        else:
            opens = issue(state, slot, token, key >> int(state.shared.bits[1]))
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
    for one in range(len(state.simds.due)):
        key = int(state.simds.due[one])
        simd = one if key < first else simd
        others = min(others, max(first, key))
        first = min(first, key)
    return simd, others


@part
def next_of(state: LoopState, simd: int) -> tuple[int, int]:
    """The keys of the next two events of different waves of a SIMD."""
    first, second = never(state), never(state)
    for slot in range(int(state.simds.first[simd]), int(state.simds.first[simd + 1])):
        key = due(state, slot)
        second = min(second, max(first, key))
        first = min(first, key)
    return first, second


@kernel
def loop(state: LoopState) -> None:
    """Fill in when tokens issue and when waves begin and end; waves that follow none have a given begin.

    Every index comes from a recording whose columns agree.
    """
    simds, slots = state.simds, state.slots
    for wave in range(len(state.waves.begin)):
        if state.waves.begin[wave] < FAR:
            slot = int(state.waves.slot[wave])
            set_out(state, wave, slot, -FAR)
            simd = int(slots[slot, SIMD])
            simds.due[simd] = min(int(simds.due[simd]), int(slots[slot, KEY]))
    end = never(state)
    while len(simds.due):
        simd, others = next_simd(state)
        if simds.due[simd] >= end:
            break
        opens = False
        while not opens:
            key, beside = next_of(state, simd)
            simds.due[simd] = key
            is_held = simds.held[simd] > 0
            shares = int(slots[key & (1 << int(state.shared.bits[0])) - 1, RANGE]) if key < end else OWN
            if key >= end or (key > others and (is_held or shares >= OF_ALL)):
                break
            far = min(beside, others)
            opens = run(state, key, far if is_held else beside, far)
        if opens:  # waves of this SIMD may be among those released
            simds.due[simd] = -FAR
