"""The captures of a library, each opened by one of a few processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from rcv_py.analysis.library import LibraryRow, library_row
from rcv_py.base.errors import RcvError
from rcv_py.formats.open import open_trace
from rcv_py.work.worker import settle, without_main

DEFAULT_JOBS = 2
FEW = 24  # captures: opening so many takes less time than starting a process
AT_ONCE = 4  # captures handed to a process together
STOPPED = "A process stopped while it opened this capture, probably for lack of memory."


def library_rows(paths: Sequence[Path], jobs: int | None = None) -> Iterator[LibraryRow]:
    """Yield a row for each capture, in order; one that cannot be opened has a row that says why.

    `jobs` processes open them; 0 opens them here, None decides by their number.
    """
    jobs = (0 if len(paths) <= FEW else DEFAULT_JOBS) if jobs is None else jobs
    if not jobs or len(paths) < 2:
        yield from map(row_of, paths)
        return
    done = 0
    try:
        with without_main(), ProcessPoolExecutor(jobs, get_context("spawn"), settle) as pool:
            for row in pool.map(row_of, paths, chunksize=AT_ONCE):
                done += 1
                yield row
    except BrokenProcessPool:  # one capture too much for the memory: the others are not asked again
        for path in paths[done:]:
            yield LibraryRow(path, path.name, error=STOPPED)


def row_of(path: Path) -> LibraryRow:
    """Open a capture and sum it up; never raises for a bad one."""
    try:
        return library_row(open_trace(path))
    except RcvError as error:
        return LibraryRow(path, path.name, error=f"{error} {error.hint}".strip())
