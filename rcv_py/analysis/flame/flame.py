"""Flamegraphs: stacks with common prefixes folded into a tree, stored as columns.

```
stacks            tree (level by level)
a | x | 1   5     0 a  own 0  total 12     2 x  own 0  total 9      4 1  own 5
a | x | 2   4     1 b  own 0  total  2     3 3  own 3               5 2  own 4
a | 3       3                                                       6 9  own 2  (below b)
b | 9       2
```

A frame's total is its own cost plus the totals of its children, in every metric.  Folding is one `np.unique`
a level, so the work is linear in code lines and levels.
"""

from enum import Enum, IntEnum
from functools import cached_property

import numpy as np

from rcv_py.analysis.core.cost_columns import CostColumns
from rcv_py.analysis.program.blocks import blocks
from rcv_py.base.record import Record
from rcv_py.base.runs import borders, distinct, ranges
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import ColumnTable

_A, _B = 30, 28  # bits: `second` is below 2^30, `first` below 2^28
_MASK_A, _MASK_B = (1 << _A) - 1, (1 << _B) - 1


class What(IntEnum):
    """Type of an element of a stack, with the meaning of its two numbers."""

    NO_SOURCE = 0  # code lines without a source place
    FILE = 1  # first: index into Trace.sources
    LINE = 2  # first: index into Trace.sources, second: 1-based line, 0 for compiler-generated code
    CODE = 3  # second: row of the code table
    KERNEL = 4  # second: row of CodeTable.kernels
    NO_KERNEL = 5  # code lines before the first label
    BLOCK = 6  # second: row of the code table at which the basic block begins
    MARKER = 7  # first: kind of marker, second: place in the list of names
    NO_SCOPE = 8  # executions outside all markers


class Stacks(Record):
    """Stack i is `element[first[i]:first[i + 1]]`, outermost first."""

    first: np.ndarray  # int64 [n + 1]
    element: np.ndarray  # int64, see `key`
    own: np.ndarray  # int64 [n, metrics], cost of the innermost element of the stack
    order: np.ndarray  # int64, order of appearance: code row, or a time

    def __len__(self) -> int:
        return len(self.order)


def key(what: np.ndarray | int, first: np.ndarray | int = 0, second: np.ndarray | int = 0) -> np.ndarray:
    """Return elements, int64; the numbers must be in range (2^28 and 2^30)."""
    upper = np.asarray(first, dtype=np.int64) << _A
    return (np.asarray(what, dtype=np.int64) << (_A + _B)) | upper | np.asarray(second, dtype=np.int64)


def parts(element: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the type of each element (uint8) and its two numbers (int32)."""
    what = (element >> (_A + _B)).astype(np.uint8)
    return what, ((element >> _A) & _MASK_B).astype(np.int32), (element & _MASK_A).astype(np.int32)


def source_stacks(code: CodeTable, own: np.ndarray) -> Stacks:
    """Return a stack for each code line with a cost: file, places from outermost to innermost, the line.

    `own` is int64 [rows, metrics].
    """
    rows = costly(code, own)
    outer, length = code.chain_first[1:][rows] - 1, np.diff(code.chain_first)[rows]
    # The outermost place is the last of a chain: chains are reversed and put after their file.
    at = np.repeat(outer, length) - ranges(0, length)
    places = key(What.LINE, code.chain_file[at], code.chain_line[at])
    has = length > 0
    root = np.full(len(rows), key(What.NO_SOURCE))
    root[has] = key(What.FILE, code.chain_file[outer[has]])
    return _stacked([root], length, places, rows, own)


def kernel_stacks(code: CodeTable, own: np.ndarray) -> Stacks:
    """Return a stack for each code line with a cost: its kernel, its basic block, the line."""
    rows = costly(code, own)
    kernel = code.kernel[rows].astype(np.int64)
    root = key(np.where(kernel < 0, What.NO_KERNEL, What.KERNEL), 0, np.maximum(kernel, 0))
    table = blocks(code)
    block = key(What.BLOCK, 0, table.first[table.of_row[rows]])
    return _stacked([root, block], np.zeros_like(rows), np.empty(0, dtype=np.int64), rows, own)


def code_stacks(code: CodeTable, own: np.ndarray) -> Stacks:
    """Return the stacks by source, or by kernel and block where no instruction has a source place."""
    return (source_stacks if len(code.chain_file) else kernel_stacks)(code, own)


def costly(code: CodeTable, own: np.ndarray) -> np.ndarray:
    """Return the code rows with any cost above zero, without labels, int64."""
    return np.flatnonzero((own > 0).any(axis=1) & ~code.is_label)


def joined(heads: Stacks, head: np.ndarray, tails: Stacks, tail: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `first` and `element` of stacks that consist of head `head[i]` and tail `tail[i]`."""
    long, more = np.diff(heads.first)[head], np.diff(tails.first)[tail]
    first = borders(long + more)
    element = np.empty(first[-1], dtype=np.int64)
    element[ranges(first[:-1], long)] = heads.element[ranges(heads.first[head], long)]
    element[ranges(first[:-1] + long, more)] = tails.element[ranges(tails.first[tail], more)]
    return first, element


def _stacked(
    heads: list[np.ndarray], length: np.ndarray, places: np.ndarray, rows: np.ndarray, own: np.ndarray
) -> Stacks:
    """Put heads before `length` places of each stack, and the code row after them."""
    first = borders(length + len(heads) + 1)
    element = np.empty(first[-1], dtype=np.int64)
    for at, head in enumerate(heads):
        element[first[:-1] + at] = head
    element[ranges(first[:-1] + len(heads), length)] = places
    element[first[1:] - 1] = key(What.CODE, 0, rows)
    return Stacks(first, element, own[rows], rows.astype(np.int64))


class Metric(Enum):
    """The meaning of a frame's width; the value is the column of `FlameTree.own` and `.total`."""

    TOTAL = 0  # cycles of latency, and the idle before it if that counts; or PC samples
    NONHIDDEN = 1  # total without what other waves of the SIMD hid
    STALL = 2  # cycles in which instructions waited to issue
    HITS = 3  # executions


METRICS = len(Metric)


class FlameTree(ColumnTable):
    """One row a frame, level by level: roots first, children of a frame adjacent."""

    element: np.ndarray  # int64, see `key`
    parent: np.ndarray  # int32, -1 for roots; never decreases
    depth: np.ndarray  # int32, 0 for roots
    own: np.ndarray  # int64 [n, METRICS], without the frames below
    total: np.ndarray  # int64 [n, METRICS], with them
    order: np.ndarray  # int64, first code row or time of the frame
    names: tuple[str, ...] = ()  # of markers
    unit: str = "cycles"
    has_hidden: bool = False  # whether NONHIDDEN differs from TOTAL

    # The type of each frame, uint8 (`What`), and its numbers, int32: a file or a kind of marker; and a line,
    # a code row, a kernel or a name.
    what = cached_property(lambda self: parts(self.element)[0])
    first = cached_property(lambda self: parts(self.element)[1])
    second = cached_property(lambda self: parts(self.element)[2])

    @cached_property
    def code_row(self) -> np.ndarray:
        """The code row of each frame that is an instruction, -1 for others; int32."""
        return np.where(self.what == What.CODE, self.second, -1).astype(np.int32)

    @property
    def levels(self) -> int:
        """Depth of the deepest stack."""
        return int(self.depth.max(initial=-1)) + 1

    def whole(self, metric: Metric) -> int:
        """The cost of all roots."""
        return int(self.total[self.depth == 0, metric.value].sum())

    def ancestors(self, frame: int) -> list[int]:
        """Return the frames from the root down to this frame, inclusive."""
        way = []
        while frame >= 0:
            way.append(frame)
            frame = int(self.parent[frame])
        return way[::-1]


def fold(
    stacks: Stacks, names: tuple[str, ...] = (), unit: str = "cycles", has_hidden: bool = False
) -> FlameTree:
    """Return the tree of stacks: at every level, equal elements below the same frame become one frame."""
    length = np.diff(stacks.first)
    node = np.full(len(stacks), -1, dtype=np.int64)  # current frame of each stack
    none = np.empty(0, dtype=np.int64)
    cost = np.empty((0, stacks.own.shape[1]), dtype=np.int64)
    levels = [(none, none, none, cost, cost, none)]
    count = 0
    for level in range(int(length.max(initial=0))):
        alive = np.flatnonzero(length > level)
        element, above, own = stacks.element[stacks.first[alive] + level], node[alive], stacks.own[alive]
        one, group = distinct(above, element)
        total, innermost = np.zeros((2, len(one), own.shape[1]), dtype=np.int64)
        np.add.at(total, group, own)
        ends = length[alive] == level + 1
        np.add.at(innermost, group[ends], own[ends])
        order = np.full(len(one), np.iinfo(np.int64).max)
        np.minimum.at(order, group, stacks.order[alive])
        levels.append((element[one], above[one], np.full(len(one), level), innermost, total, order))
        node[alive] = count + group
        count += len(one)
    element, parent, depth, own, total, order = map(np.concatenate, zip(*levels, strict=True))
    parent, depth = parent.astype(np.int32), depth.astype(np.int32)
    columns = {"own": own, "total": total, "order": order}
    return FlameTree(element, parent, depth, **columns, names=names, unit=unit, has_hidden=has_hidden)


def code_flame(
    code: CodeTable, own: np.ndarray, unit: str = "cycles", has_hidden: bool = False, by_kernel: bool = False
) -> FlameTree:
    """Return the tree of files, source places from the outermost to the innermost, and instructions.

    `own` is the result of `code_costs`.  Instructions without a source place share a root.  Where none has
    one, and with `by_kernel`, it is the tree of kernels, basic blocks and instructions.
    """
    return fold((kernel_stacks if by_kernel else code_stacks)(code, own), (), unit, has_hidden)


def code_costs(costs: CostColumns, show_idle: bool, hidden: np.ndarray | None = None) -> np.ndarray:
    """Return the cost of each code row in every metric, int64 [rows, METRICS].

    `hidden` (int64, one a row) is the part of the total that other waves hid, from the hidden-latency
    analysis; it is clamped to the total.  Without it NONHIDDEN equals TOTAL.
    """
    whole = costs.latency + costs.idle if show_idle else costs.latency
    covered = np.zeros_like(whole) if hidden is None else np.clip(hidden, 0, np.maximum(whole, 0))
    own = np.stack([whole, whole - covered, costs.stall, costs.hits], axis=1)
    return np.maximum(own, 0).astype(np.int64)


def kind_mix(tree: FlameTree, frame: int, kind: np.ndarray, metric: Metric, kinds: int) -> np.ndarray:
    """Return the cost of a frame by kind of instruction, int64 [kinds]; `kind` is one a code row."""
    inside = np.zeros(len(tree), dtype=bool)
    inside[frame] = True
    for level in range(int(tree.depth[frame]) + 1, tree.levels):
        here = slice(*np.searchsorted(tree.depth, [level, level + 1]))
        inside[here] = inside[tree.parent[here]]
    rows = np.flatnonzero(inside & (tree.code_row >= 0))
    weight = tree.own[rows, metric.value]
    of = np.minimum(kind[tree.code_row[rows]], kinds - 1)
    return np.bincount(of, weights=weight, minlength=kinds).astype(np.int64)
