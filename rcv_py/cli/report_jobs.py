"""Reports as jobs: one capture, one file, in this process or in several; what goes wrong is an answer."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.ending import end_tidily
from rcv_py.base.errors import RcvError
from rcv_py.base.lifeline import end_with_parent
from rcv_py.base.progress import Report, silent
from rcv_py.base.whole_files import remove_parts
from rcv_py.cli.wave_choice import wave_facts
from rcv_py.export.report.files import write_report
from rcv_py.export.report.index import Entry, entry
from rcv_py.export.report.inputs import report_inputs
from rcv_py.formats.open import open_trace
from rcv_py.formats.run_files import run_facts
from rcv_py.work.load import load_all

STOPPED = "Its report was stopped."
DIED = "The process that wrote its report ended."
DIED_HINT = "There may not be enough memory: use --jobs 1."


@dataclass(frozen=True, slots=True)
class Job:
    """A capture and the file its report goes to."""

    folder: Path
    target: Path
    run_files: tuple[Path, ...] = ()  # where the tables of the run are; none: near the capture
    waves: str = WORKING  # whose costs are explained


@dataclass(frozen=True, slots=True)
class Answer:
    """The row for the index, or why there is no report; `bug` is the traceback of what nobody expected.

    `waves` says whose costs the report explains, as documents do.
    """

    entry: Entry | None = None
    error: str = ""
    hint: str = ""
    bug: str = ""
    waves: dict[str, Any] | None = None


def answers(jobs: Sequence[Job], at_once: int, report: Report) -> Iterator[tuple[Job, Answer]]:
    """Yield each job when it is done."""
    if at_once <= 1:
        for job in jobs:
            yield job, _answer(job, report if len(jobs) == 1 else silent, None)
        return
    with _processes(at_once) as pool:
        futures: dict[Future[Answer], Job] = {pool.executor.submit(make, job): job for job in jobs}
        pool.look()
        # The executor watches the processes that it knew when it was last woken, and not the newest: without
        # this it would wait for ever for one that is killed.
        pool.executor.submit(int)
        for future in as_completed(futures):
            yield futures[future], _result(future, futures[future], pool)


def _result(future: Future[Answer], job: Job, pool: _Pool) -> Answer:
    try:
        return future.result()
    except BrokenProcessPool:
        for process in pool.processes:
            remove_parts(job.target.parent, process.pid or 0)
        return Answer(error=DIED, hint=DIED_HINT)


@dataclass(slots=True)
class _Pool:
    """An executor, and the processes that it started, those that died among them."""

    executor: ProcessPoolExecutor
    others: Collection[BaseProcess]
    processes: set[BaseProcess] = field(default_factory=set)

    def look(self) -> None:
        """Note which processes there are: one that has died is not listed any more."""
        self.processes |= set(active_children()) - set(self.others)


def _begin() -> None:
    """What a new process does first."""
    end_tidily()
    end_with_parent()


@contextmanager
def _processes(count: int) -> Iterator[_Pool]:
    """Processes that go when the block is left by an error or Ctrl+C: nobody waits for the rest."""
    pool = _Pool(ProcessPoolExecutor(count, get_context("spawn"), _begin), active_children())
    try:
        yield pool
    except BaseException:
        pool.look()
        for process in pool.processes:
            process.terminate()  # they tidy up, and whoever ends us does not tell them
        raise
    finally:
        pool.executor.shutdown(wait=True, cancel_futures=True)


def make(job: Job) -> Answer:
    """Write one report, in a process of its own that starts no others."""
    try:
        return _answer(job, silent, 0)
    except KeyboardInterrupt:  # the process that started this one says so
        return Answer(error=STOPPED)


def _answer(job: Job, report: Report, workers: int | None) -> Answer:
    try:
        return _written(job, report, workers)
    except RcvError as error:
        return Answer(error=str(error), hint=error.hint)
    except Exception as error:  # a bug that one capture meets must not cost the reports of the others
        return Answer(error=f"{type(error).__name__}: {error}.", bug=traceback.format_exc())


def _written(job: Job, report: Report, workers: int | None) -> Answer:
    trace = open_trace(job.folder)
    batches = load_all(trace, report=report, workers=workers)
    facts = run_facts(trace.path, trace.kernel_name, trace.target, job.run_files)
    inputs = report_inputs(trace, batches, facts, job.waves)
    write_report(inputs, job.target, report=report)
    waves = wave_facts(inputs.choice, len(trace.waves))
    return Answer(entry(inputs, job.target.name), waves=waves)
