"""One function over many captures, on any executor: results in order, whatever processes end meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from rcv_py.base.errors import RcvError
from rcv_py.base.progress import Report, Stage, silent
from rcv_py.work.pool import WorkerStopped

STAGE = "Captures"
MAX_TRIES = 3  # for a capture whose process ended before it answered
T = TypeVar("T")


class CaptureLost(RcvError):
    """There will be no answer for one capture, whatever is tried; the others have theirs."""


class Here(Executor):
    """Makes a call in this process when it is submitted."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Return the result, or what was raised, as a future that is done."""
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
    """Yield the place in `paths` and the result of each capture when it is there, in any order.

    A capture whose process ended is tried again, at most `MAX_TRIES` times; `lost` then makes its result of
    the reason.  What `function` raises besides is raised.  `report` hears how many are done.
    """
    results: SimpleQueue[tuple[int, Future[T]]] = SimpleQueue()
    tries = [0] * len(paths)

    def submit(at: int) -> None:
        tries[at] += 1
        executor.submit(function, paths[at]).add_done_callback(lambda done: results.put((at, done)))

    at_once = 1 if isinstance(executor, Here) else len(paths)  # what is done here is asked for one by one
    for at in range(min(at_once, len(paths))):
        submit(at)
    left = len(paths)
    report(Stage(STAGE, 0, len(paths)))
    while left:
        at, future = results.get()
        error = future.exception()
        if isinstance(error, WorkerStopped) and tries[at] < MAX_TRIES:
            submit(at)
            continue
        left -= 1
        report(Stage(STAGE, len(paths) - left, len(paths)))
        if error is None:
            yield at, future.result()
        elif isinstance(error, WorkerStopped | CaptureLost):
            yield at, lost(paths[at], error)
        else:
            raise error
        if at_once < len(paths) and left:
            submit(len(paths) - left)


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
