"""From a path to a trace, or to what there is to know of the captures below it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rcv_py.base.progress import Report, silent
from rcv_py.formats.capture_cache import CaptureCache
from rcv_py.formats.locate import MAX_DEPTH, locate
from rcv_py.formats.summary import capture_entry
from rcv_py.formats.uiout.load import open_folder
from rcv_py.model.trace import CaptureEntry, Trace


def open_trace(path: Path, report: Report = silent, cache: CaptureCache | None = None) -> Trace:
    """Open the capture at `path`: its folder, a file inside it, or a folder with exactly one capture below.

    `cache` keeps captures for as long as their files stay the same; None opens it anew.  Raises a TraceError
    whose text says what is wrong and whose hint says what to do.
    """
    folder = locate(Path(path)).capture()
    return open_folder(folder, report) if cache is None else cache.trace(folder, partial(open_folder, folder))


def find_captures(path: Path, depth: int = MAX_DEPTH) -> tuple[CaptureEntry, ...]:
    """Return what the capture at `path`, or each capture up to `depth` folders below it, holds; sorted.

    Reads the index and the code of each; `locate(path).captures(depth)` only lists them.
    """
    return tuple(map(capture_entry, locate(Path(path)).captures(depth)))
