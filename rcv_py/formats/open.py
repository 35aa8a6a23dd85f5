"""From a path to a trace: which format is it, and who opens it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.progress import Report, silent
from rcv_py.formats import summary
from rcv_py.formats.kept import KEPT
from rcv_py.formats.uiout.folder import is_capture
from rcv_py.formats.uiout.load import open_folder
from rcv_py.model.trace import CaptureEntry, Trace

__all__ = ["FORMATS", "Format", "capture_paths", "find_captures", "is_capture", "open_trace"]

MAX_DEPTH = 4  # folders below the chosen one in which captures are looked for
MAX_FOLDERS = 20_000  # looked at: a home folder must not keep us busy


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of capture: what it is called, whether a folder is one, and how it is opened."""

    name: str
    is_one: Callable[[Path], bool]
    open: Callable[[Path, Report], Trace]


FORMATS = (Format("decoded thread trace", is_capture, open_folder),)

# Files that lie beside a decoded trace: what they are, for somebody who chose one of them.
_OTHER_FILES = {
    ".att": "it is a raw thread trace; let rocprofv3 and its trace decoder make a ui_output folder of it",
    ".out": "it is a code object of a raw trace; choose the ui_output folder beside it",
    ".hsaco": "it is a code object; choose the ui_output folder of the capture",
    ".db": "it is a rocpd database, which this version does not read; choose a ui_output folder",
    ".rocpd": "it is a rocpd database, which this version does not read; choose a ui_output folder",
    **dict.fromkeys(
        (".zip", ".gz", ".tar", ".tgz", ".xz", ".zst", ".7z"), "it is an archive; unpack it first"
    ),
    ".csv": "it is a table that lies beside captures; choose the ui_output folder",
}


def open_trace(path: Path, report: Report = silent) -> Trace:
    """Open the capture at `path`: its folder, a file inside it, or a folder with exactly one capture below.

    Raises a TraceError whose text says what is wrong and whose hint says what to do.
    """
    folder = _folder(Path(path))
    for kind in FORMATS:
        if kind.is_one(folder):
            return KEPT.trace(folder, partial(kind.open, folder, report))
    below = list(_below(folder, MAX_DEPTH))
    if len(below) == 1:
        return open_trace(below[0], report)
    if below:
        raise NotATrace(
            folder, f"it holds {len(below)} captures; choose one of them, such as {below[0].name}"
        )
    raise NotATrace(folder, _why_nothing(folder))


def find_captures(path: Path, depth: int = MAX_DEPTH) -> tuple[CaptureEntry, ...]:
    """Return the capture at `path`, or all captures up to `depth` folders below it, sorted by path."""
    folder = _folder(Path(path))
    if any(kind.is_one(folder) for kind in FORMATS):
        return (summary.entry(folder),)
    return tuple(summary.entry(found) for found in _below(folder, depth))


def capture_paths(path: Path, depth: int = MAX_DEPTH) -> tuple[Path, ...]:
    """Return where captures lie: at `path`, or up to `depth` folders below it, sorted; none is opened."""
    folder = _folder(Path(path))
    return (folder,) if is_capture(folder) else tuple(_below(folder, depth))


def _folder(path: Path) -> Path:
    """The folder meant by a path; raise NotATrace for files that are no part of a decoded capture."""
    try:
        if path.is_dir():
            return path
        if not path.exists():
            raise NotATrace(path, "there is no such file or folder")
    except (OSError, ValueError) as error:
        raise NotATrace(path, "it cannot be looked at") from error
    if path.suffix.lower() in _OTHER_FILES:
        raise NotATrace(path, _OTHER_FILES[path.suffix.lower()])
    if is_capture(path.parent):
        return path.parent
    raise NotATrace(path, "it is a file outside of any capture folder")


def _below(folder: Path, depth: int) -> Iterator[Path]:
    """Capture folders below, in order; links to folders are not followed."""
    looked = 0
    todo = [(folder, 1)]
    found = []
    while todo and looked < MAX_FOLDERS:
        place, level = todo.pop()
        for child in _folders(place):
            looked += 1
            if is_capture(child):
                found.append(child)
            elif level < depth:
                todo.append((child, level + 1))
    yield from sorted(found)


def _folders(place: Path) -> list[Path]:
    try:
        with os.scandir(place) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except OSError:
        return []


def _why_nothing(folder: Path) -> str:
    try:
        names = [child.name for child in folder.iterdir()]
    except OSError as error:
        raise TraceError(
            f"{folder} may not be read.", hint="Ask its owner for access, or choose another folder."
        ) from error
    if any(name.endswith(".att") for name in names):
        return "it holds raw .att files only; let rocprofv3 decode them into a ui_output folder"
    return "neither it nor a folder below it has a filenames.json" if names else "it is empty"
