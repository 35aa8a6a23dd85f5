"""Read the waves of an open trace in batches, by a few processes, wanted waves first."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial
from operator import ne
from queue import SimpleQueue
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rcv_py.analysis.core.lanes import lanes_of_rows
from rcv_py.analysis.core.parcels import alone
from rcv_py.analysis.core.reduction import Reduction
from rcv_py.analysis.timeline.lod import tables
from rcv_py.base.errors import RcvError
from rcv_py.base.progress import CancelFlag, Report, Stage, checkpoint, silent
from rcv_py.base.record import Record, Value
from rcv_py.base.runs import borders, ranges, starts_run
from rcv_py.model.trace import Trace, WaveReader
from rcv_py.model.waves import WaveBatch, WaveColumns, WaveIndex
from rcv_py.work.machine import cores, memory

if TYPE_CHECKING:  # of processes alone, whose modules take 15 ms to import
    from concurrent.futures import Future

    from rcv_py.work.pool import WorkerPool

STAGE = "Reading waves"
PROCESS_BYTES = 24 << 20  # bytes of files that justify another process
WORKER_BYTES = 200 << 20  # of memory that a process may need
JOB_BYTES = 4 << 20  # bytes of JSON: a twentieth of a second of work, which needs 25 MB of memory
SMALL_JOB_BYTES = 1 << 20  # in the viewer's own process, where a job competes with painting
FILE_BYTES = 16 << 10  # bytes that opening a file is worth, in addition to its size
HELD_BYTES = 31 << 20  # size of a freed block that the C library keeps
IN_PROCESS_BYTES = 24 << 20  # below this, starting processes takes longer than reading
MAX_BATCHES_AHEAD = 2  # batches that a process holds: the current and the next
MAX_UNSEEN = 32  # batches that wait for the iterator
BRIEF_JOBS = 4  # small jobs that together take less time than showing a part of their waves
RETRIES = 2  # of a batch whose process died: the next one may have the memory
MAX_GIVEN_UP = 3  # batches, before the rest of the waves is given up
STOPPED = "A process that reads waves stopped unexpectedly, probably for lack of memory."
STOPPED_HINT = "Close other programs, or set load.workers to 1, and open the folder again."


class WaveReduction(Protocol):
    """A reduction of single waves that is to be mapped where waves are read."""

    @property
    def reduction(self) -> Reduction[Any, Any]:
        """The reduction that is mapped."""

    @property
    def chosen(self) -> Collection[int] | None:
        """Rows of the wave index whose costs count; None: all."""

    def take(self, rows: frozenset[int], part: Any) -> None:
        """Receive the part of some waves."""


class WaveStream:
    """Iterate over it once, in any thread, to get the batches.

    Processes end with the iteration, unless it `keeps` idle ones for the next pool.  With a `trace`,
    processes also map the reductions that `orders` returns when waves are requested; each order gets its part
    before the batch is yielded.  `prioritize`, `cancel` and `errors` may be used from other
    threads.  If a process dies, another reads its waves again; waves that end every process are listed as
    missing.
    """

    def __init__(
        self,
        reader: WaveReader,
        index: WaveIndex,
        rows: Iterable[int] | None = None,
        *,
        workers: int | None = None,
        lod: bool = True,
        trace: Trace | None = None,
        keeps: bool = False,
    ) -> None:
        chosen = list(range(len(index))) if rows is None else list(rows)
        self._reader = reader
        self._lod, self._trace, self._keeps = lod, trace, keeps
        self.orders: Callable[[], Sequence[WaveReduction]] = tuple
        self._cancelled = CancelFlag()
        self._done: SimpleQueue[Future[_Prepared] | None] = SimpleQueue()  # None: cancelled
        self.processes = process_count(index, chosen, workers)
        self.total = len(chosen)
        self.errors: list[RcvError] = []  # why waves were given up
        job_bytes = JOB_BYTES if self.processes else SMALL_JOB_BYTES
        jobs = plan(index, chosen, job_bytes)
        self.is_brief = not self.processes and len(jobs) <= BRIEF_JOBS  # not worth a picture in between
        self._queue = WaveQueue(jobs)
        self._pool: WorkerPool[_Prepared] | None = None
        self._lock = RLock()  # of requested waves
        self._asked: dict[Future[_Prepared], _Job] = {}

    @property
    def has_begun(self) -> bool:
        """Whether processes read."""
        return self._pool is not None

    def begin(self, *, is_idle: bool = False) -> None:
        """Let processes, if there are any, read before the iteration starts.

        `is_idle`: only start them; waves and orders are requested once one is up.
        """
        if not self.processes or self._pool is not None:
            return
        from rcv_py.work.pool import WorkerPool  # noqa: PLC0415 - as above

        self._pool = WorkerPool(
            partial(_prepared, self._reader, self._trace, self._lod),
            self.processes,
            setup=hold_memory,
            calls_ahead=MAX_BATCHES_AHEAD,
            retries=RETRIES,
            keeps=self._keeps,
        )
        if is_idle:
            with self._lock:
                for _ in range(self.processes):
                    self._submit(self._pool, _Job([], ()))
        else:
            self._ask()

    @property
    def waiting(self) -> int:
        """Number of batches that were read and not yet yielded."""
        return self._done.qsize()

    def prioritize(self, rows: Iterable[int]) -> None:
        """Read these waves before the others, if they still wait."""
        self._queue.prioritize(rows)

    def cancel(self) -> None:
        """Let the iteration end soon, without another batch."""
        self._cancelled.set()
        self._queue.clear()
        self._done.put(None)

    def close(self) -> None:
        """End all processes of a stream without an iteration."""
        self.cancel()
        if self._pool is not None:
            self._pool.close()

    def __iter__(self) -> Iterator[WaveBatch]:
        if not self.processes:
            hold_memory()
        here = (prepare(self._reader, rows, self._lod) for rows in iter(self._queue.take, None))
        for batch in self._from_processes() if self.processes else here:
            if self._cancelled.is_set():
                return
            if batch.waves or batch.missing:  # not by a process that exists now
                yield batch

    def _from_processes(self) -> Iterator[WaveBatch]:
        from rcv_py.work.pool import WorkerStopped  # noqa: PLC0415 - as above

        self.begin()
        assert self._pool is not None
        try:
            while self._asked and (future := self._done.get()) is not None:
                job = self._asked.pop(future)
                self._ask()  # first, so that it is read while the batch is processed
                if not isinstance(future.exception(), WorkerStopped):
                    yield job.taken(future.result())
                    continue
                self.errors.append(WorkerStopped(STOPPED, STOPPED_HINT))
                lost, is_over = list(job.rows), len(self.errors) > MAX_GIVEN_UP
                if is_over:
                    with self._lock:
                        lost += [row for other in self._asked.values() for row in other.rows]
                        lost += self._queue.clear()
                yield WaveBatch.empty(tuple((row, STOPPED) for row in lost))
                if is_over:
                    return
        finally:
            self._queue.clear()  # else returned waves would be requested again
            self._pool.close()
            with self._lock:
                self._pool = None

    def _ask(self, done: Future[_Prepared] | None = None) -> None:
        """Give processes as many batches as they may hold; `done` is finished."""
        with self._lock:
            if done is not None:
                self._done.put(done)
            while (
                self._pool is not None
                and self.waiting < MAX_UNSEEN
                and len(self._asked) - self.waiting < self.processes * MAX_BATCHES_AHEAD
                and (rows := self._queue.take()) is not None
            ):
                self._submit(self._pool, _Job(rows, tuple(self.orders())))

    def _submit(self, pool: WorkerPool[_Prepared], job: _Job) -> None:
        future = pool.submit(job.rows, job.maps())
        self._asked[future] = job
        future.add_done_callback(self._ask)


class _Job(Value):
    """Waves that a process reads, and the orders that it maps."""

    rows: list[int]
    orders: tuple[WaveReduction, ...]

    def maps(self) -> tuple[_Map, ...]:
        """The orders in picklable form: of chosen waves, those that are read."""
        rows, every = frozenset(self.rows), [(one.reduction, one.chosen) for one in self.orders]
        return tuple((one, None if chosen is None else rows.intersection(chosen)) for one, chosen in every)

    def taken(self, prepared: _Prepared) -> WaveBatch:
        """Pass the parts to their orders; return the batch."""
        batch = prepared.batch
        rows = frozenset(wave.row for wave in batch.waves)
        if rows and self.orders:
            for order, part in zip(self.orders, pickle.loads(prepared.parts), strict=True):
                if part is not None:
                    order.take(rows, part)
        return batch


def worth(files: int, nbytes: int, workers: int | None = None) -> int:
    """Number of processes worth starting for wave files of this total size in bytes; see `process_count`."""
    cost = nbytes + FILE_BYTES * files
    if workers == 0 or not nbytes or cost < IN_PROCESS_BYTES:
        return 0
    if workers is not None:
        return workers
    free = memory()
    room = cores() if free is None else min(cores(), free // WORKER_BYTES)
    return max(1, min(room, -(-cost // PROCESS_BYTES)))


def process_count(index: WaveIndex, rows: list[int], workers: int | None) -> int:
    """Number of processes worth starting; 0: read in this process.  `workers` is used instead if given."""
    files = int(np.count_nonzero(_opens(index)[rows])) if rows else 0
    return worth(files, int(index.size[rows].sum()) if rows else 0, workers)


def prepare(reader: WaveReader, rows: list[int], lod: bool = True) -> WaveBatch:
    """Read waves; assign lanes to overlapping tokens and, on request, level-of-detail tables to each wave."""
    return prepared_columns(reader, rows, lod).batch()


def prepared_columns(reader: WaveReader, rows: list[int], lod: bool = True) -> WaveColumns:
    """The same as a few long arrays, which pass to another process without an object per wave."""
    columns = reader.columns(rows)
    lane, has_lanes = _lanes(columns, reader.base_clock if reader.base_clock > 1 else 0)
    return columns._replace(lane=lane, has_lanes=has_lanes, lod=tables(columns) if lod else None)


_Map = tuple[Reduction[Any, Any], frozenset[int] | None]  # a reduction, and the rows whose costs count


class _Prepared(Record):
    """The result of a process for some waves."""

    columns: WaveColumns | None  # None: nothing was requested, and the process is up
    parts: bytes  # pickled apart from the columns, in whose shared memory they would keep all of them

    @cached_property
    def batch(self) -> WaveBatch:
        return WaveBatch.empty() if self.columns is None else self.columns.batch()


def _prepared(
    reader: WaveReader, trace: Trace | None, lod: bool, rows: list[int], maps: tuple[_Map, ...]
) -> _Prepared:
    if not rows:
        return _Prepared(None, b"")
    columns = prepared_columns(reader, rows, lod)
    return _Prepared(columns, pickle.dumps(_parts(trace, columns.batch(), maps)) if maps else b"")


def _parts(trace: Trace | None, batch: WaveBatch, maps: tuple[_Map, ...]) -> list[Any]:
    """The part of each reduction; None where it fails, as it will again in the caller's process."""
    assert trace is not None
    parcels = {chosen: next(alone([batch], chosen), None) for _, chosen in maps}
    parts: list[Any] = []
    for reduction, chosen in maps:
        parcel = parcels[chosen]
        try:
            parts.append(None if parcel is None else reduction.map(trace, parcel))
        except Exception:  # the process border: the batch must arrive even if an analysis fails
            parts.append(None)
    return parts


def hold_memory() -> None:
    """Make the C library keep freed memory up to 32 MB instead of returning it to the system.

    It adapts its threshold to the largest block freed so far, and every array of a large wave would otherwise
    be paged in anew: 1,350 page faults, a fifth of the time of reading 1.4 MB.
    """
    np.empty(HELD_BYTES, dtype=np.uint8)


def _lanes(columns: WaveColumns, slack: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Lanes of the tokens of waves in which some overlap, uint8, and which waves these are (None: none)."""
    first = columns.token_first
    end = columns.offset.astype(np.int64)
    is_over = end[1:] + slack < end[:-1] + columns.stall[:-1] + columns.busy[:-1]
    is_over[first[(first > 0) & (first < len(end))] - 1] = False  # the next wave begins
    # Starts are sorted: if any two tokens overlap, so do two consecutive ones.
    rows = np.searchsorted(first, np.flatnonzero(is_over), side="right") - 1
    rows = rows[starts_run(rows)]
    if not len(rows):
        return None, None
    count = np.diff(first)[rows]
    own = ranges(first[:-1][rows], count)
    start = columns.offset[own].astype(np.int64)
    has_lanes = np.zeros(len(columns.facts), dtype=bool)
    has_lanes[rows] = True
    lane = lanes_of_rows(borders(count), start, start + columns.stall[own] + columns.busy[own], slack)
    return lane, has_lanes


def costs(index: WaveIndex) -> np.ndarray:
    """Cost of reading each wave, in bytes of a large file; int64."""
    return index.size.astype(np.int64) + FILE_BYTES * _opens(index)


def _opens(index: WaveIndex) -> np.ndarray:
    """Whether the file of each wave differs from the previous wave's; bool."""
    return np.array([True, *map(ne, index.file[1:], index.file)][: len(index)], dtype=bool)


def plan(index: WaveIndex, rows: Iterable[int] | None = None, job_bytes: int = JOB_BYTES) -> list[list[int]]:
    """Split waves (all by default) into jobs of about `job_bytes`, in the given order; none is empty."""
    chosen = list(range(len(index))) if rows is None else list(rows)
    jobs: list[list[int]] = []
    room = 0
    for row, cost in zip(chosen, costs(index)[chosen].tolist(), strict=True):
        if room < cost // 2 or not jobs:
            jobs.append([])
            room = job_bytes
        jobs[-1].append(row)
        room -= cost
    return jobs


class WaveQueue:
    """Waiting jobs; any thread may move some of their waves to the front."""

    def __init__(self, jobs: list[list[int]]) -> None:
        self._lock = Lock()
        self._jobs = [list(job) for job in jobs]

    def take(self) -> list[int] | None:
        """Remove and return the next job; None if nothing waits."""
        with self._lock:
            return self._jobs.pop(0) if self._jobs else None

    def prioritize(self, rows: Iterable[int]) -> None:
        """Move the waves that still wait into one job before all others."""
        wanted = list(dict.fromkeys(rows))
        with self._lock:
            waiting = {row for job in self._jobs for row in job}
            front = [row for row in wanted if row in waiting]
            if not front:
                return
            moved = set(front)
            rest = [[row for row in job if row not in moved] for job in self._jobs]
            self._jobs = [front, *(job for job in rest if job)]

    def clear(self) -> list[int]:
        """Forget all jobs; return their waves."""
        with self._lock:
            rows = [row for job in self._jobs for row in job]
            self._jobs = []
        return rows


def batches(
    trace: Trace, rows: Iterable[int] | None = None, *, report: Report = silent, workers: int | None = None
) -> Iterator[WaveBatch]:
    """Yield the waves at these rows of the index (all by default), in no particular order.

    Waves that cannot be read are listed in the batches.
    """
    stream = WaveStream(trace.reader, trace.waves, rows, workers=workers, lod=False)
    done = 0
    report(Stage(STAGE, done, stream.total))
    for batch in stream:
        checkpoint()
        done += len(batch.waves) + len(batch.missing)
        report(Stage(STAGE, done, stream.total))
        yield batch
