"""Waves of a capture, read by a few processes, batch by batch; those looked at first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait

from rcv_py.base.errors import RcvError
from rcv_py.base.progress import CancelFlag
from rcv_py.model.trace import WaveReader
from rcv_py.model.waves import WaveBatch, WaveIndex
from rcv_py.work.jobs import hold_memory, prepare
from rcv_py.work.plan import IN_PROCESS_BYTES, JOB_BYTES, SMALL_JOB_BYTES, WaveQueue, costs, plan
from rcv_py.work.worker import AHEAD, Worker, WorkerStopped

DEFAULT_WORKERS = 2
STOPS_BORNE = 3  # workers that may die before the rest of the waves is given up
_GLANCE = 0.05  # seconds between looks at the cancel flag


class WavePool:
    """Iterate over it once, in any thread, to get the batches; no process outlives the iteration.

    `want`, `cancel` and `errors` may be used from other threads.  A worker that dies costs the waves it was
    reading, which are listed as missing; the others go to a new one.
    """

    def __init__(
        self,
        reader: WaveReader,
        index: WaveIndex,
        rows: Iterable[int] | None = None,
        *,
        workers: int | None = None,
        lod: bool = True,
        make_worker: Callable[[WaveReader, bool], Worker] = Worker,
    ) -> None:
        chosen = list(range(len(index))) if rows is None else list(rows)
        self._reader = reader
        self._lod = lod
        self._make_worker = make_worker
        self._workers: list[Worker] = []
        self._cancelled = CancelFlag()
        self.processes = process_count(index, chosen, workers)
        self.total = len(chosen)
        self.errors: list[RcvError] = []  # why workers died
        job_bytes = JOB_BYTES if self.processes else SMALL_JOB_BYTES
        self._queue = WaveQueue(plan(index, chosen, job_bytes))

    def want(self, rows: Iterable[int]) -> None:
        """Read these waves before the others, if they still wait."""
        self._queue.first(rows)

    def cancel(self) -> None:
        """Let the iteration end soon, without another batch."""
        self._cancelled.set()
        self._queue.clear()

    def __iter__(self) -> Iterator[WaveBatch]:
        batches = self._from_workers() if self.processes else self._in_process()
        for batch in batches:
            if self._cancelled.is_set:
                return
            yield batch

    def _in_process(self) -> Iterator[WaveBatch]:
        hold_memory()
        while (rows := self._queue.take()) is not None:
            yield prepare(self._reader, rows, self._lod)

    # -- processes ----------------------------------------------------------------------------------

    def _from_workers(self) -> Iterator[WaveBatch]:
        try:
            self._workers = [self._make_worker(self._reader, self._lod) for _ in range(self.processes)]
            for _ in range(AHEAD):  # one each before anybody gets a second
                for worker in self._workers:
                    self._feed(worker)
            while any(worker.jobs for worker in self._workers) and not self._cancelled.is_set:
                busy = [worker for worker in self._workers if worker.jobs]
                ready = wait([worker.connection for worker in busy], _GLANCE)
                for worker in busy:
                    if worker.connection in ready:
                        yield self._receive(worker)
        finally:
            for worker in self._workers:
                worker.stop()
            self._workers = []

    def _feed(self, worker: Worker) -> None:
        rows = self._queue.take()
        if rows is not None:
            worker.ask(rows)

    def _receive(self, worker: Worker) -> WaveBatch:
        try:
            batch = worker.answer()
        except WorkerStopped as error:
            return self._bury(worker, error)
        self._feed(worker)  # first, so that it works while the batch is looked at
        return batch

    def _bury(self, worker: Worker, error: WorkerStopped) -> WaveBatch:
        """Report what a dead worker was reading, and let a new one go on with its other jobs."""
        self.errors.append(error)
        worker.stop()
        self._workers.remove(worker)
        lost = worker.jobs.popleft()
        if len(self.errors) > STOPS_BORNE:
            return unread([*lost, *(row for job in worker.jobs for row in job), *self._queue.clear()], error)
        successor = self._make_worker(self._reader, self._lod)
        self._workers.append(successor)
        for job in worker.jobs:
            successor.ask(job)
        while len(successor.jobs) < AHEAD and (rows := self._queue.take()) is not None:
            successor.ask(rows)
        return unread(lost, error)


def process_count(index: WaveIndex, rows: list[int], workers: int | None) -> int:
    """How many processes are worth starting; 0: read in this one."""
    if workers == 0 or not len(index) or int(costs(index)[rows].sum()) < IN_PROCESS_BYTES:
        return 0
    return DEFAULT_WORKERS if workers is None else workers


def unread(rows: list[int], error: RcvError) -> WaveBatch:
    """A batch without waves, that says why."""
    return WaveBatch.empty(tuple((row, str(error)) for row in rows))
