"""The program of a code.json: source strings of its rows as columns, and its kernels in their order.

A source string is `inner:line -> caller:line`, innermost first.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rcv_py.base.runs import ascending, borders, ranges, run_starts, starts_run
from rcv_py.base.text import demangled, elide_right
from rcv_py.formats.input.limits import CALLS, FOLDERS, NAME_LETTERS, PATH_FOLDERS, PATH_LETTERS
from rcv_py.model.code import Kernel

_ARROW = " -> "
_MAX_LINE_DIGITS = 9  # digits of a line number that fits into 32 bits
Place = tuple[int, int]  # code object, address
Entry = tuple[str, str]  # a kernel in the file's own list: symbol, display name


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


class ProgramOrder(NamedTuple):
    """Rows of the code table in program order."""

    order: np.ndarray  # int64 [n], row of the file at each row of the table
    kernel: np.ndarray  # int32 [n], row of `kernels`, in table order; -1 if it has none
    kernels: tuple[Kernel, ...]


def layout(
    text: list[str],
    source: list[str],
    *,
    codeobj: np.ndarray,
    address: np.ndarray,
    is_label: np.ndarray,
    entries: Mapping[Place, Entry],
    version: str,
) -> ProgramOrder:
    """Divide the rows into kernels: a row belongs to the last kernel that begins at or before its address.

    The file's order is kept unless a kernel's rows are scattered in it; then each kernel's rows are
    brought together, by address.
    """
    places = list(zip(codeobj.tolist(), address.tolist(), strict=True))
    begins = _begins(text, places, is_label, entries)
    owner = _owners(codeobj, address, begins, is_label)
    order = _order(owner, address, begins, is_label)
    arranged = owner[order]
    kernels: list[Kernel] = []
    kernel = np.full(len(order), -1, dtype=np.int32)
    for head, stop in pairwise([*run_starts(arranged).tolist(), len(order)]):
        row = int(arranged[head])
        if row < 0:
            continue
        kernel[head:stop] = len(kernels)
        name, nice = entries.get(places[row]) or (symbol(text[row], version), "")
        if not nice and text[row].startswith(";"):
            nice = elide_right(source[row], NAME_LETTERS)
        kernels.append(Kernel(name, nice or demangled(name), head, stop))
    return ProgramOrder(order, kernel, tuple(kernels))


def _begins(
    text: list[str], places: list[Place], is_label: np.ndarray, entries: Mapping[Place, Entry]
) -> np.ndarray:
    """Rows with which a kernel begins: its label, or an entry point that has no label row."""
    # A label inside a kernel begins none.
    is_own = np.array([not name.lstrip("; _").startswith("label") for name in text], dtype=bool)
    begins = is_label & is_own
    bare = set(entries) - {place for place, begin in zip(places, begins.tolist(), strict=True) if begin}
    if bare:
        begins |= np.array([place in bare for place in places], dtype=bool) & ~is_label
    return begins


def _owners(codeobj: np.ndarray, address: np.ndarray, begins: np.ndarray, is_label: np.ndarray) -> np.ndarray:
    """The first row of each row's kernel, -1 if there is none; int64 [n], all in file order."""
    count = len(codeobj)
    order = np.arange(count)
    rows = np.flatnonzero(~is_label)
    by_address = rows[np.lexsort((address[rows], codeobj[rows]))]
    if starts_run(address[by_address], codeobj[by_address]).all():  # they are unique
        order = np.lexsort((order, ~is_label, ~begins, address, codeobj))
    last = np.maximum.accumulate(np.where(begins[order], np.arange(count), -1)) if count else order
    owner = np.where(last >= 0, order[last], -1)
    owner[(owner >= 0) & (codeobj[owner] != codeobj[order])] = -1
    result = np.empty(count, dtype=np.int64)
    result[order] = owner
    return result


def _order(owner: np.ndarray, address: np.ndarray, begins: np.ndarray, is_label: np.ndarray) -> np.ndarray:
    count = len(owner)
    rows = np.arange(count)
    heads = run_starts(owner)
    is_together = len(heads) == len(ascending(owner))
    if is_together and all(owner[head] in (-1, head) for head in heads.tolist()):
        return rows
    return np.lexsort((rows, ~is_label, address, ~begins, np.where(owner < 0, count, owner)))


def symbol(text: str, version: str) -> str:
    """Return the name in a label row, as a writer of this version encodes it."""
    name = text.lstrip("; ").rstrip().rstrip(":")
    # This writer puts an underscore before every name.
    if version.startswith("3.1") and name.startswith("_") and not name.startswith("_Z"):
        name = name[1:]
    return name or "unnamed"
