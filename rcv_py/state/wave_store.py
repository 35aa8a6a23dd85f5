"""The waves of the open trace that are in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any
from weakref import WeakMethod, WeakSet

from rcv_py.analysis.core.answers import Answers, InMemory
from rcv_py.analysis.core.reduction import Answer, Part, Reduction, Staged
from rcv_py.base.errors import Cancelled
from rcv_py.base.problems import Affects, Problem, Severity
from rcv_py.base.text import plural
from rcv_py.model.ids import WaveId
from rcv_py.model.trace import Trace
from rcv_py.model.waves import Wave, WaveBatch, WaveLod
from rcv_py.state.running import Again, AnswerFlag, Order, Running, Watcher

NAMED = 20  # waves with a sentence of their own in the list of problems
NO_LIMIT = 1 << 62
SHARE_IN_SIGHT = 0.5  # of the budget, at most, for waves that are in sight

# What answers questions about waves at some rows of the index, of which some are in memory, until a flag is
# set: it reads the others.
Rereads = Callable[[Collection[int], tuple[WaveBatch, ...], AnswerFlag], AbstractContextManager[Answers]]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The waves that were read, at one moment; any thread may ask for answers about them."""

    store: WaveStore
    batches: tuple[WaveBatch, ...]
    here: frozenset[int]  # index rows of waves in memory
    absent: frozenset[int]  # index rows of waves that were read and are not in memory any more
    is_streaming: bool

    def is_like(self, other: Snapshot) -> bool:
        """Whether answers about both are the same."""
        is_same = self.batches is other.batches and self.store is other.store
        return is_same and self.is_streaming == other.is_streaming

    def so_far(
        self,
        name: Hashable,
        reduction: Reduction[Part, Answer],
        key: Hashable = None,
        *,
        watcher: Watcher | None = None,
        expected: frozenset[int] | None = None,
    ) -> Callable[[Collection[int] | None], Answer]:
        """Return a function of rows that count: the answer of what looks at every wave by itself.

        What is asked for under a name runs along as waves arrive.  While the `watcher` is awake, waves are
        mapped where they are read; of those, rows `expected` (None: all) will count.  Once nothing streams in
        any more, waves that left the memory and were not counted are read again.
        """
        running = self.store.running(name, reduction, key, watcher, expected)
        return partial(running.of, self.batches, absent=self.absent, is_streaming=self.is_streaming)

    def of_all(
        self,
        analysis: Reduction[Any, Answer] | Staged[Any, Any, Answer],
        rows: Collection[int] | None,
        flag: AnswerFlag,
    ) -> Answer:
        """Return the answer of what looks at waves beside each other; those in `rows` (None: all) count.

        The others are as in `answer`.
        """
        chosen = None if rows is None else frozenset(rows)
        return self.answer(lambda found: found.of(analysis, chosen), flag)

    def answer(self, ask: Callable[[Answers], Answer], flag: AnswerFlag) -> Answer:
        """Return what `ask` makes of answers about all waves that were read.

        Once nothing streams in any more, those that left the memory are read again, until the flag is set.
        """
        self.store.keep(flag)
        here = InMemory(self.store.trace, self.batches, flag.over, flag.tell)
        if self.store.rereads is None or not self.absent or self.is_streaming:
            return ask(here)
        try:
            with self.store.reading(self.here | self.absent, self.batches, flag) as found:
                return ask(found)
        except Cancelled:
            if flag.is_over:
                raise
            return ask(here)


class WaveStore:
    """Loaded waves by row of the wave index.  Batches are added by the loader, on the UI thread.

    Once there are more bytes than `budget`, the batches that were not looked at for longest are dropped.
    """

    def __init__(self, trace: Trace, budget: int = NO_LIMIT) -> None:
        self.trace = trace
        self.budget = budget  # bytes
        self.batches: tuple[WaveBatch, ...] = ()
        self.missing: dict[int, str] = {}  # index row: why it could not be read
        self.lost: dict[int, str] = {}  # index row: why it could not be read again
        self.notes: dict[int, str] = {}  # index row: what is doubtful
        self.nbytes = self.tokens = 0  # of the waves in memory
        self._waves: dict[int, Wave] = {}
        self._read: set[int] = set()  # rows of all waves that were ever here
        self._read_bytes = 0  # that they took
        self._lods: dict[int, WaveLod] = {}
        self._batch_of: dict[int, WaveBatch] = {}
        self._last_use: dict[WaveBatch, int] = {}
        self._uses = 0
        self._lock = Lock()  # of what runs along: threads ask for it
        self._running: dict[Hashable, tuple[Hashable, Running[Any, Any]]] = {}
        self._flags: WeakSet[AnswerFlag] = WeakSet()
        self._is_over = False
        # What runs along does not keep its store: a circle would stay until somebody looks for garbage.
        read_again = WeakMethod(self._read_again)
        self._again: Again = lambda *asked: None if (read := read_again()) is None else read(*asked)
        self.uncounted = 0  # waves that left the memory, and that the newest answer does not count
        self.rereads: Rereads | None = None  # without it, waves that left the memory do not count
        # What waits, in any thread, until all waves have been read; None if they are not all there.
        self.whole: Callable[[], list[WaveBatch] | None] = lambda: None

    # -- answers ------------------------------------------------------------------------------------

    def snapshot(self, is_streaming: bool = False) -> Snapshot:
        """Return the waves that were read, as they are now; `is_streaming`: more are on their way."""
        return Snapshot(self, self.batches, frozenset(self._waves), self.absent, is_streaming)

    def running(
        self,
        name: Hashable,
        reduction: Reduction[Part, Answer],
        key: Hashable = None,
        watcher: Watcher | None = None,
        expected: frozenset[int] | None = None,
    ) -> Running[Part, Answer]:
        """Return the answer of a reduction that runs along as waves arrive, by the name of who wants it.

        Another `key` (what the reduction is made with, which waves count) begins another one, and nobody
        waits for the old one any more.  The others are as in `Snapshot.so_far`.
        """
        with self._lock:
            known = self._running.get(name)
            if known is None or known[0] != key:
                if known is not None:
                    known[1].flag.end()
                running = Running(self.trace, reduction, self._again, expected)
                known = self._running[name] = key, running
            running = known[1]
            if watcher is not None and watcher not in running.watchers:
                running.watchers = (*running.watchers, watcher)
            return running

    def orders(self) -> list[Order]:
        """What somebody who sees it waits for, to be mapped where waves are read; from any thread."""
        with self._lock:
            return [Order(running) for _, running in self._running.values() if running.is_wanted]

    def keep(self, flag: AnswerFlag) -> None:
        """Set this flag, too, when answers are to end."""
        with self._lock:
            self._flags.add(flag)
            if self._is_over:
                flag.end()

    def cancel_answers(self) -> None:
        """Let answers that read waves again be of those in memory."""
        with self._lock:
            for flag in self._flags:
                flag.set()

    def end_answers(self) -> None:
        """Nobody waits for answers any more: those that read waves again raise Cancelled."""
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
        """Have what answers about waves of which those of `held` are in memory, until the flag is set."""
        assert self.rereads is not None
        self.keep(flag)
        here = {wave.row for batch in held for wave in batch.waves}
        self.uncounted = sum(row not in here for row in rows)
        with self.rereads(rows, held, flag) as found:
            yield found
        self.uncounted = 0
        self.lost.update(found.missing)

    # -- waves --------------------------------------------------------------------------------------

    def add(self, batch: WaveBatch) -> None:
        """Keep the waves of a batch; a batch of which every wave is here already is not needed."""
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

    def wave(self, row: int) -> Wave | None:
        """The wave at a row of the index, None while it is not loaded."""
        if row in self._batch_of:
            self._touch(self._batch_of[row])
        return self._waves.get(row)

    def that_fit(self, rows: Iterable[int]) -> tuple[int, ...]:
        """Return the first of these waves, as many as memory holds; those that are here stay longest."""
        room = SHARE_IN_SIGHT * self.budget * len(self._read) / max(1, self._read_bytes)
        chosen = tuple(islice(rows, int(room)))
        for row in chosen:
            self.wave(row)
        return chosen

    def wave_by_id(self, wave: WaveId | None) -> Wave | None:
        """The wave of that name, None while it is not loaded."""
        row = None if wave is None else self.trace.waves.row(wave)
        return None if row is None else self.wave(row)

    def lod(self, row: int) -> WaveLod | None:
        """The level-of-detail tables of a wave, None while it is not loaded."""
        return self._lods.get(row)

    def is_settled(self, row: int) -> bool:
        """Whether a wave is loaded or known to be unreadable."""
        return row in self._waves or row in self.missing

    @property
    def count(self) -> int:
        """How many waves are in memory."""
        return len(self._waves)

    @property
    def read(self) -> int:
        """How many waves were read, in memory or not."""
        return len(self._read)

    @property
    def absent(self) -> frozenset[int]:
        """Index rows of waves that were read and are not in memory any more."""
        return (
            frozenset() if len(self._read) == len(self._waves) else frozenset(self._read - self._waves.keys())
        )

    @property
    def is_complete(self) -> bool:
        """Whether every wave of the index was read or found unreadable, and the index has all waves."""
        return not self.trace.is_part and len(self._read) + len(self.missing) >= len(self.trace.waves)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was wrong with waves, the first ones by name, and how many did not fit."""
        unread = self.lost | self.missing
        named = problems_of(self.trace, unread, self.notes)
        if not self.absent:
            return named
        text = f"{self.count:,} of {len(self.trace.waves):,} waves fill the memory meant for waves."
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
