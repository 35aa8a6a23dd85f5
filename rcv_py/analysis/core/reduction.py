"""Reductions: analyses of waves that run parcel by parcel, in any order, in memory or from files.

```
parcel ── map ──► part ┐
parcel ── map ──► part ┼── merge ──► part ── finish ──► answer
parcel ── map ──► part ┘
```
The answer is the same, to the last digit, for any parcels, any order of their parts and any way of merging.
A part is small (a row per instruction, loop or unit, not per token), made of plain columns, and can be
pickled; so can a reduction, whose functions are defined at module level.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from rcv_py.analysis.core.parcels import ENOUGH, FEW, Parcel, alone, parcels
from rcv_py.base.progress import Report, Stage, checkpoint, silent
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

First = TypeVar("First")
Part = TypeVar("Part")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Reduction(Generic[Part, Answer]):
    """An analysis.  `merge` takes one or more parts, in any order; there is also a part of no parcel.

    `is_together`: it relates waves to each other (which occupied a unit, which met at a barrier), so its
    parcels include neighbours; otherwise it reads each wave alone, and any waves form a parcel.
    `is_of_simd`: it relates only waves of the same SIMD.
    """

    map: Callable[[Trace, Parcel], Part]
    merge: Callable[[Sequence[Part]], Part]
    finish: Callable[[Trace, Part], Answer]
    is_together: bool = False
    is_of_simd: bool = False

    def parts(
        self,
        trace: Trace,
        batches: Iterable[WaveBatch],
        rows: Collection[int] | None = None,
        enough: int = ENOUGH,
    ) -> list[Part]:
        """Return the part of each parcel of waves that are in memory, of which `rows` (None: all) count."""
        return list(self.each(trace, batches, rows, enough))

    def each(
        self,
        trace: Trace,
        batches: Iterable[WaveBatch],
        rows: Collection[int] | None = None,
        enough: int = ENOUGH,
        *,
        report: Report = silent,
        name: str = "waves",
    ) -> Iterator[Part]:
        """Yield the same one by one; `report` gets the number of waves read, under `name`."""
        batches = tuple(batches)
        done, total = 0, sum(len(batch.waves) for batch in batches)
        for parcel in parcels(batches, rows, enough) if self.is_together else alone(batches, rows):
            checkpoint()
            report(Stage(name, done, total))
            yield mapped([self], trace, parcel)[0] if self.is_together else self.map(trace, parcel)
            done = min(total, done + len(parcel.own.waves))

    def of(self, trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None) -> Answer:
        """Return the answer for waves that are in memory, of which `rows` (None: all) count."""
        return self.finish(trace, self.merge(self.parts(trace, batches, rows)))


def mapped(
    reductions: Sequence[Reduction[Any, Any]], trace: Trace, parcel: Parcel, few: int = FEW
) -> tuple[Any, ...]:
    """Return the part that each reduction makes of a parcel, which holds all waves that any of them needs.

    With more than `few` tokens, a reduction that needs only a SIMD or a wave gets one SIMD or wave at a time,
    because temporary columns are as long as the tokens it gets.
    """
    parts: list[list[Any]] = [[] for _ in reductions]

    def look(places: Sequence[int], piece: Parcel) -> None:
        for at in places:
            checkpoint()
            parts[at].append(reductions[at].map(trace, piece))

    single = [at for at, one in enumerate(reductions) if not one.is_together]
    of_simd = [at for at, one in enumerate(reductions) if one.is_together and one.is_of_simd]
    for simd in parcel.by_simd(few) if single or of_simd else ():
        look(of_simd, simd)
        for wave in simd.by_wave(few) if single else ():
            look(single, wave)
    look([at for at, one in enumerate(reductions) if one.is_together and not one.is_of_simd], parcel)
    made = zip(reductions, parts, strict=True)
    return tuple(one.merge(some) if len(some) > 1 else some[0] for one, some in made)


def of_some(reduction: Reduction[Part, Answer], rows: frozenset[int]) -> Reduction[Part, Answer]:
    """Return a reduction that counts only the waves at these rows of the index, if they are chosen."""
    return replace(reduction, map=partial(_map_some, reduction.map, rows))


def _map_some(
    map: Callable[[Trace, Parcel], Part], rows: frozenset[int], trace: Trace, parcel: Parcel
) -> Part:
    is_one = np.array([wave.row in rows for wave in parcel.tokens.waves], dtype=bool)
    return map(trace, Parcel(parcel.tokens, parcel.chosen & is_one, parcel.begin, parcel.end))


@dataclass(frozen=True)
class Staged(Generic[First, Part, Answer]):
    """An analysis that needs a first result of all waves before it can read any of them."""

    first: Reduction[Any, First]
    then: Callable[[First], Reduction[Part, Answer]]

    def of(self, trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None) -> Answer:
        """Return the answer for waves that are in memory, of which `rows` (None: all) count."""
        batches = tuple(batches)
        return self.then(self.first.of(trace, batches)).of(trace, batches, rows)
