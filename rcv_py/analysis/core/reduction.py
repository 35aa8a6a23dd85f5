"""Reductions: analyses of waves that run parcel by parcel, in any order, in memory or from files.

```
parcel ── map ──► part ┐
parcel ── map ──► part ┼── merge ──► part ── finish ──► answer
parcel ── map ──► part ┘
```
The answer is the same, to the last digit, for any parcels, any order of their parts and any way of merging.
A part is small (a row per instruction, loop or unit, not per token), made of plain columns, and can be
pickled; so can a reduction, whose functions are defined at module level.

`Answers` runs reductions over the waves of a capture, in memory or read from files.  A caller that knows all
the analyses it needs requests them together, so that waves are read once; any other analysis runs when its
result is first used.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from rcv_py.analysis.core.parcels import ENOUGH, FEW, Parcel, alone, parcels
from rcv_py.analysis.core.saturated import Sums, joined_sums, no_sums
from rcv_py.base.errors import RcvError
from rcv_py.base.progress import Report, Stage, checkpoint, silent
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, plural
from rcv_py.model.columns import Table, joined
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

First = TypeVar("First")
Part = TypeVar("Part")
Answer = TypeVar("Answer")
Merge = Callable[[Sequence[Part]], Part]  # of parts in any order; of no part, it returns the part of no wave


class Reduction(Value, Generic[Part, Answer]):
    """An analysis.  `merge` takes one or more parts, in any order; there is also a part of no parcel.

    `is_together`: it relates waves to each other (which occupied a unit, which met at a barrier), so its
    parcels include neighbours; otherwise it reads each wave alone, and any waves form a parcel.
    `is_of_simd`: it relates only waves of the same SIMD.
    """

    map: Callable[[Trace, Parcel], Part]
    merge: Merge[Part]
    finish: Callable[[Trace, Part], Answer]
    is_together: bool = False
    is_of_simd: bool = False

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
        """Yield the part of each parcel of waves that are in memory, of which `rows` (None: all) count.

        `report` gets the number of waves read, under `name`.
        """
        batches = tuple(batches)
        done, total = 0, sum(len(batch.waves) for batch in batches)
        for parcel in parcels(batches, rows, enough) if self.is_together else alone(batches, rows):
            checkpoint()
            report(Stage(name, done, total))
            yield mapped([self], trace, parcel)[0] if self.is_together else self.map(trace, parcel)
            done = min(total, done + len(parcel.own.waves))

    def of(self, trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None) -> Answer:
        """Return the answer for waves that are in memory, of which `rows` (None: all) count."""
        return self.finish(trace, self.merge([*self.each(trace, batches, rows)]))


def unchanged(_trace: Trace, part: Part) -> Part:
    """Return the part: `finish` of a reduction whose answer is its part."""
    return part


def by_field(kind: Callable[..., Part], **merges: Merge[Any]) -> Merge[Part]:
    """Return a merge of records of a kind, given the merge of each field."""
    return partial(_merged_fields, kind, merges)


def _merged_fields(kind: Callable[..., Part], merges: dict[str, Merge[Any]], parts: Sequence[Part]) -> Part:
    return kind(**{name: merge([getattr(part, name) for part in parts]) for name, merge in merges.items()})


def added(columns: int) -> Merge[Sums]:
    """Return a merge of sums with this number of columns, which adds what has the same key."""
    return partial(_after, joined_sums, no_sums(columns))


def totals(*shape: int) -> Merge[np.ndarray]:
    """Return a merge of int64 arrays of a shape, which adds them; a length of 1 fits any other."""
    return partial(_after, sum, np.zeros(shape, dtype=np.int64))


def stacked(*shape: int) -> Merge[np.ndarray]:
    """Return a merge of int64 arrays [n, *shape], which concatenates them."""
    return partial(_after, np.concatenate, np.zeros((0, *shape), dtype=np.int64))


def tables(nothing: Table) -> Merge[Table]:
    """Return a merge of records of columns, which concatenates them; `nothing` has no rows."""
    return partial(_after, joined, nothing)


def _after(merge: Callable[..., Part], nothing: Part, parts: Sequence[Part]) -> Part:
    return merge([nothing, *parts])


def union(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return each value of several int64 arrays once, ascending."""
    return ascending(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))


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


class Staged(Value, Generic[First, Part, Answer]):
    """An analysis that needs a first result of all waves before it can read any of them."""

    first: Reduction[Any, First]
    then: Callable[[First], Reduction[Part, Answer]]

    def of(self, trace: Trace, batches: Iterable[WaveBatch], rows: Collection[int] | None = None) -> Answer:
        """Return the answer for waves that are in memory, of which `rows` (None: all) count."""
        batches = tuple(batches)
        return self.then(self.first.of(trace, batches)).of(trace, batches, rows)


AnyReduction = Reduction[Any, Any]
Analysis = AnyReduction | Staged[Any, Any, Any]
Rows = frozenset[int] | None  # of the wave index, whose costs count; None: all


class Answers(ABC):
    """The results for the waves that could be read, each computed once."""

    def __init__(self, trace: Trace, waves: int) -> None:
        self.trace = trace
        self.waves = waves  # how many there are to read
        self.missing: dict[int, str] = {}  # rows of waves that could not be read, ascending, and why
        self.doubtful: dict[int, str] = {}  # rows of waves that were, whose numbers may be wrong, and why
        self.errors: list[RcvError] = []  # why some waves were dropped
        self._staged: dict[Staged[Any, Any, Any], AnyReduction] = {}
        self._parts: dict[tuple[AnyReduction, Rows], Any] = {}
        self._answers: dict[tuple[AnyReduction, Rows], Any] = {}

    @property
    def read(self) -> int:
        """How many waves were read."""
        return self.waves - len(self.missing)

    @property
    def doubt(self) -> str:
        """A sentence on waves whose numbers may be wrong, with the first reason; "" if there are none."""
        if not self.doubtful:
            return ""
        waves = plural(len(self.doubtful), "wave")
        return Message("{0} may be wrong: {1}", waves, next(iter(self.doubtful.values())))

    @property
    def is_kept(self) -> bool:
        """Whether waves are read only once, for any number of requests."""
        return True

    def end_processes(self) -> None:
        """Free the memory of processes that read waves, if there are any; the next request starts others."""
        return

    def ask(self, analyses: Iterable[Analysis], rows: Rows = None) -> None:
        """Run the analyses without a result yet in one pass over all waves; the costs of `rows` count.

        Request the first results of staged analyses beforehand, else they cost another pass.
        """
        analyses = list(analyses)
        self._ask(firsts(analyses), None)
        self._ask([self._plain(one) for one in analyses], rows)

    def of(self, analysis: Reduction[Part, Answer] | Staged[Any, Part, Answer], rows: Rows = None) -> Answer:
        """Return the result of an analysis of all waves; the costs of `rows` count."""
        reduction = self._plain(analysis)
        key = reduction, rows
        if key not in self._answers:
            self._ask([reduction], rows)
            self._answers[key] = reduction.finish(self.trace, self._parts.pop(key))
        answer: Answer = self._answers[key]
        return answer

    def part(self, reduction: Reduction[Part, Any], rows: Rows = None) -> Part:
        """Return the part of all waves, to be merged with other parts; the costs of `rows` count."""
        self._ask([reduction], rows)
        part: Part = self._parts.pop((reduction, rows))
        return part

    def _plain(self, analysis: Analysis) -> AnyReduction:
        if isinstance(analysis, Reduction):
            return analysis
        if analysis not in self._staged:
            self._staged[analysis] = analysis.then(self.of(analysis.first))
        return self._staged[analysis]

    def _ask(self, reductions: Iterable[AnyReduction], rows: Rows) -> None:
        unknown = [
            one
            for one in dict.fromkeys(reductions)
            if (one, rows) not in self._parts and (one, rows) not in self._answers
        ]
        if unknown:
            parts = self._look(unknown, rows)
            self._parts.update(((one, rows), part) for one, part in zip(unknown, parts, strict=True))

    @abstractmethod
    def _look(self, reductions: Sequence[AnyReduction], rows: Rows) -> Sequence[Any]:
        """Return the part that each reduction makes of all waves."""


def firsts(analyses: Iterable[Analysis]) -> list[AnyReduction]:
    """Return the first results that the staged analyses need of all waves."""
    return [one.first for one in analyses if isinstance(one, Staged)]


class InMemory(Answers):
    """Results for waves that are in memory.

    `report` gets the name of the pass over all waves, and how many waves were read.
    """

    def __init__(self, trace: Trace, batches: Iterable[WaveBatch], report: Report = silent) -> None:
        self._report, self._looks = report, 0
        self.batches = tuple(batches)
        read = {wave.row for batch in self.batches for wave in batch.waves}
        lost = (one for batch in self.batches for one in batch.missing)
        missing = {row: text for row, text in lost if row not in read}
        super().__init__(trace, len(read) + len(missing))
        self.missing = dict(sorted(missing.items()))
        self.doubtful = dict(sorted(note for batch in self.batches for note in batch.notes))

    def _look(self, reductions: Sequence[AnyReduction], rows: Rows) -> Sequence[Any]:
        parts = []
        for one in reductions:
            self._looks += 1
            name = "waves" if self._looks == 1 else Message("step {0}, waves", self._looks)
            each = one.each(self.trace, self.batches, rows, report=self._report, name=name)
            parts.append(one.merge(list(each)))
        return parts
