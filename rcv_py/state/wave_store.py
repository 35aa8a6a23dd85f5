"""The waves of the open trace that are in memory."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from threading import Lock
from typing import Any

import numpy as np

from rcv_py.analysis.core.reduction import Answer, Part, Reduction
from rcv_py.base.problems import Affects, Problem, Severity
from rcv_py.base.text import plural
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch, WaveLod
from rcv_py.state.running import Running

NAMED = 20  # waves with a sentence of their own in the list of problems
NO_LIMIT = 1 << 62


class WaveStore:
    """Loaded waves by row of the wave index.  Batches are added by the loader, on the UI thread.

    Once there are more bytes than `budget`, the batches that were not looked at for longest are dropped.
    """

    def __init__(self, trace: Trace, budget: int = NO_LIMIT) -> None:
        self.trace = trace
        self.budget = budget  # bytes
        self.batches: tuple[WaveBatch, ...] = ()
        self.missing: dict[int, str] = {}  # index row: why it could not be read
        self.notes: dict[int, str] = {}  # index row: what is doubtful
        self.nbytes = self.tokens = 0  # of the waves in memory
        self._waves: dict[int, Wave] = {}
        self._lods: dict[int, WaveLod] = {}
        self._batch_of: dict[int, WaveBatch] = {}
        self._last_use: dict[WaveBatch, int] = {}
        self._uses = 0
        self._lock = Lock()  # of what runs along: threads ask for it
        self._running: dict[Hashable, tuple[Hashable, Running[Any, Any]]] = {}

    def running(
        self, name: Hashable, reduction: Reduction[Part, Answer], key: Hashable = None
    ) -> Running[Part, Answer]:
        """Return the answer of a reduction that runs along as waves arrive, by the name of who wants it.

        Another `key` (what the reduction is made with, which waves count) begins another one.
        """
        with self._lock:
            known = self._running.get(name)
            if known is None or known[0] != key:
                known = self._running[name] = key, Running(self.trace, reduction)
            return known[1]

    def add(self, batch: WaveBatch) -> None:
        """Keep the waves of a batch; a batch of which every wave is here already is not needed."""
        self.missing.update(batch.missing)
        self.notes.update(batch.notes)
        if all(wave.row in self._waves for wave in batch.waves):
            return
        for old in {self._batch_of[wave.row] for wave in batch.waves if wave.row in self._batch_of}:
            self._drop(old)  # analyses must not count a wave twice
        self._waves.update((wave.row, wave) for wave in batch.waves)
        self._batch_of.update((wave.row, batch) for wave in batch.waves)
        self._lods.update(zip((wave.row for wave in batch.waves), batch.lod, strict=False))
        self.nbytes += batch.nbytes
        self.tokens += len(batch.kind)
        self.batches = (*self.batches, batch)
        self._touch(batch)
        while self.nbytes > self.budget and len(self.batches) > 1:
            self._drop(min(self.batches, key=self._last_use.__getitem__))

    def wave(self, row: int) -> Wave | None:
        """The wave at a row of the index, None while it is not loaded."""
        if row in self._batch_of:
            self._touch(self._batch_of[row])
        return self._waves.get(row)

    def wave_by_id(self, wave: WaveId | None) -> Wave | None:
        """The wave of that name, None while it is not loaded."""
        row = None if wave is None else self.trace.waves.row(wave)
        return None if row is None else self.wave(row)

    def first_with(self, line: int) -> int | None:
        """The lowest index row of a loaded wave that ran a code line, None if none did."""
        found = [
            int(batch.rows[np.searchsorted(batch.first, places, side="right") - 1].min())
            for batch in self.batches
            if len(places := np.flatnonzero(batch.line == line))
        ]
        return min(found, default=None)

    def lod(self, row: int) -> WaveLod | None:
        """The level-of-detail tables of a wave, None while it is not loaded."""
        return self._lods.get(row)

    def is_settled(self, row: int) -> bool:
        """Whether a wave is loaded or known to be unreadable."""
        return row in self._waves or row in self.missing

    @property
    def count(self) -> int:
        """How many waves are loaded."""
        return len(self._waves)

    @property
    def is_complete(self) -> bool:
        """Whether every wave of the index was read or found unreadable."""
        return len(self._waves) + len(self.missing) >= len(self.trace.waves)

    @property
    def is_full(self) -> bool:
        """Whether another batch as large as those here would exceed the budget."""
        mean = self.nbytes // max(1, len(self.batches))
        return bool(self.batches) and self.nbytes + mean > self.budget

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was wrong with waves, the first ones by name, and how many did not fit."""
        named = problems_of(self.trace, self.missing, self.notes)
        if self.is_complete or not self.is_full:
            return named
        text = f"{self.count:,} of {len(self.trace.waves):,} waves fill the memory meant for waves."
        hint = "The others are read when they are looked at; a larger load.budget_gb holds more."
        return (*named, Problem(Severity.INFO, "", text, hint))

    def _touch(self, batch: WaveBatch) -> None:
        self._uses += 1
        self._last_use[batch] = self._uses

    def _drop(self, batch: WaveBatch) -> None:
        self.batches = tuple(kept for kept in self.batches if kept is not batch)
        self.nbytes -= batch.nbytes
        self.tokens -= len(batch.kind)
        del self._last_use[batch]
        for wave in batch.waves:
            if self._batch_of.get(wave.row) is batch:
                for table in (self._waves, self._lods, self._batch_of):
                    table.pop(wave.row, None)


def problems_of(trace: Trace, missing: Mapping[int, str], notes: Mapping[int, str]) -> tuple[Problem, ...]:
    """Return a problem for each of the first waves that are missing or have notes, and how many others do.

    Both are sentences by row of the wave index.
    """
    found = [*missing.items(), *notes.items()]
    named = [
        Problem(
            Severity.WARNING,
            trace.waves.file[row],
            text,
            "Copy the capture again if it was moved." if row in missing else "",
            (Affects.WAVES,) if row in missing else (),
        )
        for row, text in found[:NAMED]
    ]
    if len(found) > NAMED:
        more = plural(len(found) - NAMED, "other wave is", "other waves are")
        named.append(Problem(Severity.WARNING, "", f"{more} unreadable or doubtful for such reasons."))
    return tuple(named)
