"""Cache decoded captures as files that any process maps, so that opening them again takes no time.

The files are in the user's cache folder and take at most MOST_BYTES and at most half of the free space; the
least recently opened are removed first.  A process locks a file that it uses until the process ends; locked
files stay.  A capture that another attempt may decode better is not kept: its file has a name that is never
looked up, and is removed when its process ends.  The file of a killed process is removed by the next process
that writes to the cache.
"""

import atexit
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import time

from rcv_py.base.errors import ExportError, TraceError
from rcv_py.base.machine.user_folders import cache_folder, is_locked_here
from rcv_py.base.text import Message
from rcv_py.formats.input.files import mark_of
from rcv_py.formats.packed.archive import SUFFIX
from rcv_py.formats.packed.capture import open_packed
from rcv_py.formats.raw.files import RawCapture
from rcv_py.model.trace import Trace

if sys.platform != "win32":
    import fcntl

PLACE = "RCV_DECODED"  # names the folder, where it is set
MAX_BYTES = 16 << 30
UNFINISHED_S = 24 * 3600  # seconds after which an unfinished file is abandoned
FRESH_S = 60  # seconds before a file that is not kept must be locked
FORMAT = 12  # incremented when decoding or assembly changes

_numbers = count()
_in_use: dict[Path, int] = {}  # files that this process has locked, and their descriptors


def places() -> Iterator[Path]:
    """Folders in which decoded captures may be kept, the best first."""
    if os.environ.get(PLACE):
        yield Path(os.environ[PLACE])
        return
    yield cache_folder("decoded")
    yield Path(tempfile.gettempdir()) / f"rcv-decoded-{os.getuid() if hasattr(os, 'getuid') else 'user'}"


def key_of(capture: RawCapture, *decides: object) -> str:
    """Return a key that depends on the files of a capture and on all else that decides its decoding."""
    streams, codes = [one.name for one in capture.streams], [one.name for one in capture.codes]
    names = [*streams, *codes, *sorted(capture.sidecars)]
    marks = [mark_of(capture.folder / name) for name in names]
    text = repr((FORMAT, os.path.realpath(capture.folder), len(streams), names, marks, decides))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def is_cached(key: str) -> bool:
    """Whether the cache holds the capture."""
    return any((place / (key + SUFFIX)).is_file() for place in places())


def cached_capture(key: str) -> Trace | None:
    """Return the capture that is kept under a key; None if there is none or it is damaged."""
    for place in places():
        path = place / (key + SUFFIX)
        if not path.is_file() or not _is_own(place):
            continue
        try:
            _lock(path)
            trace = open_packed(path)
            with suppress(OSError):
                os.utime(path)
            return trace
        except (TraceError, OSError):
            _discard(path)
    return None


def keep(key: str, write: Callable[[Path], bool]) -> Trace:
    """Write a packed capture and open it; keep it under a key if `write` returns True.

    Raises ExportError, whose hint names the variable that chooses another place, if none can be written to.
    """
    refused: ExportError | None = None
    for place in places():
        path = place / (key + SUFFIX)
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_own(place):
                continue
            make_room(place)
            aside = place / f"{key}.{os.getpid()}-{next(_numbers)}{SUFFIX}"
            if write(aside):
                aside.replace(path)
            else:
                path = aside
                atexit.register(_forget, path)
            _lock(path)
            return open_packed(path)
        except OSError as error:
            refused = ExportError(str(error))
        except ExportError as error:
            refused = error
    raise ExportError(
        Message("The decoded capture can be kept nowhere: {0}", refused)
        if refused
        else "There is no folder of one's own.",
        hint=Message("Make room, or name a folder that may be written to in {0}.", PLACE),
    )


def _is_own(place: Path) -> bool:
    """Whether a folder belongs to this user and no other user may write to it."""
    try:
        facts = place.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(facts.st_mode):
        return place.is_dir() and os.environ.get(PLACE) == str(place)
    return not hasattr(os, "getuid") or (facts.st_uid == os.getuid() and not facts.st_mode & 0o022)


def make_room(place: Path, most: int = MAX_BYTES) -> None:
    """Remove unfinished files, and the least recently opened until the rest is small enough."""
    found: list[tuple[float, int, Path]] = []
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                about = entry.stat(follow_symlinks=False)
                if _stays(Path(entry.path), about.st_mtime):
                    found.append((about.st_mtime, about.st_size, Path(entry.path)))
        total = sum(size for _, size, _ in found)
        most = min(most, (shutil.disk_usage(place).free + total) // 2)
    except OSError:
        return
    for _, size, path in sorted(found):
        if total <= most:
            return
        if _removed(path):
            total -= size


def _stays(path: Path, changed: float) -> bool:
    """Whether a file is a kept capture; remove other files that are old.  Raises OSError."""
    is_packed = path.name.endswith(SUFFIX)
    if is_packed and "." in path.name.removesuffix(SUFFIX):  # a capture that is not kept
        if changed < time() - FRESH_S:
            _removed(path)
        return False
    if path.name.endswith(".part") and changed < time() - UNFINISHED_S:
        path.unlink()
    return is_packed


def _forget(path: Path) -> None:
    """Remove a file that is not kept when its process ends; forked children do not."""
    if path.name.split(".")[1].startswith(f"{os.getpid()}-"):
        _discard(path)


def _removed(path: Path) -> bool:
    """Remove a file that no process uses."""
    if path in _in_use:
        return False
    with suppress(OSError):
        if sys.platform == "win32":
            path.unlink()  # fails while a process has it open
            return True
        with path.open("rb") as file:
            if is_locked_here(file):
                path.unlink()
                return True
    return False


def _lock(path: Path) -> None:
    """Lock the file until this process ends, so that it stays."""
    if path in _in_use:
        return
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    if sys.platform != "win32":
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    _in_use[path] = descriptor


def _discard(path: Path) -> None:
    """Remove a file that only this process uses."""
    descriptor = _in_use.pop(path, None)
    if descriptor is not None:
        os.close(descriptor)
    with suppress(OSError):
        path.unlink()
