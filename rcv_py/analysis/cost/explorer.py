"""The folders and files that the code came from, with their costs, and the most expensive lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.cost_columns import total
from rcv_py.analysis.cost.source_costs import places, source_costs
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.modes import SourceCost

NO_SOURCE = "<no source>"


@dataclass(frozen=True, eq=False)
class Node:
    """A folder, a file, or the code without source.  A code line counts once in each node."""

    name: str  # last part of the path; several parts where folders were folded
    path: str
    file: int  # index into Trace.sources, -1 for folders and NO_SOURCE
    cost: int
    by_kind: np.ndarray  # int64 [KIND_COUNT]
    children: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class TopLine:
    """A source line in the ranking."""

    file: int  # index into Trace.sources
    line: int  # 1-based
    cost: int
    share: float  # of all code lines, 0 to 1
    text: str  # of the source line, "" if its copy is missing


def explorer(code: CodeTable, sources: Sequence[SourceFile], cost: np.ndarray, how: SourceCost) -> Node:
    """Return the root of the tree; children are sorted by cost, a folder with one child joins with it."""
    paths = [_parts(source.path) for source in sources]
    folders = sorted({parts[:depth] for parts in paths for depth in range(len(parts))})
    number = {folder: i for i, folder in enumerate(folders)}
    row, file, _ = places(code, how)
    by_file = _by_kind(code, cost, row, file, len(sources))
    above = [[number[parts[:depth]] for depth in range(len(parts))] for parts in paths]
    by_folder = _by_folder(code, cost, row, [above[i] for i in file.tolist()], len(folders))
    nodes = [
        Node(parts[-1] if parts else source.path, source.path, i, int(by_file[i].sum()), by_file[i])
        for i, (parts, source) in enumerate(zip(paths, sources, strict=True))
    ]
    root = _tree(paths, nodes, dict(zip(folders, by_folder, strict=True)))
    lost = _no_source(code, cost)
    children = (*root.children, lost) if lost is not None else root.children
    return Node("", "", -1, int(cost.sum()), root.by_kind, children)


def top_lines(
    code: CodeTable,
    sources: Sequence[SourceFile],
    cost: np.ndarray,
    how: SourceCost,
    *,
    file: int | None = None,
    limit: int = 50,
) -> tuple[TopLine, ...]:
    """Return the most expensive source lines of all files, or of one; none of them costs nothing."""
    costs = source_costs(code, cost, how, len(sources))
    rows = np.arange(len(costs)) if file is None else np.arange(len(costs))[costs.lines_of(file)]
    rows = rows[costs.cost[rows] > 0]
    rows = rows[np.argsort(-costs.cost[rows], kind="stable")][:limit]
    whole = max(costs.total, 1)
    return tuple(
        TopLine(place, line, worth, worth / whole, _text(sources, place, line))
        for place, line, worth in zip(
            costs.file[rows].tolist(), costs.line[rows].tolist(), costs.cost[rows].tolist(), strict=True
        )
    )


def _parts(path: str) -> tuple[str, ...]:
    """Return the parts of a path without `.`; `/` stays in front of an absolute one."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if path.startswith("/") and parts:
        parts[0] = "/" + parts[0]
    return tuple(parts) or (path,)


def _by_kind(code: CodeTable, cost: np.ndarray, row: np.ndarray, group: np.ndarray, n: int) -> np.ndarray:
    """Return cost by group and kind, int64 [n, KIND_COUNT], each distinct (row, group) once."""
    pairs = np.unique(row.astype(np.int64) << 32 | group)
    row, group = pairs >> 32, pairs & 0xFFFFFFFF
    kind = np.where(code.kind < KIND_COUNT, code.kind, TokenKind.NONE)[row].astype(np.int64)
    return total(group * KIND_COUNT + kind, cost[row], n * KIND_COUNT).reshape(n, KIND_COUNT)


def _by_folder(
    code: CodeTable, cost: np.ndarray, row: np.ndarray, above: list[list[int]], n: int
) -> np.ndarray:
    """Return cost by folder and kind; `above` lists the folders above the file of each place at `row`."""
    times = np.array([len(chain) for chain in above], dtype=np.int64)
    folder = np.array([number for chain in above for number in chain], dtype=np.int64)
    return _by_kind(code, cost, np.repeat(row, times), folder, n)


def _tree(paths: list[tuple[str, ...]], nodes: list[Node], costs: dict[tuple[str, ...], np.ndarray]) -> Node:
    inside: dict[tuple[str, ...] | None, list[Node]] = {}  # by folder; the root is in None
    for parts, node in zip(paths, nodes, strict=True):
        inside.setdefault(parts[:-1], []).append(node)
    for folder in sorted(costs, key=len, reverse=True):
        children = tuple(sorted(inside.get(folder, ()), key=lambda node: (-node.cost, node.path)))
        inside.setdefault(folder[:-1] if folder else None, []).append(
            _folder(folder, costs[folder], children)
        )
    return inside.get(None, [Node("", "", -1, 0, np.zeros(KIND_COUNT, dtype=np.int64))])[0]


def _folder(folder: tuple[str, ...], by_kind: np.ndarray, children: tuple[Node, ...]) -> Node:
    name = folder[-1] if folder else ""
    if len(children) == 1 and children[0].file < 0 and folder:
        child = children[0]
        return Node(f"{name}/{child.name}", child.path, -1, child.cost, child.by_kind, child.children)
    return Node(name, "/".join(folder), -1, int(by_kind.sum()), by_kind, children)


def _no_source(code: CodeTable, cost: np.ndarray) -> Node | None:
    lost = np.flatnonzero((code.leaf < 0) & ~code.is_label)
    if not len(lost):
        return None
    by_kind = _by_kind(code, cost, lost, np.zeros(len(lost), dtype=np.int64), 1)[0]
    return Node(NO_SOURCE, NO_SOURCE, -1, int(by_kind.sum()), by_kind)


def _text(sources: Sequence[SourceFile], file: int, line: int) -> str:
    lines = sources[file].lines if 0 <= file < len(sources) else None
    return lines[line - 1].strip() if lines is not None and 1 <= line <= len(lines) else ""
