"""Open the captures of a library here, in other processes or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rcv_py.analysis.overview.library import LibraryRow, library_row
from rcv_py.base.errors import RcvError
from rcv_py.base.progress import Report, silent
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.work.captures import InProcessExecutor, captures_mapped
from rcv_py.work.executors import MAX_CAPTURES_HERE, MAX_READ_HERE, executor_for
from rcv_py.work.findings import findings_of_trace


def library_rows(
    paths: Sequence[Path],
    jobs: int | None = None,
    *,
    cluster: str | None = None,
    has_findings: bool = False,
    cache: CaptureCache | None = None,
    report: Report = silent,
) -> Iterator[LibraryRow]:
    """Yield a row for each capture, in order; the row of a capture that cannot be opened states the reason.

    `jobs` processes open them; 0 opens them here, with the captures of `cache`; None decides by their number.
    `cluster` is the address of a cluster that opens them instead.  `has_findings` reads their waves too, of
    large captures a sample.  `report` is called with the number of finished captures.
    """
    here = MAX_CAPTURES_HERE if cache is not None or not has_findings else MAX_READ_HERE
    with executor_for(paths, jobs=jobs, cluster=cluster, here=here) as executor:
        row = partial(
            row_of,
            has_findings=has_findings,
            cache=cache if isinstance(executor, InProcessExecutor) else None,
        )
        yield from captures_mapped(row, paths, executor, _unopened, report)


def row_of(path: Path, has_findings: bool = False, cache: CaptureCache | None = None) -> LibraryRow:
    """Open a capture and summarize it; never raises for a bad capture."""
    try:
        trace = open_trace(path, cache=cache)
        facts = facts_about(trace)
        return library_row(
            trace, facts, findings_of_trace(trace, facts, predict=None) if has_findings else None
        )
    except RcvError as error:
        return _unopened(path, error)


def _unopened(path: Path, error: RcvError) -> LibraryRow:
    return LibraryRow(path, path.name, error=f"{error} {error.hint}".strip())
