"""The waves of the open trace that are in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any
from weakref import WeakMethod, WeakSet

from rcv_py.analysis.core.median import nearest_to_median
from rcv_py.analysis.core.reduction import Answer, Answers, InMemory, Part, Reduction, Staged
from rcv_py.base.errors import Cancelled
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.progress import checkpoint, stoppable
from rcv_py.base.record import Record
from rcv_py.base.text import Message
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch, WaveLod
from rcv_py.state.incremental import Again, AnswerFlag, IncrementalAnswer, Watcher

NO_LIMIT = 1 << 62
SHARE_IN_SIGHT = 0.5  # maximum share of the budget for waves in sight

# Runs reductions on waves at some rows of the index until a flag is set: it reads the waves that are not in
# memory.
Rereads = Callable[[Collection[int], tuple[WaveBatch, ...], AnswerFlag], AbstractContextManager[Answers]]


class Snapshot(Record):
    """The waves read up to one moment; any thread may run reductions on them."""

    store: WaveStore
    batches: tuple[WaveBatch, ...]
    here: frozenset[int]  # index rows of waves in memory
    absent: frozenset[int]  # index rows of waves that were read and evicted
    is_streaming: bool

    def is_like(self, other: Snapshot) -> bool:
        """Whether results for both are the same."""
        is_same = self.batches is other.batches and self.store is other.store
        return is_same and self.is_streaming == other.is_streaming

    def incremental(
        self,
        name: Hashable,
        reduction: Reduction[Part, Answer],
        key: Hashable = None,
        *,
        watcher: Watcher | None = None,
        expected: frozenset[int] | None = None,
    ) -> Callable[[Collection[int] | None], Answer]:
        """Return a function of the rows that count: the result of a reduction of single waves.

        The result of a `name` is updated as waves arrive.  While the `watcher` is awake, waves are mapped
        where they are read; of those, rows `expected` (None: all) will count.  After streaming ends, evicted
        waves that were not counted are read again.
        """
        running = self.store.running(name, reduction, key, watcher, expected)
        return partial(running.of, self.batches, absent=self.absent, is_streaming=self.is_streaming)

    def of_all(
        self,
        analysis: Reduction[Any, Answer] | Staged[Any, Any, Answer],
        rows: Collection[int] | None,
        flag: AnswerFlag,
    ) -> Answer:
        """Return the answer of an analysis of waves together; those in `rows` (None: all) count."""
        chosen = None if rows is None else frozenset(rows)
        return self.answer(lambda found: found.of(analysis, chosen), flag)

    def answer(self, ask: Callable[[Answers], Answer], flag: AnswerFlag) -> Answer:
        """Return the result of `ask` for all waves read; evicted ones are read until the flag is set."""
        self.store.keep(flag)
        here = InMemory(self.store.trace, self.batches, flag.report_progress)
        with stoppable(flag.over):
            if self.store.rereads is None or not self.absent or self.is_streaming:
                return ask(here)
            try:
                with self.store.reading(self.here | self.absent, self.batches, flag) as found:
                    return ask(found)
            except Cancelled:
                checkpoint()  # raises again if nobody needs the answer
                return ask(here)


class WaveStore:
    """Loaded waves by row of the wave index.  Batches are added by the loader, on the UI thread.

    Above `budget` bytes, the least recently used batches are dropped.
    """

    def __init__(self, trace: Trace, budget: int = NO_LIMIT) -> None:
        self.trace = trace
        self.budget = budget  # bytes
        self.batches: tuple[WaveBatch, ...] = ()
        self.missing: dict[int, str] = {}  # index row: why it could not be read
        self.lost: dict[int, str] = {}  # index row: why it could not be read again
        self.notes: dict[int, str] = {}  # index row: doubts about it
        self.nbytes = self.tokens = 0  # of the waves in memory
        self._waves: dict[int, TracedWave] = {}
        self._read: set[int] = set()  # rows of all waves that were ever in memory
        self._read_bytes = 0  # that they took
        self._lods: dict[int, WaveLod] = {}
        self._batch_of: dict[int, WaveBatch] = {}
        self._last_use: dict[WaveBatch, int] = {}
        self._uses = 0
        self._lock = Lock()  # of running results: threads read them
        self._running: dict[Hashable, tuple[Hashable, IncrementalAnswer[Any, Any]]] = {}
        self._flags: WeakSet[AnswerFlag] = WeakSet()
        self._is_over = False
        # They do not reference the store: a cycle would live until the next garbage collection.
        read_again = WeakMethod(self._read_again)
        self._again: Again = lambda *asked: None if (read := read_again()) is None else read(*asked)
        self.uncounted = 0  # evicted waves that the newest result does not count
        self.rereads: Rereads | None = None  # without it, evicted waves do not count

    def snapshot(self, is_streaming: bool = False) -> Snapshot:
        """Return the waves read up to now; `is_streaming`: more will arrive."""
        return Snapshot(self, self.batches, frozenset(self._waves), self.absent, is_streaming)

    def running(
        self,
        name: Hashable,
        reduction: Reduction[Part, Answer],
        key: Hashable = None,
        watcher: Watcher | None = None,
        expected: frozenset[int] | None = None,
    ) -> IncrementalAnswer[Part, Answer]:
        """Return the running result of a reduction by the name of its user.

        A new `key` (parameters of the reduction, waves that count) starts a new result and ends the old one.
        The others are as in `Snapshot.incremental`.
        """
        with self._lock:
            known = self._running.get(name)
            if known is None or known[0] != key:
                if known is not None:
                    known[1].flag.end()
                running = IncrementalAnswer(self.trace, reduction, self._again, expected)
                known = self._running[name] = key, running
            running = known[1]
            if watcher is not None and watcher not in running.watchers:
                running.watchers = (*running.watchers, watcher)
            return running

    def orders(self) -> list[IncrementalAnswer[Any, Any]]:
        """Reductions with a visible watcher, to be mapped where waves are read; from any thread."""
        with self._lock:
            return [running for _, running in self._running.values() if running.is_wanted]

    def keep(self, flag: AnswerFlag) -> None:
        """Register a flag that is set when reductions must end."""
        with self._lock:
            self._flags.add(flag)
            if self._is_over:
                flag.end()

    def cancel_answers(self) -> None:
        """Let reductions that read waves again use only waves in memory."""
        with self._lock:
            for flag in self._flags:
                flag.set()

    def end_answers(self) -> None:
        """End all reductions: those that read waves again raise Cancelled."""
        with self._lock:
            self._is_over = True
            for flag in (*self._flags, *(running.flag for _, running in self._running.values())):
                flag.end()

    def _read_again(self, reduction: Reduction[Any, Any], rows: list[int], flag: AnswerFlag) -> Any:
        if self.rereads is None:
            return None
        with self.reading(rows, (), flag) as found:
            return found.part(reduction)

    @contextmanager
    def reading(
        self, rows: Collection[int], held: tuple[WaveBatch, ...], flag: AnswerFlag
    ) -> Iterator[Answers]:
        """Give a runner of reductions on waves, of which `held` are in memory, until the flag is set."""
        assert self.rereads is not None
        self.keep(flag)
        here = {wave.row for batch in held for wave in batch.waves}
        self.uncounted = sum(row not in here for row in rows)
        with self.rereads(rows, held, flag) as found:
            yield found
        self.uncounted = 0
        self.lost.update(found.missing)

    def add(self, batch: WaveBatch) -> None:
        """Keep the waves of a batch; ignore a batch whose waves are all in memory."""
        self.missing.update(batch.missing)
        self.notes.update(batch.notes)
        if all(wave.row in self._waves for wave in batch.waves):
            return
        for old in {self._batch_of[wave.row] for wave in batch.waves if wave.row in self._batch_of}:
            self._drop(old)  # analyses must not count a wave twice
        self._waves.update((wave.row, wave) for wave in batch.waves)
        if new := {wave.row for wave in batch.waves} - self._read:
            self._read |= new
            self._read_bytes += batch.nbytes * len(new) // len(batch.waves)
        self._batch_of.update((wave.row, batch) for wave in batch.waves)
        self._lods.update(zip((wave.row for wave in batch.waves), batch.lod, strict=False))
        self.nbytes += batch.nbytes
        self.tokens += len(batch.kind)
        self.batches = (*self.batches, batch)
        self._touch(batch)
        while self.nbytes > self.budget and len(self.batches) > 1:
            self._drop(min(self.batches, key=self._last_use.__getitem__))

    def wave(self, row: int) -> TracedWave | None:
        """The wave at a row of the index, None while it is not loaded."""
        if row in self._batch_of:
            self._touch(self._batch_of[row])
        return self._waves.get(row)

    def that_fit(self, rows: Iterable[int]) -> tuple[int, ...]:
        """Return the first of these waves, as many as memory holds; those in memory are evicted last."""
        room = SHARE_IN_SIGHT * self.budget * len(self._read) / max(1, self._read_bytes)
        chosen = tuple(islice(rows, int(room)))
        for row in chosen:
            self.wave(row)
        return chosen

    def wave_by_id(self, wave: WaveId | None) -> TracedWave | None:
        """The wave with an id, None while it is not loaded."""
        row = None if wave is None else self.trace.waves.row(wave)
        return None if row is None else self.wave(row)

    def usual_hit(self, row: int, line: int | None) -> int | None:
        """The execution of an instruction with the median duration in a wave; None if none is loaded."""
        wave = self.wave(row)
        hits = () if wave is None or line is None else wave.executions(line).rows
        return nearest_to_median(wave.tokens.duration[hits]) if wave is not None and len(hits) else None

    def may_run(self, row: int, line: int | None) -> bool:
        """Whether a wave runs an instruction, as far as is known; True while it is not loaded."""
        return line is None or self.wave(row) is None or self.usual_hit(row, line) is not None

    def lod(self, row: int) -> WaveLod | None:
        """The level-of-detail tables of a wave, None while it is not loaded."""
        return self._lods.get(row)

    def is_settled(self, row: int) -> bool:
        """Whether a wave is loaded or known to be unreadable."""
        return row in self._waves or row in self.missing

    @property
    def count(self) -> int:
        """Number of waves in memory."""
        return len(self._waves)

    @property
    def read(self) -> int:
        """Number of waves that were read, in memory or not."""
        return len(self._read)

    @property
    def absent(self) -> frozenset[int]:
        """Index rows of waves that were read and evicted."""
        is_all_here = len(self._read) == len(self._waves)
        return frozenset() if is_all_here else frozenset(self._read - self._waves.keys())

    @property
    def is_complete(self) -> bool:
        """Whether every wave of the index was read or is unreadable, and the index is complete."""
        return not self.trace.is_part and len(self._read) + len(self.missing) >= len(self.trace.waves)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of waves, the first ones by name, and the number of waves that did not fit."""
        unread = self.lost | self.missing
        named = self.trace.wave_problems(unread, self.notes)
        if not self.absent:
            return named
        waves = len(self.trace.waves)
        text = Message("{0:,} of {1:,} waves fill the memory meant for waves.", self.count, waves)
        hint = "All count; the others are read again when needed. A larger load.budget_gb holds more."
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
