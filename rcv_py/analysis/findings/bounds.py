"""Upper bound of what removing waits can win: SIMD cycles with such a wait in which nothing happens.

```
wave 0     ░░░░░░░░██··       ░ waits for the load of instruction 7
wave 1     ····░░░░░░░░       █ issues, m: the matrix unit works
SIMD       mm▓▓▓▓▓▓██▓▓       ▓ nothing happens, and a wave waits for that load: 8 cycles
```
Waves that wait at the same time share the cycles of their SIMD, so a bound is a union, not a sum: here the
waves wait for 8 and 8 cycles, 6 and 6 of them exposed.  Waiting less cannot win cycles in which another wave
issues or the matrix unit works (`simd_work`).

Every claimed cycle of a wave has one cause and one place in time (`attribution`), so bounds behave like sizes
of sets: adding waits never lowers a bound, and the bound of two sets is at most the sum of their bounds.

What the waves of a SIMD wait for at a time is a set of rows of the attribution.  Bounds need only the cycles
of each set in which nothing happens: there are few sets, because waves repeat each other.

Exposure is all that can be won, and the time that waves take to end.  Time under s_endpgm is not issue: the
wave waits there for its last operations.
"""

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from rcv_py.analysis.attribution import attribute
from rcv_py.analysis.attribution.stream import TokenStream, stream_of
from rcv_py.analysis.attribution.survey import Survey
from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field, totals
from rcv_py.analysis.device.simd_work import (
    SimdCycles,
    SimdWork,
    joined_cycles,
    simd_cycles,
    work_inside,
    work_of,
)
from rcv_py.analysis.findings.worst import WorstExecutions, joined_worst, worst_of
from rcv_py.analysis.program.branches import ends_of, rests
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending, borders, numbered, ranges, run_starts, scrambled
from rcv_py.model.columns import ColumnTable
from rcv_py.model.trace import Trace

_NONE = np.zeros(0, dtype=np.int64)
AT_ONCE = 1 << 15  # spans in a block, which limits the length of temporary columns


class Bound(Value):
    """An upper bound of what some waits cost."""

    cycles: int  # of SIMDs, in which at least one wave waits this way and nothing happens
    share: float  # of the cycles in which a SIMD held a wave, 0 to 1
    exposed: int  # the same cycles, summed over the waves that wait: at least `cycles`


class Exposure(Value):
    """Cycles of SIMDs and of waves, as defined in `simd_work`."""

    resident: int = 0  # cycles in which a SIMD held a wave, summed over SIMDs
    no_issue: int = 0  # of them, cycles in which none of its waves issued
    nothing: int = 0  # of those, cycles in which no unit of the SIMD worked either: no change can win more
    matrix: int = 0  # of the resident ones, cycles in which the matrix unit worked
    lives: int = 0  # cycles that waves lived, summed over waves
    waves: int = 0
    ending: int = 0  # cycles under s_endpgm, summed over waves
    exposed_ending: int = 0  # of them, cycles in which nothing happened on the SIMD
    nothing_ending: int = 0  # cycles of SIMDs in which a wave was under s_endpgm and nothing happened

    @property
    def issuing(self) -> int:
        """Cycles in which a SIMD with a wave issued, summed over SIMDs."""
        return self.resident - self.no_issue

    @property
    def working(self) -> int:
        """Cycles in which a SIMD with a wave issued or a unit of it worked, summed over SIMDs."""
        return self.resident - self.nothing


_OF_SIMDS = ("resident", "no_issue", "nothing", "matrix")
_OF_WAVES = ("lives", "waves", "ending", "exposed_ending", "nothing_ending")


class Sets(ColumnTable):
    """Sets of waits that were open at the same time on a SIMD while nothing happened, one row a set.

    Set i has the keys (`keys_of` claims) `member[first[i]:first[i + 1]]`, ascending, none of them twice.
    """

    sign: np.ndarray  # uint64, identifies the set: the sum of a random number for each key
    cycles: np.ndarray  # int64, summed over SIMDs
    first: np.ndarray  # int64 [sets + 1]
    member: np.ndarray  # int64


def sets_of(known: np.ndarray, number: np.ndarray, first: np.ndarray, last: np.ndarray) -> Sets:
    """Return the sets of waits, given the cycles in which nothing happened before begin and end of each.

    `number` is the index of each wait's key in `known`; no wait is empty.
    """
    time, place = numbered(np.append(first, last))
    begin, end = place[: len(first)], place[len(first) :]
    # Merge simultaneous waits with the same key: each key is shifted to an axis of its own.
    shift = number * len(time)
    merged = IntervalSet.of(begin + shift, end + shift)
    number = merged.begin // max(1, len(time))
    begin, end = merged.begin - number * len(time), merged.end - number * len(time)
    # Sum of the random numbers of the keys that are open after each time.
    random = scrambled(known)
    change = np.zeros(len(time), dtype=np.uint64)
    random = random.take(number)
    np.add.at(change, begin, random)
    np.subtract.at(change, end, random)
    sign, at, of = _signs(np.cumsum(change)[:-1])
    cycles = saturated.sums(of, np.diff(time), len(sign))
    # The waits that are open after one time of each set.
    order = np.argsort(at)
    is_one = np.zeros(len(time), dtype=bool)
    is_one[at] = True
    before = borders(is_one)
    low, high = before.take(begin), before.take(end)
    place = order.take(ranges(low, high - low))
    member = known.take(np.repeat(number, high - low))
    count = np.bincount(place, minlength=len(sign))
    some = np.flatnonzero(count)
    return Sets(sign[some], cycles[some], borders(count[some]), member[np.lexsort((member, place))])


def _signs(sign: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct signs, ascending, the first row of each, and the index of each row's sign.

    Signs are few, so sorting rows by 16 bits of the sign nearly sorts them by sign; signs that share these
    bits by chance add a few more runs.
    """
    rows = np.argsort(sign.astype(np.uint16), kind="stable")
    ordered = sign.take(rows)
    first = run_starts(ordered)
    known, of_run = np.unique(ordered[first], return_inverse=True)
    at = np.full(len(known), len(rows))
    np.minimum.at(at, of_run, rows[first])
    number = np.empty(len(rows), dtype=np.int64)
    number[rows] = np.repeat(of_run, np.diff(first, append=len(rows)))
    return known, at, number


def joined_sets(parts: Sequence[Sets]) -> Sets:
    """Return the sets of several parcels, by their signs."""
    sign = np.concatenate([_NONE.astype(np.uint64), *(part.sign for part in parts)])
    cycles = np.concatenate([_NONE, *(part.cycles for part in parts)])
    count = np.concatenate([_NONE, *(np.diff(part.first) for part in parts)])
    member = np.concatenate([_NONE, *(part.member for part in parts)])
    sign, at, of = _signs(sign)
    every = Sets(sign, saturated.sums(of, cycles, len(sign)), borders(count), member)
    once = ranges(every.first[at], count[at])
    return Sets(every.sign, every.cycles, borders(count[at]), member[once])


class Bounds(Record):
    """An attribution, and the sets of waits open at the same time on a SIMD while nothing happened."""

    table: attribute.Attribution
    exposed: np.ndarray  # int64, a row of the table: cycles in which nothing happened, summed over waves
    sets: Sets
    row: np.ndarray  # int64, row of the table of each member of the sets
    worst: WorstExecutions  # of each instruction for each cause
    exposure: Exposure

    def of(self, rows: np.ndarray) -> Bound:
        """Return the bound of the waits in some rows of the attribution."""
        is_meant = np.zeros(len(self.table) + 1, dtype=bool)
        is_meant[rows] = True
        has = np.bincount(self._set[is_meant[self.row]], minlength=len(self.sets)) > 0
        exposed = saturated.total(self.exposed[np.flatnonzero(is_meant[:-1])])
        return _bound(saturated.total(self.sets.cycles[has]), exposed, self.exposure.resident)

    @cached_property
    def _set(self) -> np.ndarray:
        """The set of each member, int64."""
        return np.repeat(np.arange(len(self.sets)), np.diff(self.sets.first))

    def by_group(self, rows: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
        """Return the bound of each group of rows, cycles, int64 [count].

        `group[i]` is the group of `rows[i]`, such as its instruction; the sum over groups may exceed the
        bound of all rows together.
        """
        of_row = np.full(len(self.table) + 1, -1, dtype=np.int64)
        of_row[rows] = group
        mine = of_row[self.row]
        some = np.flatnonzero(mine >= 0)
        once = ascending(self._set[some] * max(1, count) + mine[some])
        return saturated.sums(once % max(1, count), self.sets.cycles[once // max(1, count)], count)


def _bound(cycles: int, exposed: int, resident: int) -> Bound:
    return Bound(cycles, cycles / resident if resident else 0.0, exposed)


class Waited(Value):
    """Waits of the waves of some parcels: their attribution, its exposed part, and worst executions."""

    sums: attribute.AttributionSums
    exposed: saturated.Sums  # key of line, cause and producer; cycles in which nothing happened, of all waves
    sets: Sets
    worst: WorstExecutions
    cycles: SimdCycles
    lives: np.ndarray  # int64 [5], the rest of an Exposure


def _map_waits(survey: Survey, left_out: frozenset[int], trace: Trace, parcel: Parcel) -> Waited:
    stream, work = stream_of(trace, parcel.tokens, survey), work_of(trace, parcel, left_out)
    waited = partial(_waited, trace, stream, rests(parcel.tokens, ends_of(trace.code)))
    pieces = parcel.in_time()
    if len(pieces) == 1:
        return waited(parcel, work)
    return _merge_waits([waited(piece, work_inside(work, piece)) for piece in pieces])


def _exposed(work: SimdWork, shift: np.ndarray, spans: attribute.TimedClaims) -> tuple[np.ndarray, ...]:
    """Return the keys of spans with exposed cycles, and the quiet cycles before begin and end of each; int64.

    In quiet cycles nothing happens.  `shift` moves times of each wave onto the axis of SIMDs.
    """
    found = [(_NONE, _NONE, _NONE)]
    for first in range(0, len(spans.key), AT_ONCE):
        part = spans.at(slice(first, first + AT_ONCE))
        begin, end = (work.axis.held(time) + shift.take(part.owner) for time in (part.begin, part.end))
        low, high = work.nothing.covered_before_each(begin, end)
        some = np.flatnonzero(high > low)
        found.append((part.key.take(some), low.take(some), high.take(some)))
    return tuple(map(np.concatenate, zip(*found, strict=True)))


def _waited(
    trace: Trace, stream: TokenStream, ends: tuple[np.ndarray, np.ndarray], parcel: Parcel, work: SimdWork
) -> Waited:
    """Waits of the waves in a piece of a parcel, given its stream and `ends` (see `rests`)."""
    is_there = parcel.chosen & np.isin(parcel.tokens.places, work.axis.place)
    shift, sums, worst, exposed = work.axis.shift(parcel.tokens), [], [], []
    for each in attribute.claims_of(trace, parcel, stream):
        sums.append(attribute.sums_of(each))
        worst.append(worst_of(each))
        spans = attribute.timed(each, is_there)  # other waves are left out
        del each  # from here on only the spans are needed
        exposed.append(_exposed(work, shift, spans))
        del spans
    key, low, high = map(np.concatenate, zip(*exposed, strict=True))
    del exposed
    key, number = numbered(key)
    return Waited(
        sums=attribute.AttributionSums(saturated.joined_sums(sums), len(parcel.own.waves)),
        exposed=(key, saturated.sums(number, high - low, len(key))),
        sets=sets_of(key, number, low, high),
        worst=joined_worst(worst),
        cycles=simd_cycles(work),
        lives=_lives(work, parcel, ends),
    )


_merge_waits = by_field(
    Waited,
    sums=attribute.joined_attribution,
    exposed=added(1),
    sets=joined_sets,
    worst=joined_worst,
    cycles=joined_cycles,
    lives=totals(5),
)


def _bounds(trace: Trace, part: Waited) -> Bounds:
    table, rows = attribute.table_of(trace, part.sums), len(trace.code)
    exposed = np.zeros(len(table) + 1, dtype=np.int64)  # the last is for keys without a row
    key, cycles = part.exposed
    exposed[attribute.rows_of(key, table, rows)] = cycles
    return Bounds(
        table=table,
        exposed=exposed[:-1],
        sets=part.sets,
        row=attribute.rows_of(part.sets.member, table, rows),
        worst=part.worst,
        exposure=Exposure(
            **{name: int(getattr(part.cycles, name).sum()) for name in _OF_SIMDS},
            **dict(zip(_OF_WAVES, part.lives.tolist(), strict=True)),
        ),
    )


def bounds_by(survey: Survey, left_out: frozenset[int]) -> Reduction[Waited, Bounds]:
    """Return why waves waited, the bounds of these waits and their exposure, by a survey of all waves.

    `left_out` is the result of ASTRAY.
    """
    return Reduction(partial(_map_waits, survey, left_out), _merge_waits, _bounds, is_together=True)


def _lives(work: SimdWork, parcel: Parcel, ends: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Cycles that waves lived, waves, and cycles of their ends (see `rests`) as in Exposure, int64 [5]."""
    own = [wave for wave in parcel.own.waves if wave.row not in work.left_out]
    lived = sum(max(0, wave.end - wave.begin) for wave in own)
    tokens = parcel.tokens
    at, rest = ends
    is_in = parcel.chosen & np.array([wave.row not in work.left_out for wave in tokens.waves], dtype=bool)
    ending = int(rest[(is_in & parcel.is_own)[tokens.owner[at]]].sum())
    at, rest = (column[is_in[tokens.owner[at]]] for column in (at, rest))
    duration = tokens.stall[at].astype(np.int64) + tokens.busy[at]
    end = tokens.start[at] + duration + work.axis.shift(tokens)[tokens.owner[at]]
    nothing, exposed = _quiet(work, end - rest, end)
    return np.array([lived, len(own), ending, exposed, nothing], dtype=np.int64)


def _quiet(work: SimdWork, begin: np.ndarray, end: np.ndarray) -> tuple[int, int]:
    """Quiet cycles in spans on the axis of SIMDs: of the union, and summed."""
    first, last = work.nothing.covered_before_each(begin, end)
    return IntervalSet.of(first, last).total, int((last - first).sum())


class Ranges(Value):
    """A range of time for each of some waves."""

    wave: np.ndarray  # int64, rows of the wave index, ascending, each once
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned


def waiting_inside(left_out: frozenset[int], inside: Ranges) -> Reduction[np.ndarray, Bound]:
    """Return an upper bound of what stalls and gaps of some waves cost inside a range of each."""

    def bound(_trace: Trace, part: np.ndarray) -> Bound:
        resident, cycles, exposed = part.tolist()
        return _bound(cycles, exposed, resident)

    return Reduction(
        partial(_map_inside, left_out, inside), totals(3), bound, is_together=True, is_of_simd=True
    )


def _map_inside(left_out: frozenset[int], inside: Ranges, trace: Trace, parcel: Parcel) -> np.ndarray:
    """Cycles with a wave, and of waits in the ranges: their union, and summed over waves; int64 [3]."""
    work, tokens = work_of(trace, parcel, left_out), parcel.tokens
    row = tokens.rows
    at = np.minimum(np.searchsorted(inside.wave, row), max(0, len(inside.wave) - 1))
    is_meant = parcel.chosen & np.isin(row, inside.wave) & ~np.isin(row, list(left_out))
    some = np.flatnonzero(is_meant[tokens.owner])
    owner = tokens.owner[some]
    low, high = inside.begin[at[owner]], inside.end[at[owner]]
    start, shift = tokens.start[some], work.axis.shift(tokens)[owner]
    times = (start - tokens.idle[some], start + tokens.stall[some])
    spans = [np.clip(time, low, np.maximum(low, high)) + shift for time in times]
    return np.array([work.resident.total, *_quiet(work, *spans)], dtype=np.int64)
