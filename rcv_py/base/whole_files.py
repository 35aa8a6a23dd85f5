"""Write files atomically: under another name, then renamed."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EISDIR, ENOTDIR
from pathlib import Path
from stat import S_IMODE
from typing import BinaryIO, cast

from rcv_py.base.errors import ExportError, UsageError
from rcv_py.base.text import Message, uncapitalized

FASTEST = 1  # of gzip's levels: the trace is large, and its reader unpacks it at once


@contextmanager
def whole_file(path: Path, makes_folders: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing; it appears, or replaces an older file, only when everything was written.

    A name that ends in `.gz` is compressed.  On any error, and on Ctrl+C, nothing is left.  Raises
    ExportError with a sentence if the file cannot be written.
    """
    with whole_path(path, makes_folders) as part, part.open("wb") as stream:
        if path.suffix != ".gz":
            yield stream
            return
        with gzip.GzipFile("", "wb", FASTEST, stream) as packed:
            yield cast(BinaryIO, packed)


@contextmanager
def whole_path(path: Path, makes_folders: bool = True) -> Iterator[Path]:
    """Give the name of a file next to `path` that is renamed to it at the end, and removed on any error.

    Other than plain files, such as `/dev/stdout` or a pipe, are written in place: replacing them would break
    other programs.  A link stays a link, and its target is replaced.
    """
    try:
        target = path.resolve() if path.is_symlink() else path
        if target.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
        if target.exists() and not target.is_file():
            yield target
            return
        with _beside(target, makes_folders) as part:
            yield part
            if target.exists():
                part.chmod(S_IMODE(target.stat().st_mode))
            part.replace(target)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from error


def check_new(folder: Path, hint: str) -> None:
    """Raise UsageError for a folder that holds anything: no file of the user may be lost."""
    try:
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(Message("{0} is there already.", folder), hint=hint)
    except (OSError, ValueError) as error:
        raise unwritable(folder, error) from error


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give the name of a folder next to `path` that is renamed to it at the end, and removed on any error.

    `path` must not exist or be an empty folder.  Raises ExportError otherwise or if it cannot be written.
    """
    try:
        with _beside(path, True) as part:
            part.mkdir()
            yield part
            if path.exists():
                path.rmdir()
            part.replace(path)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from error


@contextmanager
def _beside(target: Path, makes_folders: bool) -> Iterator[Path]:
    """A name in the same folder, which is created if needed; on any error neither stays."""
    made = _made_folders(target.parent) if makes_folders else []
    part = target.with_name(f".rcv-{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        yield part
        made = []
    finally:
        with suppress(OSError):
            if part.is_dir():
                import shutil  # noqa: PLC0415 - after an error only

                shutil.rmtree(part)
            part.unlink(missing_ok=True)
            for folder in made:
                folder.rmdir()


def unwritable(path: Path, error: Exception) -> ExportError:
    """Return the sentence for a file that the system refuses."""
    reason = getattr(error, "strerror", None) or "the system refused"
    return ExportError(
        Message("{0} cannot be written: {1}.", path, uncapitalized(reason)),
        hint="Choose another folder, or make room.",
        detail=repr(error),
    )


def _made_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it; return the new ones, the deepest first."""
    new = []
    while not folder.exists() and folder != folder.parent:
        new.append(folder)
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(folder))
    for one in reversed(new):
        one.mkdir(exist_ok=True)
    return new
