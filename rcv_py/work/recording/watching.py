"""Watch a folder for new captures; yield each when its files no longer change."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from rcv_py.base.errors import TraceError
from rcv_py.formats.locate import locate

EVERY_S = 1.0
Signature = tuple[int, int, int]  # files, bytes, time of the last change in nanoseconds


def appearing(folder: Path, wait: Callable[[], object]) -> Iterator[Path]:
    """Yield captures that appear below a folder, which need not exist yet; `wait` runs between two scans.

    Captures that exist at the beginning are not new.  A capture in progress is yielded when two consecutive
    scans find it unchanged.
    """
    known = set(_captures(folder))
    growing: dict[Path, Signature] = {}
    while True:
        wait()
        for path in _captures(folder):
            if path in known:
                continue
            signature = _signature(path)
            if growing.get(path) == signature:
                known.add(path)
                del growing[path]
                yield path
            else:
                growing[path] = signature


def newest(folder: Path) -> Path | None:
    """Return the capture below a folder that was written last, None without any."""
    return max(_captures(folder), key=lambda path: _signature(path)[2], default=None)


def _captures(folder: Path) -> tuple[Path, ...]:
    try:
        return locate(folder).captures()
    except TraceError:
        return ()


def _signature(path: Path) -> Signature:
    files = size = last = 0
    try:
        with os.scandir(path if path.is_dir() else path.parent) as entries:
            for entry in entries:
                facts = entry.stat()
                files, size, last = files + 1, size + facts.st_size, max(last, facts.st_mtime_ns)
    except OSError:  # it is in progress, or vanished
        return (-1, 0, 0)
    return files, size, last
