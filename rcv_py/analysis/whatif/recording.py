"""What is kept of a recording to play it again: orders, distances and who waits for whom, no times.

A token of a wave

```
   end of the one before           arrival        ready            issue        the next one's arrival
   ────────────┤ ·····················├── delay ────┤▒▒▒ contention ▒├──────── pace ────────┤
                                      └ counters, barrier ─┘
```
arrives `pace` cycles after the one before issued.  It is ready when all operations that it waits for have
returned (each `latency` cycles after its issue), when its barrier opens, and `delay` cycles after both.  It
issues when its unit is free: the unit takes nothing else for `hold` cycles after each issue.

All of that is told by the recorded times, so that playing them gives the same times again.  What a stall was
spent on is told so: cycles in which the unit was taken without a gap until the instruction issued are
contention, the rest is delay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.lines import BRANCH, MATRIX, MESSAGE, NONE, VALU
from rcv_py.analysis.attribution.stream import Stream, engine_stream
from rcv_py.analysis.attribution.waits import wait_ends
from rcv_py.base.records import dataclass
from rcv_py.base.runs import borders, starts_run
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave

NOBODY = -1
_OWN = (NONE, BRANCH, MESSAGE)  # units that nobody else takes from a wave
_OF_SIMD = (VALU, MATRIX)  # the others are shared by the SIMDs of a compute unit


@dataclass(frozen=True, eq=False)
class Recording:
    """Waves of one compute unit as they can be played again.  Times and distances are int64 cycles.

    Tokens are rows of the columns; wave i executes `order[first[i]:first[i + 1]]`, one after the other.
    """

    first: np.ndarray  # int64 [waves + 1]
    order: np.ndarray  # int64 [tokens]
    line: np.ndarray  # int64, code row; as many as there are rows: none
    unit: np.ndarray  # uint8, of `attribution.lines`
    pace: np.ndarray  # from its issue to the arrival of the next one
    busy: np.ndarray  # part of the pace in which it issued or executed
    delay: np.ndarray  # from being ready to being issued, contention aside
    issued: np.ndarray  # when it issued
    resource: np.ndarray  # int32, what it takes, NOBODY: nothing that others want
    hold: np.ndarray  # for how long
    rank: np.ndarray  # int64, of two that could go at the same moment the lower one does: order of issue
    # counters: token i waits for operations `awaited[await_first[i]:await_first[i + 1]]`
    await_first: np.ndarray  # int64 [tokens + 1]
    awaited: np.ndarray  # int64, tokens of the same wave
    latency: np.ndarray  # from issue to return, of tokens that are awaited; 0 for others
    is_measured: np.ndarray  # bool, a wait ended with its return
    # barriers
    meeting: np.ndarray  # int32, at which the token waits, NOBODY: none
    signals: np.ndarray  # int32, meeting that the token arrives at, which most often is the same
    members: np.ndarray  # int32 [meetings], arrivals that open it
    opening: np.ndarray  # int64 [meetings], cycles from the last arrival until it opens
    # waves
    begin: np.ndarray  # int64 [waves]
    lead: np.ndarray  # int64 [waves], from its begin to the arrival of its first token
    tail: np.ndarray  # int64 [waves], from the last issue to its end
    before: np.ndarray  # int32 [waves], the wave that its slot was freed by, NOBODY: it begins when it did
    handover: np.ndarray  # int64 [waves], from that end to its begin
    simd: np.ndarray  # int32 [waves]
    slot: np.ndarray  # int32 [waves]
    row: np.ndarray  # int64 [waves], of the wave index
    rows: int  # code rows

    def __len__(self) -> int:
        return len(self.order)

    @property
    def owner(self) -> np.ndarray:
        """The wave of each token, int64, in the order of the columns as they were recorded."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


@dataclass(frozen=True, slots=True)
class Guess:
    """What is taken for true where the recording does not tell."""

    latency: float = 1.0  # of operations nobody stalled for: so many times what such ones usually take
    has_contention: bool = True  # False: what a stall at a busy unit was spent on stays as it is

    @property
    def text(self) -> str:
        """The guess in words."""
        if not self.has_contention:
            return "waves do not get in each other's way any more or less than they did"
        if self.latency == np.inf:
            return "operations that nobody stalled for returned as late as they could"
        return f"operations that nobody stalled for took {self.latency:g} times what such ones usually take"


USUAL = Guess()
OTHERS = (Guess(0.5), Guess(np.inf), Guess(has_contention=False))


def streams(trace: Trace, waves: Sequence[Wave]) -> list[Stream]:
    """Return the columns of each traced compute unit of one shader engine."""
    units = sorted({wave.cu for wave in waves})
    return [engine_stream(trace, [wave for wave in waves if wave.cu == cu]) for cu in units]


def recording(stream: Stream, guess: Guess = USUAL) -> Recording:
    """Return what is kept of the waves of a compute unit."""
    tokens, line = stream.tokens, stream.line
    first, n, waves = tokens.first, len(line), len(tokens.waves)
    begin, end = (times - stream.base for times in tokens.lives)
    some = np.flatnonzero(np.diff(first))
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(stream.issue, kind="stable")] = np.arange(n)
    pace = np.zeros(n, dtype=np.int64)
    pace[:-1] = stream.start[1:] - stream.issue[:-1]
    lead, tail = np.zeros(waves, dtype=np.int64), np.maximum(end - begin, 0)
    lead[some] = stream.start[first[some]] - begin[some]
    tail[some] = np.maximum(end[some] - stream.issue[first[some + 1] - 1], 0)
    pace[first[some + 1] - 1] = 0
    operations, barriers = _operations(stream, guess.latency), _barriers(stream)
    unit = stream.unit
    resource, hold = _units(stream)
    if not guess.has_contention:
        resource = np.full_like(resource, NOBODY)
    ready = _ready(stream, operations, barriers.opening)
    before, handover = _slots(stream, begin, end)
    return Recording(
        first=first,
        order=np.arange(n),
        line=line,
        unit=unit,
        pace=pace,
        busy=tokens.busy.astype(np.int64),
        delay=_delay(stream, resource, hold, ready),
        resource=resource,
        hold=hold,
        rank=rank,
        issued=stream.issue,
        **operations._asdict(),
        **barriers._asdict(),
        begin=begin,
        lead=lead,
        tail=tail,
        before=before,
        handover=handover,
        simd=np.array([wave.id.simd for wave in tokens.waves], dtype=np.int32),
        slot=np.array([wave.id.slot for wave in tokens.waves], dtype=np.int32),
        row=np.array([wave.row for wave in tokens.waves], dtype=np.int64),
        rows=len(stream.lines) - 1,
    )


class _Operations(NamedTuple):
    """Columns of `Recording`."""

    await_first: np.ndarray
    awaited: np.ndarray
    latency: np.ndarray
    is_measured: np.ndarray


class _Barriers(NamedTuple):
    """Columns of `Recording`."""

    meeting: np.ndarray
    signals: np.ndarray
    members: np.ndarray
    opening: np.ndarray


def _operations(stream: Stream, factor: float) -> _Operations:
    """Return what tokens wait for, where that begins, how long each took, and whether a wait measured it."""
    links, issue, n = stream.links, stream.issue, len(stream)
    wait = links.token[links.row_of]
    key = np.unique(wait * n + links.producers)  # a wait on two counters names an operation of both once
    wait, awaited = key // max(n, 1), key % max(n, 1)
    returned = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(returned, awaited, issue[wait])
    # Where a wait ended with an operation it is known; else it took as long as such operations take, at most
    # until somebody waited for it without a stall.
    mean = np.exp(stream.survey.mean[stream.engine, stream.line])
    usual = np.where(np.isfinite(mean), mean * factor, np.inf)
    is_awaited = returned < np.iinfo(np.int64).max
    latency = np.where(is_awaited, returned - issue, 0)
    latency = np.where(is_awaited & (usual < latency), usual, latency).astype(np.int64)
    ends = wait_ends(stream)
    is_held = stream.tokens.stall[ends.token] > stream.lines.step
    known = ends.operation[is_held]
    measured = np.zeros(n, dtype=bool)
    measured[known] = True
    exact = issue[ends.token[is_held]] - issue[known]
    is_first = returned[known] == issue[ends.token[is_held]]  # a later wait says nothing new
    latency[known[is_first]] = exact[is_first]
    return _Operations(borders(np.bincount(wait, minlength=n)), awaited, np.maximum(latency, 0), measured)


def _barriers(stream: Stream) -> _Barriers:
    """Return at which meeting tokens wait and arrive, how many arrivals open it, and how much later."""
    at, met, n = stream.crossings, stream.meetings, len(stream)
    meeting, signals = np.full((2, n), NOBODY, dtype=np.int32)
    meeting[at.token] = met.of
    signals[at.signal] = met.of
    members = np.bincount(met.of, minlength=len(met)).astype(np.int32)
    arrived = np.full(len(met), -(1 << 62))
    np.maximum.at(arrived, met.of, _arrivals(stream))
    opened = np.full(len(met), 1 << 62)
    held = at.is_held
    np.minimum.at(opened, met.of[held], stream.issue[at.token[held]])
    opening = np.where(opened < 1 << 62, np.maximum(opened - arrived, 0), 0)
    return _Barriers(meeting, signals, members, opening)


def _arrivals(stream: Stream) -> np.ndarray:
    """When waves arrived at barriers: where it is one instruction, when they came to it."""
    at = stream.crossings
    return np.where(at.signal == at.token, stream.start[at.token], stream.issue[at.signal])


def _ready(stream: Stream, operations: _Operations, opening: np.ndarray) -> np.ndarray:
    """When tokens were ready, their own delay aside."""
    ready = stream.start.copy()
    waits = np.flatnonzero(np.diff(operations.await_first))
    if len(waits):
        back = (stream.issue + operations.latency)[operations.awaited]
        latest = np.maximum.reduceat(back, operations.await_first[waits])
        ready[waits] = np.maximum(ready[waits], latest)
    at = stream.crossings
    if len(at):
        last = np.full(len(opening), -(1 << 62))
        np.maximum.at(last, stream.meetings.of, _arrivals(stream))
        ready[at.token] = np.maximum(ready[at.token], (last + opening)[stream.meetings.of])
    return np.minimum(ready, stream.issue)


def _units(stream: Stream) -> tuple[np.ndarray, np.ndarray]:
    """Return what each token takes, and for how long nobody else got it.

    A unit is held as long as its form says, but never longer than until the next one was seen to begin.
    """
    unit = stream.unit.astype(np.int64)
    is_simd = np.isin(unit, _OF_SIMD)
    place = np.where(is_simd, 1 + stream.simd[stream.owner], 0)
    number = (place * (MESSAGE + 1) + unit).astype(np.int32)
    resource = np.where(np.isin(unit, _OWN), NOBODY, number).astype(np.int32)
    held = stream.lines.hold[stream.line]
    held = np.where(unit == MATRIX, np.maximum(held, stream.lines.passes[stream.line]), held)
    rows = np.lexsort((stream.issue, resource))
    gap = np.full(len(rows), 1 << 62)
    is_same = resource[rows[1:]] == resource[rows[:-1]]
    gap[:-1][is_same] = (stream.issue[rows[1:]] - stream.issue[rows[:-1]])[is_same]
    hold = np.empty(len(rows), dtype=np.int64)
    hold[rows] = np.minimum(gap, held[rows])
    return resource, np.where(resource == NOBODY, 0, hold)


def _delay(stream: Stream, resource: np.ndarray, hold: np.ndarray, ready: np.ndarray) -> np.ndarray:
    """From being ready to being issued, without the cycles in which the unit was taken until then."""
    issue = stream.issue
    rows = np.lexsort((issue, resource))
    taken = issue[rows]
    follows = np.zeros(len(rows), dtype=bool)  # it issued the moment the one before let go
    follows[1:] = ~starts_run(resource[rows])[1:] & (taken[1:] == taken[:-1] + hold[rows[:-1]])
    follows &= resource[rows] != NOBODY
    since = np.maximum.accumulate(np.where(follows, -1, np.arange(len(rows))))
    free_until = np.empty(len(rows), dtype=np.int64)
    free_until[rows] = np.where(follows, taken[since], taken)
    return np.minimum(np.maximum(free_until - ready, 0), issue - ready)


def _slots(stream: Stream, begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whose end freed the slot of each wave, and how long after it the wave began."""
    waves = stream.tokens.waves
    keys = np.array([(wave.id.simd, wave.id.slot) for wave in waves], dtype=np.int64).reshape(-1, 2)
    before = np.full(len(waves), NOBODY, dtype=np.int32)
    rows = np.lexsort((begin, keys[:, 1], keys[:, 0]))
    is_next = ~starts_run(keys[rows, 0], keys[rows, 1])[1:] & (begin[rows[1:]] >= end[rows[:-1]])
    before[rows[1:][is_next]] = rows[:-1][is_next]
    handover = np.where(before >= 0, begin - end[before], 0)
    return before, handover
