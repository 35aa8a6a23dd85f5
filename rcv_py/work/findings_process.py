"""Findings of a large capture, made in a process of their own: they take long steps over all tokens.

In a thread such a step would keep Python to itself, and the window would not answer meanwhile.  The process
reads what it needs itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.waves.populations import WORKING, chosen_rows
from rcv_py.base.errors import UsageError
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work.load import hold_memory
from rcv_py.work.pool import WorkerPool, WorkerStopped

SMALL_BYTES = 4 << 20  # of wave files: up to here no step takes long
MAX_PROCESSES = 2  # at a time: of the open capture, and of one that was closed meanwhile
CHANGED = (
    "The wave files could not be read once more to look for findings, although waves of them were read "
    "before: the folder has changed. Reload it (F5)."
)
STOPPED = "The process that looks for findings stopped; rcv triage in a terminal shows more."


class FindingsProcess:
    """Looks for findings, and remembers those of a large capture for as long as its trace lives."""

    def __init__(self) -> None:
        self._pool = WorkerPool(findings_of_folder, MAX_PROCESSES, setup=hold_memory)
        self._known: WeakKeyDictionary[Trace, dict[tuple[str, tuple[Path, ...]], Findings]] = (
            WeakKeyDictionary()
        )

    def find(
        self,
        trace: Trace,
        batches: Sequence[WaveBatch],
        waves: str = WORKING,
        run_files: tuple[Path, ...] = (),
    ) -> Findings:
        """Return the findings: of a small capture those of the given waves, else those a process finds.

        `waves` says whose costs are ranked; while no wave of such a population was read, those that work are.
        `run_files` are tables of the run; none: those near the capture.
        """
        if int(trace.waves.size.sum()) <= SMALL_BYTES:
            facts = run_facts(trace.path, trace.kernel_name, trace.target, run_files)
            try:
                return findings(trace, batches, facts=facts, waves=waves)
            except UsageError:
                return findings(trace, batches, facts=facts)
        known = self._known.setdefault(trace, {})
        if (waves, run_files) not in known:
            known[waves, run_files] = self._by_process(trace, waves, run_files)
        found = known[waves, run_files]
        was_read = any(batch.waves for batch in batches)
        return replace(found, why=CHANGED) if was_read and not found.waves and found.why != STOPPED else found

    def close(self) -> None:
        """End all processes, since nobody waits for them any more."""
        self._pool.close()

    def _by_process(self, trace: Trace, waves: str, run_files: tuple[Path, ...]) -> Findings:
        try:
            return self._pool.submit(trace.path, waves, run_files, is_alone=True).result()
        except (WorkerStopped, CancelledError):
            return Findings(findings(trace, ()).numbers, of=len(trace.waves), why=STOPPED)


def findings_of_folder(folder: Path, waves: str, run_files: tuple[Path, ...]) -> Findings:
    """Open a capture, read the waves that are looked at, and return its findings."""
    trace = open_trace(folder)
    return findings_of_trace(trace, run_facts(folder, trace.kernel_name, trace.target, run_files), waves)


def findings_of_trace(
    trace: Trace,
    facts: RunFacts,
    waves: str = WORKING,
    *,
    is_whole: bool = False,
    workers: int | None = 0,
) -> Findings:
    """Read the waves that are looked at, of a large capture some unless `is_whole`, and return the findings.

    `workers` processes read them; 0: this one; None decides by their size.
    """
    rows = None if is_whole else chosen_rows(trace.waves)
    read = tuple(batches(trace, rows, workers=workers))
    return findings(trace, read, facts=facts, waves=waves)
