"""Causes of stalled and idle cycles as a tree: cause, late instruction, instruction to blame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import place_text
from rcv_py.base.text import percent, visible
from rcv_py.model.trace import Trace
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.table.table_model import grouped

NAME, BAR, STALL, SHARE, IDLE, TIMES, SOURCE = range(7)
TITLES = ("cause", "cycles", "stall", "%", "idle", "times", "  source")
TIPS = (
    "A cause; below it the instructions that were late, and below each what made it late.",
    "Stalled cycles in the colour of the cause, idle cycles in grey.",
    "Stalled cycles, summed over waves.",
    "Share of all stalled cycles.",
    "Idle cycles in front of instructions, summed over waves.",
    "How many executions had it.",
    "Innermost place in the source.",
)
NUMBERS = (STALL, SHARE, IDLE, TIMES)
MOST_LINES = 200  # of a cause; the rest is summed up in one row
NO_PRODUCER = "no known instruction to blame"

Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(eq=False)
class CauseNode:
    """A cause (depth 1), an instruction that was late (2) or one to blame (3); the root has depth 0."""

    cause: int
    line: int  # code row that a click selects, -1: none
    stall: int
    idle: int
    times: int
    depth: int
    more: int = 0  # how many instructions a row sums up
    is_guess: bool = False  # depth 3: one of several instructions that fit
    children: list[CauseNode] = field(default_factory=list)
    parent: CauseNode | None = field(default=None, repr=False)
    row: int = 0

    @property
    def cycles(self) -> int:
        """Stalled and idle cycles."""
        return self.stall + self.idle


def cause_nodes(table: Attribution, line: int | None = None) -> CauseNode:
    """Return the root of the tree, of all rows or of those where a code row is late or to blame."""
    part = table if line is None else table.where((table.line == line) | (table.producer == line))
    root = _node(part, -1, -1, 0)
    whole = part.by_cause()
    for cause in whole.cause.tolist():
        one = part.where(part.cause == cause)
        node = _node(one, cause, -1, 1)
        node.children = list(_lines(one, cause))
        root.children.append(node)
    _number(root)
    return root


def _lines(part: Attribution, cause: int) -> Iterator[CauseNode]:
    """The late instructions of a cause, most cycles first."""
    order = np.argsort(part.line, kind="stable")  # rows of a line stay in order of cycles
    line = part.line[order]
    borders = np.append(np.flatnonzero(np.append(True, line[1:] != line[:-1])), len(line))
    cycles = np.add.reduceat(part.cycles[order], borders[:-1]) if len(line) else np.zeros(0)
    ranked = np.argsort(-cycles, kind="stable").tolist()
    for at in ranked[:MOST_LINES]:
        own = part.where(order[borders[at] : borders[at + 1]])
        node = _node(own, cause, int(own.line[0]), 2)
        node.children = [
            _node(own.where(np.array([row])), cause, int(own.producer[row]), 3)
            for row in range(min(len(own), MOST_LINES))
            if own.producer[row] >= 0
        ]
        yield node
    if len(ranked) > MOST_LINES:
        rest = np.concatenate([order[borders[at] : borders[at + 1]] for at in ranked[MOST_LINES:]])
        node = _node(part.where(rest), cause, -1, 2)
        node.more = len(ranked) - MOST_LINES
        yield node


def _node(part: Attribution, cause: int, line: int, depth: int) -> CauseNode:
    sums = (int(part.stall.sum()), int(part.idle.sum()), int(part.count.sum()))
    return CauseNode(cause, line, *sums, depth, is_guess=depth == 3 and bool(part.is_guess.all()))


def _number(node: CauseNode) -> None:
    for row, child in enumerate(node.children):
        child.parent, child.row = node, row
        _number(child)


class CauseModel(QAbstractItemModel):
    """The tree for a view; sorting orders every level."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.root = CauseNode(-1, -1, 0, 0, 0, 0)
        self.trace: Trace | None = None
        self.whole = 0  # cycles of stall that shares are taken of
        self.sorting = (BAR, Qt.SortOrder.DescendingOrder)

    def show(self, trace: Trace | None, root: CauseNode, whole: int) -> None:
        """Show another tree, in the present order."""
        self.beginResetModel()
        self.trace, self.root, self.whole = trace, root, whole
        self._order(self.root)
        self.endResetModel()

    def node(self, index: Index) -> CauseNode:
        """The node of an index; the root for an invalid one."""
        return index.internalPointer() if index.isValid() else self.root

    def index_of(self, node: CauseNode) -> QModelIndex:
        """The index of a node."""
        return QModelIndex() if node is self.root else self.createIndex(node.row, 0, node)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """What Qt asks for."""
        children = self.node(parent).children
        inside = 0 <= row < len(children) and 0 <= column < len(TITLES) and parent.column() <= 0
        return self.createIndex(row, column, children[row]) if inside else QModelIndex()

    def parent(self, index: Index = None) -> Any:
        """The index above one."""
        if index is None:
            return super().parent()
        above = self.node(index).parent if index.isValid() else None
        return QModelIndex() if above is None else self.index_of(above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """How many children a node has."""
        return 0 if parent.column() > 0 else len(self.node(parent).children)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """One a title."""
        return len(TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles, what they mean, and on which side they are."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(TITLES):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            room = "    " if section in NUMBERS and section == self.sorting[0] else ""  # for the arrow
            return TITLES[section] + room
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in NUMBERS else _LEFT
        if role == Qt.ItemDataRole.InitialSortOrderRole:
            is_text = section in (NAME, SOURCE)
            return Qt.SortOrder.AscendingOrder if is_text else Qt.SortOrder.DescendingOrder
        return tooltip(TIPS[section]) if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell says."""
        if not index.isValid() or self.trace is None:
            return None
        node, column = self.node(index), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return visible(self.text(node, column))
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(self.tip(node))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.text(node, NAME)}, {grouped(node.stall)} stalled, {grouped(node.idle)} idle cycles"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in NUMBERS else _LEFT
        return None

    def text(self, node: CauseNode, column: int) -> str:
        """The text of a cell."""
        if column == NAME:
            return self.name(node)
        if column == SHARE:
            return percent(node.stall, self.whole).removesuffix(" %") if node.stall else ""
        if column == SOURCE:
            return self._place(node)
        value = {STALL: node.stall, IDLE: node.idle, TIMES: node.times}.get(column, 0)
        return grouped(value) if value else ""

    def name(self, node: CauseNode) -> str:
        """What a row is about."""
        assert self.trace is not None
        if node.depth == 1:
            return CAUSE_TEXT[Cause(node.cause)].name
        if node.more:
            return f"{node.more:,} more instructions"
        if node.line < 0:
            return "no instruction of the program"
        arrow = "" if node.depth < 3 else "← perhaps " if node.is_guess else "← "
        return f"{arrow}{node.line}  {self.trace.code.text[node.line]}"

    def tip(self, node: CauseNode) -> str:
        """The cause in a sentence, what it rests on, and the exact numbers."""
        text = CAUSE_TEXT[Cause(node.cause)]
        numbers = (
            f"{grouped(node.stall)} stalled and {grouped(node.idle)} idle cycles, {grouped(node.times)} times"
        )
        because = f"Stalled because {text.sentence}."
        rests = f"Evidence: {text.evidence}." if node.cause else "Evidence: none, so no cause is claimed."
        sure = "" if text.is_certain or not node.cause else "Likely, not proven."
        places = [self._place(node, full=True).strip()]
        return "\n".join(line for line in (self.name(node), numbers, because, rests, sure, *places) if line)

    def _place(self, node: CauseNode, *, full: bool = False) -> str:
        if self.trace is None or node.line < 0:
            return ""
        chain = self.trace.code.chain(node.line)
        return f"  {place_text(self.trace.sources, *chain[0], full=full)}" if chain else ""

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order every level by a column."""
        self.sorting = (column if 0 <= column < len(TITLES) else BAR, order)
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        kept = [(self.node(index), index.column()) for index in old]
        self._order(self.root)
        new = [self.createIndex(node.row, column, node) for node, column in kept]
        self.changePersistentIndexList(old, new)
        self.layoutChanged.emit()

    def _order(self, node: CauseNode) -> None:
        column, order = self.sorting
        keys = {
            NAME: lambda one: one.cause if one.depth == 1 else one.line,
            STALL: lambda one: one.stall,
            SHARE: lambda one: one.stall,
            IDLE: lambda one: one.idle,
            TIMES: lambda one: one.times,
            SOURCE: self._place,
        }
        key = keys.get(column, lambda one: one.cycles)
        node.children.sort(key=key, reverse=order == Qt.SortOrder.DescendingOrder)
        node.children.sort(key=lambda one: one.more > 0)
        for row, child in enumerate(node.children):
            child.row = row
            self._order(child)
