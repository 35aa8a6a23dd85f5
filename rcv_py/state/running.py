"""Answers about the waves that were read so far, kept up to date for the price of what arrived."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, Protocol
from weakref import WeakSet

from rcv_py.analysis.core.parcels import alone
from rcv_py.analysis.core.reduction import Answer, Part, Reduction
from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, Stage, stoppable
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

ENOUGH_MORE = 2  # while waves arrive, what has to begin anew does when there are so many times as many


class AnswerFlag(CancelFlag):
    """Ends the reading of waves for an answer: somebody pressed Cancel, or nobody wants it any more."""

    def __init__(self) -> None:
        super().__init__()
        self.over = CancelFlag()  # nobody wants it: else an answer without those waves is better than none
        self.stage: Stage | None = None  # how far the answer is, as the thread that makes it says

    def tell(self, stage: Stage) -> None:
        """Say how far the answer is."""
        self.stage = stage

    @property
    def is_over(self) -> bool:
        """Whether nobody wants the answer any more."""
        return self.over.is_set()

    def end(self) -> None:
        """Nobody wants the answer any more."""
        self.over.set()
        self.set()


# Of a reduction and waves that are not in memory: their part, made of their files; None if there is no way to
# read them.  Raises Cancelled.
Again = Callable[[Reduction[Any, Any], list[int], AnswerFlag], Any]


class Watcher(Protocol):
    """Somebody who wants an answer."""

    @property
    def is_asleep(self) -> bool:
        """Whether nobody can see it."""


@dataclass(frozen=True, eq=False)
class _Made:
    """What some waves say, mapped where they were read."""

    rows: frozenset[int]
    chosen: frozenset[int]  # of them: those whose costs count
    part: Any


class Running(Generic[Part, Answer]):
    """The answer of a reduction that looks at every wave by itself.

    Each wave is mapped once, where it is read or when it is seen first; what it said stays when its columns
    leave the memory, and does not count again when they come back.  May be asked from any thread.
    """

    def __init__(
        self,
        trace: Trace,
        reduction: Reduction[Part, Answer],
        again: Again = lambda reduction, rows, flag: None,
        expected: frozenset[int] | None = None,
    ) -> None:
        self._trace, self._again = trace, again
        self.reduction = reduction
        self.expected = expected  # rows that will count, as far as that is known before waves are read
        self.flag = AnswerFlag()
        self.watchers: tuple[Watcher, ...] = ()
        self._lock = Lock()
        self._began_with = 0  # waves
        self._parts: list[Part] = []
        self._made: list[_Made] = []  # not looked at yet
        self._counted: set[int] = set()  # rows of the wave index that were mapped
        self._chosen: set[int] = set()  # of them: those whose costs count
        self._known: WeakSet[WaveBatch] = WeakSet()

    @property
    def is_wanted(self) -> bool:
        """Whether somebody sees the answer, so that it is worth mapping waves where they are read."""
        return any(not watcher.is_asleep for watcher in self.watchers)

    def of(
        self,
        batches: Sequence[WaveBatch],
        rows: Collection[int] | None = None,
        *,
        absent: Collection[int] = (),
        is_streaming: bool = False,
    ) -> Answer:
        """Return the answer for these waves and those before, of which `rows` (None: all) count.

        Where `rows` chooses otherwise among waves that were counted, it begins anew with those in `batches`.
        While waves arrive (`is_streaming`) it does only when there are `ENOUGH_MORE`, and until then leaves
        what was counted as it is: so all of it together costs a few times what arrived.  Once no more arrive,
        waves that were read and left the memory since (`absent`) are read again if they were not counted.
        When somebody cancels that, they do not count; raises Cancelled when nobody wants the answer any more.
        """
        with self._lock:
            if not self._agrees(rows):
                waves = len({wave.row for batch in batches for wave in batch.waves} | {*absent})
                if not is_streaming or waves >= ENOUGH_MORE * self._began_with:
                    self._began_with = waves
                    self._parts, self._counted, self._chosen, self._known = [], set(), set(), WeakSet()
            counted, chosen, parts = set(self._counted), set(self._chosen), list(self._parts)
            fresh = [batch for batch in batches if batch not in self._known]
            for made in self._ready(fresh, absent):
                if not made.rows & counted and made.chosen == _of(made.rows, rows):
                    parts.append(made.part)
                    counted |= made.rows
                    chosen |= made.chosen
            for parcel in alone(fresh, rows, counted):
                self.flag.over.check()
                parts.append(self.reduction.map(self._trace, parcel))
                chosen.update(wave.row for wave in parcel.own.waves)
            lacking: set[int] = set() if is_streaming else {*absent} - counted
            due = _of(lacking, rows)
            if due and (part := self._part_of(due)) is not None:
                parts.append(part)
                chosen |= due
                counted |= lacking
            self._parts = [self.reduction.merge(parts)]
            self._counted, self._chosen = counted, chosen
            self._known.update(fresh)
            with stoppable(self.flag.over):
                return self.reduction.finish(self._trace, self._parts[0])

    def take(self, rows: frozenset[int], chosen: frozenset[int], part: Part) -> None:
        """Take over what waves say, mapped where they were read; those at rows `chosen` count.

        It is used if those are the ones that count when it is asked for.
        """
        self._made.append(_Made(rows, chosen, part))

    def _part_of(self, absent: AbstractSet[int]) -> Part | None:
        """Read waves again; None if that was cancelled."""
        try:
            part: Part | None = self._again(self.reduction, sorted(absent), self.flag)
        except Cancelled:
            if self.flag.is_over:
                raise
            self.flag = AnswerFlag()
            return None
        return part

    def _ready(self, fresh: Sequence[WaveBatch], absent: Collection[int]) -> list[_Made]:
        """What was made of waves that are asked for; which of the others count is not known yet."""
        if not self._made:
            return []
        asked = {wave.row for batch in fresh for wave in batch.waves}.union(absent)
        known, self._made = self._made, []
        ready = [made for made in known if made.rows <= asked]
        self._made += [made for made in known if not made.rows <= asked]
        return ready

    def _agrees(self, rows: Collection[int] | None) -> bool:
        """Whether those that were counted are those of `rows`."""
        return _of(self._counted, rows) == self._chosen


def _of(rows: AbstractSet[int], wanted: Collection[int] | None) -> AbstractSet[int]:
    """Those rows that are wanted."""
    return rows if wanted is None else {row for row in rows if row in wanted}


@dataclass(frozen=True, eq=False)
class Order:
    """A reduction that somebody waits for, to be mapped where some waves are read."""

    running: Running[Any, Any]

    @property
    def reduction(self) -> Reduction[Any, Any]:
        """What is mapped."""
        return self.running.reduction

    @property
    def chosen(self) -> frozenset[int] | None:
        """Rows of waves whose costs count; None: all."""
        return self.running.expected

    def take(self, rows: frozenset[int], part: Any) -> None:
        """The part of waves that were read."""
        chosen = self.running.expected
        self.running.take(rows, rows if chosen is None else rows & chosen, part)
