"""Reductions: analyses of waves that run parcel by parcel, wherever waves are, in any order.

```
parcel ── map ──► part ┐
parcel ── map ──► part ┼── merge ──► part ── finish ──► answer
parcel ── map ──► part ┘
```
The answer is the same, to the last digit, whatever the parcels are, in whatever order their parts arrive and
however they are merged.  A part is small (rows an instruction, a loop, a unit, not a token), made of plain
columns, and can be pickled; so can a reduction, whose functions live in modules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rcv_py.analysis.core.parcels import ENOUGH, Parcel, alone, parcels
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

First = TypeVar("First")
Part = TypeVar("Part")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Reduction(Generic[Part, Answer]):
    """An analysis.  `merge` takes one part or several, in any order; there is a part of no parcel at all.

    `is_together`: it looks at waves beside each other (who occupied a unit, who met at a barrier), so its
    parcels hold neighbours; else at every wave by itself, and any waves are a parcel.
    """

    map: Callable[[Trace, Parcel], Part]
    merge: Callable[[Sequence[Part]], Part]
    finish: Callable[[Trace, Part], Answer]
    is_together: bool = False

    def parts(
        self,
        trace: Trace,
        batches: Iterable[WaveBatch],
        rows: Collection[int] | None = None,
        enough: int = ENOUGH,
    ) -> list[Part]:
        """Return the part of each parcel of waves that are in memory, of which `rows` (None: all) count."""
        cut = parcels(batches, rows, enough) if self.is_together else alone(batches, rows)
        return [self.map(trace, parcel) for parcel in cut]

    def of(self, trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None) -> Answer:
        """Return the answer for waves that are in memory, of which `rows` (None: all) count."""
        return self.finish(trace, self.merge(self.parts(trace, batches, rows)))


@dataclass(frozen=True)
class Staged(Generic[First, Part, Answer]):
    """An analysis that needs to know something of all waves before it can look at any of them."""

    first: Reduction[Any, First]
    then: Callable[[First], Reduction[Part, Answer]]

    def of(self, trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None) -> Answer:
        """Return the answer for waves that are in memory, of which `rows` (None: all) count."""
        batches = tuple(batches)
        return self.then(self.first.of(trace, batches)).of(trace, batches, rows)
