"""Find out what is at a path: a capture, a folder that may hold captures, or neither, and why.

Captures have forms, and each form is opened by one function (`open.py`).  A folder that is a decoded capture
is only that, regardless of its other files; else its `.att` files are raw captures, except dispatches that a
folder next to them holds decoded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rcv_py.base.errors import NotATrace, TraceError
from rcv_py.base.text import Message, some
from rcv_py.formats.input.run_places import DOCUMENT, is_profile, may_look
from rcv_py.formats.listed.recognize import listed_form, listed_in
from rcv_py.formats.raw import STREAM
from rcv_py.formats.raw.options import chosen
from rcv_py.formats.uiout.folder import is_capture

if TYPE_CHECKING:  # decoded folders do not need it
    from rcv_py.formats.raw.files import RawCapture

SESSION = ".rcvsession"  # of a session file, which names a capture: only windows open it
PACKED = ".rcvz"  # of a capture in one file
MAX_DEPTH = 4  # levels below the chosen folder that are searched for captures
MAX_FOLDERS = 20_000  # entries examined: a home folder must not take long
MAX_NAMED = 6  # raw captures that a sentence names


class CaptureForm(Enum):
    """The form of a capture at a path."""

    DECODED = "ui_output folder"
    RAW = "raw .att files"
    PACKED = "one file of `rcv pack`"
    COMPILED = "a kernel of a file that a compiler made"
    LISTED = "PC samples, or a table of costs"


NO_TRACE = "it holds no thread trace; `rcv info` shows its kernels, launches and counters"
# Files next to a decoded trace and what they are, for a user who chose one of them.
_OTHER_FILES = {
    **dict.fromkeys(
        (".zip", ".gz", ".tar", ".tgz", ".xz", ".zst", ".7z"), "it is an archive; unpack it first"
    ),
    ".out": "it holds no code object; choose the folder around it, or an .att file",
    ".o": "it holds no code object; -fgpu-rdc leaves LLVM bitcode, so link it first",
    ".csv": "it is a table that lies beside captures; choose the ui_output folder",
}


class Located(NamedTuple):
    """The result of `locate` for a path, from one scan of it."""

    folder: Path  # the path, also of a packed capture; for a file inside a capture the capture's
    is_capture: bool = False  # whether the folder is one
    error: TraceError | None = None  # the reason why no capture can be at or below the path

    def captures(self, depth: int = MAX_DEPTH, closed: list[Path] | None = None) -> tuple[Path, ...]:
        """Return the capture, or the captures up to `depth` folders below, sorted and unopened.

        `closed` gets the folders below that may not be read.  Raises `error`, if there is one.
        """
        if self.error is not None:
            raise self.error
        if self.is_capture:
            return (self.folder,)
        if not self.folder.is_dir():
            return _compiled(self.folder)
        below = _below(self.folder, depth, [] if closed is None else closed)
        found = (*(raw.path for raw in undecoded(self.folder)), *below)
        if found := found or listed_in(self.folder):
            return found
        from rcv_py.formats.compiled import compiled_below  # noqa: PLC0415 - most folders hold captures

        return compiled_below(self.folder, depth, chosen())

    def capture(self) -> Path:
        """Return the only capture at the path or below it; raise TraceError for none or several."""
        paths = self.captures()
        if len(paths) == 1:
            return paths[0]
        if not paths:
            raise NotATrace(self.folder, _why_nothing(self.folder))
        if shape_of(paths[0]) is CaptureForm.COMPILED:
            from rcv_py.formats.compiled import kernel_label  # noqa: PLC0415 - as other compiled files

            labels = some(list(dict.fromkeys(map(kernel_label, paths))), MAX_NAMED)
            text = Message("{0} holds {1} kernels, and one is needed.", self.folder, len(paths))
            hint = Message("Choose with --kernel NAME and --target GFX, or name {0}: {1}.", paths[0], labels)
            raise TraceError(text, hint=hint)
        hint = Message("Name one of them: {0}.", some(list(map(str, paths)), MAX_NAMED))
        if raws := [f"{raw.path} ({raw.text})" for raw in undecoded(self.folder)]:
            hint = Message("Name one of them by any of its .att files: {0}.", some(raws, MAX_NAMED))
        text = Message("{0} holds {1} captures, and one is needed.", self.folder, len(paths))
        raise TraceError(text, hint=hint)


def locate(path: Path) -> Located:
    """Scan a path once, but not below it.  Never raises: the result reports errors."""
    try:
        is_folder = path.is_dir()
        if not is_folder and not path.is_file():
            return _of_kernel(path)
    except (OSError, ValueError):
        return Located(path, error=NotATrace(path, "it cannot be looked at"))
    if is_folder:
        return Located(path, is_capture(path) or [raw.path for raw in _raws(path)] == [path])
    return _of_file(path)


def _of_kernel(path: Path) -> Located:
    """A path that is not a file: a kernel, or the kernels of a target, below a file."""
    from rcv_py.formats.compiled import file_of, may_hold_kernels  # noqa: PLC0415 - rarely asked for

    file = file_of(path)
    if file is None or path == file or not may_hold_kernels(file):
        exists = file is None and path.exists()  # a pipe or a device
        text = "it is a file outside of any capture folder" if exists else "there is no such file or folder"
        return Located(path, error=NotATrace(path, text))
    return Located(path, is_capture=path.parent != file)


def _compiled(path: Path) -> tuple[Path, ...]:
    from rcv_py.formats.compiled import chosen_kernels  # noqa: PLC0415 - most captures are folders

    return tuple(one.path for one in chosen_kernels(path, chosen()))


def is_there(path: Path) -> bool:
    """Whether a path exists, or is of a kernel below an existing file."""
    if path.exists():
        return True
    from rcv_py.formats.compiled import file_of  # noqa: PLC0415 - few paths are not files

    return file_of(path) is not None


def _of_file(path: Path) -> Located:
    if is_packed(path):
        return Located(path, is_capture=True)
    if path.name.endswith(STREAM):
        from rcv_py.formats.raw.files import raw_capture  # noqa: PLC0415 - of raw files alone

        raw = raw_capture(path)
        error = None if raw else NotATrace(path, "it is not a plain file")
        return Located(raw.path if raw else path, raw is not None, error)
    if (compiled := _of_compiled(path)) is not None:
        return compiled
    if path.suffix.lower() in _OTHER_FILES:
        is_listed = listed_form(path) is not None
        error = None if is_listed else NotATrace(path, _OTHER_FILES[path.suffix.lower()])
        return Located(path, is_listed, error)
    if is_capture(path.parent):
        return Located(path.parent, is_capture=True)
    return _of_profile(path)


def _of_compiled(path: Path) -> Located | None:
    """A file with code objects, or its only kernel; None for other files."""
    from rcv_py.formats.compiled import may_hold_kernels  # noqa: PLC0415 - most captures are folders

    if not may_hold_kernels(path):
        return None
    try:
        found = _compiled(path)
    except TraceError as error:
        return Located(path, error=error)
    return Located(found[0], is_capture=True) if len(found) == 1 else Located(path)


def _of_profile(path: Path) -> Located:
    if not is_profile(path):
        return Located(path, error=NotATrace(path, "it is a file outside of any capture folder"))
    from rcv_py.formats.profile_traces import captures_of  # noqa: PLC0415 - it loads SQLite

    try:
        found = captures_of(path)
    except (TraceError, OSError) as error:
        return Located(path, error=error if isinstance(error, TraceError) else NotATrace(path, NO_TRACE))
    if len(found) > 1:
        return Located(found[0].parent)
    if found or listed_form(path) is not None:
        return Located(found[0] if found else path, is_capture=True)
    from rcv_py.formats.rocpd.database import check_database  # noqa: PLC0415 - it loads SQLite

    try:
        if not DOCUMENT.fullmatch(path.name):
            check_database(path)
    except TraceError as error:
        return Located(path, error=error)
    return Located(path, error=NotATrace(path, NO_TRACE))


def is_packed(path: Path) -> bool:
    """Whether a file is a capture that `rcv pack` wrote, also under another archive's ending.

    Services that share files often accept only common archive names.
    """
    if path.suffix.lower() == PACKED:
        return path.is_file()
    if path.suffix.lower() != ".zip" or not path.is_file():
        return False
    from rcv_py.formats.packed.capture import is_packed_archive  # noqa: PLC0415 - rarely present

    return is_packed_archive(path)


def shape_of(path: Path) -> CaptureForm:
    """Return the form of the capture that `locate` found at a path."""
    if path.name.endswith(STREAM) and not path.is_dir():
        return CaptureForm.RAW
    if is_packed(path):
        return CaptureForm.PACKED
    if is_capture(path):
        return CaptureForm.DECODED
    if path.is_file():
        return CaptureForm.LISTED
    if not path.is_dir():
        return CaptureForm.COMPILED
    return CaptureForm.RAW if _raws(path) else CaptureForm.DECODED


def undecoded(folder: Path) -> tuple[RawCapture, ...]:
    """Return the raw captures of a folder that no folder next to their files holds decoded."""
    return () if is_capture(folder) else tuple(raw for raw in _raws(folder) if not raw.is_decoded)


def _raws(folder: Path) -> tuple[RawCapture, ...]:
    with suppress(OSError), os.scandir(folder) as entries:
        if any(entry.name.endswith(STREAM) for entry in entries):
            from rcv_py.formats.raw.files import raw_captures  # noqa: PLC0415 - few folders have any

            return raw_captures(folder)
    return ()


def _below(folder: Path, depth: int, closed: list[Path]) -> Iterator[Path]:
    """Capture folders and packed captures below, in order, each once.

    A link to a folder is followed, but no link inside it, and no link to a folder that is already searched:
    so the search ends and stays where the user pointed.  A directly reached capture precedes a link to it.
    """
    looked = 0
    todo = [_Folder(folder, 1, is_linked=False)]
    found: dict[str, _Folder] = {}
    raws: list[Path] = []
    while todo and looked < MAX_FOLDERS:
        parent = todo.pop()
        for child in _folders(parent, closed):
            looked += 1
            if child.is_packed or is_capture(child.path):
                real = os.path.realpath(child.path)
                found[real] = min(found.get(real, child), child, key=lambda one: (one.is_linked, one.path))
                continue
            raws += [raw.path for raw in undecoded(child.path)]
            if parent.level < depth:
                todo.append(child)
    yield from sorted((*(capture.path for capture in found.values()), *dict.fromkeys(raws)))


class _Folder(NamedTuple):
    """A searched folder or a packed capture, with its depth and whether a link led to it."""

    path: Path
    level: int
    is_linked: bool  # whether a link led here
    is_packed: bool = False


def _folders(parent: _Folder, closed: list[Path]) -> list[_Folder]:
    try:
        with os.scandir(parent.path) as entries:
            return [
                _Folder(Path(entry.path), parent.level + 1, parent.is_linked or entry.is_symlink(), is_packed)
                for entry in entries
                if not entry.name.startswith(".")
                if (is_packed := entry.name.lower().endswith(PACKED) and entry.is_file(follow_symlinks=False))
                or _is_followed(entry, parent)
            ]
    except PermissionError:
        closed.append(parent.path)
    except OSError:  # it vanished
        pass
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
            Message("{0} may not be read.", folder),
            hint="Ask its owner for access, or choose another folder.",
        ) from error
    if not names:
        return "it is empty"
    profile = _profile_in(folder)
    beside = "" if profile is None else Message("; {0} in it can be opened by itself", profile)
    return Message("neither it nor a folder below it has a filenames.json or .att files{0}", beside)


def _profile_in(folder: Path) -> Path | None:
    """Relative path of a database or document of rocprofv3 in a folder or its subfolders; or None."""
    children = list(islice(folder.glob("*"), MAX_FOLDERS))
    folders = (child for child in children if child.is_dir() and not child.is_symlink())
    deeper = (path for child in folders for path in child.glob("*"))
    near = islice(chain(children, deeper), MAX_FOLDERS)
    return next((path.relative_to(folder) for path in near if is_profile(path)), None)
