"""What removing some waits can win at most: cycles of SIMDs in which a wave waits so and nothing happens.

```
wave 0     ░░░░░░░░██··       ░ waits for the load of instruction 7
wave 1     ····░░░░░░░░       █ issues, m: the matrix unit works
SIMD       mm▓▓▓▓▓▓██▓▓       ▓ nothing happens, and a wave waits for that load: 8 cycles
```
Waves that wait at once wait in the same cycles of their SIMD, so a bound is a union, not a sum: here the
waves wait for 8 and 8 cycles, 6 and 6 of them exposed.  Cycles in which another wave issues or the matrix
unit works cannot be won by waiting less (`simd_work`).

Every claimed cycle of a wave has one cause and one place in time (`attribution`), so bounds behave as sizes
of sets: more waits never have a smaller bound, and two sets of waits together none above the sum of both.

Times are kept as the number of cycles before them, over all SIMDs, in which nothing happens.  On that axis a
wait that is covered has no length, and the length of a union is the bound.

Exposure is what there is to win at all, and what waves spend ending.  Time under s_endpgm is no issue: a wave
waits there for its last operations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.attribution.attribute import Attribution, EngineClaims, claims_of, rows_of, summed, timed
from rcv_py.analysis.core.intervals import IntervalSet
from rcv_py.analysis.core.token_columns import TokenColumns, token_columns
from rcv_py.analysis.device.simd_work import SimdWork, without_rows
from rcv_py.analysis.program.program_ends import ends_of, under_end
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch


class Bound(NamedTuple):
    """What some waits can cost at most."""

    cycles: int  # of SIMDs, in which at least one wave waits so and nothing happens
    share: float  # of the cycles in which a SIMD held a wave, 0 to 1
    exposed: int  # the same cycles, summed over the waves that wait: at least `cycles`


def bound(first: np.ndarray, last: np.ndarray, work: SimdWork) -> Bound:
    """Return the bound of waits, given the cycles before begin and end of each in which nothing happened."""
    cycles, resident = IntervalSet.of(first, last).total, work.resident.total
    return Bound(cycles, cycles / resident if resident else 0.0, int((last - first).sum()))


@dataclass(frozen=True, eq=False)
class Bounds:
    """An attribution, and all of its waits of which some cycles are exposed.

    One row a stretch of time of one wave and cause: `row` int64 is the row of the table, -1 if it has none;
    `first` and `last` int64 are the cycles before begin and end in which nothing happened.
    """

    table: Attribution
    row: np.ndarray
    first: np.ndarray
    last: np.ndarray
    work: SimdWork

    def __len__(self) -> int:
        return len(self.row)

    def of(self, rows: np.ndarray) -> Bound:
        """Return the bound of the waits in some rows of the attribution."""
        some = np.flatnonzero(np.isin(self.row, rows))
        return bound(self.first[some], self.last[some], self.work)

    def by_group(self, rows: np.ndarray, group: np.ndarray, count: int) -> np.ndarray:
        """Return the bound of each group of rows, cycles, int64 [count].

        `group[i]` is the group of `rows[i]`, such as its instruction; the groups' bounds may add up to more
        than that of all of them.
        """
        sums = np.zeros(count, dtype=np.int64)
        of_row = np.full(int(max(self.row.max(initial=-1), rows.max(initial=-1))) + 1, -1, dtype=np.int64)
        of_row[rows] = group
        some = np.flatnonzero(self.row >= 0)
        some = some[of_row[self.row[some]] >= 0]
        if not len(some):
            return sums
        # Times by their rank, so that one axis holds all groups one after the other.
        time, rank = np.unique(np.append(self.first[some], self.last[some]), return_inverse=True)
        rank = rank.reshape(-1)
        shift = of_row[self.row[some]] * len(time)
        joined = IntervalSet.of(rank[: len(some)] + shift, rank[len(some) :] + shift)
        owner = joined.begin // len(time)
        cycles = time[joined.end - owner * len(time)] - time[joined.begin - owner * len(time)]
        np.add.at(sums, owner, cycles)
        return sums


def bounds(
    trace: Trace,
    batches: Sequence[WaveBatch],
    work: SimdWork,
    rows: Collection[int] | None = None,
    watch: Callable[[EngineClaims], None] = lambda _: None,
) -> Bounds:
    """Return why the waves whose index row is in `rows` (None: all) waited, and the bounds of these waits.

    `watch` is called with the claims that pass.
    """
    exposed = []

    def watched() -> Iterator[EngineClaims]:
        for each in claims_of(trace, batches, rows):
            watch(each)
            spans = timed(each, len(trace.code))
            shift = work.axis.shift_of(spans.se, spans.simd)
            quiet = _quiet(work, *(work.axis.held(time) + shift for time in (spans.begin, spans.end)))
            exposed.append(np.vstack([spans.key, quiet])[:, quiet[1] > quiet[0]])
            yield each

    table = summed(watched(), trace)
    key, first, last = np.concatenate([np.zeros((3, 0), dtype=np.int64), *exposed], axis=1)
    return Bounds(table, rows_of(key, table, len(trace.code)), first, last, work)


def _quiet(work: SimdWork, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Cycles in which nothing happens before begin and end of spans on the axis of SIMDs, int64 [2, n]."""
    return np.stack([work.nothing.covered_before(time) for time in (begin, end)])


def _bound_of(parts: Iterable[np.ndarray], work: SimdWork) -> Bound:
    first, last = np.concatenate([np.zeros((2, 0), dtype=np.int64), *parts], axis=1)
    return bound(first, last, work)


@dataclass(frozen=True, slots=True)
class Exposure:
    """Cycles of SIMDs and of waves; what they are made of is defined in `simd_work`."""

    resident: int  # cycles in which a SIMD held a wave, summed over SIMDs
    no_issue: int  # of them, cycles in which none of its waves issued
    nothing: int  # of those, cycles in which no unit of the SIMD worked either: no change can win more
    matrix: int  # of the resident ones, cycles in which the matrix unit worked
    lives: int  # cycles that waves lived, summed over waves
    waves: int
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


def exposure(
    trace: Trace, batches: Iterable[WaveBatch], work: SimdWork, rows: Collection[int] | None = None
) -> Exposure:
    """Return what there is to win for the waves whose index row is in `rows` (None: all), and their work."""
    counted = without_rows(
        [piece for piece in token_columns(batches, rows) if len(piece.waves)], work.left_out
    )
    ends = ends_of(trace.code)
    rests = [under_end(piece, ends) for piece in counted]
    ending = _bound_of(map(partial(_ending, work), counted, rests), work)
    return Exposure(
        resident=work.resident.total,
        no_issue=work.no_issue.total,
        nothing=work.nothing.total,
        matrix=work.resident_matrix.total,
        lives=sum(max(0, wave.end - wave.begin) for piece in counted for wave in piece.waves),
        waves=work.waves,
        ending=sum(int(rest.sum()) for rest in rests),
        exposed_ending=ending.exposed,
        nothing_ending=ending.cycles,
    )


def _ending(work: SimdWork, piece: TokenColumns, rest: np.ndarray) -> np.ndarray:
    at = np.flatnonzero(rest)
    shift = np.repeat(work.axis.shift(piece.waves), np.diff(piece.first))
    end = (piece.start + shift + piece.duration)[at]
    return _quiet(work, end - rest[at], end)


def waiting_inside(
    batches: Iterable[WaveBatch], work: SimdWork, waves: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> Bound:
    """Return what all stalls and gaps of some waves inside of a range of each can cost at most.

    `waves` are rows of the wave index, int64 [n], each once; `begin` and `end` the range of each, aligned
    cycles, int64 [n].
    """
    range_of = dict(zip(waves.tolist(), zip(begin.tolist(), end.tolist(), strict=True), strict=True))
    parts = without_rows(list(token_columns(batches, range_of)), work.left_out)
    return _bound_of((_inside(piece, work, range_of) for piece in parts), work)


def _inside(piece: TokenColumns, work: SimdWork, range_of: Mapping[int, tuple[int, int]]) -> np.ndarray:
    counts = np.diff(piece.first)
    ranges = np.array([range_of[wave.row] for wave in piece.waves], dtype=np.int64).reshape(-1, 2)
    low, high = (np.repeat(column, counts) for column in ranges.T)
    shift, start = np.repeat(work.axis.shift(piece.waves), counts), piece.start
    spans = [np.clip(time, low, np.maximum(low, high)) for time in (start - piece.idle, start + piece.stall)]
    return _quiet(work, *(time + shift for time in spans))
