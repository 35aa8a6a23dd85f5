"""Findings of an open capture, from its files or from waves that are in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rcv_py.analysis.waves.populations import WORKING, chosen_rows
from rcv_py.base.errors import Cancelled, UsageError
from rcv_py.base.progress import CancelFlag, Report, silent
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work.reduce import Reading

if TYPE_CHECKING:  # it imports most analyses, which a window does not wait for until it looks
    from rcv_py.analysis.findings.finding import Findings

SMALL_BYTES = 4 << 20  # of wave files: up to here no step takes long
STOPPED = "The processes that look for findings stopped; rcv triage in a terminal shows more."


def is_small(trace: Trace) -> bool:
    """Whether a window looks for the findings of a capture itself."""
    return int(trace.waves.size.sum()) <= SMALL_BYTES


def findings_of_trace(
    trace: Trace,
    facts: RunFacts,
    waves: str = WORKING,
    *,
    is_whole: bool = False,
    held: Iterable[WaveBatch] = (),
    is_apart: bool = False,
    workers: int | None = 0,
    report: Report = silent,
    cancel: CancelFlag | None = None,
) -> Findings:
    """Look at the waves, of a large capture at some unless `is_whole`, and return the findings.

    `workers` processes do that; 0: this one; None decides by their size.  The others are as in `Reading`.
    """
    from rcv_py.analysis.findings.detect import findings_from  # noqa: PLC0415 - as above

    rows = None if is_whole else chosen_rows(trace.waves)
    reading = Reading(
        trace, rows, held=held, is_apart=is_apart, workers=workers, report=report, cancel=cancel
    )
    with reading as found:
        made = findings_from(found, facts, waves)
        return replace(made, why=STOPPED) if found.errors and not found.read else made


class FindingsInView:
    """Looks for the findings that a window shows, and remembers those of a large capture while it is open."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Trace, dict[tuple[str, tuple[Path, ...]], Findings]] = (
            WeakKeyDictionary()
        )
        self._expected: WeakKeyDictionary[Trace, Future[Findings | None]] = WeakKeyDictionary()
        self._busy = Lock()
        self._newest, self._is_closed = CancelFlag(), False

    def find(
        self,
        trace: Trace,
        batches: Sequence[WaveBatch],
        waves: str = WORKING,
        run_files: tuple[Path, ...] = (),
    ) -> Findings:
        """Return the findings: of a small capture those of the given waves, else those that processes find.

        They get the waves that are in memory and read the others.  A newer question ends the one before.
        `waves` says whose costs are ranked; while no wave of such a population was read, those that work are.
        `run_files` are tables of the run; none: those near the capture.
        """
        from rcv_py.analysis.findings.detect import findings  # noqa: PLC0415 - as above
        from rcv_py.analysis.findings.finding import Findings  # noqa: PLC0415 - as above

        facts = facts_about(trace, run_files)
        if is_small(trace):
            try:
                return findings(trace, batches, facts=facts, waves=waves)
            except UsageError:
                return findings(trace, batches, facts=facts)
        known = self._known.setdefault(trace, {})
        expected = self._expected.pop(trace, None)
        if expected is not None and (waves, run_files) == (WORKING, ()) and (made := expected.result()):
            known[waves, run_files] = made
        if (waves, run_files) not in known:
            try:
                known[waves, run_files] = self._by_processes(trace, batches, waves, facts)
            except Cancelled:
                return Findings(findings(trace, ()).numbers, of=len(trace.waves), why=STOPPED)
        return known[waves, run_files]

    def expect(self, trace: Trace, whole: Callable[[], Sequence[WaveBatch] | None]) -> None:
        """Look for the findings of a large capture before they are asked for, once all its waves were read.

        `whole` waits for them, and returns None if they are not all there.  Whoever asks, later, for those
        that a window shows at first has these.
        """
        if trace not in self._expected and trace not in self._known:
            future = self._expected[trace] = Future()
            Thread(
                target=self._look_ahead, args=(trace, whole, future), name="rcv-findings", daemon=True
            ).start()

    def _look_ahead(
        self,
        trace: Trace,
        whole: Callable[[], Sequence[WaveBatch] | None],
        future: Future[Findings | None],
    ) -> None:
        try:
            batches = whole()
            facts = None if batches is None else facts_about(trace)
            future.set_result(
                None if facts is None else self._by_processes(trace, batches or (), WORKING, facts)
            )
        except Cancelled:
            future.set_result(None)
        except Exception as error:  # the border of the thread: whoever asks hears of it
            future.set_exception(error)

    def close(self) -> None:
        """End all processes, since nobody waits for them any more; return when they have gone."""
        self._is_closed = True
        self._newest.set()
        with self._busy:
            pass

    def _by_processes(
        self, trace: Trace, batches: Sequence[WaveBatch], waves: str, facts: RunFacts
    ) -> Findings:
        self._newest.set()
        flag = self._newest = CancelFlag()
        with self._busy:
            if self._is_closed:
                raise Cancelled
            return findings_of_trace(
                trace, facts, waves, held=batches, is_apart=True, workers=None, cancel=flag
            )
