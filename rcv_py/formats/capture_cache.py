"""Cache open captures in a long-running process, as long as their files do not change.

The caller makes a `CaptureCache` and passes it to `open_trace`.
"""

import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rcv_py.base.record import Value
from rcv_py.model.trace import Trace

CAPTURES = 8
FILE_BYTES = 512 << 20  # of files other than waves, over all captures that are kept
Mark = tuple[Any, ...]


class _Entry(Value):
    """A cached capture, valid as long as its files do not change."""

    mark: Mark
    bytes: int  # of files other than waves, as a measure of what the tables take
    trace: Trace


class CaptureCache:
    """Traces by folder.  A capture whose files changed, appeared or vanished is opened again."""

    def __init__(self, captures: int = CAPTURES) -> None:
        """`captures` is the maximum number of cached captures."""
        self._limit = captures
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def trace(self, folder: Path, open_it: Callable[[], Trace]) -> Trace:
        """Return the cached trace of a folder, or open it."""
        key = os.path.realpath(folder)
        mark, size = fingerprint(key)
        entry = self._entries.pop(key, None)
        if entry is None or entry.mark != mark or entry.trace.path != folder:
            trace = open_it()
            entry = _Entry(mark, max(0, size - int(trace.waves.size.sum())), trace)
        self._entries[key] = entry
        while len(self._entries) > 1 and (
            len(self._entries) > self._limit or sum(one.bytes for one in self._entries.values()) > FILE_BYTES
        ):
            self._entries.popitem(last=False)
        return entry.trace


def fingerprint(folder: str) -> tuple[Mark, int]:
    """Return a stamp that changes with the files in and next to the folder, and the bytes of its files.

    For a packed capture it is that file.
    """
    marks: list[Mark] = []
    size = 0
    try:
        if os.path.isfile(folder):  # noqa: PTH113 - a text already
            about = os.stat(folder)  # noqa: PTH116
            return (about.st_mtime_ns, about.st_size, about.st_ino), about.st_size
        with os.scandir(folder) as entries:
            for entry in entries:
                about = entry.stat()
                marks.append((entry.name, about.st_mtime_ns, about.st_size))
                size += about.st_size
        beside = os.stat(os.path.dirname(folder)).st_mtime_ns  # noqa: PTH116, PTH120 - a text already
    except OSError:  # opening it reports the reason
        return (object(),), size
    return (beside, *sorted(marks)), size
