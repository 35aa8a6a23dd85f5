"""`rcv report`: a page of HTML or Markdown about each capture, several captures at a time."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.progress import Report, Stage
from rcv_py.cli.about import about
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import captures
from rcv_py.cli.progress import progress
from rcv_py.cli.report import csv_text, json_text
from rcv_py.export.report_files import check_form, write_report
from rcv_py.export.report_inputs import ReportInputs
from rcv_py.formats.open import open_trace
from rcv_py.formats.run_files import run_facts
from rcv_py.work.load import load_all

_HEAD = ("capture", "file", "error")


@dataclass(frozen=True, slots=True)
class Job:
    """A capture and the file its report goes to."""

    folder: Path
    target: Path


def run(arguments: Namespace) -> int:
    """Write the reports and print the name of each; of what cannot be read it tells why, and goes on."""
    jobs = _jobs(arguments)
    at_once = min(len(jobs), arguments.jobs or os.cpu_count() or 1)
    errors: dict[Job, RcvError] = {}
    is_table = arguments.json or arguments.csv
    with progress() as report:
        for done, (job, error) in enumerate(_answers(jobs, at_once, report), 1):
            report(Stage("Reports", done, len(jobs)))
            if error is None:
                if not is_table:
                    print(job.target, flush=True)
            else:
                errors[job] = error
                print(f"rcv: {job.folder}: {error}", file=sys.stderr)
                if error.hint:
                    print(f"     {error.hint}", file=sys.stderr)
    if is_table:
        _print_table(arguments, jobs, errors)
    return ExitCode.USAGE if errors else ExitCode.DONE


def _print_table(arguments: Namespace, jobs: Sequence[Job], errors: Mapping[Job, RcvError]) -> None:
    """Print what became of each capture, for scripts."""
    rows = [
        (str(job.folder), None if job in errors else str(job.target), str(errors.get(job, "")))
        for job in jobs
    ]
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, rows))
        return
    said = [f"{job.folder.name}: {error}" for job, error in errors.items()]
    described = about(arguments, names=[job.folder.name for job in jobs], problems=said)
    print(
        json_text(
            "rcv.report/1", {"reports": [dict(zip(_HEAD, row, strict=True)) for row in rows]}, described
        )
    )


def _jobs(arguments: Namespace) -> list[Job]:
    """Which captures, and which files; raise UsageError where that cannot be told."""
    folders = [folder for path in arguments.folders for folder in _folders(path)]
    folders = list(dict.fromkeys(folders))
    if arguments.out is None:
        names = _names(folders)
        place = arguments.out_dir or Path()
        return [Job(folder, place / f"{names[folder]}.{arguments.format}") for folder in folders]
    if len(folders) != 1:
        raise UsageError(
            f"There are {len(folders):,} captures, but --out names one file.", hint="Use --out-dir."
        )
    check_form(arguments.out)
    if arguments.out.is_dir():
        raise UsageError(f"{arguments.out} is a folder.", hint="Use --out-dir, or name a file.")
    return [Job(folders[0], arguments.out)]


def _folders(path: Path) -> list[Path]:
    """The capture, or all captures below; placeholders without instructions are no reason to stop."""
    below = captures(path)
    return [path] if below is None else [entry.path for entry in below]


def _names(folders: Sequence[Path]) -> dict[Path, str]:
    """A name for each capture: its own, with as many folders above as tell equal ones apart."""
    found: dict[Path, str] = {}
    taken: set[str] = set()
    for folder in folders:
        parts = folder.absolute().parts
        depth = 1
        while (name := "_".join(parts[-depth:])) in taken and depth < len(parts):
            depth += 1
        taken.add(name)
        found[folder] = name.lstrip("/")
    return found


def _answers(jobs: Sequence[Job], at_once: int, report: Report) -> Iterator[tuple[Job, RcvError | None]]:
    """Yield each job when it is done, with the error if there was one."""
    if at_once <= 1:
        for job in jobs:
            yield job, _guarded(job, report)
        return
    with _processes(at_once) as pool:
        futures: dict[Future[RcvError | None], Job] = {pool.submit(make, job): job for job in jobs}
        for future in as_completed(futures):
            yield futures[future], future.result()


@contextmanager
def _processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that go when the block is left by an error or Ctrl+C: nobody waits for the rest."""
    pool = ProcessPoolExecutor(count, get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def make(job: Job) -> RcvError | None:
    """Write one report, in a process of its own; return what went wrong."""
    return _guarded(job, None)


def _guarded(job: Job, report: Report | None) -> RcvError | None:
    more = {} if report is None else {"report": report}
    try:
        trace = open_trace(job.folder)
        batches = load_all(trace, workers=0 if report is None else None, **more)
        facts = run_facts(trace.path, trace.kernel_name, trace.target)
        write_report(ReportInputs(trace, batches, facts), job.target, **more)
    except RcvError as error:
        return error
    except KeyboardInterrupt:  # in a process; the one that started it says so
        if report is not None:
            raise
        return UsageError("Stopped.")
    return None
