"""Three facts that attribution needs and that only all waves of a capture together provide.

How long operations usually take is measured at waits with a single candidate; it decides which operation
ended the other waits.  Workgroups are as large as most of them are, so all barriers are needed to determine
which waves met.  A full queue is blamed on the operation that it took last, however long ago that was.
Everything else that a rule needs happened on the same compute unit at about the same time.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy import ndarray

from rcv_py.analysis.attribution.causes import Cause
from rcv_py.analysis.attribution.lines import MEMORY, SMEM, LineTraits, lines
from rcv_py.analysis.core.parcels import MARGIN, Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field, tables
from rcv_py.analysis.core.saturated import Sums
from rcv_py.analysis.core.token_columns import TokenColumns
from rcv_py.analysis.waits.waitcnt.replay import WaitLinks, replay
from rcv_py.analysis.waves.barriers import GFX9_DELAY, MAX_DELAY, meetings
from rcv_py.analysis.waves.workgroups import Barriers, barriers_of, grouped, joined_barriers
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, ends_run, largest_in, order, run_starts, starts_run
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave

BEYOND = 1.25  # times the 99th percentile of LDS latencies: no access takes this long
SEEN = 3  # instructions with measured LDS latencies that suffice for a limit on all
_USUAL = {  # cycles of an operation that no wait measured, by kind
    Cause.WAIT_LDS: 100,
    Cause.WAIT_CROSS_LANE: 100,
    Cause.WAIT_SCALAR: 250,
    Cause.WAIT_MESSAGE: 250,
    Cause.WAIT_EXPORT: 250,
}
_MEMORY = 800  # cycles of all other operations that no wait measured
_WIDE = 0.7  # spread of the logarithm of such a latency
_SPREAD, _WEIGHT = 0.25, 4  # prior spread, and the number of samples that it counts as
_OF_A_LINE = 4  # samples from which on an instruction is judged by its own latencies
_APART = 0.3  # spread of the logarithm between instructions of a kind
_SHIFT = 31  # bits of an age in a key
_OLDEST = (1 << _SHIFT) - 1  # cycles, a second


class Candidates(Value):
    """Operations that may have ended a wait, in order of wait and issue."""

    token: ndarray  # int64, the wait
    operation: ndarray  # int64
    age: ndarray  # int64, cycles from its issue to the end of the wait, at least 1

    @property
    def is_alone(self) -> ndarray:
        """Whether the wait has no other candidate, bool."""
        return starts_run(self.token) & ends_run(self.token)


def candidates(
    links: WaitLinks, line: ndarray, of_code: LineTraits, issue: ndarray, issued: Callable[[ndarray], ndarray]
) -> Candidates:
    """Return the newest of operations in order, the newest of each other kind, and every scalar load.

    An operation that two counters count (flat) is one candidate.  `line` (rows of `of_code`) and `issue` are
    columns of all tokens; `issued` returns when given operations finished issuing.
    """
    row, operation = links.row_of, links.producers
    form, is_scalar = (column.take(line.take(operation)) for column in (of_code.form, of_code.unit == SMEM))
    kind = np.where(links.is_ordered.take(row), 0, 1 + form.astype(np.int64))
    rows = order(row * (2 + len(Cause)) + kind)  # the operations of a row are in order of issue
    row, operation, kind = row.take(rows), operation.take(rows), kind.take(rows)
    keep = np.flatnonzero(ends_run(row, kind) | ((kind > 0) & is_scalar.take(rows)))
    token, operation = links.token.take(row.take(keep)), operation.take(keep)
    rows = order(token * len(line) + operation)
    token, operation = token.take(rows), operation.take(rows)
    once = np.flatnonzero(starts_run(token, operation))
    token, operation = token.take(once), operation.take(once)
    return Candidates(token, operation, np.maximum(issue.take(token) - issued(operation), 1))


def candidates_in(tokens: TokenColumns, links: WaitLinks, line: ndarray, trace: Trace) -> Candidates:
    """Return the candidates of all waits of some waves, given the row of Lines of each token."""
    issued = tokens.ends_at if trace.architecture.busy_is_issue else tokens.issue.take
    return candidates(links, line, lines(trace.code, trace.architecture), tokens.issue, issued)


class LastOperations(ColumnTable):
    """The last operation of each memory unit that each wave issued: by unit, time and wave.

    An operation is left out if another one follows within MARGIN cycles: the wave that issued the follower
    is a neighbour of all waves for which the operation would be the last.
    """

    place: ndarray  # int64, `place_of` its unit
    issue: ndarray  # int64, cycles, aligned
    wave: ndarray  # int64, row of the wave index
    line: ndarray  # int64, row of Lines

    def of(self, place: int) -> slice:
        """The operations of a unit."""
        low, high = np.searchsorted(self.place, (place, place + 1)).tolist()
        return slice(low, high)


Numbers = TypeVar("Numbers", int, ndarray)


def place_of(se: Numbers, cu: Numbers, unit: Numbers) -> Numbers:
    """Return a number for a memory unit of a compute unit."""
    return ((se << 20) + cu << 8) + unit


class Survey(Value):
    """The three facts; engines are the shader engines of the waves that were read."""

    engine: ndarray  # int64 [e], shader engines, ascending
    mean: ndarray  # float64 [e, rows of Lines], mean logarithm of the latency of each operation
    spread: ndarray  # float64 [e, rows of Lines], spread of that logarithm
    longest: ndarray  # float64 [e, rows of Lines], cycles that no operation exceeds; inf: unknown
    delay: ndarray  # int64 [e], cycles that a barrier itself takes, as in Meetings
    group: ndarray  # int32 [waves of the trace], workgroup of each within its engine; -1: not read
    last: LastOperations

    def place(self, se: int) -> int:
        """The row of a shader engine."""
        return int(np.searchsorted(self.engine, se))

    def groups(self, waves: Sequence[TracedWave]) -> ndarray:
        """The workgroups of some waves, int64."""
        return self.group[[wave.row for wave in waves]].astype(np.int64)


class _Seen(Value):
    """Data from some waves: the latencies of each operation, barriers and last operations."""

    ages: Sums  # engine, row of LineTraits, cycles; and how often
    barriers: Barriers
    last: LastOperations


def _map(trace: Trace, parcel: Parcel) -> _Seen:
    tokens, of_code = parcel.begun, lines(trace.code, trace.architecture)
    line = tokens.code_rows(len(trace.code))
    found = candidates_in(tokens, replay(tokens, trace.code, trace.architecture), line, trace)
    some = np.flatnonzero(found.is_alone & (tokens.stall.take(found.token) > of_code.step))
    of_wait = tokens.engines.take(tokens.owner.take(found.token.take(some)))
    place = of_wait * len(of_code) + line.take(found.operation.take(some))
    key = place << _SHIFT | np.minimum(found.age.take(some), _OLDEST)
    last = _last_operations(tokens, line, of_code.unit)
    return _Seen(np.unique(key, return_counts=True), barriers_of(trace, parcel), last)


def _last_operations(tokens: TokenColumns, line: ndarray, unit_of: ndarray) -> LastOperations:
    """Return the last operations; `unit_of` is the unit of each row of Lines."""
    work = np.flatnonzero(np.isin(unit_of, MEMORY).take(line))
    unit, last = unit_of.take(line.take(work)), []
    for each in MEMORY:
        mine = work.take(np.flatnonzero(unit == each))
        first = run_starts(tokens.owner.take(mine))
        stop = np.append(first, len(mine))[1:]
        last.append(mine[largest_in(tokens.issue.take(mine), first, stop, is_last=True)])
    rows = np.sort(np.concatenate(last))
    owner = tokens.owner[rows]
    place = place_of(tokens.engines[owner], tokens.cus[owner], unit_of[line[rows]].astype(np.int64))
    return LastOperations(place, tokens.issue[rows], tokens.rows[owner], line[rows])


def _finish(trace: Trace, part: _Seen) -> Survey:
    of_code = lines(trace.code, trace.architecture)
    engine = ascending(part.barriers.waves.se)
    key, times = part.ages
    place, age = key >> _SHIFT, (key & _OLDEST).astype(np.float64)
    mean, spread, longest = np.zeros((3, len(engine), len(of_code)))
    delay = np.zeros(len(engine), dtype=np.int64)
    group = np.full(len(trace.waves), -1, dtype=np.int32)
    slowest = GFX9_DELAY if of_code.step == 4 else MAX_DELAY
    for at, se in enumerate(engine.tolist()):
        some = np.flatnonzero(place // len(of_code) == se)
        samples = place[some] % len(of_code), age[some], times[some]
        mean[at], spread[at] = _latency(of_code, *samples)
        longest[at] = _longest(of_code, *samples)
        here = part.barriers.of_engine(se)
        number, _ = grouped(here.waves, here.at)
        group[here.waves.row] = number
        delay[at] = meetings(here.at, number, here.waves.last_end, slowest).delay
    last = part.last.at(np.lexsort((part.last.wave, part.last.issue, part.last.place)))
    is_alone = ends_run(last.place)  # no operation of the same place follows within MARGIN
    is_alone[:-1] |= last.issue[1:] - last.issue[:-1] > MARGIN
    last = last.at(is_alone)
    return Survey(engine, mean, spread, longest=longest, delay=delay, group=group, last=last)


def _latency(of_code: LineTraits, line: ndarray, age: ndarray, times: ndarray) -> tuple[ndarray, ndarray]:
    """Mean and spread of the log latency of each line; else of its kind; else the default."""
    form = of_code.form.astype(np.int64)
    usual = np.array([float(_USUAL.get(Cause(cause), _MEMORY)) for cause in range(len(Cause))])
    mean, spread = np.log(usual)[form], np.full(len(form), _WIDE)
    sample, measured = np.log(age), np.bincount(form[ascending(line)], minlength=len(Cause))
    others = _APART / np.sqrt(np.maximum(measured, 1))[form]
    for of, needed, more in ((form, 1, others), (np.arange(len(form)), _OF_A_LINE, 0.0)):
        own, size = of[line], int(of.max()) + 1
        count = np.bincount(own, times, size)
        middle = np.bincount(own, sample * times, size) / np.maximum(count, 1)
        apart = np.bincount(own, (sample - middle[own]) ** 2 * times, size)
        width = np.sqrt((apart + _WEIGHT * _SPREAD**2) / (count + _WEIGHT))
        is_known = (count >= needed)[of]
        mean = np.where(is_known, middle[of], mean)
        spread = np.where(is_known, np.hypot(width[of], more), spread)
    return mean, spread


def _longest(of_code: LineTraits, line: ndarray, age: ndarray, times: ndarray) -> ndarray:
    """Cycles that exceed almost all measured LDS latencies, for LDS operations; infinite for others.

    A single instruction says nothing about others, which may have more accesses before them in the queue.
    """
    longest = np.full(len(of_code), np.inf)
    for cause in (Cause.WAIT_LDS, Cause.WAIT_CROSS_LANE):
        rows = np.flatnonzero(of_code.form[line] == cause)
        if len(ascending(line[rows])) >= SEEN:
            rows = rows[np.argsort(age[rows], kind="stable")]
            before = np.cumsum(times[rows])
            rank = min(int(before[-1]) - 1, int(before[-1]) * 99 // 100)
            at = rows[np.searchsorted(before, rank, side="right")]
            longest[of_code.form == cause] = BEYOND * age[at]
    return longest


_MERGE = by_field(_Seen, ages=added(1), barriers=joined_barriers, last=tables(LastOperations.empty()))
SURVEY = Reduction(_map, _MERGE, _finish)
