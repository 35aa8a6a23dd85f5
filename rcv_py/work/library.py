"""Rows of the captures of a library, and costs of builds: made here, in other processes or on a cluster."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rcv_py.analysis.compare.builds import NAN, Build
from rcv_py.analysis.compare.costs import CaptureCosts, explained_costs_from, table_doubt, table_ns
from rcv_py.analysis.overview.library import LibraryRow, library_row
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.errors import RcvError
from rcv_py.base.progress import Report, silent
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.trace import Trace
from rcv_py.work import captures
from rcv_py.work.findings import findings_of_trace
from rcv_py.work.reduce import Reducer


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
    here = captures.MAX_CAPTURES_HERE if cache is not None or not has_findings else captures.MAX_READ_HERE
    with captures.executor_for(paths, jobs=jobs, cluster=cluster, here=here) as executor:
        kept = cache if isinstance(executor, captures.InProcessExecutor) else None
        row = partial(row_of, has_findings=has_findings, cache=kept)
        yield from captures.captures_mapped(row, paths, executor, _unopened, report)


def row_of(path: Path, has_findings: bool = False, cache: CaptureCache | None = None) -> LibraryRow:
    """Open a capture and summarize it; never raises for a bad capture."""
    try:
        trace = open_trace(path, cache=cache)
        facts = facts_about(trace)
        findings = findings_of_trace(trace, facts, predict=None) if has_findings else None
        return library_row(trace, facts, findings)
    except RcvError as error:
        return _unopened(path, error)


def _unopened(path: Path, error: RcvError) -> LibraryRow:
    return LibraryRow(path, path.name, error=f"{error} {error.hint}".strip())


def builds(
    paths: Sequence[Path],
    waves: str = WORKING,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    cache: CaptureCache | None = None,
    report: Report = silent,
) -> Iterator[Build]:
    """Yield the costs of each capture, in order; an unreadable capture has the reason.

    `waves` selects the waves whose costs count; the other arguments are as in `library_rows`.
    """
    with captures.executor_for(paths, jobs=jobs, cluster=cluster) as executor:
        build = partial(_build, waves=waves)
        if isinstance(executor, captures.InProcessExecutor):
            build = partial(build, workers=None, cache=cache)
        yield from captures.captures_mapped(build, paths, executor, _unread, report)


def _build(path: Path, waves: str, *, workers: int | None = 0, cache: CaptureCache | None = None) -> Build:
    """Open a capture and sum the costs of its waves; never raises for a bad one."""
    try:
        trace = open_trace(path, cache=cache)
        with Reducer(trace, workers=workers) as found:
            costs = explained_costs_from(found, waves)
        duration_ns, doubt = launch_ns(trace, costs), table_doubt(costs.launch, facts_about(trace))
    except RcvError as error:
        return _unread(path, error)
    return Build(
        path=trace.path,
        name=trace.name,
        written=_written_at(path),
        costs=costs,
        traced=len(trace.waves),
        duration_ns=duration_ns,
        problems=tuple(map(str, trace.problems)),
        doubt=doubt,
    )


def launch_ns(trace: Trace, costs: CaptureCosts) -> float:
    """Return how long the launch took, by the clock of the capture, else by the tables of the run; nan."""
    launch = costs.launch
    ns = None if launch is None or launch.doubt else trace.clock.ns(launch.duration)
    if ns is None:
        ns = table_ns(launch, facts_about(trace))
    return float(ns) if ns >= 0 else NAN


def _unread(path: Path, error: RcvError) -> Build:
    return Build(path=path, name=path.name, written=_written_at(path), error=f"{error} {error.hint}".strip())


def in_time(paths: Iterable[Path]) -> list[Path]:
    """Return captures in the order in which they were written; equal times by path."""
    return sorted(paths, key=lambda path: (_written_at(path), path))


def _written_at(path: Path) -> str:
    """When the index of a capture was written, as `2026-05-01T12:00:00Z`; "" if it cannot be seen."""
    try:
        seconds = (path / "filenames.json").stat().st_mtime
    except OSError:
        return ""
    return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%SZ}"
