"""Findings of an open capture, from its files or from waves in memory."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from msgspec.structs import replace

from rcv_py.analysis.waves.populations import WORKING, chosen_rows
from rcv_py.base.errors import Cancelled, UsageError
from rcv_py.base.progress import CancelFlag, Report, silent, stoppable
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work import load
from rcv_py.work.machine import on_battery
from rcv_py.work.pool import WorkerPool
from rcv_py.work.reduce import Reducer

if TYPE_CHECKING:  # it imports most analyses, which a window need not wait for until it computes findings
    from rcv_py.analysis.findings.finding import Findings

SMALL_BYTES = 4 << 20  # of wave files: up to this size no step takes long
STOPPED = "The processes that look for findings stopped; rcv triage in a terminal shows more."


def is_small(trace: Trace) -> bool:
    """Whether a window computes the findings of a capture itself."""
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
    predict: bool | None = False,
    report: Report = silent,
) -> Findings:
    """Return the findings, of a large capture from a sample of waves unless `is_whole`.

    `workers` processes do that; 0: this process; None decides by size.  With `predict` this process replays
    their remedies (None: if that is quick).  The others are as in `Reducer`.
    """
    from rcv_py.analysis.findings.detect import findings_from  # noqa: PLC0415 - as above

    rows = None if is_whole else chosen_rows(trace.waves)
    with Reducer(trace, rows, held=held, is_apart=is_apart, workers=workers, report=report) as found:
        made = findings_from(found, facts, waves)
        if found.errors and not found.read:
            return replace(made, why=STOPPED)
    if predict is False or not any(one.trial is not None for one in made.findings):
        return made
    from rcv_py.work.whatif import with_predictions  # noqa: PLC0415 - it imports a compiler

    return with_predictions(trace, made, held, report, predict=predict)


class FindingsAhead:
    """The findings of a small capture, computed by a copy of this process while the window is made.

    They are kept in pickled form: to unpickle them imports modules, which the caller chooses the time for.
    Then it computes their predictions, where a compiler is there and no battery is discharged.
    """

    def __init__(self, trace: Trace, run_files: tuple[Path, ...]) -> None:
        self._trace, self._run_files = ref(trace), run_files
        self._pool = WorkerPool(_PickledFindings(), 1)
        self._made = self._pool.submit(trace, run_files)
        self._predicted = self._pool.submit()
        if find_spec("numba") is None or on_battery():
            self._predicted.cancel()
        for answer in (self._made, self._predicted):
            answer.add_done_callback(self._end_with_both)

    def is_of(self, trace: Trace, waves: str, run_files: tuple[Path, ...]) -> bool:
        """Return whether they are the answer of `FindingsInView.find` with these arguments."""
        return self._trace() is trace and waves == WORKING and run_files == self._run_files

    def pickled(self) -> bytes | None:
        """Wait for the findings; None if the process has none to give."""
        return _answer(self._made)

    def predicted(self) -> Findings | None:
        """Wait for the findings with predictions; None if the process has none to give."""
        pickled = _answer(self._predicted)
        return None if pickled is None else pickle.loads(pickled)

    def leave_out_predictions(self) -> None:
        """End with the findings."""
        self._predicted.cancel()

    def close(self) -> None:
        """End the process."""
        self._pool.close()

    def _end_with_both(self, _: object) -> None:
        if self._made.done() and self._predicted.done():
            self._pool.close()


def _answer(future: Future[bytes]) -> bytes | None:
    try:
        return future.result()
    except Exception:  # whoever asks computes it, and meets the reason
        return None


class _PickledFindings:
    """In the copy of the process: a first call gives findings, a second one the same with predictions."""

    def __call__(self, trace: Trace | None = None, run_files: tuple[Path, ...] = ()) -> bytes:
        if trace is not None:
            self._trace = trace
            self._batches = [*load.WaveStream(trace.reader, trace.waves, workers=0, lod=False)]
            self._found = FindingsInView().find(trace, self._batches, run_files=run_files)
            return pickle.dumps(self._found)
        from rcv_py.work.whatif import with_predictions  # noqa: PLC0415 - of predictions alone

        return pickle.dumps(with_predictions(self._trace, self._found, self._batches))


class FindingsInView:
    """Computes the findings that a window shows, and caches those of a large capture while it is open."""

    def __init__(self) -> None:
        self.ahead: FindingsAhead | None = None  # of the capture that the program was started with
        self._known: WeakKeyDictionary[Trace, dict[object, Findings]] = WeakKeyDictionary()
        self._busy = Lock()
        self._newest, self._is_closed = CancelFlag(), False

    def ahead_of(self, trace: Trace, waves: str, run_files: tuple[Path, ...]) -> FindingsAhead | None:
        """Return what makes the answer of `find` with these arguments in another process; None without."""
        ahead = self.ahead
        return ahead if ahead is not None and ahead.is_of(trace, waves, run_files) else None

    def find(
        self,
        trace: Trace,
        batches: Sequence[WaveBatch],
        waves: str = WORKING,
        run_files: tuple[Path, ...] = (),
    ) -> Findings:
        """Return the findings: of a small capture from the given waves, else from processes.

        Processes get the waves in memory and read the others.  A newer call ends the previous one.  `waves`
        selects the waves whose costs are ranked; the working waves until a wave of such a population was
        read.  `run_files` are tables of the run; none: the tables near the capture.
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
        if (waves, run_files) not in known:
            try:
                self._newest.set()
                flag = self._newest = CancelFlag()
                with self._busy:
                    if self._is_closed:
                        raise Cancelled
                    with stoppable(flag):
                        known[waves, run_files] = findings_of_trace(
                            trace, facts, waves, held=batches, is_apart=True, workers=None
                        )
            except Cancelled:
                return Findings(findings(trace, ()).numbers, of=len(trace.waves), why=STOPPED)
        return known[waves, run_files]

    def close(self) -> None:
        """End all processes, whose results are no longer needed; return when they have ended."""
        if self.ahead is not None:
            self.ahead.close()
        self._is_closed = True
        self._newest.set()
        with self._busy:
            pass
