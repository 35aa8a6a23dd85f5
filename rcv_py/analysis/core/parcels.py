"""Parcels: the waves that an analysis has to see together, cut in time so that each has a bounded size.

```
        slab 0        │ slab 1       │ slab 2
wave 0  ▓▓▓▓▓▓▓▓      │              │            began in slab 0: what it sums up counts there
wave 1       ▓▓▓▓▓▓▓▓▓│▓▓▓▓          │            alive in slabs 0 and 1
wave 2                │  ▓▓▓▓▓▓▓▓▓▓▓▓│▓▓          a parcel of slab 0 holds it: it lived beside wave 1
```
The slabs of a shader engine share the time among them without a gap, so that whatever has one time (the
begin of a wave, the start of a token, a cycle) belongs to exactly one.  A parcel holds every wave that was
alive in its slab, and the neighbours of these: all waves of the engine that lived while one of them did, or
ended shortly before.  What an instruction was waiting for, and what covered it, is therefore the same as if
all waves were there.

Cuts are laid where no wave is alive, if such a moment is near, else where few are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from rcv_py.analysis.core.token_columns import TokenColumns, columns_of, of_waves
from rcv_py.base.runs import ascending, first_from, repeated
from rcv_py.model.columns import of_rows
from rcv_py.model.waves import Wave, WaveBatch

FOREVER = 1 << 62  # cycles: earlier and later than every time of a file
ENOUGH = 1 << 19  # tokens of the waves that begin in a slab: intermediate columns of a parcel fit 300 MB
MARGIN = 512  # cycles behind the end of a wave in which what it did still occupies a unit
FEW = 300_000  # tokens of some waves of a parcel: what begins in a slab is one, unless waves are long
PIECE = FEW // 2  # tokens of a piece of its time: each costs some looks at all tokens
PIECES = 3  # more of them save little: what rules need of all tokens of a parcel is there all the time
SAMPLED = 16  # every so many tokens tell where the time of a parcel is cut
MOSTLY = 0.5  # of what began in a slab may live on at its end, else it ends later
SLACK = 2  # a slab may become so many times as large in search for a better cut


@dataclass(frozen=True, eq=False)
class Slab:
    """A stretch of time of one shader engine, and the waves that are needed to look at it."""

    se: int
    begin: int  # cycles, aligned; -FOREVER for the first one
    end: int  # cycles: the first that belongs to the next slab; FOREVER for the last one
    own: np.ndarray  # int64, rows that begin inside, ascending
    rows: np.ndarray  # int64, all rows that a parcel of it holds, ascending


@dataclass(frozen=True, eq=False)
class Lives:
    """When waves were alive, one row a wave, and what each weighs: tokens, or bytes of its file."""

    se: np.ndarray  # int64
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles; in a damaged file before the begin
    weight: np.ndarray  # int64


def slabs(lives: Lives, enough: int = ENOUGH) -> tuple[Slab, ...]:
    """Cut the waves of each engine into slabs of about `enough` weight; their rows are those of `lives`.

    A wave that lasts as long as the trace is part of every slab: what it weighs is not cut.
    """
    lives = replace(lives, end=np.maximum(lives.begin, lives.end))
    engines = [np.flatnonzero(lives.se == se) for se in ascending(lives.se)]
    return tuple(slab for rows in engines for slab in _of_engine(of_rows(lives, rows), rows, enough))


def stretches(lives: Lives, enough: int, count: int) -> np.ndarray:
    """Return the rows of an engine's waves in `count` stretches of its time, ascending, int64.

    Together they weigh about `enough`, and their middles are evenly spread: what changes while a kernel runs
    counts as in all of it.  A stretch ends where no wave is alive, or few are; waves that last as long as
    the trace are all in one.
    """
    cut = slabs(lives, max(1, enough // count))
    middles = (2 * np.arange(count) + 1) * len(cut) // (2 * count)
    return np.sort(np.concatenate([cut[at].own for at in ascending(middles).tolist()]))


def _of_engine(lives: Lives, rows: np.ndarray, enough: int) -> Iterator[Slab]:
    begin, end = lives.begin, lives.end + MARGIN
    for low, high in pairwise([-FOREVER, *_cuts(begin, lives.end, lives.weight, enough), FOREVER]):
        is_own = (begin >= low) & (begin < high)
        alive = (begin < high) & (end >= low)
        first, last = begin[alive].min(initial=FOREVER), end[alive].max(initial=-FOREVER)
        near = (begin <= last) & (end >= first)
        yield Slab(se=int(lives.se[0]), begin=low, end=high, own=rows[is_own], rows=rows[near])


def _cuts(begin: np.ndarray, end: np.ndarray, weight: np.ndarray, enough: int) -> list[int]:
    """Begins of waves at which a new slab starts, ascending."""
    order = np.argsort(begin, kind="stable")
    starts, ends, sums = begin[order], end[order], np.cumsum(weight[order])
    heavy = weight[order]
    alive = np.arange(len(starts)) - np.searchsorted(np.sort(end), starts, side="left")  # before each begins
    cuts: list[int] = []
    done = last = 0
    while True:
        low = int(np.searchsorted(sums, done + enough, side="left")) + 1
        high = int(np.searchsorted(sums, done + SLACK * enough, side="left")) + 1
        if low >= len(starts):
            return cuts
        at = low + int(np.argmin(alive[low : max(high, low + 1)]))
        # Waves that begin at once stay together, and those that mostly live on: all slabs would hold them.
        lives_on = int(heavy[last:at][ends[last:at] >= starts[at]].sum())
        is_apart = lives_on <= MOSTLY * int(heavy[last:at].sum())
        if is_apart and (not cuts or starts[at] > cuts[-1]):
            cuts.append(int(starts[at]))
            last = at
        done = int(sums[at - 1])


@dataclass(frozen=True, eq=False)
class Parcel:
    """The waves of a slab and their neighbours, in order of the wave index; the same wave never twice."""

    tokens: TokenColumns
    chosen: np.ndarray  # bool [waves]: their costs count; the others only occupy units and cover cycles
    begin: int = -FOREVER  # cycles, aligned: the slab
    end: int = FOREVER

    @cached_property
    def is_own(self) -> np.ndarray:
        """Whether each wave begins in the slab, bool [waves]: so each wave is one parcel's own."""
        begin, _ = self.tokens.lives
        return (begin >= self.begin) & (begin < self.end)

    @cached_property
    def own(self) -> TokenColumns:
        """The chosen waves that begin in the slab: what sums over waves walk over."""
        return self._of(self.chosen & self.is_own)

    @cached_property
    def begun(self) -> TokenColumns:
        """All waves that begin in the slab, chosen or not."""
        return self.own if self.chosen.all() else self._of(self.is_own)

    def _of(self, is_meant: np.ndarray) -> TokenColumns:
        if is_meant.all():
            return self.tokens
        return of_waves(wave for wave, is_one in zip(self.tokens.waves, is_meant, strict=True) if is_one)

    def in_time(self, few: int = PIECE) -> list[Parcel]:
        """Cut the slab of a parcel with many more than `few` tokens into PIECES, also within waves.

        About as many tokens start in each.  All of them hold all waves: what crosses a cut is as if there
        were none.
        """
        if len(self.tokens) <= SLACK * few:
            return [self]
        start = self.tokens.start[::SAMPLED]
        start = np.sort(start[self.holds(start)])
        cuts = ascending(start[len(start) * np.arange(1, PIECES) // PIECES]) if len(start) else start
        ends = pairwise([self.begin, *cuts[cuts > self.begin].tolist(), self.end])
        return [Parcel(self.tokens, self.chosen, begin, end) for begin, end in ends]

    def by_simd(self, few: int = FEW) -> list[Parcel]:
        """Return a parcel a SIMD, of a parcel with many more than `few` tokens; for what looks no further."""
        if len(self.tokens) <= SLACK * few:
            return [self]
        place = np.array([(wave.id.se << 8) + wave.id.simd for wave in self.tokens.waves], dtype=np.int64)
        return [self._part(place == simd) for simd in ascending(place)]

    def by_wave(self, few: int = FEW) -> list[Parcel]:
        """Return parcels of one wave or of several with not many more than `few` tokens."""
        if len(self.tokens) <= SLACK * few:
            return [self]
        turn = self.tokens.first[1:] // few
        return [self._part(turn == number) for number in ascending(turn)]

    def _part(self, is_in: np.ndarray) -> Parcel:
        return Parcel(self._of(is_in), self.chosen[is_in], self.begin, self.end)

    def holds(self, time: np.ndarray) -> np.ndarray:
        """Whether times (cycles, aligned) lie in the slab, bool."""
        return (time >= self.begin) & (time < self.end)

    @cached_property
    def touches(self) -> np.ndarray:
        """Whether the stall of each token of a chosen wave, or the gap before it, is partly in the slab."""
        tokens = self.tokens
        if self.begin == -FOREVER and self.end == FOREVER:
            return self.chosen[tokens.owner]
        # What starts later may touch it with the gap before; that of the next one begins later still.
        first, stop = tokens.first[:-1], tokens.first[1:]
        late = first_from(tokens.start, first, stop, self.end)
        some = np.flatnonzero(late < stop)
        at = late[some]
        late[some] += tokens.start[at] - tokens.idle[at] < self.end
        is_there = self._of_waves(first, late)
        is_there &= tokens.issue > self.begin
        return is_there

    def _of_waves(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Whether each token is one of rows `low` to `high - 1` of its wave, and that is chosen; bool."""
        first, stop = self.tokens.first[:-1], self.tokens.first[1:]
        low, high = (np.where(self.chosen, row, stop) for row in (low, high))
        counts = np.column_stack([low - first, high - low, stop - high]).reshape(-1)
        return repeated(np.tile([False, True, False], len(first)), counts)

    @cached_property
    def is_counted(self) -> np.ndarray:
        """Whether each token is one of a chosen wave that starts in the slab, bool [tokens].

        In a damaged file it may start outside of the life of its wave: then it counts where that is nearest.
        """
        if self.begin == -FOREVER and self.end == FOREVER:
            return self.chosen[self.tokens.owner]
        begin, end = self.tokens.lives
        end = np.maximum(begin, end)
        first, stop = self.tokens.first[:-1], self.tokens.first[1:]
        low, high = (first_from(self.tokens.start, first, stop, time) for time in (self.begin, self.end))
        low = np.where(begin >= self.begin, first, np.where(end < self.begin, stop, low))
        high = np.where(end < self.end, stop, np.where(begin >= self.end, first, high))
        return self._of_waves(low, high)


def parcel_of(waves: Iterable[Wave], rows: Collection[int] | None, slab: Slab | None = None) -> Parcel:
    """Return the parcel of some waves, of which those whose index row is in `rows` (None: all) are chosen."""
    ordered = sorted({wave.row: wave for wave in waves}.values(), key=lambda wave: wave.row)
    chosen = np.array([rows is None or wave.row in rows for wave in ordered], dtype=bool)
    begin, end = (-FOREVER, FOREVER) if slab is None else (slab.begin, slab.end)
    return Parcel(of_waves(ordered), chosen, begin, end)


def parcels(
    batches: Iterable[WaveBatch], rows: Collection[int] | None = None, enough: int = ENOUGH
) -> Iterator[Parcel]:
    """Yield parcels of waves that are in memory, engine by engine, in order of time."""
    waves = list({wave.row: wave for batch in batches for wave in batch.waves}.values())
    facts = [(wave.id.se, wave.begin, wave.end, len(wave.tokens)) for wave in waves]
    for slab in slabs(Lives(*np.array(facts, dtype=np.int64).reshape(-1, 4).T), enough):
        yield parcel_of((waves[at] for at in slab.rows.tolist()), rows, slab)


def alone(
    batches: Iterable[WaveBatch], rows: Collection[int] | None = None, seen: set[int] | None = None
) -> Iterator[Parcel]:
    """Yield a parcel a batch, each wave once: for what looks at every wave by itself.

    Waves whose index row is in `seen` are left out; those of the parcels are added to it.
    """
    seen = set() if seen is None else seen
    for batch in batches:
        fresh = [wave for wave in batch.waves if wave.row not in seen]
        seen.update([wave.row for wave in fresh])
        if len(fresh) == len(batch.waves) > 0:
            chosen = np.array([rows is None or wave.row in rows for wave in fresh], dtype=bool)
            yield Parcel(columns_of(batch), chosen)  # nothing is copied
        elif fresh:
            yield parcel_of(fresh, rows)
