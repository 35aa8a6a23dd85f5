"""From a path on the command line to captures and their waves; a warning if instructions do not fit."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from rcv_py.analysis.program.code_match import CONSEQUENCE, REMEDY, code_match
from rcv_py.cli.options.shared import OfCapture, WithRunFiles
from rcv_py.cli.terminal import watched
from rcv_py.formats.locate import locate
from rcv_py.formats.open import open_trace
from rcv_py.formats.run_files import run_facts
from rcv_py.model.resources import RunFacts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

WAVES_AT_ONCE = 64
PROBED_WAVES = 4  # that are compared with the instructions: a wave has hundreds of executions
MAX_PROBED_BYTES = 4 << 20  # of the file of such a wave
NO_CODE = (
    "The instructions of the capture could not be read: costs of instructions, loops, causes, waits and the "
    "work of the MFMA unit are not known, and zeros of them mean nothing."
)


def opened(options: OfCapture, path: Path | None = None) -> Trace:
    """Open the capture of a command, or another one."""
    return open_trace(path or options.folder, cache=options.cache)


def captures(path: Path) -> tuple[Path, ...] | None:
    """Return the captures below a folder; None if the path itself is one, or names nothing that holds any."""
    located = locate(path)
    if located.error is not None or located.is_capture:  # opening it says why
        return None
    return located.captures() or None


def all_captures(paths: Iterable[Path]) -> list[Path]:
    """Return the captures that the paths are or hold, each once; a path with none stands for itself."""
    return list(dict.fromkeys(found for path in paths for found in captures(path) or (path,)))


def below(root: Path, path: Path) -> str:
    """Return the path of a capture below a folder, for people; its name if it lies elsewhere."""
    try:
        return str(path.resolve().relative_to(root.resolve()))
    except ValueError:
        return path.name


def facts_of(trace: Trace, options: WithRunFiles) -> RunFacts:
    """Return what the tables of the run say, those of `--run-files` if it is given; raise UsageError."""
    return run_facts(trace.path, trace.kernel_name, trace.target, options.run_files or ())


def batches(trace: Trace) -> Iterator[WaveBatch]:
    """Read all waves, some at a time, and show how far it is."""
    rows = list(range(len(trace.waves)))
    parts = (rows[first : first + WAVES_AT_ONCE] for first in range(0, len(rows), WAVES_AT_ONCE))
    return watched(map(trace.reader.read, parts), "Reading waves", len(rows), _waves_in)


def pooled(trace: Trace, rows: Iterable[int] | None = None) -> Iterator[WaveBatch]:
    """Read waves, all by default, in several processes, in no particular order; show how far it is."""
    from rcv_py.work import load  # noqa: PLC0415 - commands that read no waves do not wait for the pool

    chosen = list(range(len(trace.waves)) if rows is None else rows)
    return watched(load.batches(trace, chosen), load.STAGE, len(chosen), _waves_in)


def _waves_in(batch: WaveBatch) -> int:
    """Return how many waves were looked at for a batch."""
    return len(batch.waves) + len(batch.missing)


def warn(trace: Trace) -> str:
    """Say on stderr that instruction texts are missing or of other code, and return it; "" if they fit."""
    if len(trace.waves) and not len(trace.code):
        print(f"rcv: {NO_CODE}", file=sys.stderr)
        return NO_CODE
    size = np.where(trace.waves.size <= MAX_PROBED_BYTES, trace.waves.size, 0)
    rows = np.argsort(-size, kind="stable")[:PROBED_WAVES]
    rows = rows[size[rows] > 0]
    match = code_match(trace, [trace.reader.read(np.sort(rows).tolist())] if len(rows) else ())
    if not match.is_wrong:
        return ""
    print(f"rcv: {match.sentence} {match.examples_text(trace.code)}", file=sys.stderr)
    print(f"     {CONSEQUENCE} {REMEDY}", file=sys.stderr)
    return match.sentence
