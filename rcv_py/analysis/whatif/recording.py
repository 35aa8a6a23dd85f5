"""The replayable form of a recording: orders, distances and dependencies, no times.

A token of a wave

```
   end of the one before           arrival        ready            issue        the next one's arrival
   ────────────┤ ·····················├── delay ────┤▒▒▒ contention ▒├──────── pace ────────┤
                                      └ counters, barrier ─┘
```
arrives `pace` cycles after its predecessor issued.  It is ready when all operations that it waits for have
returned and its barrier has opened, at the earliest `least` cycles after its arrival; `delay` is added to
that.  It issues when its unit takes it: the unit is held for `hold` cycles after each issue.  A memory
operation then queues (`queues.py`).  A wave ends when all its operations have returned.

All of that is derived from the recorded times, so that playing it gives the same times again.  A stall is
divided like this: cycles in which the unit was taken without a gap until the instruction issued are
contention, the rest is delay.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec.structs import asdict, replace

from rcv_py.analysis.attribution.lines import BRANCH, LDS, MATRIX, MESSAGE, NONE, SMEM, VALU, VMEM
from rcv_py.analysis.attribution.stream import TokenStream, engine_stream
from rcv_py.analysis.attribution.uses import uses
from rcv_py.analysis.whatif.queues import CLASSES, FAR, in_time, pipe, returns, seen, serve
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending, borders, starts_run
from rcv_py.model.columns import memoized
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave

NO_INDEX = -1
_OWN = (NONE, BRANCH, MESSAGE)  # units that no other wave takes
_OF_SIMD = (VALU, MATRIX)  # the other units are shared by the SIMDs of a compute unit
_QUEUES = {VMEM: 0, LDS: 1, SMEM: 2}
PLACES = MESSAGE + 1  # unit numbers per SIMD
_END_TURNS = 5  # turns that the end of a wave takes if it waits for nothing
NARROW = np.iinfo(np.int32)
KINDS = ((True, (VALU, MATRIX)), (False, (VMEM, LDS, SMEM)))  # by age if few ties are recorded; the units
FEW = 8  # ties that decide
MOSTLY = 0.8  # of the ties go to the older wave: the age decides
_OF_A_LINE = 4  # samples from which on an instruction is judged by its own latencies


class Recording(Record):
    """Waves of one compute unit in a form that can be played.  Times and distances are cycles.

    Numbers are int64; those of tokens, except `issued`, are int32 if they fit: in a sound file they do.
    Tokens are rows of the columns; wave i executes `order[first[i]:first[i + 1]]`, one after the other.
    """

    first: np.ndarray  # int64 [waves + 1]
    order: np.ndarray  # int64 [tokens]
    line: np.ndarray  # int64, code row; `rows`: none
    unit: np.ndarray  # uint8, of `attribution.lines`
    pace: np.ndarray  # from its issue to the arrival of the next token
    busy: np.ndarray  # part of the pace in which it issued or executed
    least: np.ndarray  # minimum from its arrival until it is ready
    delay: np.ndarray  # from ready to issue, without contention
    issued: np.ndarray  # when it issued
    resource: np.ndarray  # the resource that it takes, NOBODY: nothing that others compete for
    hold: np.ndarray  # for how long
    rank: np.ndarray  # order of issue; the lower rank goes first at the same moment
    ruled: np.ndarray  # the rank once a change makes other waves meet: by age, or as recorded
    # memory
    queue: np.ndarray  # where operations wait for earlier ones, NOBODY: no operation
    service: np.ndarray  # parts of a cycle that the queue is busy with it
    latency: np.ndarray  # from leaving the queue (without a queue: from issue) to the return
    in_order: np.ndarray  # class of operations of a wave that return in order of issue; 0: none
    moves: np.ndarray  # bytes
    is_measured: np.ndarray  # bool, a wait ended at its return
    is_held: bool  # operations that return in order may have returned late because of an older one
    # counters: token i waits for operations `awaited[await_first[i]:await_first[i + 1]]`
    await_first: np.ndarray  # int64 [tokens + 1]
    awaited: np.ndarray  # int64, tokens of the same wave, in order of issue
    is_loose: np.ndarray  # bool [tokens], waits for operations that return in any order
    # barriers
    meeting: np.ndarray  # at which the token waits, NOBODY: none
    signals: np.ndarray  # meeting that the token arrives at, usually the same
    members: np.ndarray  # int64 [meetings], arrivals that open it
    opening: np.ndarray  # int64 [meetings], cycles from the last arrival until it opens
    # waves
    begin: np.ndarray  # int64 [waves]
    lead: np.ndarray  # int64 [waves], from its begin to the arrival of its first token
    tail: np.ndarray  # int64 [waves], from the last issue to its end, pending operations aside
    before: np.ndarray  # int32 [waves], the wave whose end freed its slot, NOBODY: it begins as recorded
    handover: np.ndarray  # int64 [waves], from the end of that wave to its begin
    pool: np.ndarray  # int64 [waves], of waves that take any slot that becomes free in it, NO_INDEX: its own
    turn: np.ndarray  # int64 [waves], order in which the waves of a pool begin
    simd: np.ndarray  # int32 [waves]
    slot: np.ndarray  # int32 [waves]
    row: np.ndarray  # int64 [waves], of the wave index
    depth: np.ndarray  # int64 [resources], cycles of work that each takes before it refuses
    by_age: np.ndarray  # bool [units], of waves that want it at the same moment the oldest goes first
    in_turn: np.ndarray  # bool [resources], take the wave that they refused for longest, not by rank
    rows: int  # code rows
    step: int  # cycles of a turn

    def __len__(self) -> int:
        return len(self.order)

    @property
    def owner(self) -> np.ndarray:
        """The wave of each token, int64, in the recorded order of the columns."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    @property
    def place(self) -> np.ndarray:
        """The position of each token in `order`, int64."""
        place = np.empty(len(self), dtype=np.int64)
        place[self.order] = np.arange(len(self))
        return place

    @cached_property
    def requested(self) -> np.ndarray:
        """Bytes that the vector memory operations of each code row move, int64 [rows + 1]."""
        is_vector = self.unit == VMEM
        moved = np.bincount(self.line[is_vector], self.moves[is_vector], self.rows + 1)
        return moved.astype(np.int64)

    @property
    def by_rule(self) -> np.ndarray:
        """The column `ruled`, from the order in which the waves begin."""
        return _ruled(self.rank, self.by_age[self.unit], self.owner, np.lexsort((self.turn, self.begin)))

    @property
    def waiting(self) -> np.ndarray:
        """The token that waits for each of `awaited`, int64."""
        return np.repeat(np.arange(len(self)), np.diff(self.await_first))


def _ruled(rank: np.ndarray, is_by_age: np.ndarray, owner: np.ndarray, oldest: np.ndarray) -> np.ndarray:
    """Return ranks by the age of waves where that decides; `oldest` are the waves, the oldest first."""
    age = np.empty(len(oldest), dtype=np.int64)
    age[oldest] = np.arange(len(oldest))
    return np.where(is_by_age, age[owner], rank)


class Guess(Value):
    """An assumption where the recording has no data."""

    text: str = ""  # the guess in words
    latency: float = 1.0  # of operations that no wait stalled for: this factor times the usual latency
    has_contention: bool = True  # False: stalls at a busy unit stay as they are
    is_held: bool = False  # True: an operation took its time because of an older one that a change is about
    lane: int = 0  # guesses of a lane play most tokens alike, one after the other
    order: int = 0  # of the latencies of an instruction among its executions; 0: as recorded


USUAL = Guess("operations without a stalled wait have the usual latency of their kind")
_REORDERED = "the range also tries: the latencies of each instruction in two other orders"
# Of 29,756 returns that waits of real captures show, one in 27 took longer than twice the median of its
# instruction.  It is unlikely that all other operations returned just in time for a wait that did not stall.
OTHERS = (
    Guess(
        "the range also tries: operations without a stalled wait have half the usual latency, "
        "and changed ones held up those that return after them",
        latency=0.5,
        is_held=True,
        lane=1,
    ),
    Guess(
        "the range also tries: operations without a stalled wait have twice the usual latency",
        latency=2.0,
        lane=1,
    ),
    Guess("the range also tries: contention between waves stays as recorded", has_contention=False, lane=2),
    Guess(_REORDERED, order=1),
    Guess(_REORDERED, order=2),
)


def streams(trace: Trace, waves: Sequence[TracedWave]) -> list[TokenStream]:
    """Return the columns of each traced compute unit of one shader engine."""
    units = sorted({wave.cu for wave in waves})
    return [engine_stream(trace, [wave for wave in waves if wave.cu == cu]) for cu in units]


def recording(stream: TokenStream, guess: Guess = USUAL) -> Recording:
    """Return the replayable form of a compute unit's waves; all guesses share the parts that none changes."""
    frame = _frame(stream)
    units, memory = _contended(stream) if guess.has_contention else _uncontended(stream)
    latency, back = _returned(stream, memory, guess)
    back = np.where(frame.results > 0, stream.issue + frame.results, back)
    ready = _ready(stream, frame, back)
    delay = np.minimum(np.maximum(units.since - ready, 0), stream.issue - ready)
    columns = _narrow(delay=delay, latency=latency + frame.results)
    return Recording(
        **frame.columns,
        **columns,
        **units.columns,
        **memory.columns,
        is_held=guess.is_held,
        rows=len(stream.lines) - 1,
        step=stream.lines.step,
    )


def _narrow(**columns: np.ndarray) -> dict[str, np.ndarray]:
    """Return columns as int32 if all of their numbers fit."""
    return {
        name: column.astype(np.int32)
        if NARROW.min <= column.min(initial=0) <= column.max(initial=0) <= NARROW.max
        else column
        for name, column in columns.items()
    }


class _Frame(Record):
    """The parts that no guess changes."""

    columns: dict[str, Any]  # of Recording
    counted: _Awaits  # operations alone
    results: np.ndarray  # int64 [tokens], cycles until a reader of a matrix result can issue, else 0
    life_tail: np.ndarray  # int64 [waves], from the last issue to the end


@memoized
def _frame(stream: TokenStream) -> _Frame:
    tokens, line = stream.tokens, stream.line
    first, n, waves = tokens.first, len(line), len(tokens.waves)
    begin, end = (times - stream.base for times in tokens.lives)
    some = np.flatnonzero(np.diff(first))
    rank = np.empty(n, dtype=np.int64)
    rank[in_time(stream, np.arange(n))] = np.arange(n)
    pace = np.zeros(n, dtype=np.int64)
    pace[:-1] = stream.start[1:] - stream.issue[:-1]
    pace[first[some + 1] - 1] = 0
    lead, tail = np.zeros(waves, dtype=np.int64), np.maximum(end - begin, 0)
    lead[some] = stream.start[first[some]] - begin[some]
    tail[some] = np.maximum(end[some] - stream.issue[first[some + 1] - 1], 0)
    is_immediate = stream.lines.is_wait[line] | stream.lines.is_barrier[line]
    least = np.clip(stream.issue - stream.start, 0, np.where(is_immediate, stream.lines.step, 0))
    counted = _awaits(stream)
    awaits, results = _with_results(stream, counted)
    before, handover = _slots(stream, begin, end)
    is_older_first = by_age(stream)
    barriers, observed = _barriers(stream), seen(stream)
    columns: dict[str, Any] = {
        "first": first,
        "line": line,
        "unit": stream.unit,
        "issued": stream.issue,
        "by_age": is_older_first,
        **asdict(awaits),
        **barriers,
        **_narrow(
            order=np.arange(n),
            pace=pace,
            busy=tokens.busy.astype(np.int64),
            least=least,
            rank=rank,
            ruled=_ruled(rank, is_older_first[stream.unit], stream.owner, np.argsort(begin, kind="stable")),
            in_order=observed.order[line],
            moves=observed.moves[line],
            meeting=barriers["meeting"],
            signals=barriers["signals"],
        ),
        "begin": begin,
        "lead": lead,
        "before": before,
        "handover": handover,
        "pool": np.full(waves, NO_INDEX),
        "turn": np.arange(waves),
        "simd": np.array([wave.id.simd for wave in tokens.waves], dtype=np.int32),
        "slot": np.array([wave.id.slot for wave in tokens.waves], dtype=np.int32),
        "row": np.array([wave.row for wave in tokens.waves], dtype=np.int64),
    }
    return _Frame(columns=columns, counted=counted, results=results, life_tail=tail)


class _Units(Value):
    """What tokens take."""

    columns: dict[str, np.ndarray]  # of Recording
    sent: np.ndarray  # int64 [tokens], when the unit was done with each
    since: np.ndarray  # int64 [tokens], since when it refused


class _Awaits(Value):
    """Columns of `Recording`."""

    await_first: np.ndarray
    awaited: np.ndarray
    is_loose: np.ndarray


class _Memory(Value):
    """How operations queue, and the latest moment at which each returned."""

    columns: dict[str, np.ndarray]  # of Recording
    operation: np.ndarray  # int64, tokens ordered by wave and then by class
    gone: np.ndarray  # int64 [tokens], when each left its queue
    most: np.ndarray  # int64 [tokens], from then on until the latest return


@memoized
def _contended(stream: TokenStream) -> tuple[_Units, _Memory]:
    return _apart(stream, has_contention=True)


@memoized
def _uncontended(stream: TokenStream) -> tuple[_Units, _Memory]:
    return _apart(stream, has_contention=False)


def _apart(stream: TokenStream, *, has_contention: bool) -> tuple[_Units, _Memory]:
    """The parts of which guesses say no more than that."""
    frame, units = _frame(stream), _units(stream, has_contention)
    return units, _memory(stream, frame.counted, units.sent, frame.life_tail)


def _awaits(stream: TokenStream) -> _Awaits:
    """Return the operations that tokens wait for, and where each token's operations begin."""
    links, n = stream.links, len(stream)
    wait = links.token[links.row_of]
    key = ascending(wait * n + links.producers)  # an operation counts once for a wait on both its counters
    wait, awaited = key // max(n, 1), key % max(n, 1)
    is_loose = np.zeros(n, dtype=bool)
    is_loose[links.token[~links.is_ordered]] = True
    return _Awaits(borders(np.bincount(wait, minlength=n)), awaited, is_loose)


def _with_results(stream: TokenStream, awaits: _Awaits) -> tuple[_Awaits, np.ndarray]:
    """Add the matrix results that tokens read to their dependencies; return when those are ready, int64.

    A result is ready after the documented cycles, or sooner if an instruction read it sooner in the trace.
    """
    n, lines = len(stream), stream.lines
    latency = np.zeros(n, dtype=np.int64)
    writes = lines.passes > 0
    if not writes[stream.line].any():
        return awaits, latency
    reader = np.flatnonzero((stream.unit != NONE) & (stream.unit != BRANCH))
    found = uses(lines, stream.history, reader, (MATRIX,))
    reader, writer = reader[found.row], found.writer
    least = lines.result.copy()
    np.minimum.at(least, stream.line[writer], stream.issue[reader] - stream.issue[writer])
    known = np.where(writes, np.maximum(least, 0), 0)
    latency[writer] = known[stream.line[writer]]
    wait = np.repeat(np.arange(n), np.diff(awaits.await_first))
    key = ascending(np.concatenate([wait * n + awaits.awaited, reader * n + writer]))
    counts = np.bincount(key // n, minlength=n)
    return replace(awaits, await_first=borders(counts), awaited=key % n), latency


def _memory(stream: TokenStream, awaits: _Awaits, sent: np.ndarray, tail: np.ndarray) -> _Memory:
    """Return how operations queue, and when each returned at the latest.

    If a wait ended with an operation, its return is known.  Else it returned before the first wait for it
    that did not stall, before newer operations that return in order, and before its wave ended.
    """
    issue, n, observed = stream.issue, len(stream), seen(stream)
    numbers = np.full(PLACES, NO_INDEX, dtype=np.int64)
    numbers[list(_QUEUES)] = list(_QUEUES.values())
    queue = numbers[stream.unit]
    is_operation = queue >= 0
    is_operation[awaits.awaited] = True
    operation = np.flatnonzero(is_operation)
    order = observed.order[stream.line[operation]]
    operation = operation[np.lexsort((operation, order, stream.owner[operation]))]
    latest, drains = _latest(stream, awaits, operation, tail)
    known, returned = returns(stream)
    is_measured = np.zeros(n, dtype=bool)
    is_measured[known[returned == latest[known]]] = True
    newest = np.zeros(len(tail), dtype=np.int64)
    np.maximum.at(newest, stream.owner[operation], operation)
    ended = newest[drains]
    is_measured[ended[latest[ended] == (issue[stream.tokens.first[1:] - 1] + tail)[drains]]] = True
    service = np.where(is_operation, observed.service[stream.line], 0)
    gone = np.where(queue >= 0, sent, issue)
    for number in range(len(_QUEUES)):
        rows = in_time(stream, np.flatnonzero(queue == number))
        gone[rows], service[rows] = serve(gone[rows], service[rows], latest[rows])
    columns = {
        "is_measured": is_measured,
        # The end of a wave may have waited for operations.
        "tail": np.where(drains, np.minimum(tail, _END_TURNS * stream.lines.step), tail),
        **_narrow(queue=queue, service=service),
    }
    return _Memory(columns, operation, gone, latest - gone)


def _returned(stream: TokenStream, memory: _Memory, guess: Guess) -> tuple[np.ndarray, np.ndarray]:
    """Return how long operations took after their queue, and when they returned, int64 by token.

    Where that is not known, they took a time that is usual for their kind, but not too long.
    """
    operation, most = memory.operation, memory.most[memory.operation]
    is_measured = memory.columns["is_measured"][operation]
    usual = _usual(stream, operation, is_measured, most, guess.order)
    rest = np.minimum(most, np.rint(usual * guess.latency).astype(np.int64))
    took, back = np.zeros((2, len(stream)), dtype=np.int64)
    took[operation] = np.where(is_measured, most, rest)
    back[operation] = memory.gone[operation] + took[operation]
    return took, _in_order(stream, operation, back)


def _latest(
    stream: TokenStream, awaits: _Awaits, operation: np.ndarray, tail: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the latest possible return of each token's operation, and for which waves that was the end.

    `operation` are tokens ordered by wave and then by class.
    """
    n = len(stream)
    first, issue, owner = stream.tokens.first, stream.issue, stream.owner
    wait = np.repeat(np.arange(n), np.diff(awaits.await_first))
    latest = np.full(n, FAR)
    np.minimum.at(latest, awaits.awaited, issue[wait])
    last = issue[np.maximum(first[1:] - 1, 0)] if n else np.zeros(len(tail), dtype=np.int64)
    open_ = operation[latest[operation] == FAR]
    drains = np.zeros(len(tail), dtype=bool)
    drains[owner[open_]] = True
    drains &= tail > _END_TURNS * stream.lines.step
    latest[open_] = (last + tail)[owner[open_]]
    # Newer operations that return in order returned no earlier.
    group = owner[operation] * CLASSES + seen(stream).order[stream.line[operation]]
    rows = operation[::-1]
    backwards = np.cumsum(starts_run(group[::-1]))
    free = group[::-1] % CLASSES == 0
    shift = backwards * (int(issue.max(initial=0)) + int(tail.max(initial=0)) + 1)
    lowest = np.minimum.accumulate(latest[rows] - shift) + shift
    latest[rows] = np.where(free, latest[rows], lowest)
    return latest, drains


def _in_order(stream: TokenStream, operation: np.ndarray, back: np.ndarray) -> np.ndarray:
    """When operations return if each class returns in order of issue; rows as in `_latest`."""
    group = stream.owner[operation] * CLASSES + seen(stream).order[stream.line[operation]]
    value = back[operation]
    shift = np.cumsum(starts_run(group)) * (int(value.max(initial=0)) - int(value.min(initial=0)) + 1)
    found = back.copy()
    found[operation] = np.where(group % CLASSES == 0, value, np.maximum.accumulate(value + shift) - shift)
    return found


def _usual(
    stream: TokenStream, operation: np.ndarray, is_measured: np.ndarray, latency: np.ndarray, seed: int
) -> np.ndarray:
    """How long operations usually take after their queue, int64.

    Each takes a latency that was measured for its instruction, or else for its kind, so that they vary as
    the measured ones do.  A kind without measurements takes the latency from the survey.
    """
    form, line = stream.lines.form.astype(np.int64), stream.line[operation]
    usual = np.rint(np.exp(stream.survey.mean[stream.engine])).astype(np.int64)[line]
    drawn = np.random.default_rng(seed).random(len(stream))[operation]
    for group, enough in ((form, 1), (np.arange(len(form)), _OF_A_LINE)):
        own = group[line]
        of, known = own[is_measured], latency[is_measured]
        known = known[np.lexsort((known, of))]
        count = np.bincount(of, minlength=int(group.max()) + 1)
        is_known = count[own] >= enough
        place = (np.cumsum(count) - count)[own] + (drawn * count[own]).astype(np.int64)
        usual[is_known] = known[place[is_known]]
    return usual


def arbitrated(recording: Recording) -> Recording:
    """Return a changed recording in which ties follow the rule of each unit instead of the recorded order."""
    return replace(recording, rank=recording.ruled)


def reordered(recording: Recording, seed: int) -> Recording:
    """Return a recording in which the executions of each instruction exchange their measured latencies."""
    rows = np.flatnonzero(recording.is_measured)
    drawn = np.random.default_rng(seed).random(len(rows))
    line, latency = recording.line[rows], recording.latency.copy()
    latency[rows[np.argsort(line, kind="stable")]] = latency[rows[np.lexsort((drawn, line))]]
    return replace(recording, latency=latency)


def _barriers(stream: TokenStream) -> dict[str, np.ndarray]:
    """Return the meetings where tokens wait and arrive, the arrivals that open each, and its delay."""
    at, met, n = stream.crossings, stream.meetings, len(stream)
    meeting, signals = np.full((2, n), NO_INDEX, dtype=np.int64)
    meeting[at.token] = met.of
    signals[at.signal] = met.of
    members = np.bincount(met.of, minlength=len(met))
    arrived = np.full(len(met), -(1 << 62))
    np.maximum.at(arrived, met.of, _arrivals(stream))
    opened = np.full(len(met), 1 << 62)
    held = at.is_held
    np.minimum.at(opened, met.of[held], stream.issue[at.token[held]])
    opening = np.where(opened < 1 << 62, np.maximum(opened - arrived, 0), 0)
    return {"meeting": meeting, "signals": signals, "members": members, "opening": opening}


def _arrivals(stream: TokenStream) -> np.ndarray:
    """When waves arrived at barriers; for a single barrier instruction, when they came to it."""
    at = stream.crossings
    return np.where(at.signal == at.token, stream.start[at.token], stream.issue[at.signal])


def _ready(stream: TokenStream, frame: _Frame, back: np.ndarray) -> np.ndarray:
    """When tokens were ready, without their own delay; `back` is when operations and results were ready."""
    first, awaited, opening = (frame.columns[name] for name in ("await_first", "awaited", "opening"))
    ready = stream.start + frame.columns["least"]
    waits = np.flatnonzero(np.diff(first))
    if len(waits):
        latest = np.maximum.reduceat(back[awaited], first[waits])
        ready[waits] = np.maximum(ready[waits], latest)
    at = stream.crossings
    if len(at):
        last = np.full(len(opening), -(1 << 62))
        np.maximum.at(last, stream.meetings.of, _arrivals(stream))
        ready[at.token] = np.maximum(ready[at.token], (last + opening)[stream.meetings.of])
    return np.minimum(ready, stream.issue)


def by_age(stream: TokenStream) -> np.ndarray:
    """Return which units take the oldest wave first, bool by unit of `attribution.lines`.

    A recording shows the order in which waves went.  With a change other waves meet, and a rule is needed:
    real captures show that arithmetic and the matrix unit take the oldest wave of their SIMD (96 to 100 % of
    ties where there are many), and that memory pipes, which all SIMDs share, do not look at the age.
    """
    found = np.zeros(MESSAGE + 1, dtype=bool)
    for usual, units in KINDS:
        ties = {unit: _ties(stream, unit, usual) for unit in units}
        whole = np.concatenate([*ties.values()])
        for unit in units:
            won = ties[unit] if len(ties[unit]) >= FEW else whole
            found[unit] = won.mean() >= MOSTLY if len(won) >= FEW else usual
    return found


def _ties(stream: TokenStream, unit: int, is_of_simd: bool) -> np.ndarray:
    """Return whether the older wave went first, for each two waves that both waited for a unit, bool."""
    token = in_time(stream, stream.of_unit(unit))
    if is_of_simd:
        token = token[np.argsort(stream.simd[stream.owner[token]], kind="stable")]
    first, second = token[:-1], token[1:]
    one, other = stream.owner[first], stream.owner[second]
    begin = stream.tokens.lives[0]
    is_tie = (stream.start[first] < stream.issue[first]) & (stream.start[second] <= stream.issue[first])
    is_tie &= begin[one] != begin[other]
    if is_of_simd:
        is_tie &= stream.simd[one] == stream.simd[other]
    return (begin[one] < begin[other])[is_tie]


def _units(stream: TokenStream, has_contention: bool) -> _Units:
    """Return which unit each token takes, and for how long no other token got it.

    A unit is held as long as the form of the instruction says, but never past the next recorded begin.
    """
    unit, observed = stream.unit.astype(np.int64), seen(stream)
    is_simd = np.isin(unit, _OF_SIMD)
    number = np.where(is_simd, 1 + stream.simd[stream.owner], 0) * PLACES + unit
    is_own = np.isin(unit, _OWN) | (not has_contention)
    resource = np.where(is_own, NO_INDEX, number)
    depth = np.zeros(max(PLACES, int(resource.max(initial=0)) + 1), dtype=np.int64)
    for memory, cycles in observed.depth.items():
        depth[memory] = cycles
    held = observed.hold[stream.line]
    held = np.where(unit == MATRIX, np.maximum(held, stream.lines.passes[stream.line]), held)
    rows = in_time(stream, np.flatnonzero(resource >= 0))
    taken = pipe(resource[rows], stream.issue[rows], stream.start[rows], held[rows], depth)
    hold = np.zeros(len(stream), dtype=np.int64)
    sent, since = stream.issue.copy(), stream.issue.copy()
    hold[rows], sent[rows], since[rows] = taken
    columns = {"depth": depth, "in_turn": np.zeros(len(depth), dtype=bool)}
    return _Units(columns | _narrow(resource=resource, hold=hold), sent, since)


def _slots(stream: TokenStream, begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the wave whose end freed the slot of each wave, and how long after that end the wave began."""
    waves = stream.tokens.waves
    keys = np.array([(wave.id.simd, wave.id.slot) for wave in waves], dtype=np.int64).reshape(-1, 2)
    before = np.full(len(waves), NO_INDEX, dtype=np.int32)
    rows = np.lexsort((begin, keys[:, 1], keys[:, 0]))
    is_next = ~starts_run(keys[rows, 0], keys[rows, 1])[1:] & (begin[rows[1:]] >= end[rows[:-1]])
    before[rows[1:][is_next]] = rows[:-1][is_next]
    handover = np.where(before >= 0, begin - end[before], 0)
    return before, handover
