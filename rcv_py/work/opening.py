"""Open captures with the processors of this machine: engines of a raw capture are decoded in parallel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rcv_py.base.progress import Report, silent
from rcv_py.formats import open as opening
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.model.trace import Trace

if TYPE_CHECKING:  # decoded captures do not need them
    from concurrent.futures import Executor

    from rcv_py.formats.raw.options import Early

HERE_BYTES = 24 << 20  # of `.att` files: decoding that many takes as long as starting processes
BYTES_A_BYTE = 40  # of memory per decoded byte, result included
PROCESS_BYTES = 200 << 20  # of memory of a process before it decodes anything


def open_trace(path: Path, cache: CaptureCache | None = None) -> Trace:
    """Open the capture at a path, or the only one below it; raise a TraceError.  See `formats.open`."""
    return opening.open_trace(path, cache, decoders)


def open_capture(path: Path, report: Report = silent, early: Early | None = None) -> Trace:
    """Open the capture that `locate` found at a path; raise a TraceError.  See `formats.open`."""
    jobs = decoders if early is None else partial(decoders, keeps=True)  # the caller reads waves next
    return opening.open_capture(path, report, jobs, early=early)


@contextmanager
def decoders(sizes: list[int], *, keeps: bool = False) -> Iterator[Executor]:
    """Give an executor for files of these sizes in bytes: as many processes as processors and memory allow.

    `keeps`: they stay for the next pool.
    """
    # Other captures need not import the pool.
    from rcv_py.work.captures import InProcessExecutor, Processes  # noqa: PLC0415 - as said above
    from rcv_py.work.machine import cores, memory  # noqa: PLC0415 - as said above

    free = memory()
    each = PROCESS_BYTES + BYTES_A_BYTE * max(sizes, default=0)
    room = cores() if free is None else free // each
    count = min(len(sizes), cores(), room) if sum(sizes) > HERE_BYTES else 0
    with Processes(count, keeps=keeps) if count > 1 else InProcessExecutor() as executor:
        yield executor
