"""From a path on the command line to captures and their waves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rcv_py.cli.options.shared import WithRunFiles
from rcv_py.cli.progress import watched
from rcv_py.formats.locate import locate
from rcv_py.formats.run_files import run_facts
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.work import load

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
    return watched(map(trace.reader.read, parts), load.STAGE, len(rows), _waves_in)


def pooled(trace: Trace, rows: Iterable[int] | None = None) -> Iterator[WaveBatch]:
    """Read waves, all by default, in several processes where that pays, and show how far it is."""
    chosen = list(range(len(trace.waves)) if rows is None else rows)
    return watched(load.batches(trace, chosen), load.STAGE, len(chosen), _waves_in)


def _waves_in(batch: WaveBatch) -> int:
    return len(batch.waves) + len(batch.missing)
