"""Stacks of a flamegraph as columns: what is below what, outermost first, and what each stack costs.

```
code line 7, chain b:4 -> a:5 (innermost first)     stack   file a | a:5 | b:4 | line 7
code line 8, no chain                               stack   <no source> | line 8
```

An element of a stack is one int64: what it is in the top bits, then two numbers that say which one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from rcv_py.analysis.program.blocks import blocks
from rcv_py.model.code import CodeTable

_A, _B = 30, 28  # bits: `second` is below 2^30, `first` below 2^28
_MASK_A, _MASK_B = (1 << _A) - 1, (1 << _B) - 1


class What(IntEnum):
    """What an element of a stack is, with the meaning of its two numbers."""

    NO_SOURCE = 0  # code lines without a source place
    FILE = 1  # first: index into Trace.sources
    LINE = 2  # first: index into Trace.sources, second: 1-based line, 0 for code the compiler made up
    CODE = 3  # second: row of the code table
    KERNEL = 4  # second: row of CodeTable.kernels
    NO_KERNEL = 5  # code lines before the first label
    BLOCK = 6  # second: row of the code table at which the basic block begins
    MARKER = 7  # first: kind of marker, second: place in the list of names
    NO_SCOPE = 8  # what ran outside of every marker


@dataclass(frozen=True, eq=False)
class Stacks:
    """Stack i is `element[first[i]:first[i + 1]]`, outermost first."""

    first: np.ndarray  # int64 [n + 1]
    element: np.ndarray  # int64, see `key`
    own: np.ndarray  # int64 [n, metrics], what the innermost element of the stack costs
    order: np.ndarray  # int64, when the stack is met: its code row, or a time

    def __len__(self) -> int:
        return len(self.order)

    def taken(self, rows: np.ndarray) -> Stacks:
        """Return the stacks at `rows`, in that order."""
        first, at = _ranges(self.first[:-1][rows], np.diff(self.first)[rows])
        return Stacks(first, self.element[at], self.own[rows], self.order[rows])


def key(what: int, first: np.ndarray | int = 0, second: np.ndarray | int = 0) -> np.ndarray:
    """Return elements, int64; the numbers must be in range (2^28 and 2^30)."""
    upper = np.asarray(first, dtype=np.int64) << _A
    return (np.int64(what) << (_A + _B)) | upper | np.asarray(second, dtype=np.int64)


def parts(element: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what each element is (uint8) and its two numbers (int32)."""
    what = (element >> (_A + _B)).astype(np.uint8)
    return what, ((element >> _A) & _MASK_B).astype(np.int32), (element & _MASK_A).astype(np.int32)


def source_stacks(code: CodeTable, own: np.ndarray) -> Stacks:
    """Return a stack a code line that costs anything: file, places from outermost to innermost, the line.

    `own` is int64 [rows, metrics].
    """
    rows = costly(code, own)
    length = np.diff(code.chain_first)[rows].astype(np.int64)
    # The outermost place is the last one of a chain: read backwards, behind the file that holds it.
    chain, at = _ranges(code.chain_first[:-1][rows].astype(np.int64), length)
    backwards = np.repeat(chain[1:] - 1 + code.chain_first[:-1][rows] - chain[:-1], length)
    at = backwards - (np.arange(len(at)) - np.repeat(chain[:-1], length))
    places = key(What.LINE, code.chain_file[at], code.chain_line[at])
    has = length > 0
    outer = code.chain_first[1:][rows] - 1
    root = np.full(len(rows), key(What.NO_SOURCE))
    root[has] = key(What.FILE, code.chain_file[outer[has]])
    return _stacked([root], chain, places, rows, own)


def kernel_stacks(code: CodeTable, own: np.ndarray) -> Stacks:
    """Return a stack a code line that costs anything: its kernel, its basic block, the line."""
    rows = costly(code, own)
    kernel = code.kernel[rows].astype(np.int64)
    root = np.where(kernel < 0, key(What.NO_KERNEL), key(What.KERNEL, 0, np.maximum(kernel, 0)))
    table = blocks(code)
    block = key(What.BLOCK, 0, table.first[table.of_row[rows]])
    nothing = np.zeros(len(rows) + 1, dtype=np.int64)
    return _stacked([root, block], nothing, np.empty(0, dtype=np.int64), rows, own)


def costly(code: CodeTable, own: np.ndarray) -> np.ndarray:
    """Return the code rows that have any cost above zero, labels aside, int64."""
    return np.flatnonzero((own > 0).any(axis=1) & ~code.is_label)


def joined(heads: Stacks, head: np.ndarray, tails: Stacks, tail: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `first` and `element` of stacks made of the head `head[i]` and the tail `tail[i]` on it."""
    long, more = np.diff(heads.first)[head], np.diff(tails.first)[tail]
    first = _firsts(long + more)
    element = np.empty(first[-1], dtype=np.int64)
    _, at = _ranges(first[:-1], long)
    element[at] = heads.element[_ranges(heads.first[:-1][head], long)[1]]
    _, at = _ranges(first[:-1] + long, more)
    element[at] = tails.element[_ranges(tails.first[:-1][tail], more)[1]]
    return first, element


def _stacked(
    heads: list[np.ndarray], chain: np.ndarray, places: np.ndarray, rows: np.ndarray, own: np.ndarray
) -> Stacks:
    """Put heads in front of the places `chain` delimits, and the code row behind them."""
    length = np.diff(chain)
    first = _firsts(length + len(heads) + 1)
    element = np.empty(first[-1], dtype=np.int64)
    for at, head in enumerate(heads):
        element[first[:-1] + at] = head
    element[_ranges(first[:-1] + len(heads), length)[1]] = places
    element[first[1:] - 1] = key(What.CODE, 0, rows)
    return Stacks(first, element, own[rows], rows.astype(np.int64))


def _firsts(length: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(length)]).astype(np.int64)


def _ranges(begin: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where each of the ranges `begin + arange(length)` starts when joined, and the joined ranges."""
    first = _firsts(length)
    return first, np.arange(first[-1]) + np.repeat(begin - first[:-1], length)
