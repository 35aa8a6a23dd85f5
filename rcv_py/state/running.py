"""Answers about the waves that were read so far, kept up to date for the price of what arrived."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from threading import Lock
from typing import Generic
from weakref import WeakSet

from rcv_py.analysis.core.parcels import alone
from rcv_py.analysis.core.reduction import Answer, Part, Reduction
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

ENOUGH_MORE = 2  # while waves arrive, what has to begin anew does when there are so many times as many


class Running(Generic[Part, Answer]):
    """The answer of a reduction that looks at every wave by itself.

    Each wave is mapped once, when it is seen first; what it said stays when its columns leave the memory, and
    does not count again when they come back.  May be asked from any thread.
    """

    def __init__(self, trace: Trace, reduction: Reduction[Part, Answer]) -> None:
        self._trace, self._reduction = trace, reduction
        self._lock = Lock()
        self._began_with = 0  # waves
        self._parts: list[Part] = []
        self._counted: set[int] = set()  # rows of the wave index that were mapped
        self._chosen: set[int] = set()  # of them: those whose costs count
        self._known: WeakSet[WaveBatch] = WeakSet()

    def of(
        self, batches: Sequence[WaveBatch], rows: Collection[int] | None = None, *, is_streaming: bool = False
    ) -> Answer:
        """Return the answer for these waves and those before, of which `rows` (None: all) count.

        Where `rows` chooses otherwise among waves that were counted, it begins anew with those in `batches`.
        While waves arrive (`is_streaming`) it does only when there are `ENOUGH_MORE`, and until then leaves
        what was counted as it is: so all of it together costs a few times what arrived.
        """
        with self._lock:
            if not self._agrees(rows):
                waves = len({wave.row for batch in batches for wave in batch.waves})
                if not is_streaming or waves >= ENOUGH_MORE * self._began_with:
                    self._began_with = waves
                    self._parts, self._counted, self._chosen, self._known = [], set(), set(), WeakSet()
            fresh = [batch for batch in batches if batch not in self._known]
            counted, chosen, parts = set(self._counted), set(self._chosen), list(self._parts)
            for parcel in alone(fresh, rows, counted):
                parts.append(self._reduction.map(self._trace, parcel))
                chosen.update(wave.row for wave in parcel.own.waves)
            self._parts = [self._reduction.merge(parts)]
            self._counted, self._chosen = counted, chosen
            self._known.update(fresh)
            return self._reduction.finish(self._trace, self._parts[0])

    def take(self, batch: WaveBatch, part: Part) -> None:
        """Take over what all waves of a batch say, mapped elsewhere; if any was counted, nothing changes."""
        with self._lock:
            rows = {wave.row for wave in batch.waves}
            if not rows & self._counted:
                self._parts.append(part)
                self._known.add(batch)
                self._counted |= rows
                self._chosen |= rows

    def _agrees(self, rows: Collection[int] | None) -> bool:
        """Whether those that were counted are those of `rows`."""
        wanted = self._counted if rows is None else {row for row in self._counted if row in rows}
        return wanted == self._chosen
