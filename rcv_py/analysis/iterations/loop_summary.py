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

import numpy as np

from rcv_py.analysis.core.token_columns import SpanSums, TokenColumns, token_columns
from rcv_py.analysis.iterations.loop_iterations import LoopIterations, loop_iterations
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
    found: LoopIterations, batches: Iterable[WaveBatch], rows: Collection[int] | None = None
) -> Phases:
    """Return the phases of the waves that ran the dominant loop of `found`, which is of the same waves.

    Other jumps back to the same head are ways of continuing the same loop.
    """
    table, whole = found.table, found.iterations
    loop = table.dominant
    same = table.head == table.head[loop] if loop >= 0 else np.zeros(0, dtype=bool)
    mine = np.flatnonzero(same[whole.loop])
    mine = mine[np.lexsort((whole.stop[mine], whole.first[mine], whole.wave[mine]))]
    wave = whole.wave[mine]
    starts = np.flatnonzero(np.append(True, wave[1:] != wave[:-1])[: len(wave)])
    ends = np.append(starts[1:], len(wave))[: len(starts)] - 1
    entry, leave = mine[starts], mine[ends]
    place = {int(row): i for i, row in enumerate(wave[starts].tolist())}
    shape = (len(entry), len(PHASES))
    begin, stall, busy = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    end = np.zeros(len(entry), dtype=np.int64)
    for piece in token_columns(batches, rows):
        inside = [i for i, one in enumerate(piece.waves) if one.row in place]
        at = np.array([place[piece.waves[i].row] for i in inside], dtype=np.int64)
        if not inside:
            continue
        base = piece.first[inside]
        cuts = np.stack(
            [base, base + whole.first[entry[at]], base + whole.stop[leave[at]], piece.first[1:][inside]]
        )
        sums = SpanSums(piece, cuts.reshape(-1))
        for phase in range(len(PHASES)):
            stall[at, phase] = sums.sums(piece.stall, cuts[phase], cuts[phase + 1])
            busy[at, phase] = sums.sums(piece.busy, cuts[phase], cuts[phase + 1])
        life = np.array([(piece.waves[i].begin, piece.waves[i].end) for i in inside], dtype=np.int64)
        begin[at, 0] = np.minimum(life[:, 0], whole.begin[entry[at]])
        begin[at, 1] = whole.begin[entry[at]]
        begin[at, 2] = whole.end[leave[at]]
        end[at] = np.maximum(life[:, 1], begin[at, 2])
    return Phases(loop, wave[starts], begin, end, stall, busy, found.waves - len(entry))


def first_hits(batches: Iterable[WaveBatch], lines: int, rows: Collection[int] | None = None) -> FirstHits:
    """Return what first and all executions of each of so many code lines cost."""
    total = [np.zeros(lines, dtype=np.int64) for _ in range(4)]
    for piece in token_columns(batches, rows):
        known = np.flatnonzero((piece.line >= 0) & (piece.line < lines))
        line = piece.line[known]
        first = known[_is_first(piece, known, line, lines)]
        for column, chosen, worth in (
            (0, first, None),
            (1, known, None),
            (2, first, piece.stall),
            (3, known, piece.stall),
        ):
            weights = None if worth is None else worth[chosen]
            total[column] += np.bincount(piece.line[chosen], weights, lines).astype(np.int64)
    return FirstHits(*total)


def _is_first(piece: TokenColumns, known: np.ndarray, line: np.ndarray, lines: int) -> np.ndarray:
    """Return whether each known token is the first of its wave that ran its line.

    Some waves at a time: there is a place for every wave and line.
    """
    found = np.zeros(len(known), dtype=bool)
    at_once = max(1, _PLACES // max(1, lines))
    for begin in range(0, len(piece.waves), at_once):
        first = piece.first[begin : begin + at_once + 1]
        part = slice(*np.searchsorted(known, first[[0, -1]]).tolist())
        owner = np.searchsorted(first, known[part], side="right") - 1
        key = owner * lines + line[part]
        seen = np.full((len(first) - 1) * lines, -1, dtype=np.int64)
        seen[key[::-1]] = np.arange(len(key))[::-1]  # the first one is written last and stays
        found[part] = seen[key] == np.arange(len(key))
    return found


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
    found = loop_iterations(trace, batches, rows)
    return LoopSummary(
        found,
        phases(found, batches, rows),
        first_hits(batches, len(trace.code), rows),
        len(trace.waves),
    )
