"""From a path on the command line to captures and their waves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rcv_py.cli.options.shared import WithRunFiles
from rcv_py.cli.progress import watched
from rcv_py.formats.locate import locate
from rcv_py.formats.run_files import run_facts
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

WAVES_AT_ONCE = 64


def captures(path: Path) -> tuple[Path, ...] | None:
    """Return the captures below a folder; None if the path itself is one, or names nothing that holds any."""
    located = locate(path)
    if located.error is not None or located.is_capture:  # opening it says why
        return None
    return located.captures() or None


def facts_of(trace: Trace, arguments: WithRunFiles) -> RunFacts:
    """Return what the tables of the run tell, those of `--run-files` if it is given; raise UsageError."""
    return run_facts(trace.path, trace.kernel_name, trace.target, arguments.run_files or ())


def batches(trace: Trace) -> Iterator[WaveBatch]:
    """Read all waves, some at a time, and show how far it is."""
    rows = list(range(len(trace.waves)))
    parts = (rows[first : first + WAVES_AT_ONCE] for first in range(0, len(rows), WAVES_AT_ONCE))
    return watched(map(trace.reader.read, parts), "Reading waves", len(rows), waves_in)


def waves_in(batch: WaveBatch) -> int:
    """Return how many waves were looked at for a batch."""
    return len(batch.waves) + len(batch.missing)
