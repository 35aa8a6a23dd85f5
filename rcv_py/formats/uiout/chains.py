"""Source strings of code lines: `inner:line -> caller:line`, innermost first, as columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rcv_py.base.runs import borders, ranges
from rcv_py.formats.input.limits import CALLS, FOLDERS, PATH_FOLDERS, PATH_LETTERS

_ARROW = " -> "
_MAX_LINE_DIGITS = 9  # digits of a line number that fits into 32 bits


class Chains(NamedTuple):
    """Chains of n code lines: line i owns `first[i]:first[i + 1]` of `file` and `line`.

    `file` holds indices into `paths`.
    """

    first: np.ndarray  # int32 [n + 1]
    file: np.ndarray  # int32
    line: np.ndarray  # int32, 1-based; 0 for compiler-generated code
    paths: tuple[str, ...]
    cut: int = 0  # source texts that were cut

    def taken(self, order: np.ndarray) -> Chains:
        """Return the chains of the code lines `order`, in that order."""
        length = np.diff(self.first)[order]
        rows = ranges(self.first[:-1][order], length)
        first = borders(length).astype(np.int32)
        return self._replace(first=first, file=self.file[rows], line=self.line[rows])


def chains(sources: list[str]) -> Chains:
    """Return the chains of all code lines; equal texts, which are common, are split once."""
    ids: dict[str, int] = {}
    split: dict[str, list[tuple[int, int]]] = {}
    paths = _Paths()
    cut = 0
    for text in sources:
        if text not in split:
            found, before = places(text), paths.cut
            split[text] = [(ids.setdefault(paths.kept(path), len(ids)), line) for path, line in found[:CALLS]]
            cut += len(found) > CALLS or paths.cut > before
    length = np.array([len(split[text]) for text in sources], dtype=np.int32)
    pairs = np.array([pair for text in sources for pair in split[text]], dtype=np.int32).reshape(-1, 2)
    first = borders(length).astype(np.int32)
    return Chains(first, pairs[:, 0].copy(), pairs[:, 1].copy(), tuple(ids), cut)


class _Paths:
    """Paths short enough for folder trees: only the end of longer ones is kept."""

    def __init__(self) -> None:
        self.cut = 0
        self._folders = 0
        self._kept: dict[str, str] = {}

    def kept(self, path: str) -> str:
        """The path, or its end after an ellipsis."""
        if path not in self._kept:
            folders = path.count("/") + path.count("\\")
            fits = folders <= min(PATH_FOLDERS, FOLDERS - self._folders) and len(path) <= PATH_LETTERS
            self._folders += folders if fits else 0
            end = "…/" + path[-PATH_LETTERS:].replace("\\", "/").rpartition("/")[2]
            self._kept[path] = path if fits else end
        self.cut += self._kept[path] != path
        return self._kept[path]


def places(text: str) -> list[tuple[str, int]]:
    """Return (path, line) of each segment of a source string; line 0: unknown."""
    return [place for segment in text.split(_ARROW) if (place := _place(segment.strip()))[0]]


def _place(segment: str) -> tuple[str, int]:
    # The last colon: earlier ones may belong to a Windows drive or to the path itself.
    path, colon, line = segment.rpartition(":")
    if not colon:
        return segment, 0
    if line.isascii() and line.isdigit():
        return path, int(line) if len(line) <= _MAX_LINE_DIGITS else 0
    if line in ("", "?") or line.startswith("-"):
        return path, 0
    return segment, 0
