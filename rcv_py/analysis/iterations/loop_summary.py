"""Loops in all: iterations, the phases of each wave around the main loop, and costs of first executions.

```
wave   ├ prologue ┤├ iteration 0 … iteration n ┤├ epilogue ┤
begin                      steady                        end
```
Beside it, of every code line, what its first execution in each wave cost and what all later ones did: a cost
of the first execution is a cold start, which a better loop does not remove.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.core.token_columns import SpanSums, TokenColumns, token_columns
from rcv_py.analysis.iterations.loop_iterations import LoopIterations, loop_iterations
from rcv_py.base.runs import ends_run, starts_run
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

_PLACES = 1 << 22  # of waves and lines that are looked at together

PHASES = ("prologue", "steady", "epilogue")


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
    return Phases(loop, spans.wave[entry], begin, end, stall, busy, loops.waves - len(entry))


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
