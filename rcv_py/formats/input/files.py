"""The only place that opens files of a trace; a name found in one of them cannot lead out of the folder.

A capture is untrusted input: its index may name `../../secret`, a link to it, or a device that never ends.
"""

import csv
import errno
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath

import orjson

from rcv_py.base.errors import BrokenFile, ClosedFile, MissingFile, TraceError
from rcv_py.base.problems import Affects, Problems
from rcv_py.base.text import Message, plural

LIMIT = 1 << 30  # bytes; the largest wave file seen is 1.5 MB, a code table stays below 100 MB
BOM = b"\xef\xbb\xbf"

_OUTSIDE = "it lies outside the capture folder"
_PLAIN = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)  # nearly all names; the rest takes 10 times as long
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_UTF16 = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def is_inside(name: str) -> bool:
    """Whether a name, as text alone, stays inside the folder on every operating system."""
    if _PLAIN.fullmatch(name):
        return True
    if not name or "\0" in name or PurePosixPath(name).is_absolute():
        return False
    windows = PureWindowsPath(name)
    return not (windows.drive or windows.root or ".." in windows.parts or not windows.parts)


def read_bytes(folder: Path, name: str, limit: int = LIMIT) -> bytes:
    """Return the content of a file inside the folder, without a byte order mark of UTF-8.

    Raises MissingFile if there is none, and BrokenFile if the name leads out of the folder, is not a plain
    file, cannot be read, or has more than `limit` bytes.
    """
    return _read(folder, name, limit, -1)


def read_start(folder: Path, name: str, size: int) -> bytes:
    """Return at most the first `size` bytes of a file; raises the errors of `read_bytes`."""
    return _read(folder, name, LIMIT, size)


def mark_of(path: Path) -> tuple[int, ...]:
    """Return the size and the times of a file; () if it does not exist."""
    try:
        about = path.stat()
    except OSError:
        return ()
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns


@contextmanager
def system_errors(name: str) -> Iterator[None]:
    """Turn errors of the system in the block into MissingFile or BrokenFile, with the name of the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFile(name) from error
    except PermissionError as error:
        raise ClosedFile(name) from error
    except OSError as error:
        why = Message("it cannot be read ({0})", error.strerror or "the system refused")
        raise BrokenFile(name, why) from error


def csv_rows(
    folder: Path, name: str, notes: list[str], limit: int = LIMIT, size: int = -1
) -> Iterator[list[str]]:
    """Yield the cells of each line of a table, of its first `size` bytes if that is not negative.

    A name that ends in `.gz` is unpacked, up to the same limits.  A damaged end is left out, which becomes a
    sentence of `notes`.  The first step raises the errors of `read_bytes`.
    """
    data = _read(folder, name, limit, size)
    data = _unpacked(data, name, limit, size) if name.lower().endswith(".gz") else data
    text = data.decode("utf-8", "replace").replace("\0", "")
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        yield from reader
    except csv.Error as error:
        notes.append(Message("{0} is damaged after line {1:,}: {2}.", name, reader.line_num, error))


def read_json(folder: Path, name: str, problems: Problems | None = None) -> object:
    """Return the contents of a JSON file; invalid UTF-8 is decoded with `\ufffd` and becomes a Problem.

    Raises the errors of `read_bytes`, and BrokenFile for anything that is not JSON.
    """
    data = read_bytes(folder, name)
    for mark, encoding in _UTF16:
        if data.startswith(mark):
            data = data[len(mark) :].decode(encoding, "replace").encode()
    return parse_json(data, name, problems)


def try_json(folder: Path, name: str, problems: Problems, *affects: Affects) -> object:
    """Return the contents of an optional JSON file; None if it cannot be read, which becomes a Problem."""
    try:
        return read_json(folder, name, problems)
    except TraceError as error:
        problems.warn(name, str(error), error.hint, *affects)
        return None


def parse_json(data: bytes, name: str, problems: Problems | None = None) -> object:
    """Return the contents of the bytes of a JSON file; see `read_json`."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        try:
            data.decode()
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
        else:
            raise _not_json(data, name, error) from error
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise _not_json(text.encode(), name, error) from error
    if problems is not None:
        odd = Message("{0} has characters that are not UTF-8; they are shown as �.", name)
        problems.inform(name, odd, "Names and paths with such characters may not find their file.")
    return value


def _read(folder: Path, name: str, limit: int, size: int) -> bytes:
    if not is_inside(name):
        raise BrokenFile(name or "A file name", _OUTSIDE)
    try:
        handle = _open(folder, name)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingFile(name) from error
    except PermissionError as error:
        raise ClosedFile(name) from error
    except (OSError, ValueError) as error:
        raise BrokenFile(name, _why(error), repr(error)) from error
    try:
        return _content(handle, name, limit, size).removeprefix(BOM)
    except OSError as error:
        raise BrokenFile(name, _why(error), repr(error)) from error
    finally:
        os.close(handle)


def _unpacked(data: bytes, name: str, limit: int, size: int) -> bytes:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        plain = unpacker.decompress(data, limit + 1 if size < 0 else size)
    except zlib.error as error:
        raise BrokenFile(name, "it cannot be unpacked", repr(error)) from error
    if len(plain) > limit:
        raise BrokenFile(name, Message("unpacked, it has more than the {0:,} bytes that are accepted", limit))
    if size < 0 and not unpacker.eof:
        raise BrokenFile(name, "it is cut off")
    return plain.removeprefix(BOM)


def _open(folder: Path, name: str) -> int:
    path = folder / name
    if _NO_FOLLOW and len(PurePosixPath(name).parts) == 1:
        # The usual case costs one system call: the last component is not followed if it is a link.
        try:
            return os.open(path, _FLAGS | _NO_FOLLOW)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.EMLINK):
                raise
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(folder)):
        raise OSError(_OUTSIDE)
    return os.open(real, _FLAGS | _NO_FOLLOW)


def _content(handle: int, name: str, limit: int, size: int) -> bytes:
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        raise BrokenFile(name, "it is not a plain file")
    if about.st_size > limit:
        large = Message("it has {0:,} bytes, more than the {1:,} that are accepted", about.st_size, limit)
        raise BrokenFile(name, large)
    with os.fdopen(handle, "rb", buffering=0, closefd=False) as file:
        return file.read(size)


def _why(error: Exception) -> str:
    if str(error) == _OUTSIDE or getattr(error, "errno", 0) == errno.ELOOP:
        return _OUTSIDE
    if isinstance(error, IsADirectoryError):
        return "it is not a plain file"
    return Message("it cannot be read ({0})", getattr(error, "strerror", None) or "its name is not usable")


def _not_json(data: bytes, name: str, error: orjson.JSONDecodeError) -> BrokenFile:
    if not data.strip():
        return BrokenFile(name, "it is empty", str(error))
    if error.pos >= len(data.decode("utf-8", "replace").rstrip()) or "end of data" in error.msg:
        why = Message("it ends in the middle, after {0}", plural(len(data), "byte"))
    else:
        why = Message("it is not JSON (line {0}, column {1})", error.lineno, error.colno)
    return BrokenFile(name, why, str(error))
