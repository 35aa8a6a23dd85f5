"""`rcv report`: a page of HTML or Markdown about each capture, several captures at a time, and an index."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.csv_text import csv_text
from rcv_py.base.errors import UsageError
from rcv_py.base.progress import Report, Stage
from rcv_py.base.text import visible
from rcv_py.cli.about import about
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import captures
from rcv_py.cli.options.output_options import ReportOptions
from rcv_py.cli.progress import progress
from rcv_py.cli.report import json_text
from rcv_py.cli.report_jobs import Answer, Job, answers
from rcv_py.export.report.files import check_form, check_index, write_index
from rcv_py.export.report.index import Entry
from rcv_py.formats.capture_cache import CaptureCache

_HEAD = ("capture", "file", "error")
STAGE = "Reports"
INDEX = "index"


def run(arguments: ReportOptions) -> int:
    """Write the reports and print the name of each; of what cannot be read it tells why, and goes on."""
    jobs = _jobs(arguments)
    at_once = min(len(jobs), arguments.jobs or os.cpu_count() or 1)
    index = None
    if len(jobs) > 1:
        index = jobs[0].target.with_name(f"{INDEX}.{arguments.format}")
        check_index(index)
    is_table = arguments.json or arguments.csv
    with progress() as report:
        done = _collected(jobs, at_once, report, is_table, arguments.cache)
    if sys.stderr.isatty():
        for job in jobs:
            _tell(job, done[job], is_table)
    if index is not None:
        write_index([_entry(job, done[job]) for job in jobs], index)
        if not is_table:
            print(index)
    if is_table:
        _print_table(arguments, done)
    return _code(done.values())


def _print_table(arguments: ReportOptions, done: Mapping[Job, Answer]) -> None:
    """Print what became of each capture, for scripts."""
    rows = [
        (str(job.folder), None if answer.entry is None else str(job.target), answer.error)
        for job, answer in done.items()
    ]
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, rows))
        return
    said = [f"{job.folder.name}: {answer.error}" for job, answer in done.items() if answer.error]
    names = [job.folder.name for job in done]
    described = about(arguments, names=names, problems=said, waves=_waves(arguments, done))
    reports = [dict(zip(_HEAD, row, strict=True)) for row in rows]
    print(json_text("rcv.report/1", {"reports": reports}, described))


def _waves(arguments: ReportOptions, done: Mapping[Job, Answer]) -> dict[str, Any] | None:
    """What the document says of the waves that are explained, of all reports together; None without any."""
    told = [(job.folder.name, answer.waves) for job, answer in done.items() if answer.waves is not None]
    if not told:
        return None
    sums = {name: sum(waves[name] for _, waves in told) for name in ("counted", "read", "traced")}
    texts = [waves["text"] if len(told) == 1 else f"{name}: {waves['text']}" for name, waves in told]
    return {"chosen": arguments.waves or WORKING, **sums, "text": "; ".join(texts)}


def _collected(
    jobs: Sequence[Job], at_once: int, report: Report, is_table: bool, cache: CaptureCache | None
) -> dict[Job, Answer]:
    """Do all jobs, and where nobody looks at progress, tell of each when it is done."""
    is_shown = sys.stderr.isatty()  # the line of progress, which names of files would run into
    done: dict[Job, Answer] = {}
    if len(jobs) > 1:
        report(Stage(STAGE, 0, len(jobs)))
    for job, answer in answers(jobs, at_once, report, cache):
        done[job] = answer
        if not is_shown:
            _tell(job, answer, is_table)
        report(Stage(STAGE, len(done), len(jobs)))
    return done


def _tell(job: Job, answer: Answer, is_table: bool) -> None:
    if answer.entry is not None:
        if not is_table:
            print(job.target, flush=True)
    else:
        _complain(job, answer)


def _complain(job: Job, answer: Answer) -> None:
    where = "" if str(job.folder) in answer.error else f"{job.folder}: "
    print(f"rcv: {visible(where + answer.error)}", file=sys.stderr)
    if answer.hint:
        print(f"     {visible(answer.hint)}", file=sys.stderr)
    if answer.bug:
        print(f"{answer.bug}\nrcv: this is a bug. Please report it.", file=sys.stderr)


def _entry(job: Job, answer: Answer) -> Entry:
    return answer.entry or Entry(job.folder, "", error=f"{answer.error} {answer.hint}".strip())


def _code(found: Collection[Answer]) -> int:
    if any(one.bug for one in found):
        return ExitCode.BUG
    return ExitCode.USAGE if any(one.entry is None for one in found) else ExitCode.DONE


def _jobs(arguments: ReportOptions) -> list[Job]:
    """Which captures, and which files; raise UsageError where that cannot be told."""
    folders = [folder for path in arguments.folders for folder in _folders(path)]
    folders = list(dict.fromkeys(folders))
    given, wanted = tuple(arguments.run_files or ()), arguments.waves or WORKING
    if arguments.out is None:
        names = _names(folders)
        place = arguments.out_dir or Path()
        return [
            Job(folder, place / f"{names[folder]}.{arguments.format}", given, wanted) for folder in folders
        ]
    if len(folders) != 1:
        raise UsageError(
            f"There are {len(folders):,} captures, but --out names one file.", hint="Use --out-dir."
        )
    check_form(arguments.out)
    if arguments.out.is_dir():
        raise UsageError(f"{arguments.out} is a folder.", hint="Use --out-dir, or name a file.")
    return [Job(folders[0], arguments.out, given, wanted)]


def _folders(path: Path) -> list[Path]:
    """The capture, or all captures below; placeholders without instructions are no reason to stop."""
    below = captures(path)
    return [path] if below is None else list(below)


def _names(folders: Sequence[Path]) -> dict[Path, str]:
    """A name for each capture: its own, with as many folders above as tell equal ones apart."""
    found: dict[Path, str] = {}
    taken = {INDEX}
    for folder in folders:
        parts = folder.absolute().parts
        depth = 1
        while (name := "_".join(parts[-depth:]).lstrip("/")).lower() in taken and depth < len(parts):
            depth += 1
        taken.add(name.lower())
        found[folder] = name
    return found
