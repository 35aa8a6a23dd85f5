"""Source strings of code rows: `path:line`, or a chain of inlined places, innermost first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rcv_py.formats.columns import frozen

ARROW = " -> "
_MAX_LINE = (1 << 31) - 1


def split_place(text: str) -> tuple[str, int] | None:
    """Return (path, line) of one place, split at the last colon; None if there is no line behind it.

    `path:?` has line 0, as has a line the compiler made up.  `C:` alone is a drive, not a place.
    """
    path, colon, number = text.strip().rpartition(":")
    if not colon or not path:
        return None
    if number.isascii() and number.isdigit():
        return path, min(int(number), _MAX_LINE)
    return (path, 0) if number == "?" else None


def read_chains(sources: Iterable[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return chain_first, chain_file, chain_line of CodeTable (int32), and the paths by file number."""
    files: dict[str, int] = {}
    known: dict[str, list[tuple[int, int]]] = {"": []}
    first, file, line = [0], [], []
    for source in sources:
        if source not in known:
            places = [split_place(part) for part in source.split(ARROW)]
            known[source] = [(files.setdefault(place[0], len(files)), place[1]) for place in places if place]
        for number, at in known[source]:
            file.append(number)
            line.append(at)
        first.append(len(file))
    columns = (frozen(np.array(column, dtype=np.int32)) for column in (first, file, line))
    return (*columns, tuple(files))
