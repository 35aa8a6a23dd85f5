"""What lies at a path: a capture, a folder that may hold captures, or neither, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.records import dataclass
from rcv_py.formats.input.run_places import may_look
from rcv_py.formats.uiout.folder import is_capture

MAX_DEPTH = 4  # folders below the chosen one in which captures are looked for
MAX_FOLDERS = 20_000  # looked at: a home folder must not keep us busy

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


@dataclass(frozen=True, slots=True)
class Located:
    """What `locate` found out about a path, from one look at it."""

    folder: Path  # the path itself; of a file inside a capture the folder around it
    is_capture: bool = False  # whether the folder is one
    error: TraceError | None = None  # why no capture can be at the path, nor below it

    def captures(self, depth: int = MAX_DEPTH) -> tuple[Path, ...]:
        """Return the capture, or those up to `depth` folders below, sorted; none of them is opened.

        Raises `error`, if there is one.
        """
        if self.error is not None:
            raise self.error
        return (self.folder,) if self.is_capture else tuple(_below(self.folder, depth))

    def capture(self) -> Path:
        """Return the only capture at the path or below it; raise TraceError for none or several."""
        paths = self.captures()
        if len(paths) == 1:
            return paths[0]
        if paths:
            raise NotATrace(
                self.folder, f"it holds {len(paths)} captures; choose one of them, such as {paths[0].name}"
            )
        raise NotATrace(self.folder, _why_nothing(self.folder))


def locate(path: Path) -> Located:
    """Look at a path once, and at nothing below it.  Never raises: what is wrong is told by the result."""
    try:
        is_folder = path.is_dir()
        if not is_folder and not path.exists():
            return Located(path, error=NotATrace(path, "there is no such file or folder"))
    except (OSError, ValueError):
        return Located(path, error=NotATrace(path, "it cannot be looked at"))
    if is_folder:
        return Located(path, is_capture(path))
    if path.suffix.lower() in _OTHER_FILES:
        return Located(path, error=NotATrace(path, _OTHER_FILES[path.suffix.lower()]))
    if is_capture(path.parent):
        return Located(path.parent, is_capture=True)
    return Located(path, error=NotATrace(path, "it is a file outside of any capture folder"))


def _below(folder: Path, depth: int) -> Iterator[Path]:
    """Capture folders below, in order, each once.

    A link to a folder is followed, but no link inside of it, and none to where the search is already: so it
    ends, and it stays where somebody pointed.  A capture that is reached directly goes before a link to it.
    """
    looked = 0
    todo = [_Folder(folder, 1, is_linked=False)]
    found: dict[str, _Folder] = {}
    while todo and looked < MAX_FOLDERS:
        parent = todo.pop()
        for child in _folders(parent):
            looked += 1
            if is_capture(child.path):
                real = os.path.realpath(child.path)
                found[real] = min(found.get(real, child), child, key=lambda one: (one.is_linked, one.path))
            elif parent.level < depth:
                todo.append(child)
    yield from sorted(capture.path for capture in found.values())


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder that is looked into: how far below the first one, and whether a link led here."""

    path: Path
    level: int
    is_linked: bool


def _folders(parent: _Folder) -> list[_Folder]:
    try:
        with os.scandir(parent.path) as entries:
            return [
                _Folder(Path(entry.path), parent.level + 1, parent.is_linked or entry.is_symlink())
                for entry in entries
                if not entry.name.startswith(".") and _is_followed(entry, parent)
            ]
    except OSError:
        return []


def _is_followed(entry: os.DirEntry[str], parent: _Folder) -> bool:
    try:
        if not entry.is_symlink():
            return entry.is_dir(follow_symlinks=False)
        if parent.is_linked or not entry.is_dir():
            return False
    except OSError:
        return False
    real = Path(os.path.realpath(entry.path))
    return not Path(os.path.realpath(parent.path)).is_relative_to(real) and may_look(real)


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
