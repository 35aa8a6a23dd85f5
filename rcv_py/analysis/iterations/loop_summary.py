"""Loops in all: iterations, the phases of each wave around the main loop, and costs of first executions.

```
head … branch │ head … branch │ head … branch   (falls through)
   first      │   between     │     last

wave   ├ prologue ┤├ iteration 0 … iteration n ┤├ epilogue ┤
begin                      steady                        end
```
A loop is a jump back from a branch to a line above it, its head.  An iteration begins with the head and ends
where the jump has led to the head again; the last one of an entry ends after the branch that falls through,
or before the first line outside of the loop.  Statistics count the iterations between two jumps only: the
first one begins without the overlap of one before, and the last one does not end with a jump.
A jump back to a line that the wave had not run yet, as to code moved out of line, makes no iterations.

Beside it, of every code line, what its first execution in each wave cost and what all later ones did: a cost
of the first execution is a cold start, which a better loop does not remove.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rcv_py.analysis.core.median import at_ranks
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.core.token_columns import SpanSums, TokenColumns, of_waves, token_columns
from rcv_py.base.runs import ends_run, ranges, run_starts, starts_run
from rcv_py.model.columns import joined, of_rows
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

MAX_LOOPS = 64  # loops that are looked at: those continued most often
MIN_ITERATIONS = 8  # iterations below which none is called an outlier
_PLACES = 1 << 22  # of waves and lines that are looked at together
PHASES = ("prologue", "steady", "epilogue")


@dataclass(frozen=True, eq=False)
class Iterations:
    """One row an iteration, by loop, then by wave and time."""

    loop: np.ndarray  # int32, row of the table of loops
    wave: np.ndarray  # int32, row of the wave index
    number: np.ndarray  # int32, from 0 in each wave and loop
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles, aligned
    first: np.ndarray  # int64, token of the wave it begins with
    stop: np.ndarray  # int64, token after its last one
    is_first: np.ndarray  # bool, it was entered from elsewhere
    is_last: np.ndarray  # bool, the jump back did not follow
    stall: np.ndarray  # int64, cycles
    idle: np.ndarray  # int64, cycles between its tokens, and up to the next iteration
    kinds: np.ndarray  # int64 [n, kinds], cycles of stall and issue by kind of token

    def __len__(self) -> int:
        return len(self.loop)

    @property
    def cycles(self) -> np.ndarray:
        """How long each took, int64."""
        return self.end - self.begin

    @property
    def is_between(self) -> np.ndarray:
        """Whether it is one of those the statistics count, bool."""
        return ~(self.is_first | self.is_last)

    def at(self, rows: np.ndarray) -> Iterations:
        """The iterations at these rows."""
        return of_rows(self, rows)


@dataclass(frozen=True, eq=False)
class LoopTable:
    """One row a loop, most often continued first.

    Statistics are nan if no iteration is between two jumps.
    """

    branch: np.ndarray  # int32, code row that jumps back
    head: np.ndarray  # int32, code row it jumps to
    taken: np.ndarray  # int64, times it jumped
    waves: np.ndarray  # int64, waves that did
    cycles: np.ndarray  # int64, of all iterations
    between: np.ndarray  # int64, iterations that the statistics count
    shortest: np.ndarray  # float64, cycles
    median: np.ndarray  # float64, the one at n // 2 of the sorted n, which the reference results demand
    p90: np.ndarray  # float64, the one at 9 n // 10
    longest: np.ndarray  # float64
    limit: np.ndarray  # float64, cycles of the longest that is no outlier; inf below MIN_ITERATIONS
    stall: np.ndarray  # int64, cycles in the iterations that the statistics count
    idle: np.ndarray  # int64
    kinds: np.ndarray  # int64 [loops, kinds]

    def __len__(self) -> int:
        return len(self.branch)

    @property
    def dominant(self) -> int:
        """The loop that the kernel is about, -1 if there is none.

        Of the loops with at least half of the cycles of the longest one, that which is continued most often:
        an outer loop holds all cycles of the inner one.
        """
        if not len(self):
            return -1
        large = np.flatnonzero(2 * self.cycles >= self.cycles.max())
        return int(large[np.argmax(self.taken[large])])


@dataclass(frozen=True, eq=False)
class LoopIterations:
    """The loops of the waves that were looked at, and every iteration."""

    table: LoopTable
    iterations: Iterations
    waves: int  # looked at

    @property
    def outliers(self) -> np.ndarray:
        """Rows of iterations that took much longer than the others of their loop, longest first, int64.

        Much longer: above the third quartile by more than 1.5 times the distance of the quartiles.
        """
        all_, cycles = self.iterations, self.iterations.cycles
        rows = np.flatnonzero(all_.is_between & (cycles > self.table.limit[all_.loop]))
        return rows[np.argsort(-cycles[rows], kind="stable")]


def loop_iterations(
    trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> LoopIterations:
    """Return the loops of the waves whose index row is in `rows` (None: all), each wave once."""
    parts = list(token_columns(batches, rows)) or [of_waves(())]
    jumps = [_jumps_back(tokens, len(trace.code)) for tokens in parts]
    pair, taken = np.unique(np.concatenate([pairs for pairs, _ in jumps]), return_counts=True)
    waves = np.zeros(len(pair), dtype=np.int64)
    for pairs, owner in jumps:
        who = np.unique(np.searchsorted(pair, pairs) << 32 | owner) >> 32
        waves += np.bincount(who, minlength=len(pair))
    order = np.lexsort((pair, -taken))[:MAX_LOOPS]
    branch, head = pair[order] >> 32, pair[order] & 0xFFFFFFFF
    iterations = joined([_iterations(tokens, branch.tolist(), head.tolist()) for tokens in parts])
    iterations = iterations.at(np.lexsort((iterations.first, iterations.wave, iterations.loop)))
    number = ranges(0, np.diff(run_starts(iterations.loop, iterations.wave), append=len(iterations)))
    iterations = replace(iterations, number=number.astype(np.int32))
    table = _table(branch, head, taken[order], waves[order], iterations)
    return LoopIterations(table, iterations, sum(len(tokens.waves) for tokens in parts))


def _jumps_back(tokens: TokenColumns, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return branch << 32 | head of each jump to its own line or one above, and the place of its wave."""
    at = np.flatnonzero((tokens.kind == TokenKind.JUMP) & ~tokens.is_last)
    branch, head = tokens.line[at].astype(np.int64), tokens.line[at + 1].astype(np.int64)
    keep = (head >= 0) & (head <= branch) & (branch < rows)
    return (branch << 32 | head)[keep], tokens.owner[at[keep]]


def _iterations(tokens: TokenColumns, branches: list[int], heads: list[int]) -> Iterations:
    """Return the iterations of all loops in the waves of these tokens; their numbers are still 0."""
    at, no = np.zeros(0, np.int64), np.zeros(0, bool)
    spans: list[tuple[np.ndarray, ...]] = [(at, at, at, no, no)]
    spans += [_spans(tokens, *loop) for loop in zip(range(len(heads)), branches, heads, strict=True)]
    loop, first, stop, is_first, is_last = (np.concatenate(column) for column in zip(*spans, strict=True))
    owner = tokens.owner[first]
    end = tokens.start[np.minimum(stop, len(tokens) - 1)]
    end[is_last] = tokens.end[stop[is_last] - 1]
    gap = np.append(tokens.idle, 0)[1:]
    gap[tokens.is_last] = 0
    spent = SpanSums(tokens, np.concatenate([first, stop]))
    return Iterations(
        loop=loop.astype(np.int32),
        wave=np.array([wave.row for wave in tokens.waves], dtype=np.int32)[owner],
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
    linked = via & ~starts_run(tokens.owner[at])  # the jump led from the iteration before it
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


def _table(
    branch: np.ndarray, head: np.ndarray, taken: np.ndarray, waves: np.ndarray, iterations: Iterations
) -> LoopTable:
    count, counted = len(head), iterations.at(np.flatnonzero(iterations.is_between))
    ranks = ((0, 1), (1, 2), (9, 10), (1, 1), (1, 4), (3, 4))
    spread = at_ranks(counted.loop, counted.cycles, count, ranks)
    shortest, median, p90, longest, low, high = spread
    n = np.bincount(counted.loop, minlength=count)
    kinds = np.zeros((count, KIND_COUNT), dtype=np.int64)
    np.add.at(kinds, counted.loop, counted.kinds)
    return LoopTable(
        branch=branch.astype(np.int32),
        head=head.astype(np.int32),
        taken=taken.astype(np.int64),
        waves=waves,
        cycles=sums(iterations.loop, iterations.cycles, count),
        between=n,
        shortest=shortest,
        median=median,
        p90=p90,
        longest=longest,
        limit=np.where(n >= MIN_ITERATIONS, high + 1.5 * (high - low), np.inf),
        stall=sums(counted.loop, counted.stall, count),
        idle=sums(counted.loop, counted.idle, count),
        kinds=kinds,
    )


# -- phases and first executions --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Phases:
    """One row a wave that ran the loop; three columns a number, in the order of PHASES."""

    loop: int  # row of the table of loops, -1 if there is none
    wave: np.ndarray  # int32, row of the wave index
    begin: np.ndarray  # int64 [n, 3], cycles, aligned; a phase ends where the next one begins
    end: np.ndarray  # int64 [n], end of the wave
    stall: np.ndarray  # int64 [n, 3], cycles
    busy: np.ndarray  # int64 [n, 3], cycles issuing (gfx9) or executing
    without: int  # waves that did not run the loop twice

    def __len__(self) -> int:
        return len(self.wave)

    @property
    def cycles(self) -> np.ndarray:
        """How long each phase of each wave took, int64 [n, 3]."""
        return np.diff(self.begin, axis=1, append=self.end[:, None])

    @property
    def shares(self) -> np.ndarray:
        """Part of the waves' time in each phase, float64 [3]; zeros if there is none."""
        cycles = self.cycles.sum(axis=0)
        return cycles / max(1, int(cycles.sum()))

    @property
    def stall_shares(self) -> np.ndarray:
        """Stalled part of each phase, float64 [3]."""
        return self.stall.sum(axis=0) / np.maximum(1, self.cycles.sum(axis=0))


@dataclass(frozen=True, eq=False)
class FirstHits:
    """One row a code line; what its first execution in each wave cost, summed over waves, and all of them."""

    waves: np.ndarray  # int64, waves that ran it
    hits: np.ndarray  # int64, executions
    first_stall: np.ndarray  # int64, cycles
    stall: np.ndarray  # int64, cycles of all executions

    @property
    def later_stall(self) -> np.ndarray:
        """Stall of all but the first executions, int64."""
        return self.stall - self.first_stall


def phases(
    loops: LoopIterations, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> Phases:
    """Return the phases of the waves that ran the dominant loop of `found`, which is of the same waves.

    Other jumps back to the same head are ways of continuing the same loop.
    """
    table, spans = loops.table, loops.iterations
    loop = table.dominant
    same = table.head == table.head[loop] if loop >= 0 else np.zeros(0, dtype=bool)
    mine = np.flatnonzero(same[spans.loop])
    mine = mine[np.lexsort((spans.stop[mine], spans.first[mine], spans.wave[mine]))]
    wave = spans.wave[mine]
    entry, leave = mine[starts_run(wave)], mine[ends_run(wave)]
    place = {row: i for i, row in enumerate(spans.wave[entry].tolist())}
    begin, stall, busy = (np.zeros((len(entry), len(PHASES)), dtype=np.int64) for _ in range(3))
    begin[:, 1], begin[:, 2] = spans.begin[entry], spans.end[leave]
    end = begin[:, 2].copy()
    for tokens in token_columns(batches, rows):
        inside = [i for i, one in enumerate(tokens.waves) if one.row in place]
        if not inside:
            continue
        at = np.array([place[tokens.waves[i].row] for i in inside], dtype=np.int64)
        base, stop = tokens.first[inside], tokens.first[1:][inside]
        cuts = np.stack([base, base + spans.first[entry[at]], base + spans.stop[leave[at]], stop])
        spent = SpanSums(tokens, cuts.reshape(-1))
        for phase, (low, high) in enumerate(pairwise(cuts)):
            stall[at, phase] = spent.sums(tokens.stall, low, high)
            busy[at, phase] = spent.sums(tokens.busy, low, high)
        begin[at, 0] = np.minimum([tokens.waves[i].begin for i in inside], begin[at, 1])
        end[at] = np.maximum([tokens.waves[i].end for i in inside], begin[at, 2])
    return Phases(
        loop=loop,
        wave=spans.wave[entry],
        begin=begin,
        end=end,
        stall=stall,
        busy=busy,
        without=loops.waves - len(entry),
    )


def first_hits(batches: Iterable[WaveBatch], lines: int, rows: Collection[int] | None = None) -> FirstHits:
    """Return what first and all executions of each of so many code lines cost."""
    columns = np.zeros((4, lines), dtype=np.int64)
    for tokens in token_columns(batches, rows):
        known = np.flatnonzero((tokens.line >= 0) & (tokens.line < lines))
        line, stall = tokens.line[known], tokens.stall[known]
        first = _is_first(tokens, known, line, lines)
        columns[:2] += [np.bincount(line[first], minlength=lines), np.bincount(line, minlength=lines)]
        columns[2:] += [sums(line[first], stall[first], lines), sums(line, stall, lines)]
    return FirstHits(*columns)


def _is_first(tokens: TokenColumns, known: np.ndarray, line: np.ndarray, lines: int) -> np.ndarray:
    """Return whether each known token is the first of its wave that ran its line.

    Some waves at a time: there is a place for every wave and line.
    """
    is_first = np.zeros(len(known), dtype=bool)
    at_once = max(1, _PLACES // max(1, lines))
    for begin in range(0, len(tokens.waves), at_once):
        first = tokens.first[begin : begin + at_once + 1]
        part = slice(*np.searchsorted(known, first[[0, -1]]).tolist())
        key = (tokens.owner[known[part]] - begin) * lines + line[part]
        seen = np.full((len(first) - 1) * lines, -1, dtype=np.int64)
        seen[key[::-1]] = np.arange(len(key))[::-1]  # the first one is written last and stays
        is_first[part] = seen[key] == np.arange(len(key))
    return is_first


@dataclass(frozen=True, eq=False)
class LoopSummary:
    """The answer for the waves that were there."""

    found: LoopIterations
    phases: Phases
    hits: FirstHits
    of: int  # waves of the trace

    @property
    def waves(self) -> int:
        """How many waves were looked at."""
        return self.found.waves


def loop_summary(
    trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> LoopSummary:
    """Return the loops of the waves whose index row is in `rows` (None: all), each wave once."""
    batches = list(batches)
    loops = loop_iterations(trace, batches, rows)
    return LoopSummary(
        loops,
        phases(loops, batches, rows),
        first_hits(batches, len(trace.code), rows),
        len(trace.waves),
    )
