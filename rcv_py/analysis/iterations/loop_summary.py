"""Summary of loops: iterations, the phases of each wave around the main loop, costs of first executions.

```
head … branch │ head … branch │ head … branch   (falls through)
   first      │   between     │     last

wave   ├ prologue ┤├ iteration 0 … iteration n ┤├ epilogue ┤
begin                      steady                        end
```
A loop is a jump back from a branch to a line above it, its head.  An iteration begins with the head and ends
when the jump reaches the head again; the last iteration of an entry ends after the branch that falls through,
or before the first line outside the loop.  Statistics count only iterations between two jumps: the first
iteration does not overlap with a previous one, and the last does not end with a jump.
A jump back to a line that the wave had not run yet, as to code moved out of line, makes no iterations.

For every code line it also has the cost of the first execution in each wave and of all later executions: a
cost of the first execution is a cold start, which a better loop does not remove.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.median import MEDIAN, at_ranks
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Reduction, added, by_field, stacked, tables
from rcv_py.analysis.core.saturated import Sums, dense, sums
from rcv_py.analysis.core.token_columns import SpanSums, TokenColumns
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending, distinct, ends_run, ranges, run_starts, starts_run
from rcv_py.model.columns import ColumnTable, joined
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.trace import Trace

MAX_LOOPS = 64  # loops that are analysed: the loops continued most often
MIN_ITERATIONS = 8  # with fewer iterations none is called an outlier
_PLACES = 1 << 22  # pairs of wave and line that are processed together
PHASES = ("prologue", "steady", "epilogue")


class Iterations(ColumnTable):
    """One row an iteration, by loop, then by wave and time."""

    loop: np.ndarray  # int32, row of the table of loops
    wave: np.ndarray  # int32, row of the wave index
    number: np.ndarray  # int32, from 0 in each wave and loop
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned
    first: np.ndarray  # int64, its first token in the wave
    stop: np.ndarray  # int64, token after its last
    is_first: np.ndarray  # bool, it was entered from elsewhere
    is_last: np.ndarray  # bool, the jump back did not follow
    stall: np.ndarray  # int64, cycles
    idle: np.ndarray  # int64, cycles between its tokens, and up to the next iteration
    kinds: np.ndarray  # int64 [n, kinds], cycles of stall and issue by kind of token

    @property
    def cycles(self) -> np.ndarray:
        """Duration of each iteration, int64."""
        return self.end - self.begin

    @property
    def is_between(self) -> np.ndarray:
        """Whether the statistics count it, bool."""
        return ~(self.is_first | self.is_last)


class LoopTable(ColumnTable):
    """One row a loop, most often continued first.

    Statistics are nan if no iteration is between two jumps.
    """

    branch: np.ndarray  # int32, code row that jumps back
    head: np.ndarray  # int32, code row it jumps to
    taken: np.ndarray  # int64, times it jumped
    waves: np.ndarray  # int64, waves that jumped
    cycles: np.ndarray  # int64, of all iterations
    between: np.ndarray  # int64, iterations that the statistics count
    shortest: np.ndarray  # float64, cycles
    median: np.ndarray  # float64
    p90: np.ndarray  # float64, the value at 9 n // 10 of the sorted n
    longest: np.ndarray  # float64
    limit: np.ndarray  # float64, cycles above which an iteration is an outlier; inf below MIN_ITERATIONS
    stall: np.ndarray  # int64, cycles in the iterations that the statistics count
    idle: np.ndarray  # int64
    kinds: np.ndarray  # int64 [loops, kinds]

    @property
    def dominant(self) -> int:
        """The main loop of the kernel, -1 if there is none.

        It is the loop continued most often, among loops with at least half of the cycles of the longest: an
        outer loop includes all cycles of the inner loop.
        """
        if not len(self):
            return -1
        large = np.flatnonzero(2 * self.cycles >= self.cycles.max())
        return int(large[np.argmax(self.taken[large])])


class LoopIterations(Record):
    """The loops of the analysed waves, and every iteration."""

    table: LoopTable
    iterations: Iterations
    waves: int  # analysed

    @cached_property
    def outliers(self) -> np.ndarray:
        """Rows of iterations that took much longer than others of their loop, longest first, int64.

        Much longer: above the third quartile by more than 1.5 times the distance of the quartiles.
        """
        all_, cycles = self.iterations, self.iterations.cycles
        rows = np.flatnonzero(all_.is_between & (cycles > self.table.limit[all_.loop]))
        return rows[np.argsort(-cycles[rows], kind="stable")]


def _iterations(tokens: TokenColumns, spans: Sequence[tuple[np.ndarray, ...]], spent: SpanSums) -> Iterations:
    """Return the iterations of all loops in the waves of these tokens; their numbers are still 0."""
    loop, first, stop, is_first, is_last = (np.concatenate(column) for column in zip(*spans, strict=True))
    owner = tokens.owner[first]
    end = tokens.start[np.minimum(stop, len(tokens) - 1)]
    end[is_last] = tokens.ends_at(stop[is_last] - 1)
    gap = np.zeros_like(tokens.idle)
    gap[:-1] = tokens.idle[1:]
    gap[tokens.first[1:][np.diff(tokens.first) > 0] - 1] = 0
    return Iterations(
        loop=loop.astype(np.int32),
        wave=tokens.rows.astype(np.int32)[owner],
        number=np.zeros(len(loop), dtype=np.int32),
        begin=tokens.start[first],
        end=end,
        first=first - tokens.first[owner],
        stop=stop - tokens.first[owner],
        is_first=is_first,
        is_last=is_last,
        stall=spent.sums(tokens.stall, first, stop),
        idle=spent.sums(gap, first, stop) - np.where(is_last, gap[stop - 1], 0),
        kinds=spent.kinds(first, stop),
    )


def _spans(tokens: TokenColumns, number: int, branch: int, head: int) -> tuple[np.ndarray, ...]:
    """Return (loop, first, stop, is_first, is_last) of the iterations of one loop."""
    at = np.flatnonzero(tokens.line == head)
    before = np.maximum(at - 1, 0)
    via = (at > 0) & ~tokens.is_last[before]
    via &= (tokens.line[before] == branch) & (tokens.kind[before] == TokenKind.JUMP)
    linked = via & ~starts_run(tokens.owner[at])  # the jump came from the previous iteration
    continued = np.append(linked, False)[1:]
    chosen = np.flatnonzero(linked | continued)
    first, stop = at[chosen], np.append(at, len(tokens))[1:][chosen]
    last = ~continued[chosen]
    stop[last] = _exits(tokens, branch, head, first[last], stop[last])
    return np.full(len(chosen), number), first, stop, ~via[chosen], last


def _exits(
    tokens: TokenColumns, branch: int, head: int, first: np.ndarray, following: np.ndarray
) -> np.ndarray:
    """Return the tokens after iterations that were not continued; `following` are the next heads."""
    line, limit = tokens.line, np.minimum(following, tokens.first[tokens.owner[first] + 1])
    outside = np.append(np.flatnonzero((line > branch) | (line < head)), len(tokens))
    stop = np.minimum(limit, outside[np.searchsorted(outside, first)])
    falls = np.flatnonzero((line == branch) & (tokens.kind != TokenKind.JUMP)) + 1
    fallen = np.append(falls, len(tokens) + 1)[np.searchsorted(falls, first, side="right")]
    return np.maximum(np.where(fallen <= limit, fallen, stop), first + 1)


class Phases(Record):
    """One row a wave that ran the loop; three columns a number, in the order of PHASES."""

    loop: int  # row of the table of loops, -1 if there is none
    wave: np.ndarray  # int32, row of the wave index
    begin: np.ndarray  # int64 [n, 3], cycles, aligned; a phase ends where the next begins
    end: np.ndarray  # int64 [n], end of the wave
    stall: np.ndarray  # int64 [n, 3], cycles
    busy: np.ndarray  # int64 [n, 3], cycles issuing (gfx9) or executing
    without: int  # waves that did not run the loop twice

    def __len__(self) -> int:
        return len(self.wave)

    @property
    def cycles(self) -> np.ndarray:
        """Duration of each phase of each wave, int64 [n, 3]."""
        return np.diff(self.begin, axis=1, append=self.end[:, None])

    @property
    def shares(self) -> np.ndarray:
        """Part of the waves' time in each phase, float64 [3]; zeros if there is none."""
        cycles = self.cycles.sum(axis=0)
        return cycles / max(1, int(cycles.sum()))

    @property
    def stall_shares(self) -> list[float | None]:
        """Stalled part of each phase; None if it has no cycles, or a damaged wave stalled for longer."""
        is_known = np.all(self.stall <= self.cycles, axis=0) & np.any(self.cycles, axis=0)
        shares = self.stall.sum(axis=0) / np.maximum(1, self.cycles.sum(axis=0))
        return np.where(is_known, shares, np.array(None)).tolist()


class FirstHits(ColumnTable):
    """One row a code line: costs of its first execution in each wave, summed over waves, and of all."""

    waves: np.ndarray  # int64, waves that ran it
    hits: np.ndarray  # int64, executions
    first_stall: np.ndarray  # int64, cycles
    stall: np.ndarray  # int64, cycles of all executions

    @property
    def later_stall(self) -> np.ndarray:
        """Stall of all but the first executions, int64."""
        return self.stall - self.first_stall


def _firsts(tokens: TokenColumns, line: np.ndarray, lines: int) -> np.ndarray:
    """Return the first token of each wave that ran each line, int64.

    Waves are processed a few at a time, because the table has an entry for every wave and line.
    """
    found = [np.zeros(0, dtype=np.int64)]
    at_once = max(1, _PLACES // lines)
    for begin in range(0, len(tokens.waves), at_once):
        first = tokens.first[begin : begin + at_once + 1]
        low, high = int(first[0]), int(first[-1])
        key = (tokens.owner[low:high] - begin) * lines + line[low:high]
        seen = np.full((len(first) - 1) * lines, -1, dtype=np.int64)
        seen[key[::-1]] = np.arange(low, high)[::-1]  # the first is written last and stays
        found.append(seen[seen >= 0])
    return np.concatenate(found)


class LoopSummary(Value):
    """The loops, phases and first executions of the analysed waves."""

    loops: LoopIterations
    phases: Phases
    hits: FirstHits
    of: int  # waves of the trace

    @property
    def waves(self) -> int:
        """Number of analysed waves."""
        return self.loops.waves


class _Lengths(ColumnTable):
    """Histogram of the durations of iterations between two jumps."""

    pair: np.ndarray  # int64, branch << 32 | head
    cycles: np.ndarray  # int64
    times: np.ndarray  # int64

    def summed(self) -> _Lengths:
        """The same with each duration of a loop once."""
        rows, place = distinct(self.pair, self.cycles)
        return _Lengths(self.pair[rows], self.cycles[rows], sums(place, self.times, len(rows)))


class _Visits(ColumnTable):
    """One row a wave and loop that it iterated: begin and end of the iterations, and cycles before them."""

    pair: np.ndarray  # int64
    wave: np.ndarray  # int64, row of the wave index
    first: np.ndarray  # int64, token of the wave: of the first iteration
    begin: np.ndarray  # int64, cycles, aligned
    last: np.ndarray  # int64, first token of the last iteration
    stop: np.ndarray  # int64, token after the last iteration
    end: np.ndarray  # int64, cycles, aligned
    before: np.ndarray  # int64 [n, 2], cycles of stall and busy before the first iteration
    upto: np.ndarray  # int64 [n, 2], the same up to the end of the last iteration


class _Lives(ColumnTable):
    """One row a wave."""

    wave: np.ndarray  # int64, row of the wave index
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned
    spent: np.ndarray  # int64 [n, 2], cycles of stall and busy


class _Turns(ColumnTable):
    """Iterations with their loops by name."""

    pair: np.ndarray  # int64, in place of the row of the table
    iterations: Iterations


class _Part(NamedTuple):
    loops: Sums  # pair, and jumps, waves, cycles; stall, idle and kinds of iterations in the statistics
    lengths: _Lengths
    visits: _Visits
    lives: _Lives
    hits: Sums  # code row, and the columns of FirstHits
    turns: _Turns


_LOOPS, _HITS = 5 + KIND_COUNT, 4  # columns


def _map(trace: Trace, parcel: Parcel, *, keeps: bool) -> _Part:
    tokens = parcel.own
    jump = np.flatnonzero((tokens.kind == TokenKind.JUMP) & ~tokens.is_last)
    branch, head = tokens.line[jump].astype(np.int64), tokens.line[jump + 1].astype(np.int64)
    is_back = (head >= 0) & (head <= branch) & (branch < len(trace.code))  # to its own line or a line above
    pairs = (branch << 32 | head)[is_back]
    pair, place, taken = np.unique(pairs, return_inverse=True, return_counts=True)
    waves = np.bincount(ascending(place << 32 | tokens.owner[jump[is_back]]) >> 32, minlength=len(pair))
    at, no = np.zeros(0, np.int64), np.zeros(0, bool)
    places = enumerate(zip((pair >> 32).tolist(), (pair & 0xFFFFFFFF).tolist(), strict=True))
    spans: list[tuple[np.ndarray, ...]] = [(at, at, at, no, no)]
    spans += [_spans(tokens, number, *loop) for number, loop in places]
    cuts = [tokens.first, *(span[1] for span in spans), *(span[2] for span in spans)]
    spent = SpanSums(tokens, np.concatenate(cuts))
    one = _iterations(tokens, spans, spent)
    n, between = len(pair), one.at(np.flatnonzero(one.is_between))
    kinds = np.zeros((n, KIND_COUNT), dtype=np.int64)
    np.add.at(kinds, between.loop, between.kinds)
    loops = (
        pair,
        taken,
        waves,
        sums(one.loop, one.cycles, n),
        sums(between.loop, between.stall, n),
        sums(between.loop, between.idle, n),
        *kinds.T,
    )
    lengths = _Lengths(pair[between.loop], between.cycles, np.ones(len(between), dtype=np.int64))
    kept = one if keeps else one.at(slice(0))
    return _Part(
        loops=loops,
        lengths=lengths.summed(),
        visits=_visits(tokens, one, pair, spent),
        lives=_lives(tokens, spent),
        hits=_hits(tokens, len(trace.code)),
        turns=_Turns(pair[kept.loop], kept),
    )


def _visits(tokens: TokenColumns, one: Iterations, pair: np.ndarray, spent: SpanSums) -> _Visits:
    order = np.lexsort((one.first, one.wave, one.loop))
    loop, wave = one.loop[order], one.wave[order]
    entry, leave = one.at(order[starts_run(loop, wave)]), one.at(order[ends_run(loop, wave)])
    rows = tokens.rows
    by_row = np.argsort(rows)
    base = tokens.first[by_row[np.searchsorted(rows[by_row], entry.wave)]] if len(entry) else entry.first
    columns = (tokens.stall, tokens.busy)
    return _Visits(
        pair=pair[entry.loop],
        wave=entry.wave.astype(np.int64),
        first=entry.first,
        begin=entry.begin,
        last=leave.first,
        stop=leave.stop,
        end=leave.end,
        before=np.stack([spent.sums(column, base, base + entry.first) for column in columns], axis=1),
        upto=np.stack([spent.sums(column, base, base + leave.stop) for column in columns], axis=1),
    )


def _lives(tokens: TokenColumns, spent: SpanSums) -> _Lives:
    facts = np.array([(wave.row, wave.begin, wave.end) for wave in tokens.waves], dtype=np.int64)
    wave, begin, end = facts.reshape(-1, 3).T
    low, high = tokens.first[:-1], tokens.first[1:]
    columns = [spent.sums(column, low, high) for column in (tokens.stall, tokens.busy)]
    return _Lives(wave, begin, end, np.stack(columns, axis=1))


def _hits(tokens: TokenColumns, lines: int) -> Sums:
    line, stall = tokens.code_rows(lines), tokens.stall
    first = _firsts(tokens, line, lines + 1)
    columns = (
        np.bincount(line[first], minlength=lines + 1),
        tokens.executions(lines),
        sums(line[first], stall[first], lines + 1),
        sums(line, stall, lines + 1),
    )
    ran = np.flatnonzero(tokens.executions(lines))
    return ran, *(column[ran] for column in columns)


def _joined_lengths(parts: Sequence[_Lengths]) -> _Lengths:
    return joined([_Lengths.empty(), *parts]).summed()


_TWO = np.zeros((0, 2), dtype=np.int64)
_NO_ITERATIONS = Iterations.empty(
    **dict.fromkeys(("loop", "wave", "number"), np.int32),
    is_first=bool,
    is_last=bool,
    kinds=np.zeros((0, KIND_COUNT), dtype=np.int64),
)
_merge = by_field(
    _Part,
    loops=added(_LOOPS),
    lengths=_joined_lengths,
    visits=tables(_Visits.empty(before=_TWO, upto=_TWO)),
    lives=tables(_Lives.empty(spent=_TWO)),
    hits=added(_HITS),
    turns=by_field(_Turns, pair=stacked(), iterations=tables(_NO_ITERATIONS)),
)


def _finish(trace: Trace, part: _Part) -> LoopSummary:
    pair, taken = part.loops[:2]
    chosen = np.lexsort((pair, -taken))[:MAX_LOOPS]
    loop_of = np.full(len(pair), -1, dtype=np.int64)
    loop_of[chosen] = np.arange(len(chosen))
    lengths, visits, turns = part.lengths, part.visits, part.turns
    loops = tuple(column[chosen] for column in part.loops)
    table = _table(loops, lengths, loop_of[np.searchsorted(pair, lengths.pair)])
    waves = len(part.lives.wave)
    iterations = _in_order(turns.iterations, loop_of[np.searchsorted(pair, turns.pair)])
    found = LoopIterations(table, iterations, waves)
    ways = _phases(table, visits, loop_of[np.searchsorted(pair, visits.pair)], part.lives)
    return LoopSummary(found, ways, FirstHits(*dense(part.hits, len(trace.code))), len(trace.waves))


def _in_order(iterations: Iterations, loop: np.ndarray) -> Iterations:
    """Return the iterations of loops of the table, by loop, wave and time, with their numbers."""
    iterations = replace(iterations, loop=loop.astype(np.int32)).at(loop >= 0)
    iterations = iterations.at(np.lexsort((iterations.first, iterations.wave, iterations.loop)))
    number = ranges(0, np.diff(run_starts(iterations.loop, iterations.wave), append=len(iterations)))
    return replace(iterations, number=number.astype(np.int32))


def _table(loops: Sums, lengths: _Lengths, loop: np.ndarray) -> LoopTable:
    pair, taken, waves, cycles, stall, idle, *kinds = loops
    is_there = loop >= 0
    loop, times = loop[is_there], lengths.times[is_there]
    ranks = ((0, 1), MEDIAN, (9, 10), (1, 1), (1, 4), (3, 4))
    spread = at_ranks(loop, lengths.cycles[is_there], len(pair), ranks, times)
    shortest, median, p90, longest, low, high = spread
    n = sums(loop, times, len(pair))
    return LoopTable(
        branch=(pair >> 32).astype(np.int32),
        head=(pair & 0xFFFFFFFF).astype(np.int32),
        taken=taken,
        waves=waves,
        cycles=cycles,
        between=n,
        shortest=shortest,
        median=median,
        p90=p90,
        longest=longest,
        limit=np.where(n >= MIN_ITERATIONS, high + 1.5 * (high - low), np.inf),
        stall=stall,
        idle=idle,
        kinds=np.stack(kinds, axis=1),
    )


def _phases(table: LoopTable, visits: _Visits, loop: np.ndarray, lives: _Lives) -> Phases:
    """Return the phases of the waves that ran the dominant loop.

    Other jumps back to the same head also continue the loop.
    """
    chosen = table.dominant
    same = np.append(table.head == (table.head[chosen] if chosen >= 0 else -1), False)
    mine = np.flatnonzero(same[loop])
    wave = visits.wave
    first = mine[np.lexsort((visits.first[mine], wave[mine]))]
    last = mine[np.lexsort((visits.stop[mine], visits.last[mine], wave[mine]))]
    entry, leave = first[starts_run(wave[first])], last[ends_run(wave[last])]
    order = np.argsort(lives.wave)
    life = lives.at(order[np.searchsorted(lives.wave[order], wave[entry])] if len(entry) else entry)
    begin = np.zeros((len(entry), len(PHASES)), dtype=np.int64)
    begin[:, 1], begin[:, 2] = visits.begin[entry], visits.end[leave]
    begin[:, 0] = np.minimum(life.begin, begin[:, 1])
    before, upto = visits.before[entry], visits.upto[leave]
    spent = np.stack([before, upto - before, life.spent - upto], axis=2)
    return Phases(
        loop=chosen,
        wave=wave[entry].astype(np.int32),
        begin=begin,
        end=np.maximum(life.end, begin[:, 2]),
        stall=np.ascontiguousarray(spent[:, 0]),
        busy=np.ascontiguousarray(spent[:, 1]),
        without=len(lives.wave) - len(entry),
    )


LOOPS = Reduction(partial(_map, keeps=True), _merge, _finish)
LOOP_TOTALS = Reduction(partial(_map, keeps=False), _merge, _finish)  # the same without any iteration
