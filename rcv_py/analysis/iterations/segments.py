"""Segments: work of waves from one barrier to the next, and of other waves of the workgroup meanwhile.

```
wave 0  ├─ begin → 40 ──b░░│── 40 → 90 ──────b│── 90 → 40 ──b░░░░│
wave 4  ├─ begin → 40 ────b│── 40 → 40 ──b░░░░│── 40 → 90 ──────b│
             turn 0              turn 1              turn 2
```
A segment begins when a wave leaves a barrier, or starts, and ends when it leaves the next barrier, or ends.
In it the wave works, and then waits in the barrier until the last wave of its workgroup arrives (░).
Segments with the same two barriers are one row.

In ping-pong schedules one half of a workgroup multiplies while the other fetches: a turn of the workgroup
holds several segments, and each row names the segment that others most often ran at the same time.

Time from one instruction to another, over all iterations:

```
wave     A ... B .. A ..... B . B . A ...      A → B: from each A to the first B after it, before the next A
              ^            ^                   the second B belongs to no A, the last A to no B
```
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core import saturated
from rcv_py.analysis.core.median import MEDIAN, at_ranks
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field, stacked
from rcv_py.analysis.core.saturated import Sums, summed, sums
from rcv_py.analysis.core.token_columns import sums_by_kind
from rcv_py.analysis.program.matrix_forms import passes_of
from rcv_py.analysis.waves.barriers import crossings, meetings
from rcv_py.analysis.waves.workgroups import Barriers, barriers_of, grouped, joined_barriers
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, distinct, ends_run, numbered, ranges, starts_run
from rcv_py.model.columns import ColumnTable
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.trace import Trace

OUTSIDE = -1  # instead of a barrier: the begin of a wave, or its end
WORKGROUP = 32  # maximum waves of a workgroup
_ENDS = 1 << 32  # factor in keys: more than code rows


class Segments(ColumnTable):
    """One row per pair of consecutive barriers in a wave, most cycles first.  Cycles are int64."""

    first: np.ndarray  # int32, code row of the barrier after which it begins; OUTSIDE: begin of the wave
    last: np.ndarray  # int32, code row of the barrier in which it ends; OUTSIDE: end of the wave
    hits: np.ndarray  # int64, executions
    waves: np.ndarray  # int64, that ran it
    cycles: np.ndarray  # of all executions, from leaving one barrier to leaving the next
    median: np.ndarray  # float64
    p90: np.ndarray  # float64, the value at 9 n // 10 of the sorted n
    waiting: np.ndarray  # part of the cycles: in the barrier at its end
    stall: np.ndarray  # part of the cycles before the barrier
    idle: np.ndarray  # the same, between instructions
    kinds: np.ndarray  # [n, kinds], cycles of stall and issue by kind of token, without the barrier
    matrix_busy: np.ndarray  # passes of its matrix instructions
    met: np.ndarray  # int64, executions that ended in a barrier with other traced waves
    came_last: np.ndarray  # int64, executions of `met` in which the wave was the last to arrive
    beside_first: np.ndarray  # int32, barriers of the segment that other waves of the workgroup
    beside_last: np.ndarray  # int32, ran most often in the same turn
    beside: np.ndarray  # int64, executions at the same time; 0: all others ran the same segment


class _Part(NamedTuple):
    barriers: Barriers  # of all waves
    counted: np.ndarray  # int64, index rows of the waves that count
    spent: Sums  # pair of barriers: stall, idle, kinds, matrix passes, of the waves that count


_SPENT = 3 + KIND_COUNT  # columns


def _map(trace: Trace, parcel: Parcel) -> _Part:
    tokens = parcel.own
    found = crossings(tokens, trace.code)
    key = _keys(*_ends(found.line, found.wave, len(tokens.waves)))
    is_barrier = np.zeros(len(tokens), dtype=bool)
    is_barrier[found.token] = True
    segment = np.cumsum(is_barrier) - is_barrier + tokens.owner  # a wave has one more segment than barriers
    inside, n = np.flatnonzero(~is_barrier), len(key)
    matrix, passes = passes_of(trace).of_tokens(tokens)
    columns = (
        sums(segment[inside], tokens.stall[inside], n),
        sums(segment, tokens.idle, n),
        *sums_by_kind(segment[inside], tokens.kind[inside], tokens.duration[inside], n).T,
        sums(segment[matrix], passes, n),
    )
    return _Part(barriers_of(trace, parcel), tokens.rows, summed(key, *columns))


def _ends(line: np.ndarray, wave: np.ndarray, waves: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the barriers around each segment, int64, in order: a wave has one more segment than barriers.

    `line` and `wave` describe all crossings of barriers, in the same order.
    """
    first, last = np.full((2, len(line) + waves), OUTSIDE, dtype=np.int64)
    place = np.arange(len(line)) + wave
    last[place] = line
    first[place + 1] = line
    return first, last


def _keys(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """A key for each pair of barriers, int64."""
    return (first - OUTSIDE) * _ENDS + last - OUTSIDE


def _finish(_trace: Trace, part: _Part) -> Segments:
    waves, at = part.barriers.waves, part.barriers.at
    n, place = len(at) + len(waves), np.arange(len(at)) + at.wave
    key = _keys(*_ends(at.line, at.wave, len(waves)))
    owner = np.repeat(np.arange(len(waves)), 1 + np.bincount(at.wave, minlength=len(waves)))
    left = np.empty(n, dtype=np.int64)  # end of each segment
    left[place], left[ends_run(owner)] = at.released, waves.end
    entered = np.append(0, left[:-1])[:n]
    entered[starts_run(owner)] = waves.begin
    cycles = np.maximum(left - entered, 0)
    waiting = np.zeros(n, dtype=np.int64)
    waiting[place] = np.maximum(at.released - at.waited, 0)
    group, _ = grouped(waves, at)
    met = meetings(at, group, waves.last_end)
    has_others, is_last = np.zeros((2, n), dtype=bool)
    has_others[place] = (met.waves > 1)[met.of]
    is_last[place[met.last[(met.waves > 1) & (met.left < 0)]]] = True

    pair, *spent = part.spent
    mine = np.flatnonzero(np.isin(waves.row, part.counted)[owner])
    row = np.searchsorted(pair, key[mine])
    count = len(pair)
    median, p90 = at_ranks(row, cycles[mine], count, (MEDIAN, (9, 10)))
    beside, times = _beside(key, group[owner], ranges(0, np.bincount(owner)), mine)
    stall, idle, *kinds, busy = spent
    found = Segments(
        first=(pair // _ENDS + OUTSIDE).astype(np.int32),
        last=(pair % _ENDS + OUTSIDE).astype(np.int32),
        hits=np.bincount(row, minlength=count),
        waves=np.bincount(ascending(row * len(waves) + owner[mine]) // max(1, len(waves)), minlength=count),
        cycles=sums(row, cycles[mine], count),
        median=median,
        p90=p90,
        waiting=sums(row, waiting[mine], count),
        stall=stall,
        idle=idle,
        kinds=np.stack(kinds, axis=1),
        matrix_busy=busy,
        met=np.bincount(row, has_others[mine], count).astype(np.int64),
        came_last=np.bincount(row, is_last[mine], count).astype(np.int64),
        beside_first=(beside // _ENDS + OUTSIDE).astype(np.int32),
        beside_last=(beside % _ENDS + OUTSIDE).astype(np.int32),
        beside=times,
    )
    crossed = np.flatnonzero((found.first != OUTSIDE) | (found.last != OUTSIDE))
    return found.at(crossed[np.lexsort((pair[crossed], -found.cycles[crossed]))])


def _beside(
    key: np.ndarray, group: np.ndarray, turn: np.ndarray, mine: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pair that others most often ran during each pair that counts, and how often, int64 each.

    `group` and `turn` describe each segment.  A pair during which others ran nothing else gets itself and 0.
    """
    known, pair = numbered(key)
    size = len(known)
    turns = distinct(group, turn)[1] * size + pair
    place, times = summed(turns[mine], np.ones(len(mine), dtype=np.int64))  # turn and pair: how often
    ran = ascending(turns)
    found = [(np.zeros(0, dtype=np.int64),) * 2]
    for step in range(1, min(WORKGROUP, len(ran))):
        low = np.flatnonzero(ran[step:] // size == ran[:-step] // size)
        found += [(ran[low], ran[low + step]), (ran[low + step], ran[low])]
        if not len(low):
            break
    one, other = map(np.concatenate, zip(*found, strict=True))
    at = np.searchsorted(place, one)
    counts = at < len(place)
    counts[counts] = place[at[counts]] == one[counts]
    both, total = summed((one % size * size + other % size)[counts], times[at[counts]])
    order = np.lexsort((-both, total))  # the last of each pair stays: most often, of equals the first
    best, often = np.arange(size), np.zeros(size, dtype=np.int64)
    best[both[order] // size], often[both[order] // size] = both[order] % size, total[order]
    asked = ascending(pair[mine])
    return known[best[asked]], often[asked]


_MERGE = by_field(_Part, barriers=joined_barriers, counted=stacked(), spent=added(_SPENT))
SEGMENTS = Reduction(_map, _MERGE, _finish)  # waves that do not count still arrive at barriers


class PairDistance(Value):
    """Cycles from the start of an execution of A to the end of the next execution of B in the same wave."""

    count: int  # pairs; if 0, so are the others
    least: int
    median: float
    most: int
    total: int


def pairs(line: np.ndarray, first: np.ndarray, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the token rows of each A and of its B, int64.

    `line` is the code row of each token, wave after wave, `first` int64 [waves + 1] where each wave begins.
    """
    at_a, at_b = np.flatnonzero(line == a), np.flatnonzero(line == b)
    if not len(at_a) or not len(at_b):
        return (np.zeros(0, dtype=np.int64),) * 2
    after = np.searchsorted(at_b, at_a, side="right")
    stop = first[np.searchsorted(first, at_a, side="right")]  # where the wave of each A ends
    stop[:-1] = np.minimum(stop[:-1], at_a[1:] + (a == b))
    partner = np.append(at_b, len(line))[after]
    has = partner < stop
    return at_a[has], partner[has]


def _map_pairs(a: int, b: int, _trace: Trace, parcel: Parcel) -> saturated.Sums:
    tokens = parcel.own
    begin, end = pairs(tokens.line, tokens.first, a, b)
    cycles = np.maximum(tokens.ends_at(end) - tokens.start[begin], 0)
    return saturated.summed(cycles, np.ones_like(cycles))


def _pair_distance(_trace: Trace, part: saturated.Sums) -> PairDistance:
    cycles, times = part
    count = int(times.sum())
    if not count:
        return PairDistance(0, 0, 0.0, 0, 0)
    (middle,) = at_ranks(np.zeros_like(cycles), cycles, 1, (MEDIAN,), times)
    total = min(saturated.MAX_CYCLES, sum(map(int.__mul__, cycles.tolist(), times.tolist())))
    return PairDistance(count, int(cycles[0]), float(middle[0]), int(cycles[-1]), total)


def between_of(a: int, b: int) -> Reduction[saturated.Sums, PairDistance]:
    """Return the reduction for the time from code row A to code row B, over all iterations of each wave."""
    return Reduction(partial(_map_pairs, a, b), added(1), _pair_distance)
