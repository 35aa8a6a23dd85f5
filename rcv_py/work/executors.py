"""Executors for work over captures: this process, other processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from operator import call
from pathlib import Path
from typing import Any, TypeVar

from rcv_py.base.errors import UsageError
from rcv_py.work.captures import InProcessExecutor
from rcv_py.work.machine import cores
from rcv_py.work.pool import WorkerPool

MAX_CAPTURES_HERE = 24  # captures: opening that many takes less time than starting a process
MAX_READ_HERE = 2  # the same of captures whose waves are read
T = TypeVar("T")


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
