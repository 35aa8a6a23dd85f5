"""`rcv report`: a page of HTML or Markdown about each capture, several captures at a time, and an index."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.errors import RcvError, UsageError
from rcv_py.base.progress import Report, Stage, silent
from rcv_py.base.record import Value
from rcv_py.base.text import Message, translated
from rcv_py.cli.answer import CommandAnswer
from rcv_py.cli.exit_codes import ExitCode
from rcv_py.cli.opening import all_captures, wave_facts
from rcv_py.cli.options.program import ReportOptions
from rcv_py.cli.options.shared import wants_predictions
from rcv_py.cli.terminal import complain, progress
from rcv_py.export.interactive.content import OF_PAGE
from rcv_py.export.interactive.page import interactive_page
from rcv_py.export.report import files
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.notes.store import NotePlaces
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.results.table import ResultTable
from rcv_py.results.written import REPORT_SCHEMA, REPORTS
from rcv_py.work.captures import InProcessExecutor, captures_done, executor_for
from rcv_py.work.opening import open_trace
from rcv_py.work.pool import WorkerStopped
from rcv_py.work.reduce import Reducer
from rcv_py.work.whatif import quick_player, with_predictions

STAGE = "Reports"
BUG = "this is a bug. Please report it."
INDEX = "index"
DIED = "The process that made its report ended, each time it was tried."
DIED_HINT = "There may not be enough memory: use --jobs 1."


def run(options: ReportOptions) -> CommandAnswer:
    """Write the reports and print the name of each; report captures that cannot be read, and go on."""
    jobs = _jobs(options)
    index = None
    if len(jobs) > 1:
        index = jobs[0].target.with_name(f"{INDEX}.{options.format}")
        files.check_index(index)
    is_table = options.json or options.csv
    with progress() as report:
        done = _pages(jobs, options, report, is_table)
    if sys.stderr.isatty():
        for job in jobs:
            _announce(job, done[job], is_table)
    if index is not None:
        unread = {job: f"{outcome.error} {outcome.hint}".strip() for job, outcome in done.items()}
        entries = [done[job].entry or files.IndexEntry(job.folder, "", error=unread[job]) for job in jobs]
        files.write_index(entries, index)
    written = ((job, str(job.target) if outcome.entry else None, outcome) for job, outcome in done.items())
    rows = [(str(job.folder), target, outcome.error) for job, target, outcome in written]
    table = ResultTable.of_rows(REPORTS, rows)
    # Over all reports, which waves they explain.
    known = [(job.folder.name, outcome.waves) for job, outcome in done.items() if outcome.waves is not None]
    sums = {name: sum(waves[name] for _, waves in known) for name in ("counted", "read", "traced")}
    texts = [waves["text"] if len(known) == 1 else f"{name}: {waves['text']}" for name, waves in known]
    waves = {"chosen": options.waves or WORKING, **sums, "text": "; ".join(texts)}
    return CommandAnswer.of_table(
        REPORT_SCHEMA,
        table,
        lambda: [] if index is None else [str(index)],
        rows="reports",
        about={
            "names": [job.folder.name for job in done],
            "problems": [f"{job.folder.name}: {one.error}" for job, one in done.items() if one.error],
            "waves": waves if known else None,
        },
        code=max((outcome.code for outcome in done.values()), key=(0, 2, 1).index),
        is_written=True,
    )


def _pages(jobs: Sequence[Job], options: ReportOptions, report: Report, is_table: bool) -> dict[Job, Outcome]:
    """Make and write all reports; without a progress display, announce each when it is written."""
    is_shown = sys.stderr.isatty()  # the line of progress, which names of files would run into
    done: dict[Job, Outcome] = {}
    if len(jobs) > 1:
        report(Stage(STAGE, 0, len(jobs)))
    folders = [job.folder for job in jobs]
    with executor_for(folders, jobs=options.jobs, cluster=options.cluster, here=1) as executor:
        make = partial(
            made,
            ending=jobs[0].target.suffix,
            given=tuple(map(options.seen, options.run_files or ())),
            waves=options.waves or WORKING,
            predict=wants_predictions(options.predict, options.no_predict),
            is_interactive=options.interactive,
        )
        if isinstance(executor, InProcessExecutor):
            shown = report if len(jobs) == 1 else silent
            make = partial(make, report=shown, workers=None, cache=options.cache)
        for at, outcome in captures_done(make, folders, executor, _lost):
            job = jobs[at]
            done[job] = _written(job, outcome)
            if not is_shown:
                _announce(job, done[job], is_table)
            report(Stage(STAGE, len(done), len(jobs)))
    return {job: done[job] for job in jobs}


def _announce(job: Job, outcome: Outcome, is_table: bool) -> None:
    """Print the name of the file, or what went wrong."""
    if outcome.entry is not None:
        if not is_table:
            print(job.target, flush=True)
        return
    where = "" if str(job.folder) in outcome.error else f"{job.folder}: "
    complain(where + translated(outcome.error), outcome.hint)
    if outcome.bug:
        print(f"{outcome.bug}\nrcv: {translated(BUG)}", file=sys.stderr)


def _jobs(options: ReportOptions) -> list[Job]:
    """The captures and the files to write; raise UsageError if they are ambiguous."""
    folders = [options.seen(folder) for folder in all_captures(options.folders)]
    if options.out is None:
        place = options.out_dir or Path()
        names = _names(folders).items()
        return [Job(folder, place / f"{name}.{options.format}") for folder, name in names]
    if len(folders) != 1:
        text = Message("There are {0:,} captures, but --out names one file.", len(folders))
        raise UsageError(text, hint="Use --out-dir.")
    files.check_form(options.out)
    if options.out.is_dir():
        raise UsageError(Message("{0} is a folder.", options.out), hint="Use --out-dir, or name a file.")
    return [Job(folders[0], options.out)]


def _names(folders: Sequence[Path]) -> dict[Path, str]:
    """A name for each capture: its own, with as many parent folders as distinguish equal names."""
    names: dict[Path, str] = {}
    taken = {INDEX}
    for folder in folders:
        parts = folder.absolute().parts
        depth = 1
        while (name := "_".join(parts[-depth:]).lstrip("/")).lower() in taken and depth < len(parts):
            depth += 1
        taken.add(name.lower())
        names[folder] = name
    return names


class Job(Value):
    """A capture and the file its report goes to."""

    folder: Path
    target: Path


class Outcome(Value):
    """The row for the index, or why there is no report; `bug` is the traceback of an unexpected error.

    `page` is the text still to be written; `waves` says whose costs the report explains, as in documents.
    """

    entry: files.IndexEntry | None = None
    error: str = ""
    hint: str = ""
    bug: str = ""
    waves: dict[str, Any] | None = None
    page: bytes = b""

    @property
    def code(self) -> ExitCode:
        """The exit code of a command that writes only this report."""
        return ExitCode.BUG if self.bug else ExitCode.USAGE if self.entry is None else ExitCode.DONE


def made(
    folder: Path,
    ending: str,
    given: tuple[Path, ...] = (),
    waves: str = WORKING,
    *,
    predict: bool | None = None,
    is_interactive: bool = False,
    report: Report = silent,
    workers: int | None = 0,
    cache: CaptureCache | None = None,
) -> Outcome:
    """Return the page about a capture, or why there is none; `workers` processes read its waves."""

    def rank(found: Findings) -> Findings:
        return with_predictions(trace, found, predict=predict, player=inputs.player)

    try:
        trace = open_trace(folder, cache=cache)
        facts = facts_about(trace, given)
        with Reducer(trace, workers=workers, report=report) as found:
            inputs = ReportInputs(found, facts=facts, waves=waves)
            inputs.play, inputs.rank = partial(quick_player, trace) if predict else None, rank
            inputs.notes = NotePlaces.of(trace).read().notes
            inputs.ask(OF_PAGE if is_interactive else ())
            row, counted = files.entry(inputs, ""), wave_facts(inputs.choice, len(trace.waves))
            if is_interactive:
                return Outcome(row, waves=counted, page=interactive_page(inputs, report=report))
            return Outcome(row, waves=counted, page=files.report_page(inputs, ending, report=report))
    except RcvError as error:
        return _lost(folder, error)
    except Exception as error:  # a bug that one capture meets must not cost the reports of the others
        return Outcome(error=f"{type(error).__name__}: {error}.", bug=traceback.format_exc())


def _lost(folder: Path, error: RcvError) -> Outcome:
    if isinstance(error, WorkerStopped):
        return Outcome(error=DIED, hint=DIED_HINT)
    return Outcome(error=str(error), hint=error.hint)


def _written(job: Job, outcome: Outcome) -> Outcome:
    if outcome.entry is None:
        return outcome
    try:
        files.write_page(outcome.page, job.target)
    except RcvError as error:
        return _lost(job.folder, error)
    return replace(outcome, entry=replace(outcome.entry, file=job.target.name), page=b"")
