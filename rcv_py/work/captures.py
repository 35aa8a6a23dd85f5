"""Work over many captures: in this process, in other processes of this machine, or on a cluster.

One function is called for each of them; results come in order, even if processes end.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from operator import call
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.progress import Report, Stage, silent
from rcv_py.work.machine import cores
from rcv_py.work.pool import CaptureLost, WorkerPool, WorkerStopped

STAGE = "Captures"
MAX_CAPTURES_HERE = 24  # captures: opening that many takes less time than starting a process
MAX_READ_HERE = 2  # the same of captures whose waves are read
MAX_TRIES = 3  # for a capture whose process ended before it returned
T = TypeVar("T")


class InProcessExecutor(Executor):
    """An executor that makes each call in this process when it is submitted."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Return the result or exception as a finished future."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def captures_done(
    function: Callable[[Path], T],
    paths: Sequence[Path],
    executor: Executor,
    lost: Callable[[Path, RcvError], T],
    report: Report = silent,
) -> Iterator[tuple[int, T]]:
    """Yield the index in `paths` and the result of each capture when it is ready, in any order.

    A capture whose process ended is tried again, `MAX_TRIES` times in all; `lost` then makes its result from
    the reason.  Retries run one at a time, so that a capture that ends each process costs the others with it
    only one try.  Other exceptions of `function` are raised.  `report` is called with the number of finished
    captures.
    """
    results: SimpleQueue[tuple[int, Future[T]]] = SimpleQueue()
    tries = [0] * len(paths)
    suspects: deque[int] = deque()
    suspect = -1  # the capture that is tried again

    def submit(at: int) -> None:
        tries[at] += 1
        executor.submit(function, paths[at]).add_done_callback(lambda done: results.put((at, done)))

    at_once = 1 if isinstance(executor, InProcessExecutor) else len(paths)  # in this process one by one
    for at in range(min(at_once, len(paths))):
        submit(at)
    left = len(paths)
    report(Stage(STAGE, 0, len(paths)))
    while left:
        at, future = results.get()
        error = future.exception()
        suspect = -1 if at == suspect else suspect
        if isinstance(error, WorkerStopped) and tries[at] < MAX_TRIES:
            suspects.append(at)
        else:
            left -= 1
            report(Stage(STAGE, len(paths) - left, len(paths)))
            if isinstance(error, WorkerStopped | CaptureLost):
                yield at, lost(paths[at], error)
            else:
                yield at, future.result()
            if at_once < len(paths) and left:
                submit(len(paths) - left)
        if suspects and suspect < 0:
            suspect = suspects.popleft()
            submit(suspect)


def captures_mapped(
    function: Callable[[Path], T],
    paths: Sequence[Path],
    executor: Executor,
    lost: Callable[[Path, RcvError], T],
    report: Report = silent,
) -> Iterator[T]:
    """Yield the results in the order of `paths`; see `captures_done`."""
    early: dict[int, T] = {}
    following = 0
    for at, result in captures_done(function, paths, executor, lost, report):
        early[at] = result
        while following in early:
            yield early.pop(following)
            following += 1


class Processes(Executor):
    """At most `size` processes of this machine, which end with this one; see `WorkerPool`."""

    def __init__(self, size: int, *, keeps: bool = False) -> None:
        self._pool: WorkerPool[Any] = WorkerPool(call, size, keeps=keeps)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Return the future result of a call; function and arguments must be picklable."""
        return self._pool.submit(partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes at once."""
        self._pool.close()


@contextmanager
def executor_for(
    paths: Sequence[Path], *, jobs: int | None = None, cluster: str | None = None, here: int = MAX_READ_HERE
) -> Iterator[Executor]:
    """Give an executor for work over captures; at the end of the block all its processes and calls end.

    `cluster` is the address of a Dask scheduler; raise UsageError or ClusterError if it cannot be used.
    Without it `jobs` processes do the work; 0 or 1: this process; None: this process for up to `here`
    captures, else one process per processor.
    """
    if cluster is not None:
        try:
            from rcv_py.work.cluster import cluster_executor  # noqa: PLC0415 - optional, and slow to import
        except ImportError as error:
            raise UsageError(
                "--cluster needs the Python package distributed, which is not installed.",
                hint="Install it with: pip install 'rcv-py[cluster]'",
                detail=repr(error),
            ) from error
        with cluster_executor(cluster, paths) as executor:
            yield executor
        return
    jobs = (0 if len(paths) <= here else cores()) if jobs is None else jobs
    size = min(jobs, len(paths))
    with Processes(size) if size > 1 else InProcessExecutor() as executor:
        yield executor
