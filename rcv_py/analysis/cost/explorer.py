"""Trees of the code's source folders and files, or of its labels, with costs and most expensive lines."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rcv_py.analysis.core.token_columns import sums_by_kind
from rcv_py.analysis.cost.place_text import line_text
from rcv_py.analysis.cost.source_costs import SourceCosts, places, source_costs
from rcv_py.analysis.program.blocks import labels
from rcv_py.base.runs import distinct
from rcv_py.base.text import Message
from rcv_py.base.tree import TreeNode
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace

NO_SOURCE = "<no source>"
LINES = 12  # ranked lines below a file or a label


@dataclass(eq=False)
class CostNode(TreeNode):
    """A node; a code line counts once in each.

    `file` and `line` are the target of a click: a source file, or a row of the code table.
    """

    name: str = ""  # last part of the path; several parts where folders were folded
    tip: str = ""  # the whole path, or the whole text
    cost: int = 0
    by_kind: np.ndarray = field(default_factory=lambda: np.zeros(KIND_COUNT, dtype=np.int64))  # [KIND_COUNT]
    file: int = -1  # index into Trace.sources, -1 for folders and NO_SOURCE
    line: int = -1
    text: str | None = None  # of a line or an instruction, without its number; None of other nodes


def source_tree(
    code: CodeTable, sources: Sequence[SourceFile], cost: np.ndarray, how: SourceCost, lines: int = LINES
) -> CostNode:
    """Return folders, files and, below each file, at most `lines` of its most expensive lines.

    Children are sorted by cost; a folder with a single child is merged with it.
    """
    paths = [_parts(source.path) for source in sources]
    folders = sorted({parts[:depth] for parts in paths for depth in range(len(parts))})
    number = {folder: i for i, folder in enumerate(folders)}
    row, file, _ = places(code, how)
    by_file = _by_kind(code, cost, row, file, len(sources))
    above = [[number[parts[:depth]] for depth in range(len(parts))] for parts in paths]
    chains = [above[i] for i in file.tolist()]
    times = np.array([len(chain) for chain in chains], dtype=np.int64)
    folder = np.array([number for chain in chains for number in chain], dtype=np.int64)
    by_folder = _by_kind(code, cost, np.repeat(row, times), folder, len(folders))
    costs = source_costs(code, cost, how, len(sources)) if lines else None
    nodes = [
        CostNode(
            name=parts[-1] if parts else source.path,
            tip=source.path,
            cost=int(by_file[i].sum()),
            by_kind=by_file[i],
            file=i,
            children=[] if costs is None else _lines(costs, sources, i, lines),
        )
        for i, (parts, source) in enumerate(zip(paths, sources, strict=True))
    ]
    root = _tree(paths, nodes, dict(zip(folders, by_folder, strict=True)))
    unmapped = np.flatnonzero((code.leaf < 0) & ~code.is_label)
    if len(unmapped):
        line = int(unmapped[np.argmax(cost[unmapped])])
        tip = "Instructions whose source is not known."
        root.children.append(_node(code, cost, unmapped, name=NO_SOURCE, tip=tip, line=line))
    return CostNode(cost=int(cost.sum()), by_kind=root.by_kind, children=root.children)


def _lines(costs: SourceCosts, sources: Sequence[SourceFile], file: int, limit: int) -> list[CostNode]:
    """Return the most expensive lines of a file, without lines of no cost."""
    rows = np.arange(len(costs))[costs.lines_of(file)]
    rows = rows[costs.cost[rows] > 0]
    rows = rows[np.argsort(-costs.cost[rows], kind="stable")][:limit]
    columns = (costs.line[rows].tolist(), costs.cost[rows].tolist(), costs.by_kind[rows])
    return [
        CostNode(name=f":{line}  {text}", tip=text, cost=cost, by_kind=kinds, file=file, line=line, text=text)
        for line, cost, kinds in zip(*columns, strict=True)
        for text in (line_text(sources, file, line),)
    ]


def _parts(path: str) -> tuple[str, ...]:
    """Return the parts of a path without `.`; `/` stays before an absolute one."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if path.startswith("/") and parts:
        parts[0] = "/" + parts[0]
    return tuple(parts) or (path,)


def _by_kind(code: CodeTable, cost: np.ndarray, row: np.ndarray, group: np.ndarray, n: int) -> np.ndarray:
    """Return cost by group and kind, int64 [n, KIND_COUNT], each distinct (row, group) once."""
    once = distinct(row, group)[0]
    return sums_by_kind(group[once], code.kind[row[once]], cost[row[once]], n)


def _tree(
    paths: list[tuple[str, ...]], nodes: list[CostNode], costs: dict[tuple[str, ...], np.ndarray]
) -> CostNode:
    inside: dict[tuple[str, ...] | None, list[CostNode]] = {}  # by folder; the root is in None
    for parts, node in zip(paths, nodes, strict=True):
        inside.setdefault(parts[:-1], []).append(node)
    for folder in sorted(costs, key=len, reverse=True):
        children = sorted(inside.get(folder, ()), key=lambda node: (-node.cost, node.tip))
        name, by_kind = folder[-1] if folder else "", costs[folder]
        if len(children) == 1 and children[0].file < 0 and folder:
            (node,) = children
            node.name = f"{name}/{node.name}"
        else:
            tip, cost = "/".join(folder), int(by_kind.sum())
            node = CostNode(name=name, tip=tip, cost=cost, by_kind=by_kind, children=children)
        inside.setdefault(folder[:-1] if folder else None, []).append(node)
    return inside.get(None, [CostNode()])[0]


def matching(root: CostNode, text: str, sources: Sequence[SourceFile]) -> CostNode:
    """Return a tree of the nodes with a text in their name or path, with their ancestors and descendants.

    Case does not matter.  A line is also found by its place, `file.py:186`.
    """
    wanted = text.casefold()

    def fits(node: CostNode) -> bool:
        path = sources[node.file].path if node.file >= 0 else node.tip
        place = f"{path}:{node.line}" if node.line >= 0 else path
        return any(wanted in said.casefold() for said in (node.name, place))

    def kept(node: CostNode) -> CostNode | None:
        if not node.children:
            return replace(node) if fits(node) else None
        below = [found for child in node.children if (found := kept(child)) is not None]
        if not below and wanted not in node.name.casefold():
            return None
        return replace(node, children=below or [replace(child) for child in node.children])

    return kept(root) or replace(root, children=[])


def label_tree(trace: Trace, cost: np.ndarray, lines: int = LINES) -> CostNode:
    """Return labels by cost and, below each, at most `lines` of its most expensive instructions."""
    code = trace.code
    named = labels(code, cost)
    starts, names = [label.row for label in named], [label.name for label in named]
    if not starts or starts[0] > 0:
        starts, names = [0, *starts], ["(before the first label)" if starts else "all instructions", *names]
    stops = [*starts[1:], len(code)]
    blocks = [
        _block(code, cost, name, slice(first, stop), lines)
        for name, first, stop in zip(names, starts, stops, strict=True)
        if cost[first:stop].any() or len(starts) == 1
    ]
    blocks.sort(key=lambda block: -block.cost)
    return _node(code, cost, np.arange(len(code)), children=blocks)


def _block(code: CodeTable, cost: np.ndarray, name: str, part: slice, lines: int) -> CostNode:
    first, stop = part.start, part.stop
    rows = first + np.argsort(-cost[first:stop], kind="stable")[:lines]
    children = [
        _node(code, cost, np.array([row]), name=f"{row}  {code.text[row]}", line=row, text=code.text[row])
        for row in rows.tolist()
        if cost[row]
    ]
    tip = Message("rows {0} to {1}", first, stop - 1)
    return _node(code, cost, np.arange(first, stop), name=name, tip=tip, line=first, children=children)


def _node(code: CodeTable, cost: np.ndarray, rows: np.ndarray, **more: Any) -> CostNode:
    by_kind = sums_by_kind(np.zeros_like(rows), code.kind[rows], cost[rows], 1)[0]
    return CostNode(cost=int(cost[rows].sum()), by_kind=by_kind, **more)
