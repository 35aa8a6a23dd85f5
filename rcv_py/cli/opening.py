"""From a path on the command line to captures and their waves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rcv_py.cli.options.shared import WithRunFiles
from rcv_py.cli.progress import watched
from rcv_py.formats.open import find_captures, is_capture
from rcv_py.formats.run_files import run_facts
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work import load

WAVES_AT_ONCE = 64


def captures(path: Path) -> tuple[CaptureEntry, ...] | None:
    """Return the captures below a folder; None if the path itself is one, or names nothing that holds any."""
    try:
        is_parent = path.is_dir() and not is_capture(path)
    except OSError:  # opening it says why
        return None
    return find_captures(path) or None if is_parent else None


def facts_of(trace: Trace, arguments: WithRunFiles) -> RunFacts:
    """Return what the tables of the run tell, those of `--run-files` if it is given; raise UsageError."""
    return run_facts(trace.path, trace.kernel_name, trace.target, arguments.run_files or ())


def batches(trace: Trace) -> Iterator[WaveBatch]:
    """Read all waves, some at a time, and show how far it is."""
    rows = list(range(len(trace.waves)))
    parts = (rows[first : first + WAVES_AT_ONCE] for first in range(0, len(rows), WAVES_AT_ONCE))
    return watched(map(trace.reader.read, parts), load.STAGE, len(rows), _waves_in)


def pooled(trace: Trace, rows: Iterable[int] | None = None) -> Iterator[WaveBatch]:
    """Read waves, all by default, in several processes where that pays, and show how far it is."""
    chosen = list(range(len(trace.waves)) if rows is None else rows)
    return watched(load.batches(trace, chosen), load.STAGE, len(chosen), _waves_in)


def _waves_in(batch: WaveBatch) -> int:
    return len(batch.waves) + len(batch.missing)
