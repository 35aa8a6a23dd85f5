"""The trees that the explorer shows: source folders and files, or kernels and labels without them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rcv_py.analysis.cost.explorer import NO_SOURCE, Node, explorer, top_lines
from rcv_py.analysis.program.labels import labels
from rcv_py.base.tree import TreeNode
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace

LINES = 12  # ranked lines below a file or a label


@dataclass(eq=False)
class Place(TreeNode):
    """A node.  `file` and `line` say what a click opens: a source file, or a row of the code table."""

    name: str = ""
    tip: str = ""
    cost: int = 0
    by_kind: np.ndarray = field(default_factory=lambda: np.zeros(KIND_COUNT, dtype=np.int64))  # [KIND_COUNT]
    file: int = -1
    line: int = -1


def source_tree(trace: Trace, cost: np.ndarray, how: SourceCost) -> Place:
    """Return folders, files and, below each file, its most expensive lines."""
    return _place(trace, cost, how, explorer(trace.code, trace.sources, cost, how))


def label_tree(trace: Trace, cost: np.ndarray) -> Place:
    """Return labels by cost and, below each, its most expensive instructions."""
    code = trace.code
    starts = [label.row for label in labels(code, cost)]
    names = [label.name for label in labels(code, cost)]
    if not starts or starts[0] > 0:
        starts, names = [0, *starts], ["(before the first label)" if starts else "all instructions", *names]
    stops = [*starts[1:], len(code)]
    blocks = [
        _block(trace, cost, name, first, stop)
        for name, first, stop in zip(names, starts, stops, strict=True)
        if cost[first:stop].any() or len(starts) == 1
    ]
    blocks.sort(key=lambda block: -block.cost)
    by_kind = _by_kind(trace, cost, np.arange(len(code)))
    return Place(cost=int(cost.sum()), by_kind=by_kind, children=blocks)


def _place(trace: Trace, cost: np.ndarray, how: SourceCost, node: Node) -> Place:
    if node.file >= 0:
        children = _lines(trace, cost, how, node.file)
    else:
        children = [_place(trace, cost, how, child) for child in node.children]
    no_source = node.name == NO_SOURCE
    return Place(
        name=node.name,
        tip="Instructions whose source is not known." if no_source else node.path,
        cost=node.cost,
        by_kind=node.by_kind,
        file=node.file,
        line=_hottest_unmapped(trace, cost) if no_source else -1,
        children=children,
    )


def _hottest_unmapped(trace: Trace, cost: np.ndarray) -> int:
    rows = np.flatnonzero((trace.code.leaf < 0) & ~trace.code.is_label)
    return int(rows[np.argmax(cost[rows])]) if len(rows) else -1


def _lines(trace: Trace, cost: np.ndarray, how: SourceCost, file: int) -> list[Place]:
    return [
        Place(name=f":{top.line}  {top.text}", tip=top.text, cost=top.cost, file=file, line=top.line)
        for top in top_lines(trace.code, trace.sources, cost, how, file=file, limit=LINES)
    ]


def _block(trace: Trace, cost: np.ndarray, name: str, first: int, stop: int) -> Place:
    rows = first + np.argsort(-cost[first:stop], kind="stable")[:LINES]
    children = [
        Place(
            name=f"{row}  {trace.code.text[row]}",
            cost=int(cost[row]),
            by_kind=_by_kind(trace, cost, rows[i : i + 1]),
            line=row,
        )
        for i, row in enumerate(rows.tolist())
        if cost[row]
    ]
    return Place(
        name=name,
        tip=f"rows {first} to {stop - 1}",
        cost=int(cost[first:stop].sum()),
        by_kind=_by_kind(trace, cost, np.arange(first, stop)),
        line=first,
        children=children,
    )


def _by_kind(trace: Trace, cost: np.ndarray, rows: np.ndarray) -> np.ndarray:
    kind = np.minimum(trace.code.kind[rows], KIND_COUNT - 1)
    return np.bincount(kind, weights=cost[rows], minlength=KIND_COUNT).astype(np.int64)
