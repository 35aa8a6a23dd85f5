"""Play a recording: one loop over all waves of a compute unit.

Every resident wave has one next event: it arrives at a barrier, its token tries to take a unit, or it ends.
Events that share something happen in order of time; events at the same time keep the order of the recording.
What an event shares decides how far the loop may go on without looking at other waves:

    OWN      a token without a unit depends on its own wave alone
    OF_SIMD  arithmetic, and the end of a wave, whose slot the next one takes, depend on waves of the SIMD
    OF_ALL   memory and barriers depend on all waves

So the loop stays with a wave, and then with a SIMD, for as long as that is the next in its range.  While
a wave waits at a barrier, which any other wave may open, events of its SIMD are in order with those of all.

All of the loop's state is in three arrays, because each array that a function takes costs time to compile.
"""

from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import NamedTuple, Self

import numpy as np
from numpy import ndarray

from rcv_py.analysis.whatif.queues import CLASSES, FAR, FINE
from rcv_py.analysis.whatif.recording import NARROW, NO_INDEX, PLACES, Recording
from rcv_py.base.machine.compiled import kernel, part, prefetch
from rcv_py.base.record import Record
from rcv_py.base.runs import borders, starts_run

OWN, OF_SIMD, OF_ALL, ARRIVES = range(4)  # what the next event of a wave shares; ARRIVES: at a barrier
# Columns of tokens, named as those of a recording.  WORD has what is small, from low bits to high: what its
# next event shares, 1 + its queue, the class of its return, `least`, and 1 + the unit that it takes.
PACE, DELAY, WORD, HOLD, RANK, SERVICE, AWAIT, AWAIT_END = range(8)
COLUMNS = {PACE: "pace", DELAY: "delay", HOLD: "hold", RANK: "rank", SERVICE: "service"}
IN_WORD = ("meeting", "signals", "queue", "in_order", "least", "resource")
APART = ("order", "meeting", "signals", "latency")  # behind these rows, each column in one piece
QUEUE_BIT, CLASS_BIT, LEAST_BIT, UNIT_BIT = 2, 4, 6, 16
# Rows of the table; a row names another by the place in the table where that begins.
# Slots: the key of the next event, see `put`; its rank and slot as in a key; the unit that it takes; the
# wave; the place in `order` of its next token, and the end of these; what the event shares; the SIMD.
KEY, RETRY, TAKES, WAVE, AT, LAST, RANGE, SIMD = range(8)
# Units, the first of which accepts always: when they are free; the key from which on they take tokens; the
# cycles of work that they accept before they refuse; whether waves take their turns there.
FREE, ACCEPTS, DEPTH, IN_TURN = range(4)
# SIMDs: the first slot; the keys of the next events of two slots, or smaller ones; waves that wait at
# barriers.
SEAT, DUE, THEN, HELD = range(4)
# Meetings: arrivals that open it; cycles until it opens; the last arrival, its key, and how many came; the
# wave that last began to wait.
MEMBERS, OPENING, LATELY, CAUSE, ARRIVED, WAITING = range(6)
# Waves, named as in a recording.  FIRST and STOP are the ends of its part of `order`.  BEGIN is FAR until
# the wave before in the slot has ended; AFTER begins after it in its pool of slots; BESIDE arrived before at
# the barrier where it waits.  LATEST and the columns behind it are when all operations of a class returned.
FIRST, STOP, BEGIN, END, LEAD, TAIL, POOL, AFTER, BEFORE, HANDOVER, SEATED, BESIDE, LATEST = range(13)
ROW, WAVE_ROW, ROW_BITS = 8, 16, 3  # columns of a row, of waves and of all others
# Columns of a recording that decide what these rows hold before a play, beside the number of queues.
OF_WAVES = ("first", "begin", "lead", "tail", "handover", "before", "pool", "turn", "simd")
OF_ROWS = (*OF_WAVES, "depth", "in_turn", "members", "opening")
# Tokens that are prefetched, as each wave reads on where no other does: 0.83 of the time in four pairs
AHEAD = 8
EVERY = slice(None)  # tokens
LINE = 64  # bytes of a line of the cache, which holds two tokens if they have 4 bytes a column


class Played(Record):
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
    """All that the loop reads and modifies."""

    tokens: ndarray  # int32 or int64, rows of tokens and behind them the columns APART
    awaited: ndarray  # int64, of the recording
    table: ndarray  # int64, the rows named above
    # where columns begin in `tokens`
    order: int
    meeting: int
    signals: int
    latency: int
    # where rows begin in `table`; slots begin at 0
    units: int
    simds: int
    meetings: int
    waves: int
    queues: int  # one number each, when they are empty, in parts of a cycle
    pools: int  # one number each, the wave that begins when one of the pool ends, NO_INDEX: none
    back: int  # one number a token, when its operation returned
    issue: int  # one number a token, when it issued; NO_INDEX: not asked for
    # how keys of events are made
    slot_bits: int
    moment_bit: int
    latest: int  # later moments do not happen
    never: int  # the first key that is not an event's


class Board:
    """The tokens of a compute unit in rows: all of a token beside each other, as the loop needs them.

    From one play to the next only what differs is written, which for an experiment is little.
    """

    def __init__(self) -> None:
        self._one = Lock()  # a play at a time
        self._shown: Recording | None = None
        self._tokens = self._table = _aligned(0, NARROW.dtype)
        self._seats: _Seats | None = None

    def play(self, recording: Recording, *, waves_only: bool = False) -> Played:
        """Return when each event happens; `waves_only`: when waves begin and end."""
        with self._one:
            self._show(recording)
            return self._played(recording, waves_only)

    def _show(self, recording: Recording) -> None:
        """Write the columns of a recording."""
        shown, tokens = self._shown, len(recording)
        self._shown = None  # until all is written
        if shown is None or len(shown) != tokens:
            shown, self._tokens = None, _aligned((ROW + len(APART)) * tokens, NARROW.dtype)
        for column, name in COLUMNS.items():
            rows = _changed(recording, shown, [name])
            self._write(column, rows, getattr(recording, name)[rows])
        if shown is None or recording.await_first is not shown.await_first:
            self._write(AWAIT, EVERY, recording.await_first[:-1])
            self._write(AWAIT_END, EVERY, recording.await_first[1:])
        rows = _changed(recording, shown, IN_WORD)
        self._write(WORD, rows, _words(recording, rows))
        for column, name in enumerate(APART, ROW):
            if shown is None or getattr(recording, name) is not getattr(shown, name):
                self._write(column, EVERY, getattr(recording, name))
        self._shown = recording

    def _write(self, column: int, rows: slice | np.ndarray, values: np.ndarray) -> None:
        is_narrow = np.can_cast(values.dtype, NARROW.dtype)
        if not (is_narrow or NARROW.min <= values.min(initial=0) <= values.max(initial=0) <= NARROW.max):
            wide = _aligned(len(self._tokens), np.dtype(np.int64))
            wide[:] = self._tokens
            self._tokens = wide
        n = len(self._tokens) // (ROW + len(APART))
        place = slice(column * n, (column + 1) * n) if column >= ROW else slice(column, ROW * n, ROW)
        self._tokens[place][rows] = values

    def _played(self, recording: Recording, waves_only: bool) -> Played:
        if self._seats is None or not self._seats.fit(recording):
            self._seats = _Seats.of(recording)
        seats, n = self._seats, len(recording)
        back = len(seats.rows)
        count = back + n + (0 if waves_only else n)
        if len(self._table) != count:
            self._table = _aligned(count, np.dtype(np.int64))
        table = self._table
        table[:back], table[back:] = seats.rows, FAR
        moment_bit = seats.slot_bits + max(16, int(recording.rank.max(initial=0)).bit_length())
        latest = 1 << 61 >> moment_bit
        columns = {name: column * n for column, name in enumerate(APART, ROW)}
        state = LoopState(
            tokens=self._tokens,
            awaited=recording.awaited,
            table=table,
            **{name: begin for name, begin in (seats.at | columns).items() if name in LoopState._fields},
            back=back,
            issue=NO_INDEX if waves_only else back + n,
            slot_bits=seats.slot_bits,
            moment_bit=moment_bit,
            latest=latest,
            never=latest << moment_bit,
        )
        loop(state)
        waves = seats.at["waves"]
        own = table[waves : waves + WAVE_ROW * len(recording.begin)].reshape(-1, WAVE_ROW)
        begin, end, before = (own[:, column].copy() for column in (BEGIN, END, BEFORE))
        before[before >= 0] = (before[before >= 0] - waves) // WAVE_ROW
        return Played(table[back + n :].copy(), begin, end, before)


class _Seats(NamedTuple):
    """The rows of the table before a play, which many recordings of a compute unit share."""

    columns: tuple[ndarray, ...]  # that the rows are made of, of the recording
    queues: int
    rows: ndarray  # int64
    at: dict[str, int]  # where each kind of rows begins
    slot_bits: int

    @classmethod
    def of(cls, recording: Recording) -> Self:
        """Return the rows for a recording."""
        heads = np.flatnonzero(recording.before < 0)
        simd = np.unique(recording.simd, return_inverse=True)[1]
        heads = heads[np.argsort(simd[heads], kind="stable")]
        pool, following, after = _pools(recording)
        simds, queues = int(simd.max(initial=-1)) + 1, _queues(recording)
        counts = {
            "slots": ROW * len(heads),
            "units": ROW * (len(recording.depth) + 1),
            "simds": ROW * (simds + 1),
            "meetings": ROW * len(recording.members),
            "waves": WAVE_ROW * len(recording.begin),
            "queues": queues,
            "pools": len(following),
        }
        ends = np.cumsum([*counts.values()]).tolist()
        at = {name: end - counts[name] for name, end in zip(counts, ends, strict=True)}
        table = np.zeros(ends[-1], dtype=np.int64)

        def rows(name: str, width: int = ROW) -> np.ndarray:
            return table[at[name] : at[name] + counts[name]].reshape(-1, width)

        def place(wave: np.ndarray) -> np.ndarray:
            return np.where(wave < 0, NO_INDEX, at["waves"] + WAVE_ROW * wave)

        slots, units, met, own = rows("slots"), rows("units"), rows("meetings"), rows("waves", WAVE_ROW)
        slots[:, WAVE], slots[:, SIMD] = place(heads), at["simds"] + ROW * simd[heads]
        slots[:, TAKES], units[:, [FREE, ACCEPTS]] = at["units"], -FAR
        units[1:, DEPTH], units[1:, IN_TURN] = recording.depth, recording.in_turn
        rows("simds")[:, SEAT] = ROW * borders(np.bincount(simd[heads], minlength=simds))
        met[:, MEMBERS], met[:, OPENING] = recording.members, recording.opening
        met[:, LATELY], met[:, WAITING] = -FAR, NO_INDEX
        own[:, FIRST], own[:, STOP] = recording.first[:-1], recording.first[1:]
        own[:, [BEGIN, END]], own[:, [BEFORE, BESIDE]] = FAR, NO_INDEX
        own[heads, BEGIN] = recording.begin[heads]
        own[:, LEAD], own[:, TAIL], own[:, HANDOVER] = recording.lead, recording.tail, recording.handover
        own[:, POOL], own[:, AFTER] = at["pools"] + pool, place(after)
        own[:, LATEST : LATEST + CLASSES] = -FAR
        rows("queues", 1)[:, 0], rows("pools", 1)[:, 0] = -FAR, place(following)
        columns = tuple(getattr(recording, name) for name in OF_ROWS)
        return cls(columns, queues, table, at, len(heads).bit_length())

    def fit(self, recording: Recording) -> bool:
        """Whether the rows are those of a recording."""
        is_known = all(
            getattr(recording, name) is one for name, one in zip(OF_ROWS, self.columns, strict=True)
        )
        return is_known and self.queues == _queues(recording)


def _queues(recording: Recording) -> int:
    return int(recording.queue.max(initial=0)) + 1


def _changed(recording: Recording, shown: Recording | None, names: Sequence[str]) -> slice | np.ndarray:
    """Return the tokens of which a number in these columns is not the one that is shown."""
    if shown is None:
        return EVERY
    pairs = [(getattr(recording, name), getattr(shown, name)) for name in names]
    differs = [new != old for new, old in pairs if new is not old]
    return np.flatnonzero(np.logical_or.reduce(differs)) if differs else np.zeros(0, dtype=np.int64)


def _words(recording: Recording, rows: slice | np.ndarray) -> np.ndarray:
    """The column WORD of some tokens, int64."""
    meeting, signals, queue, kind, least, resource = (getattr(recording, name)[rows] for name in IN_WORD)
    unit, queue = resource.astype(np.int64) + 1, queue + 1
    is_alone = (unit == 0) & (queue == 0)
    shares = np.where(unit > PLACES, OF_SIMD, np.where(is_alone, OWN, OF_ALL))
    shares[(meeting >= 0) | (signals >= 0)] = ARRIVES
    small = shares | queue << QUEUE_BIT | kind << CLASS_BIT | least << LEAST_BIT
    return small | unit << UNIT_BIT


def _aligned(count: int, kind: np.dtype[np.signedinteger]) -> np.ndarray:
    """Return numbers that begin with a line of the cache."""
    found = np.zeros(count + LINE, dtype=kind)
    skipped = -found.ctypes.data % LINE // kind.itemsize
    return found[skipped : skipped + count]


def play(recording: Recording) -> Played:
    """Return when each event happens."""
    return Board().play(recording)


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
def put(state: LoopState, slot: int, moment: int, cause: int) -> None:
    """Set the next event of a slot, at a moment, because of an event with a key.

    Keys order events; from high bits to low they have the moment, the rank, and the slot.  An event follows
    its cause, even at the same moment with a lower rank.  If a unit refuses it, it tries again with its rank.
    """
    table, bits = state.table, state.slot_bits
    key = max(-state.latest, min(moment, state.latest)) << state.moment_bit | table[slot + RETRY]
    table[slot + KEY] = max(key, cause >> bits << bits | slot >> ROW_BITS)


@part
def due(state: LoopState, slot: int) -> int:
    """The key of the next event of a slot, which waits until its unit accepts it.

    If waves take their turns there, those that wait come before those that arrive, the longest first.
    """
    table, bit, bits = state.table, state.moment_bit, state.slot_bits
    key: int = table[slot + KEY]
    accepts: int = table[table[slot + TAKES] + ACCEPTS]
    if not table[table[slot + TAKES] + IN_TURN]:
        return max(key, accepts + table[slot + RETRY])
    came = key >> bit << bit
    longest = (1 << bit - bits) - 1
    waited = min(longest, max(0, accepts - came >> bit))
    return max(key, max(accepts, came) + (longest - waited << bits | slot >> ROW_BITS))


@part
def ready_at(state: LoopState, token: int, now: int) -> int:
    """When the dependencies of a token that arrives now are met, other waves aside.

    All of these times are known: the operations belong to its own wave, which issues in order.
    """
    tokens, row = state.tokens, token * ROW
    ready: int = now + (tokens[row + WORD] >> LEAST_BIT & (1 << UNIT_BIT - LEAST_BIT) - 1)
    for at in range(tokens[row + AWAIT], tokens[row + AWAIT_END]):
        back: int = state.table[state.back + state.awaited[at]]
        if back < FAR:
            ready = max(ready, back)
    return ready


@part
def come_to(state: LoopState, slot: int, token: int, now: int) -> int:
    """Come to the next token of a slot; return when it tries to issue, or arrives at its barrier."""
    table, row = state.table, token * ROW
    word: int = state.tokens[row + WORD]
    table[slot + RETRY] = state.tokens[row + RANK] << state.slot_bits | slot >> ROW_BITS
    table[slot + RANGE] = word & 3
    table[slot + TAKES] = state.units
    if word & 3 == ARRIVES:
        return now
    table[slot + TAKES] = state.units + (word >> UNIT_BIT) * ROW
    return ready_at(state, token, now) + int(state.tokens[row + DELAY])


@part
def set_out(state: LoopState, slot: int, wave: int, cause: int) -> None:
    """Begin a wave in a slot because of an event with a key: go to its first token, or to its end."""
    table = state.table
    table[wave + SEATED] = slot
    table[slot + WAVE] = wave
    table[slot + AT] = table[wave + FIRST]
    table[slot + LAST] = table[wave + STOP]
    table[slot + RETRY] = slot >> ROW_BITS
    now: int = table[wave + BEGIN] + table[wave + LEAD]
    if table[wave + FIRST] < table[wave + STOP]:
        now = come_to(state, slot, state.tokens[state.order + table[wave + FIRST]], now)
    put(state, slot, now, cause)


@part
def come(state: LoopState, number: int, key: int) -> int:
    """Arrive at a meeting with an event; return where its row begins if all members have come, else 0."""
    table, meeting = state.table, state.meetings + number * ROW
    table[meeting + ARRIVED] += 1
    table[meeting + LATELY] = max(table[meeting + LATELY], key >> state.moment_bit)
    table[meeting + CAUSE] = key
    return meeting if table[meeting + ARRIVED] >= table[meeting + MEMBERS] else 0


@part
def try_later(state: LoopState, slot: int, ready: int, cause: int) -> None:
    """Let the barrier token of a slot try to issue when it is ready."""
    row = state.tokens[state.order + state.table[slot + AT]] * ROW
    state.table[slot + TAKES] = state.units + (state.tokens[row + WORD] >> UNIT_BIT) * ROW
    put(state, slot, ready + state.tokens[row + DELAY], cause)


@part
def open_meeting(state: LoopState, meeting: int) -> None:
    """Release the waves that wait for a meeting, because of its last arrival."""
    table = state.table
    opens = table[meeting + LATELY] + table[meeting + OPENING]
    wave = table[meeting + WAITING]
    table[meeting + WAITING] = NO_INDEX
    while wave >= 0:
        slot = table[wave + SEATED]
        try_later(state, slot, opens, table[meeting + CAUSE])
        simd, key = table[slot + SIMD], table[slot + KEY]
        table[simd + HELD] -= 1
        table[simd + THEN] = min(table[simd + THEN], max(table[simd + DUE], key))
        table[simd + DUE] = min(table[simd + DUE], key)
        wave = table[wave + BESIDE]


@part
def arrive(state: LoopState, slot: int, token: int, key: int) -> int:
    """Arrive at a barrier: try to issue later, or wait until it opens; return what opens, as `come` does."""
    table, tokens, opens = state.table, state.tokens, 0
    comes, waits = tokens[state.signals + token], tokens[state.meeting + token]
    if comes >= 0 and comes == waits:
        opens = come(state, comes, key)
    table[slot + RANGE] = OF_ALL
    ready = ready_at(state, token, key >> state.moment_bit)
    if waits >= 0:
        meeting = state.meetings + waits * ROW
        if table[meeting + ARRIVED] < table[meeting + MEMBERS]:
            wave = table[slot + WAVE]
            table[wave + BESIDE] = table[meeting + WAITING]
            table[meeting + WAITING] = wave
            table[table[slot + SIMD] + HELD] += 1
            table[slot + KEY] = state.never
            return 0
        ready = max(ready, table[meeting + LATELY] + table[meeting + OPENING])
    try_later(state, slot, ready, key)
    return opens


@part
def send(state: LoopState, wave: int, token: int, now: int) -> None:
    """Determine when an operation that leaves its unit now returns."""
    table, word = state.table, state.tokens[token * ROW + WORD]
    queue, latest, gone = (word >> QUEUE_BIT & 3) - 1, wave + LATEST + (word >> CLASS_BIT & 3), now
    if queue >= 0:
        done = max(table[state.queues + queue], now * FINE) + state.tokens[token * ROW + SERVICE]
        table[state.queues + queue] = done
        gone = -(-done // FINE)
    back = gone + state.tokens[state.latency + token]
    if latest > wave + LATEST:
        back = max(back, table[latest])
    table[state.back + token] = back
    if queue >= 0:
        table[latest] = max(table[latest], back)


@part
def issue(state: LoopState, wave: int, token: int, key: int) -> int:
    """Issue the token of a wave, which its unit accepts; return which meeting opens, as `come` does."""
    table, tokens, now = state.table, state.tokens, key >> state.moment_bit
    word, hold = tokens[token * ROW + WORD], tokens[token * ROW + HOLD]
    is_queued, sent = word >> QUEUE_BIT & 3, now
    if word >> UNIT_BIT:
        unit = state.units + (word >> UNIT_BIT) * ROW
        free = max(now, table[unit + FREE]) + hold
        table[unit + FREE] = free
        accepts = free - table[unit + DEPTH]
        table[unit + ACCEPTS] = max(-state.latest, min(accepts, state.latest)) << state.moment_bit
        sent = free if is_queued else now
    if state.issue >= 0:
        table[state.issue + token] = now
    if is_queued or tokens[state.latency + token]:
        send(state, wave, token, sent)
    if word & 3 == ARRIVES:
        comes = tokens[state.signals + token]
        if comes >= 0 and comes != tokens[state.meeting + token]:
            return come(state, comes, key)
    return 0


@part
def ends(state: LoopState, slot: int, wave: int, key: int) -> None:
    """Let the wave of a slot end whose last token issues now."""
    table = state.table
    now = (key >> state.moment_bit) + table[wave + TAIL]
    for kind in range(CLASSES):
        now = max(now, table[wave + LATEST + kind])
    table[slot + RANGE] = OF_SIMD
    table[slot + TAKES] = state.units
    put(state, slot, now, key)


@part
def finish(state: LoopState, slot: int, key: int) -> None:
    """End the wave of a slot, and begin the next one there."""
    table, now = state.table, key >> state.moment_bit
    wave = table[slot + WAVE]
    table[wave + END] = now
    after = table[table[wave + POOL]]
    table[slot + KEY] = state.never
    table[slot + TAKES] = state.units
    if after >= 0:
        table[table[wave + POOL]] = table[after + AFTER]
        table[after + BEFORE] = wave
        table[after + BEGIN] = now + table[after + HANDOVER]
        set_out(state, slot, after, key)


@part
def run(state: LoopState, key: int, near: int, far: int) -> int:
    """Play the wave whose event has a key until another one is due; return which meeting opens, or 0.

    `near` and `far` are keys of the next events of other waves, with which those that share something with
    its SIMD or with all waves have to keep order.
    """
    table, tokens = state.table, state.tokens
    slot = (key & (1 << state.slot_bits) - 1) * ROW
    at, wave = table[slot + AT], table[slot + WAVE]
    if at >= table[slot + LAST]:
        finish(state, slot, key)
        return 0
    token = tokens[state.order + at]
    if table[slot + RANGE] == ARRIVES:
        return arrive(state, slot, token, key)
    while True:
        opens = issue(state, wave, token, key)
        at += 1
        if at >= table[slot + LAST]:
            ends(state, slot, wave, key)
            break
        now = (key >> state.moment_bit) + tokens[token * ROW + PACE]
        prefetch(tokens, (token + AHEAD) * ROW)
        prefetch(tokens, state.order + at + AHEAD)
        prefetch(tokens, state.latency + token + AHEAD)
        prefetch(table, state.back + token + AHEAD)
        token = tokens[state.order + at]
        put(state, slot, come_to(state, slot, token, now), key)
        key, shares = due(state, slot), table[slot + RANGE]
        is_next = shares == OWN or key < (far if shares >= OF_ALL else near)
        if opens or not is_next or shares == ARRIVES or key >= state.never:
            break
    table[slot + AT] = at
    return opens


@part
def next_simd(state: LoopState) -> tuple[int, int]:
    """The SIMD with the earliest event, and the key of the next event of another one."""
    simd, first, others = state.simds, state.never, state.never
    for one in range(state.simds, state.meetings - ROW, ROW):
        key = state.table[one + DUE]
        simd = one if key < first else simd
        others = min(others, max(first, key))
        first = min(first, key)
    return simd, others


@part
def next_of(state: LoopState, simd: int) -> tuple[int, int]:
    """The keys of the next two events of different waves of a SIMD."""
    first = second = state.never
    for slot in range(state.table[simd + SEAT], state.table[simd + ROW + SEAT], ROW):
        key = due(state, slot)
        second = min(second, max(first, key))
        first = min(first, key)
    return first, second


@partial(kernel, begins_plain=True)
def loop(state: LoopState) -> None:
    """Fill in when tokens issue and when waves begin and end; waves that follow none have a given begin.

    Every index comes from a recording whose columns agree.
    """
    table, places = state.table, (1 << state.slot_bits) - 1
    for slot in range(0, state.units, ROW):
        set_out(state, slot, table[slot + WAVE], -state.never)
    for simd in range(state.simds, state.meetings - ROW, ROW):
        table[simd + DUE], table[simd + THEN] = next_of(state, simd)
    while state.units:
        simd, others = next_simd(state)
        key, beside = table[simd + DUE], table[simd + THEN]
        if key >= state.never:
            break
        if due(state, (key & places) * ROW) != key:  # its unit has accepted another token since
            key, beside = next_of(state, simd)
        meeting = 0
        while key < state.never and not meeting:
            is_held = table[simd + HELD] > 0
            if key > others and (is_held or table[(key & places) * ROW + RANGE] >= OF_ALL):
                break
            far = min(beside, others)
            meeting = run(state, key, far if is_held else beside, far)
            if meeting:
                open_meeting(state, meeting)
            key, beside = next_of(state, simd)
        table[simd + DUE] = key
        table[simd + THEN] = beside
