"""From a path on the command line to an open trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rcv_py.base.errors import NotATrace, UsageError
from rcv_py.formats.open import find_captures, is_capture, open_trace
from rcv_py.model.trace import CaptureEntry, Trace
from rcv_py.model.waves import WaveBatch

WAVES_AT_ONCE = 64


def open_one(path: Path) -> Trace:
    """Open the capture at a path, or the only one below it; raise an RcvError that says what to do."""
    path = existing(path)
    if path.is_file() or is_capture(path):
        return open_trace(path)
    entries = captures(path)
    if len(entries) > 1:
        names = ", ".join(entry.name for entry in entries[:3]) + (", …" if len(entries) > 3 else "")
        raise UsageError(
            f"{path} holds {len(entries)} captures: {names}.",
            hint="Name one of them; `rcv info` lists them.",
        )
    return open_trace(entries[0].path)


def captures(path: Path) -> tuple[CaptureEntry, ...]:
    """Return the captures below a folder; raise NotATrace if there are none."""
    entries = find_captures(existing(path))
    if not entries:
        raise NotATrace(path, "it holds no folder with a filenames.json")
    return entries


def existing(path: Path) -> Path:
    """Return the path; raise UsageError if nothing is there."""
    try:
        path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be a path"
        raise UsageError(f"{path} cannot be opened: {reason}.", hint="Check the spelling.") from error
    return path


def batches(trace: Trace) -> Iterator[WaveBatch]:
    """Read all waves, some at a time."""
    rows = list(range(len(trace.waves)))
    for first in range(0, len(rows), WAVES_AT_ONCE):
        yield trace.reader.read(rows[first : first + WAVES_AT_ONCE])
