"""The captures of a library, each opened by one of a few processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rcv_py.analysis.overview.library import LibraryRow, library_row
from rcv_py.base.errors import RcvError
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.work.findings_process import findings_of_trace
from rcv_py.work.pool import WorkerPool, WorkerStopped

DEFAULT_JOBS = 2
MAX_CAPTURES_HERE = 24  # captures: opening so many takes less time than starting a process
CALLS_AHEAD = 2
STOPPED = "A process stopped while it opened this capture, probably for lack of memory."


def library_rows(
    paths: Sequence[Path],
    jobs: int | None = None,
    *,
    has_findings: bool = False,
    cache: CaptureCache | None = None,
) -> Iterator[LibraryRow]:
    """Yield a row for each capture, in order; one that cannot be opened has a row that says why.

    `jobs` processes open them; 0 opens them here, with the captures of `cache`; None decides by their number.
    `has_findings` reads their waves too, of large captures some of them.
    """
    jobs = (0 if len(paths) <= MAX_CAPTURES_HERE else DEFAULT_JOBS) if jobs is None else jobs
    if not jobs or len(paths) < 2:
        for path in paths:
            yield row_of(path, has_findings, cache)
        return
    with WorkerPool(partial(row_of, has_findings=has_findings), jobs, calls_ahead=CALLS_AHEAD) as pool:
        rows = [pool.submit(path) for path in paths]
        for path, row in zip(paths, rows, strict=True):
            try:
                yield row.result()
            except WorkerStopped:
                yield LibraryRow(path, path.name, error=STOPPED)


def row_of(path: Path, has_findings: bool = False, cache: CaptureCache | None = None) -> LibraryRow:
    """Open a capture and sum it up; never raises for a bad one."""
    try:
        trace = open_trace(path, cache=cache)
        facts = run_facts(trace.path, trace.kernel_name, trace.target)
        return library_row(trace, facts, findings_of_trace(trace, facts) if has_findings else None)
    except RcvError as error:
        return LibraryRow(path, path.name, error=f"{error} {error.hint}".strip())
