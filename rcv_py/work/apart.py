"""Findings of a large capture, made in a process of their own: they take long steps over all tokens.

In a thread such a step would keep Python to itself, and the window would not answer meanwhile.  The process
reads what it needs itself, once; what was found is kept for as long as the trace is.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

from rcv_py.analysis.findings.detect import findings
from rcv_py.analysis.findings.engine_choice import chosen_rows
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.waves.populations import WORKING
from rcv_py.base.errors import UsageError
from rcv_py.formats.open import open_trace
from rcv_py.formats.run_files import run_facts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work.jobs import hold_memory
from rcv_py.work.load import batches as read_batches
from rcv_py.work.triage import triage
from rcv_py.work.worker import settle, without_main

SMALL_BYTES = 4 << 20  # of wave files: up to here no step takes long
CHANGED = (
    "The wave files could not be read once more to look for findings, although waves of them were read "
    "before: the folder has changed. Reload it (F5)."
)
STOPPED = "The process that looks for findings stopped; rcv triage in a terminal tells more."

_kept: WeakKeyDictionary[Trace, dict[tuple[str, tuple[Path, ...]], Findings]] = WeakKeyDictionary()
_running: set[BaseProcess] = set()
_lock = Lock()


def triage_in_peace(
    trace: Trace, batches: Sequence[WaveBatch], waves: str = WORKING, run_files: tuple[Path, ...] = ()
) -> Findings:
    """Return the findings: of a small capture those of the given waves, else those a process finds.

    `waves` says whose costs are ranked; while no wave of such a population was read, those that work are.
    `run_files` are tables of the run; none: those near the capture.
    """
    if int(trace.waves.size.sum()) <= SMALL_BYTES:
        facts = run_facts(trace.path, trace.kernel_name, trace.target, run_files)
        try:
            return triage(trace, batches, facts=facts, waves=waves)
        except UsageError:
            return triage(trace, batches, facts=facts)
    kept = _kept.setdefault(trace, {})
    if (waves, run_files) not in kept:
        kept[waves, run_files] = _from_process(trace, waves, run_files)
    found = kept[waves, run_files]
    was_read = any(batch.waves for batch in batches)
    return replace(found, why=CHANGED) if was_read and not found.waves and found.why != STOPPED else found


def stop() -> None:
    """End all processes that look for findings, since nobody waits for them any more."""
    with _lock:
        for process in _running:
            process.terminate()


def _from_process(trace: Trace, waves: str, run_files: tuple[Path, ...]) -> Findings:
    context = get_context("spawn")
    near, far = context.Pipe(duplex=False)
    process = context.Process(target=serve, args=(far, str(trace.path), waves, run_files), daemon=True)
    with _lock:
        with without_main():
            process.start()
        _running.add(process)
    far.close()
    try:
        return pickle.loads(near.recv_bytes())
    except (EOFError, OSError):
        found = findings(trace, ())
        return Findings.empty(found.numbers, STOPPED, of=found.of)
    finally:
        near.close()
        with _lock:
            _running.discard(process)
        process.join()
        process.close()


def serve(
    connection: Connection, folder: str, waves: str = WORKING, run_files: tuple[Path, ...] = ()
) -> None:
    """Open a capture, look at it, and send what was found."""
    settle()
    hold_memory()
    trace = open_trace(Path(folder))
    read = tuple(read_batches(trace, chosen_rows(trace.waves), workers=0))
    facts = run_facts(trace.path, trace.kernel_name, trace.target, run_files)
    with suppress(OSError):  # the window may have gone
        connection.send_bytes(pickle.dumps(triage(trace, read, is_whole=True, facts=facts, waves=waves)))
