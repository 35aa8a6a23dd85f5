"""A second opinion on the replay: one loop over all waves of a compute unit, strictly in order of time.

Every resident wave has one next event: its token arrives, or tries to take its unit.  The earliest event
comes first; events at the same time keep the order of the recording.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rcv_py.analysis.whatif.queues import CLASSES, FAR, FINE
from rcv_py.analysis.whatif.recording import NO_INDEX, Recording
from rcv_py.base.machine.compiled import kernel, part
from rcv_py.base.runs import starts_run

ARRIVES, TRIES = 0, 1  # the next event of a wave
SLOT_BITS = 16  # of a rank, below the recorded one: on a tie the slot decides
LEAST_BITS = 16  # of a recorded rank


@dataclass(frozen=True, eq=False)
class Played:
    """When each event happened, in int64 cycles since the base of the recording."""

    issue: np.ndarray  # [tokens]
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


class RecordedTokens(NamedTuple):
    """Columns of tokens of a `Recording`, int64."""

    order: ndarray
    pace: ndarray
    least: ndarray
    delay: ndarray
    resource: ndarray
    hold: ndarray
    rank: ndarray
    queue: ndarray
    service: ndarray
    latency: ndarray
    in_order: ndarray
    await_first: ndarray
    awaited: ndarray
    meeting: ndarray
    signals: ndarray
    in_turn: ndarray  # whether its unit takes the wave first that has waited for longest
    issue: ndarray  # when each token issued; modified
    back: ndarray  # when its operation returned; modified


class RecordedWaves(NamedTuple):
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
    done: ndarray  # tokens that have issued; modified
    state: ndarray  # ARRIVES or TRIES; modified
    came: ndarray  # when it first tried to issue its token; modified
    slot: ndarray  # its number among those that waves begin in; modified
    beside: ndarray  # the wave that arrived before at the same barrier and waits there; modified
    latest: ndarray  # [waves * CLASSES], when all operations of a class have returned; modified


class Shared(NamedTuple):
    """State that waves share, int64."""

    free: ndarray  # when units are free; modified
    depth: ndarray  # cycles of work that units accept before they refuse
    served: ndarray  # when queues are empty, in parts of a cycle; modified
    members: ndarray  # of meetings
    opening: ndarray  # of meetings
    last: ndarray  # last arrival at a meeting; modified
    arrived: ndarray  # number of arrivals; modified
    waiting: ndarray  # the wave that last began to wait for it; modified


class Events(NamedTuple):
    """The next event of each slot, int64 [slots]; modified."""

    wave: ndarray  # NO_INDEX: nothing comes next
    moment: ndarray
    rank: ndarray
    latest: ndarray  # [1], the latest rank of all


def play(recording: Recording) -> Played:
    """Return when each event happens."""
    tokens, waves, meetings = len(recording.latency), len(recording.begin), len(recording.members)
    issue = np.full(tokens, FAR, dtype=np.int64)
    begin, end = np.full((2, waves), FAR, dtype=np.int64)
    before = np.full(waves, NO_INDEX, dtype=np.int64)
    turn = np.zeros(waves, dtype=np.int64)
    some = np.flatnonzero(np.diff(recording.first))
    turn[some] = recording.rank[recording.order[recording.first[some]]].astype(np.int64) << SLOT_BITS
    begin[recording.before < 0] = recording.begin[recording.before < 0]
    none, wide = np.zeros(waves, dtype=np.int64), np.int64
    unit = recording.resource
    made = {
        "in_turn": np.append(recording.in_turn, False)[unit].astype(np.int64),
        "issue": issue,
        "back": issue.copy(),
    }
    columns = {
        name: getattr(recording, name).astype(wide, copy=False)
        for name in RecordedTokens._fields
        if name not in made
    }
    columns["rank"] = columns["rank"] << SLOT_BITS
    heads = np.flatnonzero(recording.before < 0)
    slot = none.copy()
    slot[heads[np.argsort(recording.simd[heads], kind="stable")]] = np.arange(len(heads))
    latest = (1 << max(LEAST_BITS, int(recording.rank.max(initial=0)).bit_length())) - 1
    loop(
        RecordedTokens(**columns, **made),
        RecordedWaves(
            first=recording.first,
            begin=begin,
            end=end,
            lead=recording.lead,
            tail=recording.tail,
            **_pools(recording),
            before=before,
            handover=recording.handover,
            turn=turn,
            done=none.copy(),
            state=none.copy(),
            came=none.copy(),
            slot=slot,
            beside=none - 1,
            latest=np.full(waves * CLASSES, -FAR, dtype=wide),
        ),
        Shared(
            free=np.full(len(recording.depth), -FAR, dtype=wide),
            depth=recording.depth,
            served=np.full(int(recording.queue.max(initial=0)) + 1, -FAR, dtype=wide),
            members=recording.members.astype(wide, copy=False),
            opening=recording.opening,
            last=np.full(meetings, -FAR, dtype=wide),
            arrived=np.zeros(meetings, dtype=wide),
            waiting=np.full(meetings, NO_INDEX, dtype=wide),
        ),
        Events(*np.full((3, len(heads)), NO_INDEX, dtype=wide), np.array([latest])),
    )
    return Played(issue, begin, end, before)


def _pools(recording: Recording) -> dict[str, np.ndarray]:
    """The pools of slots, as in `RecordedWaves`; a slot alone is a pool for each pair of waves."""
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
def earliest(events: Events) -> int:
    """The slot whose event comes first, NO_INDEX if nothing comes."""
    first = NO_INDEX
    for slot in range(len(events.wave)):
        here = (events.moment[slot], events.rank[slot])
        if events.wave[slot] >= 0 and (first < 0 or here < (events.moment[first], events.rank[first])):
            first = slot
    return first


@part
def push(events: Events, waves: RecordedWaves, wave: int, moment: int, rank: int) -> None:
    """Make this the next event of a wave."""
    slot = int(waves.slot[wave])
    events.wave[slot], events.moment[slot], events.rank[slot] = wave, moment, rank


@part
def try_at(events: Events, tokens: RecordedTokens, waves: RecordedWaves, wave: int, moment: int) -> None:
    """Schedule an attempt of a wave to issue its token; where waves take turns, the first that came."""
    token = int(tokens.order[int(waves.first[wave]) + int(waves.done[wave])])
    rank = int(tokens.rank[token])
    if tokens.in_turn[token]:
        waited = min(int(events.latest[0]), moment - int(waves.came[wave]))
        rank = (int(events.latest[0]) - waited << SLOT_BITS) + int(waves.slot[wave])
    push(events, waves, wave, moment, rank)


@part
def come_at(events: Events, tokens: RecordedTokens, waves: RecordedWaves, wave: int, moment: int) -> None:
    """Schedule the first attempt of a wave to issue its token."""
    waves.came[wave] = moment
    try_at(events, tokens, waves, wave, moment)


@part
def open_meeting(
    events: Events, tokens: RecordedTokens, waves: RecordedWaves, shared: Shared, meeting: int
) -> int:
    """Release the waves that wait for a meeting; return when it opened."""
    opens = int(shared.last[meeting]) + int(shared.opening[meeting])
    wave = int(shared.waiting[meeting])
    shared.waiting[meeting] = -1
    while wave >= 0:
        own = int(tokens.order[int(waves.first[wave]) + int(waves.done[wave])])
        come_at(events, tokens, waves, wave, opens + int(tokens.delay[own]))
        wave = int(waves.beside[wave])
    return opens


@part
def come(shared: Shared, meeting: int, now: int) -> bool:
    """Arrive at a meeting; return whether all members have arrived."""
    shared.arrived[meeting] += 1
    shared.last[meeting] = max(int(shared.last[meeting]), now)
    return bool(shared.arrived[meeting] >= shared.members[meeting])


@part
def wait_at(waves: RecordedWaves, shared: Shared, meeting: int, wave: int) -> None:
    """Make a wave wait until a meeting opens."""
    waves.beside[wave] = shared.waiting[meeting]
    shared.waiting[meeting] = wave


@part
def ready_at(tokens: RecordedTokens, token: int, now: int) -> int:
    """When the dependencies of a token that arrives now are met, other waves aside.

    All of these times are known: the operations belong to its own wave, which issues in order.
    """
    ready = now + int(tokens.least[token])
    for at in range(int(tokens.await_first[token]), int(tokens.await_first[token + 1])):
        operation = int(tokens.awaited[at])
        if tokens.back[operation] < FAR:
            ready = max(ready, int(tokens.back[operation]))
    return ready


@part
def come_to(events: Events, tokens: RecordedTokens, waves: RecordedWaves, wave: int, now: int) -> None:
    """Arrive at the next token; without a barrier, schedule its attempt to issue at once."""
    token = int(tokens.order[int(waves.first[wave]) + int(waves.done[wave])])
    if tokens.meeting[token] >= 0 or tokens.signals[token] >= 0:
        waves.state[wave] = ARRIVES
        push(events, waves, wave, now, int(tokens.rank[token]))
        return
    waves.state[wave] = TRIES
    come_at(events, tokens, waves, wave, ready_at(tokens, token, now) + int(tokens.delay[token]))


@part
def arrive(
    events: Events, tokens: RecordedTokens, waves: RecordedWaves, shared: Shared, place: tuple[int, int, int]
) -> None:
    """Arrive at a barrier token: schedule its attempt to issue, or wait until its meeting opens."""
    wave, token, now = place
    ready = ready_at(tokens, token, now)
    waves.state[wave] = TRIES
    comes, waits = int(tokens.signals[token]), int(tokens.meeting[token])
    if comes >= 0 and comes == waits:
        if not come(shared, comes, now):
            wait_at(waves, shared, comes, wave)
            return
        ready = max(ready, open_meeting(events, tokens, waves, shared, comes))
    elif waits >= 0:
        if shared.arrived[waits] < shared.members[waits]:
            wait_at(waves, shared, waits, wave)
            return
        ready = max(ready, int(shared.last[waits]) + int(shared.opening[waits]))
    come_at(events, tokens, waves, wave, ready + int(tokens.delay[token]))


@part
def go_on(
    events: Events, tokens: RecordedTokens, waves: RecordedWaves, shared: Shared, place: tuple[int, int, int]
) -> None:
    """After the issue of a token, signal its meeting and go to the next token or the end of the wave."""
    wave, token, now = place
    waves.done[wave] += 1
    comes = int(tokens.signals[token])
    if comes >= 0 and comes != int(tokens.meeting[token]) and come(shared, comes, now):
        open_meeting(events, tokens, waves, shared, comes)
    at = int(waves.first[wave]) + int(waves.done[wave])
    if at < int(waves.first[wave + 1]):
        come_to(events, tokens, waves, wave, now + int(tokens.pace[token]))
    else:
        ends = now + int(waves.tail[wave])
        for kind in range(CLASSES):
            ends = max(ends, int(waves.latest[wave * CLASSES + kind]))
        push(events, waves, wave, ends, int(tokens.rank[token]))


@part
def send(tokens: RecordedTokens, waves: RecordedWaves, shared: Shared, place: tuple[int, int, int]) -> None:
    """Determine when an operation that leaves its unit at a given time returns."""
    wave, token, now = place
    queue, kind = int(tokens.queue[token]), int(tokens.in_order[token])
    gone = now
    if queue >= 0:
        done = max(int(shared.served[queue]), now * FINE) + int(tokens.service[token])
        shared.served[queue] = done
        gone = -(-done // FINE)
    back = gone + int(tokens.latency[token])
    at = wave * CLASSES + kind
    if kind > 0:
        back = max(back, int(waves.latest[at]))
    tokens.back[token] = back
    if queue >= 0:
        waves.latest[at] = max(int(waves.latest[at]), back)


@part
def set_out(events: Events, tokens: RecordedTokens, waves: RecordedWaves, wave: int) -> None:
    """Begin a wave: go to its first token, or to its end."""
    now = int(waves.begin[wave]) + int(waves.lead[wave])
    if waves.first[wave] < waves.first[wave + 1]:
        come_to(events, tokens, waves, wave, now)
    else:
        push(events, waves, wave, now, int(waves.turn[wave]))


@part
def finish(events: Events, tokens: RecordedTokens, waves: RecordedWaves, wave: int, now: int) -> None:
    """End a wave, and begin the next one in its slot."""
    waves.end[wave] = now
    pool = int(waves.pool[wave])
    after = int(waves.next[pool])
    if after >= 0:
        waves.next[pool] = waves.after[after]
        waves.slot[after] = waves.slot[wave]
        waves.before[after] = wave
        waves.begin[after] = now + int(waves.handover[after])
        set_out(events, tokens, waves, after)


@part
def take(tokens: RecordedTokens, shared: Shared, token: int, now: int) -> int:
    """Return when the token's unit is done with it, or FAR if the unit refuses the token now."""
    unit = int(tokens.resource[token])
    if unit < 0:
        return now
    if int(shared.free[unit]) - int(shared.depth[unit]) > now:
        return FAR
    shared.free[unit] = max(now, int(shared.free[unit])) + int(tokens.hold[token])
    return int(shared.free[unit]) if tokens.queue[token] >= 0 else now


@kernel
def loop(tokens: RecordedTokens, waves: RecordedWaves, shared: Shared, events: Events) -> None:
    """Fill in when tokens issue and when waves begin and end; waves that follow none have a given begin.

    Every index comes from a recording whose columns agree.
    """
    for wave in range(len(waves.begin)):
        if waves.begin[wave] < FAR:
            set_out(events, tokens, waves, wave)
    while True:
        slot = earliest(events)
        if slot < 0:
            break
        wave, now = int(events.wave[slot]), int(events.moment[slot])
        events.wave[slot] = NO_INDEX
        at = int(waves.first[wave]) + int(waves.done[wave])
        if at >= int(waves.first[wave + 1]):  # all tokens are done, or the wave has none
            finish(events, tokens, waves, wave, now)
            continue
        token = int(tokens.order[at])
        if waves.state[wave] == ARRIVES:
            arrive(events, tokens, waves, shared, (wave, token, now))
            continue
        sent = take(tokens, shared, token, now)
        if sent == FAR:
            unit = int(tokens.resource[token])
            accepts = int(shared.free[unit]) - int(shared.depth[unit])
            try_at(events, tokens, waves, wave, accepts)
            continue
        tokens.issue[token] = now
        send(tokens, waves, shared, (wave, token, sent))
        go_on(events, tokens, waves, shared, (wave, token, now))
