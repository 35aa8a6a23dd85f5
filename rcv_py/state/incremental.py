"""Incremental results of reductions over the waves read so far: each update costs only the new waves."""

from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from threading import Lock
from typing import Any, Generic, Protocol
from weakref import WeakSet

from rcv_py.analysis.core.parcels import alone
from rcv_py.analysis.core.reduction import Answer, Part, Reduction
from rcv_py.base.errors import Cancelled
from rcv_py.base.progress import CancelFlag, Stage, stoppable
from rcv_py.base.record import Record
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

ENOUGH_MORE = 2  # while waves arrive, a result restarts when there are this many times as many


class AnswerFlag(CancelFlag):
    """Ends the reading of waves for a result: the user pressed Cancel, or the result is no longer needed."""

    def __init__(self) -> None:
        super().__init__()
        self.over = CancelFlag()  # not needed; the flag alone: unread waves are left out
        self.stage: Stage | None = None  # progress of the result, set by its thread

    def report_progress(self, stage: Stage) -> None:
        """Report the progress of the result."""
        self.stage = stage

    def end(self) -> None:
        """End the work: the result is no longer needed."""
        self.over.set()
        self.set()


# Returns the part of a reduction for evicted waves, from their files; None if they cannot be read.  Raises
# Cancelled.
Again = Callable[[Reduction[Any, Any], list[int], AnswerFlag], Any]


class Watcher(Protocol):
    """A user of a result."""

    @property
    def is_asleep(self) -> bool:
        """Whether it is not visible."""


class _Made(Record):
    """The part of some waves, mapped where they were read."""

    rows: frozenset[int]
    chosen: frozenset[int]  # of them: those whose costs count
    part: Any


class IncrementalAnswer(Generic[Part, Answer]):
    """The incremental result of a reduction of single waves.

    Each wave is mapped once, where it is read or when it first arrives; its part stays when its columns are
    evicted, and does not count again when they are read again.  Any thread may use it.
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
        self.chosen = expected  # rows that will count, if known before waves are read; None: all
        self.flag = AnswerFlag()
        self.watchers: tuple[Watcher, ...] = ()
        self._lock = Lock()
        self._began_with = 0  # waves
        self._parts: list[Part] = []
        self._made: list[_Made] = []  # not merged yet
        self._counted: set[int] = set()  # rows of the wave index that were mapped
        self._chosen: set[int] = set()  # of them: those whose costs count
        self._known: WeakSet[WaveBatch] = WeakSet()

    @property
    def is_wanted(self) -> bool:
        """Whether the result is visible, so that waves are mapped where they are read."""
        return any(not watcher.is_asleep for watcher in self.watchers)

    def of(
        self,
        batches: Sequence[WaveBatch],
        rows: Collection[int] | None = None,
        *,
        absent: Collection[int] = (),
        is_streaming: bool = False,
    ) -> Answer:
        """Return the result for these waves and the earlier ones, of which `rows` (None: all) count.

        If `rows` changes the choice among counted waves, the result restarts with the waves in `batches`.
        While waves arrive (`is_streaming`) it restarts only when there are `ENOUGH_MORE`, and until then
        keeps the old choice: so the total cost is a few times the cost of the waves.  After streaming,
        evicted waves (`absent`) that were not counted are read again.  If the user cancels that, they do not
        count; raises Cancelled when the result is no longer needed.
        """
        with self._lock:
            if _of(self._counted, rows) != self._chosen:  # other waves were counted
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

    def take(self, rows: frozenset[int], part: Part) -> None:
        """Add the part of waves that were mapped where they were read; of them, `chosen` count.

        It is used if the same rows count at the time of the next `of`.
        """
        self._made.append(_Made(rows, rows if self.chosen is None else rows & self.chosen, part))

    def _part_of(self, absent: AbstractSet[int]) -> Part | None:
        """Read waves again; None if that was cancelled."""
        try:
            part: Part | None = self._again(self.reduction, sorted(absent), self.flag)
        except Cancelled:
            if self.flag.over.is_set():
                raise
            self.flag = AnswerFlag()
            return None
        return part

    def _ready(self, fresh: Sequence[WaveBatch], absent: Collection[int]) -> list[_Made]:
        """The parts of requested waves; which of the others count is not known yet."""
        if not self._made:
            return []
        asked = {wave.row for batch in fresh for wave in batch.waves}.union(absent)
        known, self._made = self._made, []
        ready = [made for made in known if made.rows <= asked]
        self._made += [made for made in known if not made.rows <= asked]
        return ready


def _of(rows: AbstractSet[int], wanted: Collection[int] | None) -> AbstractSet[int]:
    return rows if wanted is None else {row for row in rows if row in wanted}
