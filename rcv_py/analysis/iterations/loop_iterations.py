"""Iterations of loops: when each one began and ended in each wave, and what its cycles were spent on.

```
head … branch │ head … branch │ head … branch   (falls through)
   first      │   between     │     last
```
A loop is a jump back from a branch to a line above it, its head.  An iteration begins with the head and ends
where the jump has led to the head again; the last one of an entry ends after the branch that falls through,
or before the first line outside of the loop.  Statistics count the iterations between two jumps only: the
first one begins without the overlap of one before, and the last one does not end with a jump.
A jump back to a line that the wave had not run yet, as to code moved out of line, makes no iterations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np

from rcv_py.analysis.core.token_columns import SpanSums, TokenColumns, token_columns
from rcv_py.model.columns import joined, of_rows
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

MAX_LOOPS = 64  # loops that are looked at: those continued most often
MIN_ITERATIONS = 8  # iterations below which none is called an outlier


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
    least: np.ndarray  # float64, cycles
    median: np.ndarray  # float64, the one at n // 2 of the sorted n, which the reference results demand
    p90: np.ndarray  # float64, the one at 9 n // 10
    most: np.ndarray  # float64
    limit: (
        np.ndarray
    )  # float64, cycles above which an iteration is an outlier; inf with fewer than MIN_ITERATIONS
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
        one = self.iterations
        rows = np.flatnonzero(one.is_between & (one.cycles > self.table.limit[one.loop]))
        return rows[np.argsort(-one.cycles[rows], kind="stable")]


def loop_iterations(
    trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> LoopIterations:
    """Return the loops of the waves whose index row is in `rows` (None: all), each wave once."""
    found = [piece for piece in token_columns(batches, rows) if len(piece.waves)]
    jumps = [_jumps_back(piece, len(trace.code)) for piece in found]
    pair, taken = np.unique(
        np.concatenate([np.zeros(0, np.int64), *(one[0] for one in jumps)]), return_counts=True
    )
    waves = np.zeros(len(pair), dtype=np.int64)
    for one, owner in jumps:
        who = np.unique(np.searchsorted(pair, one) << 32 | owner) >> 32
        waves += np.bincount(who, minlength=len(pair))
    order = np.lexsort((pair, -taken))[:MAX_LOOPS]
    pair, taken, waves = pair[order], taken[order], waves[order]
    parts = [_iterations(piece, pair) for piece in found]
    whole = _sorted(parts)
    table = _table(pair, taken, waves, whole)
    return LoopIterations(table, whole, sum(len(piece.waves) for piece in found))


def _jumps_back(piece: TokenColumns, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return branch << 32 | head of each jump to its own line or one above, and the place of its wave."""
    at = np.flatnonzero((piece.kind == TokenKind.JUMP) & ~piece.is_last)
    branch, head = piece.line[at].astype(np.int64), piece.line[at + 1].astype(np.int64)
    keep = (head >= 0) & (head <= branch) & (branch < rows)
    return (branch << 32 | head)[keep], np.searchsorted(piece.first, at[keep], side="right") - 1


def _iterations(piece: TokenColumns, pair: np.ndarray) -> Iterations:
    """Return the iterations of all loops in the waves of one piece; `first` and `stop` count in the piece."""
    spans = [_spans(piece, number, int(one >> 32), int(one & 0xFFFFFFFF)) for number, one in enumerate(pair)]
    if not spans:
        return _nothing()
    loop, first, stop, is_first, is_last = (np.concatenate(column) for column in zip(*spans, strict=True))
    owner = np.searchsorted(piece.first, first, side="right") - 1
    latest = np.minimum(stop, len(piece) - 1)
    start, end = piece.start, piece.start + piece.duration
    over = np.where(is_last, end[stop - 1], start[latest])
    gap = np.append(piece.idle[1:], 0)
    gap[piece.is_last] = 0
    sums = SpanSums(piece, np.concatenate([first, stop]))
    idle = sums.sums(gap, first, stop) - np.where(is_last, gap[stop - 1], 0)
    row = np.array([wave.row for wave in piece.waves], dtype=np.int32)[owner]
    base = piece.first[owner]
    return Iterations(
        loop,
        row,
        np.zeros(len(loop), dtype=np.int32),
        start[first],
        over,
        first - base,
        stop - base,
        is_first,
        is_last,
        sums.sums(piece.stall, first, stop),
        idle,
        sums.kinds(first, stop),
    )


def _spans(piece: TokenColumns, number: int, branch: int, head: int) -> tuple[np.ndarray, ...]:
    """Return (loop, first, stop, is_first, is_last) of the iterations of one loop."""
    at = np.flatnonzero(piece.line == head)
    via = np.zeros(len(at), dtype=bool)
    before = np.maximum(at - 1, 0)
    inside = (at > 0) & ~piece.is_last[before]
    via[inside] = (piece.line[before] == branch)[inside] & (piece.kind[before] == TokenKind.JUMP)[inside]
    owner = np.searchsorted(piece.first, at, side="right") - 1
    linked = via[1:] & (owner[1:] == owner[:-1])  # the jump led from the iteration before it
    continued = np.append(linked, False)[: len(at)]
    chosen = np.flatnonzero(np.append(False, linked)[: len(at)] | continued)
    following = np.append(at[1:], len(piece))[: len(at)]
    first, stop = at[chosen], following[chosen]
    last = ~continued[chosen]
    stop[last] = _exits(piece, branch, head, first[last], stop[last])
    return np.full(len(chosen), number, dtype=np.int32), first, stop, ~via[chosen], last


def _exits(
    piece: TokenColumns, branch: int, head: int, first: np.ndarray, following: np.ndarray
) -> np.ndarray:
    """Return the tokens after iterations that were not continued; `following` are the next heads."""
    wave_end = piece.first[1:][np.searchsorted(piece.first[1:], first, side="right")]
    most = np.minimum(following, wave_end)
    outside = np.append(np.flatnonzero((piece.line > branch) | (piece.line < head)), len(piece))
    stop = np.minimum(most, outside[np.searchsorted(outside, first)])
    falls = np.append(
        np.flatnonzero((piece.line == branch) & (piece.kind != TokenKind.JUMP)) + 1, len(piece) + 1
    )
    fallen = falls[np.searchsorted(falls, first, side="right")]
    return np.maximum(np.where(fallen <= most, fallen, stop), first + 1)


def _sorted(parts: list[Iterations]) -> Iterations:
    if not parts:
        return _nothing()
    whole = joined(parts)
    whole = whole.at(np.lexsort((whole.first, whole.wave, whole.loop)))
    key = whole.loop.astype(np.int64) << 32 | whole.wave
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    length = np.diff(np.append(begins, len(key)))
    number = np.arange(len(key)) - np.repeat(begins, length)
    return replace(whole, number=number.astype(np.int32))


def _nothing() -> Iterations:
    i4, i8, no = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, bool)
    return Iterations(i4, i4, i4, i8, i8, i8, i8, no, no, i8, i8, np.zeros((0, KIND_COUNT), np.int64))


def _table(pair: np.ndarray, taken: np.ndarray, waves: np.ndarray, whole: Iterations) -> LoopTable:
    count = len(pair)
    cycles, between = whole.cycles, whole.is_between
    loop, length = whole.loop[between], cycles[between]
    order = np.lexsort((length, loop))
    length = length[order]
    n = np.bincount(loop, minlength=count)
    before = np.cumsum(n) - n

    def at(rank: np.ndarray) -> np.ndarray:
        value = np.full(count, np.nan)
        value[n > 0] = length[(before + rank)[n > 0]]
        return value

    def sums(column: np.ndarray, rows: np.ndarray) -> np.ndarray:
        total = np.zeros((count, *column.shape[1:]), dtype=np.int64)
        np.add.at(total, whole.loop[rows], column[rows])
        return total

    low, high = at(n // 4), at(3 * n // 4)
    return LoopTable(
        (pair >> 32).astype(np.int32),
        (pair & 0xFFFFFFFF).astype(np.int32),
        taken.astype(np.int64),
        waves,
        sums(cycles, np.ones(len(whole), dtype=bool)),
        n,
        at(0 * n),
        at(n // 2),
        at(9 * n // 10),
        at(np.maximum(n - 1, 0)),
        np.where(n >= MIN_ITERATIONS, high + 1.5 * (high - low), np.inf),
        sums(whole.stall, between),
        sums(whole.idle, between),
        sums(whole.kinds, between),
    )
