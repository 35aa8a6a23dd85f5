"""The critical path: the chain of events, each waiting for its predecessor, that determines a span.

```
   wave 0   ▓issue▓─ pace ─▓load▓ · · · · · · ·▓wait▓─▓issue▓──▓barrier▓ · · ·
                              └──── latency ────┘                 │ opening
   wave 1   ▓issue▓──▓issue▓─────────▓barrier▓ · · · · · · · · · · └─▓issue▓── tail ─┤
```
The walk goes backwards from the last end.  An instruction issued when its wave reached it, when the last
operation that it waited for returned, when its barrier opened, or when its unit became free, whichever came
last.  Pieces of the path follow each other without a gap, so its length is the span.

The slack of an instruction is by how much its arrival, issue or return could be later without a longer span
if units took instructions in the same order.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rcv_py.analysis.whatif.event_loop import Played
from rcv_py.analysis.whatif.queues import CLASSES, FINE
from rcv_py.analysis.whatif.recording import NO_INDEX, Recording
from rcv_py.base.machine.compiled import kernel, part
from rcv_py.base.progress import checkpoint
from rcv_py.model.columns import ColumnTable

FAR = 1 << 62


# The cause of a piece of the path.
PathCause = IntEnum(
    "PathCause",
    "ISSUE GAP DEPENDENCY LATENCY QUEUE BARRIER ARBITRATION LAUNCH HANDOVER DISPATCH END",
    start=0,
)
CAUSES = {
    PathCause.ISSUE: ("issue", "The instruction issued or executed."),
    PathCause.GAP: (
        "gap",
        "Before the instruction could issue: fetch, branch, or the arbiter chose another wave.",
    ),
    PathCause.DEPENDENCY: ("dependency", "Registers, hazards, or what else held the instruction itself."),
    PathCause.LATENCY: ("memory latency", "The operation was in flight, and a wave waited for it."),
    PathCause.QUEUE: ("memory queue", "The operation was queued after others."),
    PathCause.BARRIER: ("barrier", "From the last arrival until waves went on."),
    PathCause.ARBITRATION: ("issue arbitration", "The instruction held a unit that another wave needed."),
    PathCause.LAUNCH: ("wave launch", "From the launch of a wave to its first instruction."),
    PathCause.HANDOVER: ("slot hand-over", "From the end of a wave to the launch of the next in its slot."),
    PathCause.DISPATCH: ("dispatch", "Until a wave was launched into a slot that was free."),
    PathCause.END: ("end of wave", "From the last instruction to the end of the wave."),
}
START, ARRIVED, RETURNED, OPENED, FREED = 0, 1, 2, 3, 4  # what an issue waited for last
AT_END, AT_ISSUE, AT_ARRIVAL, AT_RETURN, AT_LEFT, AT_BEGIN, NOWHERE = 0, 1, 2, 3, 4, 5, 6  # state of a walk


class Path(ColumnTable):
    """Pieces of the path of a compute unit, in order of time; int64 columns, times as in the recording."""

    token: np.ndarray  # -1: no token
    cause: np.ndarray  # PathCause
    begin: np.ndarray
    end: np.ndarray
    wave: np.ndarray  # index in the recording
    slack: np.ndarray  # [tokens], cycles by which arrival, issue and return could each be later

    @property
    def length(self) -> int:
        """Total cycles of all pieces."""
        return int((self.end - self.begin).sum())


class PathTokens(NamedTuple):
    """Columns of tokens, int64."""

    first: ndarray  # of waves
    owner: ndarray
    place: ndarray  # in the order of execution
    order: ndarray
    issue: ndarray
    arrival: ndarray
    pace: ndarray
    busy: ndarray
    least: ndarray
    delay: ndarray
    resource: ndarray
    hold: ndarray
    queue: ndarray
    service: ndarray
    latency: ndarray
    in_order: ndarray
    await_first: ndarray
    awaited: ndarray
    meeting: ndarray
    signals: ndarray
    rank: ndarray  # tokens in order of time


class BarrierTimes(NamedTuple):
    """When waves met at barriers, one row per meeting, int64."""

    last: ndarray  # the last arrival
    who: ndarray  # the token that arrived last
    opening: ndarray


class WaveTimes(NamedTuple):
    """When waves began and ended, and what delayed their ends, one row per wave, int64."""

    begin: ndarray
    end: ndarray
    lead: ndarray
    tail: ndarray
    before: ndarray
    handover: ndarray
    drain: ndarray  # [waves * CLASSES], the operation of each class that returned last, -1: none


class Predecessor(NamedTuple):
    """What each token waited for last, int64; output."""

    source: ndarray
    by: ndarray
    ready: ndarray
    back: ndarray
    older: ndarray  # the operation that its return waited for, -1: none
    left: ndarray
    ahead: ndarray  # the operation before it in the queue, -1: none


class Pieces(NamedTuple):
    """Pieces that a walk finds, the last piece first; int64."""

    token: ndarray
    cause: ndarray
    begin: ndarray
    end: ndarray
    wave: ndarray
    filled: ndarray  # [1]


class PathUnits(NamedTuple):
    """State of units and queues, int64; modified."""

    last: ndarray
    free: ndarray
    served: ndarray
    newest: ndarray
    latest: ndarray  # [waves * CLASSES], when all operations of a class have returned


@kernel
def explain(
    rows: PathTokens, met: BarrierTimes, units: PathUnits, lives: WaveTimes, why: Predecessor
) -> None:
    """Determine what each token waited for last, in order of time.

    Every index comes from a recording whose columns agree.
    """
    for at in range(len(rows.rank)):
        token = int(rows.rank[at])
        wave, now = int(rows.owner[token]), int(rows.issue[token])
        is_first = rows.place[token] == rows.first[wave]
        ready = int(rows.arrival[token]) + int(rows.least[token])
        source, by = (START if is_first else ARRIVED), -1
        operation = last_back(rows, why, token)
        if operation >= 0 and why.back[operation] > ready:
            ready, source, by = int(why.back[operation]), RETURNED, operation
        meeting = int(rows.meeting[token])
        if meeting >= 0:
            opens = int(met.last[meeting]) + int(met.opening[meeting])
            if opens > ready:
                ready, source, by = opens, OPENED, int(met.who[meeting])
        unit = int(rows.resource[token])
        if now > ready + int(rows.delay[token]) and unit >= 0 and units.last[unit] >= 0:
            source, by = FREED, int(units.last[unit])
        why.source[token], why.by[token], why.ready[token] = source, by, min(ready, now)
        sent = now
        if unit >= 0:
            units.last[unit] = token
            units.free[unit] = max(now, int(units.free[unit])) + int(rows.hold[token])
            if rows.queue[token] >= 0:
                sent = int(units.free[unit])
        leave(rows, units, lives, why, (token, wave, sent))


@part
def last_back(rows: PathTokens, why: Predecessor, token: int) -> int:
    """The operation that returned last among the operations a token waits for, -1: none."""
    last, latest = -1, -FAR
    for link in range(int(rows.await_first[token]), int(rows.await_first[token + 1])):
        operation = int(rows.awaited[link])
        if why.back[operation] < FAR and why.back[operation] > latest:
            last, latest = operation, int(why.back[operation])
    return last


@part
def leave(
    rows: PathTokens, units: PathUnits, lives: WaveTimes, why: Predecessor, place: tuple[int, int, int]
) -> None:
    """Determine when an operation leaves its queue and when it returns."""
    token, wave, sent = place
    queue, kind = int(rows.queue[token]), int(rows.in_order[token])
    left = sent
    if queue >= 0:
        if units.served[queue] > sent * FINE:
            why.ahead[token] = units.newest[queue]
        done = max(int(units.served[queue]), sent * FINE) + int(rows.service[token])
        units.served[queue], units.newest[queue] = done, token
        left = -(-done // FINE)
    why.left[token] = left
    back, at = left + int(rows.latency[token]), wave * CLASSES + kind
    if kind > 0 and units.latest[at] > back:
        back = int(units.latest[at])
        why.older[token] = lives.drain[at]
    why.back[token] = back
    if queue >= 0 and back >= units.latest[at]:
        units.latest[at], lives.drain[at] = back, token


@part
def put(pieces: Pieces, token: int, cause: int, times: tuple[int, int], wave: int) -> None:
    """Add a piece unless it takes no time."""
    begin, end = times
    at = int(pieces.filled[0])
    if end > begin and at < len(pieces.token):
        pieces.token[at], pieces.cause[at], pieces.wave[at] = token, cause, wave
        pieces.begin[at], pieces.end[at] = begin, end
        pieces.filled[0] = at + 1


@part
def end_of(
    rows: PathTokens, lives: WaveTimes, why: Predecessor, pieces: Pieces, wave: int
) -> tuple[int, int]:
    """Go back from the end of a wave; return the next state and its token or wave."""
    end = int(lives.end[wave])
    if rows.first[wave + 1] == rows.first[wave]:
        put(pieces, -1, 10, (int(lives.begin[wave]), end), wave)
        return AT_BEGIN, wave
    last = int(rows.order[int(rows.first[wave + 1]) - 1])
    if int(rows.issue[last]) + int(lives.tail[wave]) < end:
        for kind in range(CLASSES):
            operation = int(lives.drain[wave * CLASSES + kind])
            if operation >= 0 and why.back[operation] == end:
                return AT_RETURN, operation
    put(pieces, last, 10, (int(rows.issue[last]), end), wave)
    return AT_ISSUE, last


@part
def issue_of(
    rows: PathTokens, met: BarrierTimes, why: Predecessor, pieces: Pieces, token: int
) -> tuple[int, int]:
    """Go back from the issue of a token."""
    wave, now, by = int(rows.owner[token]), int(rows.issue[token]), int(why.by[token])
    source, ready = int(why.source[token]), int(why.ready[token])
    if source == FREED:
        put(pieces, by, 6, (int(rows.issue[by]), now), int(rows.owner[by]))
        return AT_ISSUE, by
    put(pieces, token, 2, (ready, now), wave)
    if source == RETURNED:
        return AT_RETURN, by
    if source == OPENED:
        last = int(met.last[int(rows.meeting[token])])
        put(pieces, token, 5, (last, ready), wave)
        return (AT_ARRIVAL if rows.signals[by] == rows.meeting[by] else AT_ISSUE), by
    put(pieces, token, 2, (int(rows.arrival[token]), ready), wave)
    return AT_ARRIVAL, token


@part
def arrival_of(rows: PathTokens, lives: WaveTimes, pieces: Pieces, token: int) -> tuple[int, int]:
    """Go back from the arrival of a wave at a token."""
    wave, now = int(rows.owner[token]), int(rows.arrival[token])
    at = int(rows.place[token])
    if at == rows.first[wave]:
        put(pieces, token, 7, (int(lives.begin[wave]), now), wave)
        return AT_BEGIN, wave
    before = int(rows.order[at - 1])
    begin = int(rows.issue[before])
    done = min(begin + int(rows.busy[before]), now)
    put(pieces, token, 1, (done, now), wave)
    put(pieces, before, 0, (begin, done), wave)
    return AT_ISSUE, before


@part
def return_of(rows: PathTokens, why: Predecessor, pieces: Pieces, token: int) -> tuple[int, int]:
    """Go back from the return of an operation."""
    wave, left, back = int(rows.owner[token]), int(why.left[token]), int(why.back[token])
    if why.older[token] >= 0:
        return AT_RETURN, int(why.older[token])
    if left > back:  # the estimate of the queue contradicts the recorded return
        put(pieces, token, 3, (int(rows.issue[token]), back), wave)
        return AT_ISSUE, token
    put(pieces, token, 3, (left, back), wave)
    return AT_LEFT, token


@part
def left_of(rows: PathTokens, why: Predecessor, pieces: Pieces, token: int) -> tuple[int, int]:
    """Go back from when an operation left its queue."""
    ahead, wave = int(why.ahead[token]), int(rows.owner[token])
    if ahead < 0:
        put(pieces, token, 4, (int(rows.issue[token]), int(why.left[token])), wave)
        return AT_ISSUE, token
    put(pieces, token, 4, (int(why.left[ahead]), int(why.left[token])), wave)
    return AT_LEFT, ahead


@part
def begin_of(lives: WaveTimes, pieces: Pieces, wave: int) -> tuple[int, int]:
    """Go back from a wave's launch to the end of the previous wave in its slot, or to the first launch."""
    before, begin = int(lives.before[wave]), int(lives.begin[wave])
    if before >= 0:
        put(pieces, -1, 8, (int(lives.end[before]), begin), wave)
        return AT_END, before
    start = begin
    for other in range(len(lives.begin)):
        start = min(start, int(lives.begin[other]))
    put(pieces, -1, 9, (start, begin), wave)
    return NOWHERE, wave


@part
def last_of(lives: WaveTimes) -> int:
    """The wave that ends last; the first such wave on a tie."""
    last = 0
    for wave in range(len(lives.end)):
        if lives.end[wave] > lives.end[last]:
            last = wave
    return last


@kernel
def walk(rows: PathTokens, met: BarrierTimes, lives: WaveTimes, why: Predecessor, pieces: Pieces) -> None:
    """Fill in the pieces of the path, from the last end back to the first begin.

    Every index comes from a recording whose columns agree; `pieces` has room for all pieces.
    """
    where, what = AT_END, last_of(lives)
    for _ in range(8 * len(rows.issue) + 4 * len(lives.end) + 8):
        if where == AT_END:
            where, what = end_of(rows, lives, why, pieces, what)
        elif where == AT_BEGIN:
            where, what = begin_of(lives, pieces, what)
        elif where == AT_ISSUE:
            where, what = issue_of(rows, met, why, pieces, what)
        elif where == AT_ARRIVAL:
            where, what = arrival_of(rows, lives, pieces, what)
        elif where == AT_RETURN:
            where, what = return_of(rows, why, pieces, what)
        elif where == AT_LEFT:
            where, what = left_of(rows, why, pieces, what)


class Graph(NamedTuple):
    """What determines the times of a unit."""

    rows: PathTokens
    met: BarrierTimes
    lives: WaveTimes
    why: Predecessor


class LatestTimes(NamedTuple):
    """Latest times of events, int64; modified."""

    issue: ndarray  # [tokens]
    comes: ndarray  # [tokens], when the wave arrives at the token
    back: ndarray  # [tokens], the return of the operation
    left: ndarray  # [tokens], when the operation leaves its queue
    opens: ndarray  # [meetings], the last arrival
    end: ndarray  # [waves]
    following: ndarray  # [resources], the token that the unit took next


@kernel
def slacken(graph: Graph, late: LatestTimes, events: ndarray) -> None:
    """Fill in how late each token may issue, from the last event to the first.

    Event i is the issue of token i; event n + i (n tokens) is the arrival of a wave at token i.
    """
    tokens = len(graph.rows.issue)
    for at in range(len(events)):
        event = int(events[at])
        if event < tokens:
            issues_late(graph, late, event)
        else:
            comes_late(graph.rows, graph.lives, late, event - tokens)


@part
def issues_late(graph: Graph, late: LatestTimes, token: int) -> None:
    """Limit the issue of a token by its successors, and by that limit what the token waits for."""
    rows, met, lives, why = graph.rows, graph.met, graph.lives, graph.why
    wave, unit = int(rows.owner[token]), int(rows.resource[token])
    limit = int(late.issue[token])
    if rows.place[token] == rows.first[wave + 1] - 1:
        limit = min(limit, int(late.end[wave]) - int(lives.tail[wave]))
    limit = min(limit, sent_late(rows, why, late, token))
    if unit >= 0:
        following = int(late.following[unit])
        if following >= 0 and why.source[following] == FREED:
            taken = int(rows.issue[following]) - int(rows.issue[token])
            limit = min(limit, int(late.issue[following]) - taken)
        late.following[unit] = token
    signals = int(rows.signals[token])
    if signals >= 0 and signals != rows.meeting[token]:
        limit = min(limit, int(late.opens[signals]))
    late.issue[token] = limit
    ready = limit - int(rows.delay[token])
    for link in range(int(rows.await_first[token]), int(rows.await_first[token + 1])):
        operation = int(rows.awaited[link])
        late.back[operation] = min(int(late.back[operation]), ready)
    meeting = int(rows.meeting[token])
    if meeting >= 0:
        late.opens[meeting] = min(int(late.opens[meeting]), ready - int(met.opening[meeting]))


@part
def sent_late(rows: PathTokens, why: Predecessor, late: LatestTimes, token: int) -> int:
    """Return how late an operation may issue to return in time, and limit the operations before it."""
    back, older, ahead = int(late.back[token]), int(why.older[token]), int(why.ahead[token])
    if rows.queue[token] >= 0:
        back = min(back, int(late.end[int(rows.owner[token])]))
    if older >= 0:
        late.back[older] = min(int(late.back[older]), back)
    left = min(int(late.left[token]), back - int(rows.latency[token]))
    late.back[token], late.left[token] = back, left
    if ahead < 0:
        return left - (int(why.left[token]) - int(rows.issue[token]))
    gone = int(why.left[token]) - int(why.left[ahead])
    late.left[ahead] = min(int(late.left[ahead]), left - gone)
    return left - gone - int(rows.hold[token])


@part
def comes_late(rows: PathTokens, lives: WaveTimes, late: LatestTimes, token: int) -> None:
    """Limit the events that precede the arrival at a token."""
    wave, at = int(rows.owner[token]), int(rows.place[token])
    limit = int(late.issue[token]) - int(rows.delay[token]) - int(rows.least[token])
    signals = int(rows.signals[token])
    if signals >= 0 and signals == rows.meeting[token]:
        limit = min(limit, int(late.opens[signals]))
    late.comes[token] = limit
    if at > rows.first[wave]:
        before = int(rows.order[at - 1])
        late.issue[before] = min(int(late.issue[before]), limit - int(rows.pace[before]))
    elif lives.before[wave] >= 0:
        before = int(lives.before[wave])
        ends = limit - int(lives.lead[wave]) - int(lives.handover[wave])
        late.end[before] = min(int(late.end[before]), ends)


def critical_path(recorded: Recording, played: Played) -> Path:
    """Return the critical path of a compute unit, and the slack of each token.

    Raise ValueError if it has no waves.
    """
    if not len(played.end):
        raise ValueError("a path needs waves")
    checkpoint()
    rows = _rows(recorded, played)
    n, waves = len(rows.issue), len(played.end)
    met = _met(recorded, rows)
    lives = WaveTimes(
        begin=played.begin,
        end=played.end,
        lead=recorded.lead,
        tail=recorded.tail,
        before=played.before,
        handover=recorded.handover,
        drain=np.full(waves * CLASSES, NO_INDEX, dtype=np.int64),
    )
    units, queues = len(recorded.depth), int(recorded.queue.max(initial=0)) + 1
    shared = PathUnits(
        last=np.full(units, NO_INDEX, dtype=np.int64),
        free=np.full(units, -FAR, dtype=np.int64),
        served=np.full(queues, -FAR, dtype=np.int64),
        newest=np.full(queues, NO_INDEX, dtype=np.int64),
        latest=np.full(waves * CLASSES, -FAR, dtype=np.int64),
    )
    none = {name: np.full(n, NO_INDEX, dtype=np.int64) for name in Predecessor._fields}
    why = Predecessor(**{**none, "back": np.full(n, FAR, dtype=np.int64)})
    explain(rows, met, shared, lives, why)
    room = 8 * n + 4 * waves + 8
    token, cause, begin, end, wave = np.zeros((5, room), dtype=np.int64)
    pieces = Pieces(token, cause, begin, end, wave, filled=np.zeros(1, dtype=np.int64))
    walk(rows, met, lives, why, pieces)
    found = slice(None, int(pieces.filled[0]))
    token, cause, begin, end, wave = (column[found][::-1].copy() for column in pieces[:5])
    return Path(token, cause, begin, end, wave, _slack(rows, met, lives, why, units))


def _rows(recorded: Recording, played: Played) -> PathTokens:
    """The columns of tokens, with the arrival time of the wave at each."""
    order, first = recorded.order, recorded.first
    arrival = np.zeros(len(played.issue), dtype=np.int64)
    arrival[order[1:]] = played.issue[order[:-1]] + recorded.pace[order[:-1]]
    some = np.flatnonzero(np.diff(first))
    arrival[order[first[some]]] = played.begin[some] + recorded.lead[some]
    rank = np.lexsort((recorded.rank, played.issue))
    own = {"issue": played.issue, "arrival": arrival, "rank": rank}
    names = [name for name in PathTokens._fields if name not in own]
    return PathTokens(**own, **{name: getattr(recorded, name).astype(np.int64) for name in names})


def _met(recorded: Recording, rows: PathTokens) -> BarrierTimes:
    """The last arrival at each meeting, and its token."""
    meetings = len(recorded.members)
    last, who = np.full(meetings, -FAR), np.full(meetings, NO_INDEX, dtype=np.int64)
    comers = np.flatnonzero(rows.signals >= 0)
    is_here = rows.signals[comers] == rows.meeting[comers]
    time = np.where(is_here, rows.arrival[comers], rows.issue[comers])
    by_time = np.lexsort((comers, time))
    of = rows.signals[comers[by_time]]
    last[of], who[of] = time[by_time], comers[by_time]  # the latest of each is written last
    return BarrierTimes(last=last, who=who, opening=recorded.opening)


def _slack(rows: PathTokens, met: BarrierTimes, lives: WaveTimes, why: Predecessor, units: int) -> np.ndarray:
    """By how much each token's arrival, issue, queue exit and return could all be later, int64."""
    n = len(rows.issue)
    end = int(lives.end.max())
    late = LatestTimes(
        issue=np.full(n, FAR, dtype=np.int64),
        comes=np.full(n, FAR, dtype=np.int64),
        back=np.full(n, FAR, dtype=np.int64),
        left=np.full(n, FAR, dtype=np.int64),
        opens=np.full(len(met.last), FAR, dtype=np.int64),
        end=np.full(len(lives.end), end, dtype=np.int64),
        following=np.full(units, NO_INDEX, dtype=np.int64),
    )
    time = np.concatenate([rows.issue, rows.arrival])
    comes = np.repeat(np.array([1, 0]), n)
    in_time = np.empty(n, dtype=np.int64)
    in_time[rows.rank] = np.arange(n)
    events = np.lexsort((comes, np.tile(in_time, 2), time))[::-1].copy()
    for _ in range(2):  # if a barrier opens at the very moment of the last arrival, its events are reversed
        late.following.fill(NO_INDEX)
        slacken(Graph(rows, met, lives, why), late, events)
    is_sent = rows.queue >= 0
    issue = np.minimum(late.issue, end) - rows.issue
    comes = np.minimum(late.comes, end) - rows.arrival
    left = np.where(is_sent, np.minimum(late.left, end) - why.left, end)
    back = np.where(is_sent, np.minimum(late.back, end) - why.back, end)
    return np.maximum(np.minimum.reduce([comes, issue, left, back]), 0)


class PathTable(ColumnTable):
    """What the paths of all played compute units were spent on, one row per instruction and cause.

    Rows with the most cycles come first; then, with 0 cycles, instructions that are on no path, those with
    the least slack first.
    """

    line: np.ndarray  # int64, code row; -1: no instruction
    cause: np.ndarray  # int64, PathCause; -1: not on a path
    cycles: np.ndarray  # int64
    times: np.ndarray  # int64, pieces
    slack: np.ndarray  # int64, the minimum over all executions of the instruction; 0 on a path
    length: int  # of all paths: the sum of the spans

    def by_cause(self) -> dict[PathCause, int]:
        """Cycles of each cause, the largest first."""
        causes = [*PathCause]
        sums = {cause: int(self.cycles[self.cause == cause].sum()) for cause in causes}
        return dict(sorted(sums.items(), key=lambda one: -one[1]))


def path_table(units: Sequence[tuple[Recording, Played]]) -> PathTable:
    """Return what the critical paths of some compute units were spent on."""
    rows = max((one.rows for one, _ in units), default=0)
    slack = np.full(rows + 1, FAR, dtype=np.int64)
    keys, lengths = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]  # of all pieces
    for recorded, played in units:
        if not len(played.end):
            continue
        path = critical_path(recorded, played)
        line = np.where(path.token >= 0, recorded.line[path.token], -1)
        line = np.where(line >= recorded.rows, -1, line)
        keys.append(line * len(PathCause) + path.cause)
        lengths.append(path.end - path.begin)
        np.minimum.at(slack, np.minimum(recorded.line, rows), path.slack)
    found, of, times = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
    cycles = np.zeros(len(found), dtype=np.int64)
    np.add.at(cycles, of, np.concatenate(lengths))
    order = np.lexsort((found, -cycles))
    line, cause = np.divmod(found[order], len(PathCause))
    off = np.argsort(slack[:rows], kind="stable")
    off = off[(slack[off] < FAR) & ~np.isin(off, line)]
    none = np.zeros_like(off)
    return PathTable(
        line=np.append(line, off),
        cause=np.append(cause, none - 1),
        cycles=np.append(cycles[order], none),
        times=np.append(times[order], none),
        slack=np.append(np.zeros_like(line), slack[off]),
        length=int(cycles.sum()),
    )
