"""Parcels: the waves that an analysis needs together, cut in time so that each has a bounded size.

```
        slab 0        │ slab 1       │ slab 2
wave 0  ▓▓▓▓▓▓▓▓      │              │            began in slab 0: its sums count there
wave 1       ▓▓▓▓▓▓▓▓▓│▓▓▓▓          │            alive in slabs 0 and 1
wave 2                │  ▓▓▓▓▓▓▓▓▓▓▓▓│▓▓          a parcel of slab 0 holds it: it overlaps wave 1
```
The slabs of a shader engine divide its time without gaps, so a single time (the begin of a wave, the start of
a token, a cycle) belongs to exactly one slab.  A parcel holds every wave that was alive in its slab, and the
neighbours of these waves: all waves of the engine that overlap them or ended shortly before.  Therefore what
an instruction waited for, and what covered the wait, is the same as with all waves present.

Cuts lie where no wave is alive, if such a moment is near, else where few waves are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rcv_py.analysis.core.token_columns import TokenColumns, columns_of, of_waves
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import ascending, first_from
from rcv_py.model.waves import TracedWave, WaveBatch

FOREVER = 1 << 62  # cycles: earlier and later than every time of a file
ENOUGH = 1 << 19  # tokens of the waves that begin in a slab: intermediate columns of a parcel fit 300 MB
MARGIN = 512  # cycles after the end of a wave in which its work still occupies a unit
FEW = 300_000  # tokens of a part of a parcel; the own waves of a slab fit into one part, unless they are long
PIECE = FEW // 2  # tokens of a piece of a parcel's time: each piece costs some passes over all tokens
PIECES = 3  # more pieces save little: columns of all tokens of a parcel stay in memory for the rules
SAMPLED = 16  # every n-th token is sampled to choose where to cut the time of a parcel
MOSTLY = 0.5  # part of the waves begun in a slab that may be alive at its end; with more, it ends later
SLACK = 2  # a slab may grow to this multiple of its size in search of a better cut


class Slab(Value):
    """A stretch of time of one shader engine, and the waves needed to analyse it."""

    se: int
    begin: int  # cycles, aligned; -FOREVER for the first one
    end: int  # cycles: the first that belongs to the next slab; FOREVER for the last one
    own: np.ndarray  # int64, rows that begin inside, ascending
    rows: np.ndarray  # int64, all rows that a parcel of it holds, ascending


class WaveLifetimes(NamedTuple):
    """Lifetimes of waves, one row a wave, and their weights: tokens, or bytes of the file."""

    se: np.ndarray  # int64
    begin: np.ndarray  # int64, cycles, aligned
    end: np.ndarray  # int64, cycles; in a damaged file before the begin
    weight: np.ndarray  # int64


def slabs(lives: WaveLifetimes, enough: int = ENOUGH) -> tuple[Slab, ...]:
    """Cut the waves of each engine into slabs of about `enough` weight; their rows index `lives`.

    A wave that lasts as long as the trace is part of every slab; its weight is not divided.
    """
    found = []
    for se in ascending(lives.se).tolist():
        rows = np.flatnonzero(lives.se == se)
        begin, end, weight = lives.begin[rows], lives.end[rows], lives.weight[rows]
        end = np.maximum(begin, end)
        cuts, until = _cuts(begin, end, weight, enough), end + MARGIN
        for low, high in pairwise([-FOREVER, *cuts, FOREVER]):
            is_own = (begin >= low) & (begin < high)
            alive = (begin < high) & (until >= low)
            first, last = begin[alive].min(initial=FOREVER), until[alive].max(initial=-FOREVER)
            near = (begin <= last) & (until >= first)
            found.append(Slab(se=se, begin=low, end=high, own=rows[is_own], rows=rows[near]))
    return tuple(found)


def stretches(lives: WaveLifetimes, enough: int, count: int) -> np.ndarray:
    """Return the rows of an engine's waves in `count` stretches of its time, ascending, int64.

    Together they weigh about `enough`, and their middles are evenly spread, so that they represent a kernel
    that changes while it runs.  A stretch ends where no or few waves are alive; waves that last as long as
    the trace are all in one stretch.
    """
    cut = slabs(lives, max(1, enough // count))
    middles = (2 * np.arange(count) + 1) * len(cut) // (2 * count)
    return np.sort(np.concatenate([cut[at].own for at in ascending(middles).tolist()]))


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
        # Keep waves that begin at once together, and waves that mostly live on: all slabs would hold them.
        lives_on = int(heavy[last:at][ends[last:at] >= starts[at]].sum())
        is_apart = lives_on <= MOSTLY * int(heavy[last:at].sum())
        if is_apart and (not cuts or starts[at] > cuts[-1]):
            cuts.append(int(starts[at]))
            last = at
        done = int(sums[at - 1])


class Parcel(Record):
    """The waves of a slab and their neighbours, in order of the wave index, each wave once."""

    tokens: TokenColumns
    chosen: np.ndarray  # bool [waves]: their costs count; the others only occupy units and cover cycles
    begin: int = -FOREVER  # cycles, aligned: the slab
    end: int = FOREVER

    @cached_property
    def is_own(self) -> np.ndarray:
        """Whether each wave begins in the slab, bool [waves]; each wave does in exactly one parcel."""
        begin, _ = self.tokens.lives
        return (begin >= self.begin) & (begin < self.end)

    @cached_property
    def own(self) -> TokenColumns:
        """The chosen waves that begin in the slab, for sums over waves."""
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

        About equally many tokens start in each piece.  Every piece holds all waves, so a cut changes nothing
        for what crosses it.
        """
        if len(self.tokens) <= SLACK * few:
            return [self]
        start = self.tokens.start[::SAMPLED]
        start = np.sort(start[self.holds(start)])
        cuts = ascending(start[len(start) * np.arange(1, PIECES) // PIECES]) if len(start) else start
        ends = pairwise([self.begin, *cuts[cuts > self.begin].tolist(), self.end])
        return [Parcel(self.tokens, self.chosen, begin, end) for begin, end in ends]

    def by_simd(self, few: int = FEW) -> list[Parcel]:
        """Split a parcel with many more than `few` tokens by SIMD, for analyses that need no more."""
        if len(self.tokens) <= SLACK * few:
            return [self]
        place = self.tokens.places
        return [self._part(place == simd) for simd in ascending(place)]

    def by_wave(self, few: int = FEW) -> list[Parcel]:
        """Split into parcels of one or more waves with not many more than `few` tokens."""
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
        # A token that starts after the slab may touch it with the gap before; the next token's gap is later.
        first, stop = tokens.first[:-1], tokens.first[1:]
        late = first_from(tokens.start, first, stop, self.end)
        some = np.flatnonzero(late < stop)
        at = late[some]
        late[some] += tokens.start[at] - tokens.idle[at] < self.end
        is_there = self._of_waves(first, late)
        is_there &= tokens.issue > self.begin
        return is_there

    def _of_waves(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Whether each token is in rows `low` to `high - 1` of its wave, and the wave is chosen; bool."""
        first, stop = self.tokens.first[:-1], self.tokens.first[1:]
        low, high = (np.where(self.chosen, row, stop) for row in (low, high))
        counts = np.column_stack([low - first, high - low, stop - high]).reshape(-1)
        return np.repeat(np.tile([False, True, False], len(first)), counts)

    @cached_property
    def is_counted(self) -> np.ndarray:
        """Whether each token belongs to a chosen wave and starts in the slab, bool [tokens].

        In a damaged file a token may start outside its wave's life: it counts at the nearest time inside.
        """
        begin, end = self.tokens.lives
        end = np.maximum(begin, end)
        first, stop = self.tokens.first[:-1], self.tokens.first[1:]
        low, high = (first_from(self.tokens.start, first, stop, time) for time in (self.begin, self.end))
        low = np.where(begin >= self.begin, first, np.where(end < self.begin, stop, low))
        high = np.where(end < self.end, stop, np.where(begin >= self.end, first, high))
        return self._of_waves(low, high)


def parcel_of(waves: Iterable[TracedWave], rows: Collection[int] | None, slab: Slab | None = None) -> Parcel:
    """Return the parcel of some waves; waves whose index row is in `rows` (None: all) are chosen."""
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
    for slab in slabs(WaveLifetimes(*np.array(facts, dtype=np.int64).reshape(-1, 4).T), enough):
        yield parcel_of((waves[at] for at in slab.rows.tolist()), rows, slab)


def alone(
    batches: Iterable[WaveBatch], rows: Collection[int] | None = None, seen: set[int] | None = None
) -> Iterator[Parcel]:
    """Yield a parcel a batch, each wave once, for analyses that read each wave alone.

    Waves whose index row is in `seen` are left out; the waves of the parcels are added to it.
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
