"""Reductions over the waves of an open trace: each wave is read, mapped and dropped.

```
index ── slabs ──► strips ──┬─► worker: read ─ parcel ─ map ─ forget, slab by slab ─► parts ┐
                            ├─► worker: …                                                 ├─ merge ─► finish
                            └─► worker: …                                                 ┘
```
A strip is a few consecutive slabs: waves that two of them need are read once.  A worker holds the waves of
one slab and this process none, so memory depends on the number of workers, not on the size of the capture.
A small capture starts no process, and its waves are kept as long as they may be needed.

If a process dies, its strip is tried again.  A strip that repeatedly ends processes is given up: its waves
are missing, as if their files were damaged, and the reason is listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.core.parcels import FOREVER, Slab, WaveLifetimes, parcel_of, slabs
from rcv_py.analysis.core.reduction import Answers, AnyReduction, Rows, mapped
from rcv_py.base.progress import Report, Stage, checkpoint, silent
from rcv_py.base.record import Value
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch, unrecorded
from rcv_py.tuning import memory
from rcv_py.work import load

if TYPE_CHECKING:  # as in `load`
    from concurrent.futures import Future

    from rcv_py.work.pool import WorkerPool

SLAB_BYTES = 6 << 20  # bytes of the files of the waves that begin in a slab: a quarter of a million tokens
STRIPS_A_WORKER = 4  # of the remaining work: the last strips are short, so that all workers end together
MAX_STRIP = 8  # slabs
PARCEL_BYTES = 16 << 20  # bytes of files of the parcels in work at a time, on average
CALLS_AHEAD = 2  # strips that a process holds: the current and the next
TRIES = 3  # processes that one strip may end
MAX_LOST = 3  # strips that may be given up before all others are given up too
MERGED_AT_ONCE = 8  # parts
POLL_S = 0.05  # seconds between checks for cancellation

Strip = tuple[Slab, ...]


class StripResult(Value):
    """The result of a strip: a part of each reduction."""

    parts: tuple[Any, ...]
    missing: dict[int, str]
    doubtful: dict[int, str]
    moved: dict[int, tuple[int, int]]  # waves whose begin and end in the file differ from the index


def map_strip(
    trace: Trace,
    reductions: Sequence[AnyReduction],
    rows: Rows,
    strip: Strip,
    held: Sequence[Iterable[TracedWave]] = (),
) -> StripResult:
    """Read the waves of some slabs, except held ones, and map them; the costs of `rows` count."""
    shelf = SlabCache(trace, held)
    found = merged(reductions, [shelf.map_slab(reductions, rows, slab, is_last=True) for slab in strip])
    del shelf
    if largest(trace, strip) > PARCEL_BYTES:
        memory.trim()  # another process may need it for the next
    return found


def largest(trace: Trace, strip: Strip) -> int:
    """Return the bytes of the files of the largest parcel of a strip."""
    return max((int(trace.waves.size[slab.rows].sum()) for slab in strip), default=0)


def merged(reductions: Sequence[AnyReduction], looks: Sequence[StripResult]) -> StripResult:
    """Return the merged results of several strips; of no strip: the parts of no wave."""
    return StripResult(
        tuple(one.merge([look.parts[at] for look in looks]) for at, one in enumerate(reductions)),
        {row: text for look in looks for row, text in look.missing.items()},
        {row: text for look in looks for row, text in look.doubtful.items()},
        {row: life for look in looks for row, life in look.moved.items()},
    )


class SlabCache:
    """Waves that were read and may be needed again."""

    def __init__(self, trace: Trace, held: Iterable[Iterable[TracedWave]] = ()) -> None:
        self._trace = trace
        self._held = {wave.row: wave for waves in held for wave in waves}
        self._waves = dict(self._held)
        self._missing: dict[int, str] = {}
        self._doubtful: dict[int, str] = {}

    def map_slab(
        self, reductions: Sequence[AnyReduction], rows: Rows, slab: Slab, *, is_last: bool = False
    ) -> StripResult:
        """Read the missing waves and map the slab; `is_last`: only the next slab will need its waves."""
        needed = slab.rows.tolist()
        if is_last:
            self._waves = self._held | {row: self._waves[row] for row in needed if row in self._waves}
        absent = [row for row in needed if row not in self._waves and row not in self._missing]
        for job in load.plan(self._trace.waves, absent):  # parsing needs memory for one job besides columns
            batch = self._trace.reader.read(job)
            self._waves.update((wave.row, wave) for wave in batch.waves)
            self._missing.update(batch.missing)
            self._doubtful.update(batch.notes)
        index, found = self._trace.waves, [self._waves[row] for row in needed if row in self._waves]
        self._missing |= unrecorded(found, index)
        here = [wave for wave in found if wave.row not in self._missing]
        parcel = parcel_of(here, rows, slab)
        return StripResult(
            mapped(reductions, self._trace, parcel),
            {row: self._missing[row] for row in needed if row in self._missing},
            {row: self._doubtful[row] for row in needed if row in self._doubtful},
            {
                wave.row: (wave.begin, wave.end)
                for wave in here
                if (wave.begin, wave.end) != (index.begin[wave.row], index.end[wave.row])
            },
        )


class Reducer(Answers):
    """Runs reductions on the waves of an open trace at some rows of the index, all by default.

    Each reduction reads the waves of a large capture again, in processes; waves of a small capture are kept
    (`is_kept`).  Waves `held` in memory are not read; those in shared memory reach processes without a copy.
    In a `with` block processes stay for the next reduction; they end with the block.  `is_apart`: use
    processes for little work too.
    """

    def __init__(
        self,
        trace: Trace,
        rows: Iterable[int] | None = None,
        *,
        held: Iterable[WaveBatch] = (),
        is_apart: bool = False,
        workers: int | None = None,
        report: Report = silent,
    ) -> None:
        index, held = trace.waves, tuple(held)
        chosen = list(range(len(index)) if rows is None else sorted({*rows}))
        super().__init__(trace, len(chosen))
        self._rows = np.array(chosen, dtype=np.int64)
        self._held = {row: batch for batch in held for row in batch.rows.tolist()}
        self.doubtful = {row: note for batch in held for row, note in batch.notes if row in self._held}
        cost = load.costs(index)[self._rows]
        self._lives = WaveLifetimes(
            se=index.se[self._rows].astype(np.int64),
            begin=index.begin[self._rows],
            end=index.end[self._rows],
            weight=np.where(np.isin(self._rows, [*self._held]), index.size[self._rows], cost),
        )
        self._report = report
        self._processes = load.process_count(index, chosen, workers) or int(is_apart and bool(chosen))
        self._is_small = int(cost.sum()) < load.IN_PROCESS_BYTES
        self._shelf = SlabCache(trace, [batch.waves for batch in held])  # of a small capture
        self._pool: WorkerPool[StripResult] | None = None
        self._is_open = False

    @property
    def is_kept(self) -> bool:
        return self._is_small and not self._processes

    def __enter__(self) -> Reducer:
        self._is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open, self._report = False, silent  # the listener is gone
        self.end_processes()

    def end_processes(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _look(self, reductions: Sequence[AnyReduction], rows: Rows) -> Sequence[Any]:
        """Map strips with the neighbours that the index gives.

        If files contradict the index they are right, and strips with wrong neighbours are mapped again.
        """
        is_together = any(one.is_together for one in reductions)
        try:
            made = self._once(reductions, rows, self._strips(is_together))
            if self._is_moved(made) and is_together:
                made = self._once(reductions, rows, self._strips(is_together))
        finally:
            if not self._is_open:
                self.end_processes()
        self.missing = dict(sorted((self.missing | made.missing).items()))
        self.doubtful = dict(sorted((self.doubtful | made.doubtful).items()))
        return made.parts

    def _is_moved(self, made: StripResult) -> bool:
        """Take over begin and end of waves from their files; return whether any is new."""
        before = self._lives
        begin, end = before.begin.copy(), before.end.copy()
        for row, life in made.moved.items():
            at = np.searchsorted(self._rows, row)
            begin[at], end[at] = life
        self._lives = before._replace(begin=begin, end=end)
        return bool((begin != before.begin).any() or (end != before.end).any())

    def _once(self, reductions: Sequence[AnyReduction], rows: Rows, strips: list[Strip]) -> StripResult:
        looks: list[StripResult] = []
        done = 0
        self._report(Stage(load.STAGE, done, self.waves))
        each = self._pooled if self._processes else self._here
        for strip, found in each(reductions, rows, strips):
            looks.append(found)
            if len(looks) >= MERGED_AT_ONCE:
                looks = [merged(reductions, looks)]
            done += sum(len(slab.own) for slab in strip)
            self._report(Stage(load.STAGE, done, self.waves))
        return merged(reductions, looks)

    def _strips(self, is_together: bool) -> list[Strip]:
        """The slabs of the jobs; without neighbours each wave is in one slab and its times do not matter."""
        cut: list[Slab] = []
        for slab in slabs(self._lives, SLAB_BYTES):
            own = self._rows[slab.own]
            alone = Slab(se=slab.se, begin=-FOREVER, end=FOREVER, own=own, rows=own)
            cut.append(replace(slab, own=own, rows=self._rows[slab.rows]) if is_together else alone)
        strips: list[Strip] = []
        while cut:
            long = max(1, min(MAX_STRIP, len(cut) // (max(1, self._processes) * STRIPS_A_WORKER)))
            strips.append(tuple(cut[:long]))
            del cut[:long]
        return strips

    def _here(
        self, reductions: Sequence[AnyReduction], rows: Rows, strips: Iterable[Strip]
    ) -> Iterator[tuple[Strip, StripResult]]:
        for slab in (slab for strip in strips for slab in strip):
            checkpoint()
            yield (slab,), self._shelf.map_slab(reductions, rows, slab, is_last=not self.is_kept)
        checkpoint()

    def _pooled(
        self, reductions: Sequence[AnyReduction], rows: Rows, strips: list[Strip]
    ) -> Iterator[tuple[Strip, StripResult]]:
        from rcv_py.work.pool import WorkerPool, WorkerStopped  # noqa: PLC0415 - as above

        if self._pool is None:
            self._pool = WorkerPool(
                partial(map_strip, self.trace),
                self._processes,
                setup=load.hold_memory,
                calls_ahead=CALLS_AHEAD,
                retries=TRIES - 1,
            )
        pool = self._pool
        done: SimpleQueue[Future[StripResult]] = SimpleQueue()
        asked: dict[Future[StripResult], int] = {}
        waiting = list(range(len(strips)))[::-1]
        sizes = [largest(self.trace, strip) for strip in strips]
        most = self._processes * CALLS_AHEAD
        while waiting or asked:
            while waiting and len(asked) < most:
                ahead = sizes[waiting[-1]] + sum(sizes[at] for at in asked.values())
                if asked and ahead > most * PARCEL_BYTES:
                    break  # long waves overlap: fewer processes, so that memory suffices
                at = waiting.pop()
                inside = {row for slab in strips[at] for row in slab.rows.tolist()}
                counted = None if rows is None else rows & inside
                batches = {id(batch): batch for row in inside if (batch := self._held.get(row)) is not None}
                wanted = np.array([*inside], dtype=np.int64)
                held = [batch.some(wanted) for batch in batches.values()]
                future = pool.submit(reductions, counted, strips[at], held)
                asked[future] = at
                future.add_done_callback(done.put)
            future = self._heard(done)
            at = asked.pop(future)
            if not isinstance(future.exception(), WorkerStopped):
                yield strips[at], future.result()
                continue
            self.errors.append(WorkerStopped(load.STOPPED, load.STOPPED_HINT))
            yield strips[at], _given_up(reductions, strips[at])
            if len(self.errors) >= MAX_LOST:
                for rest in waiting[::-1]:
                    yield strips[rest], _given_up(reductions, strips[rest])
                waiting.clear()

    def _heard(self, done: SimpleQueue[Future[StripResult]]) -> Future[StripResult]:
        """Wait until a strip is done."""
        while True:
            checkpoint()
            try:
                return done.get(timeout=POLL_S)
            except Empty:
                continue


def _given_up(reductions: Sequence[AnyReduction], strip: Strip) -> StripResult:
    lost = {row: load.STOPPED for slab in strip for row in slab.own.tolist()}
    return replace(merged(reductions, ()), missing=lost)
