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
from rcv_py.formats.input.run_places import may_look
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
    """Capture folders below, in order, each once.

    A link to a folder is followed, but no link behind it, and none to where the search is already: so it
    ends, and it stays where somebody pointed.  A capture that is reached directly goes before a link to it.
    """
    looked = 0
    todo = [_Place(folder, 1, is_linked=False)]
    found: dict[str, _Place] = {}
    while todo and looked < MAX_FOLDERS:
        place = todo.pop()
        for child in _folders(place):
            looked += 1
            if is_capture(child.path):
                real = os.path.realpath(child.path)
                found[real] = min(found.get(real, child), child, key=lambda one: (one.is_linked, one.path))
            elif place.level < depth:
                todo.append(child)
    yield from sorted(place.path for place in found.values())


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder that is looked into: how far below the first one, and whether a link led here."""

    path: Path
    level: int
    is_linked: bool


def _folders(place: _Place) -> list[_Place]:
    try:
        with os.scandir(place.path) as entries:
            return [
                _Place(Path(entry.path), place.level + 1, place.is_linked or entry.is_symlink())
                for entry in entries
                if not entry.name.startswith(".") and _is_followed(entry, place)
            ]
    except OSError:
        return []


def _is_followed(entry: os.DirEntry[str], place: _Place) -> bool:
    try:
        if not entry.is_symlink():
            return entry.is_dir(follow_symlinks=False)
        if place.is_linked or not entry.is_dir():
            return False
    except OSError:
        return False
    real = Path(os.path.realpath(entry.path))
    return not Path(os.path.realpath(place.path)).is_relative_to(real) and may_look(real)


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
