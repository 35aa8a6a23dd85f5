"""Reports as jobs: one capture, one file, in this process or in several; what goes wrong is an outcome."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.errors import RcvError
from rcv_py.base.progress import Report, silent
from rcv_py.base.whole_files import remove_parts
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.wave_choice import wave_facts
from rcv_py.export.report.files import write_report
from rcv_py.export.report.index import Entry, entry
from rcv_py.export.report.inputs import report_inputs
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.open import open_trace
from rcv_py.formats.run_files import run_facts
from rcv_py.work.load import load_all
from rcv_py.work.pool import WorkerPool, WorkerStopped

DIED = "The process that wrote its report ended."
DIED_HINT = "There may not be enough memory: use --jobs 1."
GRACE_S = 5.0  # in which a process that is ended removes what it has of a file


@dataclass(frozen=True, slots=True)
class Job:
    """A capture and the file its report goes to."""

    folder: Path
    target: Path
    run_files: tuple[Path, ...] = ()  # where the tables of the run are; none: near the capture
    waves: str = WORKING  # whose costs are explained


@dataclass(frozen=True, slots=True)
class Outcome:
    """The row for the index, or why there is no report; `bug` is the traceback of what nobody expected.

    `waves` says whose costs the report explains, as documents do.
    """

    entry: Entry | None = None
    error: str = ""
    hint: str = ""
    bug: str = ""
    waves: dict[str, Any] | None = None

    @property
    def code(self) -> ExitCode:
        """The exit code of a command that writes only this report."""
        return ExitCode.BUG if self.bug else ExitCode.USAGE if self.entry is None else ExitCode.DONE


def outcomes(
    jobs: Sequence[Job], at_once: int, report: Report, cache: CaptureCache | None = None
) -> Iterator[tuple[Job, Outcome]]:
    """Yield each job when it is done; `cache` is for those that are done in this process."""
    if at_once <= 1:
        for job in jobs:
            yield job, _outcome(job, report if len(jobs) == 1 else silent, None, cache)
        return
    with WorkerPool(make, at_once, grace_s=GRACE_S) as pool:
        by_future = {pool.submit(job): job for job in jobs}
        for future in as_completed(by_future):
            yield by_future[future], _result(future, by_future[future])


def _result(future: Future[Outcome], job: Job) -> Outcome:
    try:
        return future.result()
    except WorkerStopped as error:
        remove_parts(job.target.parent, error.process)
        return Outcome(error=DIED, hint=DIED_HINT)


def make(job: Job) -> Outcome:
    """Write one report, in a process of its own that starts no others."""
    return _outcome(job, silent, 0)


def _outcome(job: Job, report: Report, workers: int | None, cache: CaptureCache | None = None) -> Outcome:
    try:
        return _written(job, report, workers, cache)
    except RcvError as error:
        return Outcome(error=str(error), hint=error.hint)
    except Exception as error:  # a bug that one capture meets must not cost the reports of the others
        return Outcome(error=f"{type(error).__name__}: {error}.", bug=traceback.format_exc())


def _written(job: Job, report: Report, workers: int | None, cache: CaptureCache | None) -> Outcome:
    trace = open_trace(job.folder, cache=cache)
    batches = load_all(trace, report=report, workers=workers)
    facts = run_facts(trace.path, trace.kernel_name, trace.target, job.run_files)
    inputs = report_inputs(trace, batches, facts, job.waves)
    write_report(inputs, job.target, report=report)
    waves = wave_facts(inputs.choice, len(trace.waves))
    return Outcome(entry(inputs, job.target.name), waves=waves)
