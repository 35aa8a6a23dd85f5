"""Files that are either whole or not there: written under another name, then renamed."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from rcv_py.base.errors import ExportError

FASTEST = 1  # of gzip's levels: the trace is large, and whoever reads it unpacks it at once


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing; it appears, or replaces an older one, only when everything was written.

    A name that ends in `.gz` is compressed.  On any error, and on Ctrl+C, nothing is left.  Raises
    ExportError with a sentence where the file cannot be written.
    """
    with whole_path(path) as part, _opened(path, part) as stream:
        yield stream


@contextmanager
def whole_path(path: Path) -> Iterator[Path]:
    """Give the name of a file beside `path` that is renamed to it at the end, and removed on any error."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(path)
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise ExportError(
            f"{path} cannot be written: {reason[:1].lower()}{reason[1:]}.",
            hint="Choose another folder, or make room.",
            detail=repr(error),
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


@contextmanager
def _opened(path: Path, part: Path) -> Iterator[BinaryIO]:
    with part.open("wb") as stream:
        if path.suffix != ".gz":
            yield stream
            return
        with gzip.GzipFile("", "wb", FASTEST, stream) as packed:
            yield cast(BinaryIO, packed)
