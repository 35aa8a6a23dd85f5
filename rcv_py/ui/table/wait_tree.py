"""A tree of waits, each with the instructions it waited for below it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.waits.wait_summary import WaitSummary
from rcv_py.base.text import percent, visible
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.cost_bars import draw_bar
from rcv_py.ui.table.table_model import grouped

NAME, BAR, STALL, SHARE, TIMES, MEDIAN, P90, SOURCE = range(8)
TITLES = ("instruction", "stall", "cycles", "%", "times", "latency", "p90", "  source")
TIPS = (
    "A wait, and below it what it waited for.",
    "Stall of the wait by the kind of instruction it is charged to; of one of them, its part.",
    "Cycles that the wait stalled; of an instruction, what is charged to it for being the newest required.",
    "Share of the stall of all waits; below a wait, of its stall.",
    "How often the wait ran; how often it required the instruction.",
    "Median of the exact latencies of the instruction, cycles: from its issue until a wait had its result.",
    "90 % of the exact latencies are at most this, cycles.",
    "Innermost place in the source.",
)
NUMBERS = (STALL, SHARE, TIMES, MEDIAN, P90)
ROW_PX = 22

Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(eq=False)
class WaitNode:
    """A wait, or an instruction it waited for; `whole` is what the share is taken of."""

    line: int
    times: int
    stall: int
    whole: int
    exact: int = 0
    median: float = float("nan")
    p90: float = float("nan")
    children: list[WaitNode] = field(default_factory=list)
    parent: WaitNode | None = field(default=None, repr=False)
    row: int = 0

    @property
    def is_wait(self) -> bool:
        """Whether it is a wait and not one of its instructions."""
        return self.parent is not None and self.parent.parent is None


def wait_nodes(summary: WaitSummary) -> WaitNode:
    """Return the root of the tree; takes a few milliseconds, so a thread may do it."""
    table, latency = summary.blocking, summary.latency
    known = {
        line: numbers
        for line, *numbers in zip(
            latency.line.tolist(),
            latency.exact.tolist(),
            latency.median.tolist(),
            latency.p90.tolist(),
            strict=True,
        )
    }
    whole = int(table.stall.sum())
    root = WaitNode(-1, int(table.hits.sum()), whole, whole)
    producers = list(zip(table.producer.tolist(), table.n.tolist(), table.charged.tolist(), strict=True))
    heads = zip(table.line.tolist(), table.hits.tolist(), table.stall.tolist(), strict=True)
    for row, (line, hits, stall) in enumerate(heads):
        node = WaitNode(line, hits, stall, whole)
        node.children = [
            WaitNode(producer, n, charged, stall, *known.get(producer, ()))
            for producer, n, charged in producers[table.producers(row)]
        ]
        root.children.append(node)
    _number(root)
    return root


def only_about(root: WaitNode, line: int) -> WaitNode:
    """Return a tree of the waits at a code row, and of those that waited for it."""
    kept = [
        WaitNode(
            node.line, node.times, node.stall, node.whole, children=[_copy(one) for one in node.children]
        )
        for node in root.children
        if node.line == line or any(child.line == line for child in node.children)
    ]
    tree = WaitNode(-1, root.times, root.stall, root.whole, children=kept)
    _number(tree)
    return tree


def _copy(node: WaitNode) -> WaitNode:
    return WaitNode(node.line, node.times, node.stall, node.whole, node.exact, node.median, node.p90)


def _number(node: WaitNode) -> None:
    for row, child in enumerate(node.children):
        child.parent, child.row = node, row
        _number(child)


class WaitModel(QAbstractItemModel):
    """The tree for a view; sorting orders the waits, and the instructions of each."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.root = WaitNode(-1, 0, 0, 0)
        self.trace: Trace | None = None
        self.sorting = (STALL, Qt.SortOrder.DescendingOrder)

    def show(self, trace: Trace | None, root: WaitNode) -> None:
        """Show another tree, in the present order."""
        self.beginResetModel()
        self.trace, self.root = trace, root
        self._order()
        self.endResetModel()

    def node(self, index: Index) -> WaitNode:
        """The node of an index; the root for an invalid one."""
        return index.internalPointer() if index.isValid() else self.root

    def index_of(self, node: WaitNode) -> QModelIndex:
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
            return Qt.SortOrder.DescendingOrder if section in NUMBERS else Qt.SortOrder.AscendingOrder
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
            return self.spoken(node)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in NUMBERS else _LEFT
        return None

    def text(self, node: WaitNode, column: int) -> str:
        """The text of a cell."""
        assert self.trace is not None
        if column == NAME:
            return f"{node.line}  {self.trace.code.text[node.line]}"
        if column == SHARE:
            return percent(node.stall, node.whole).removesuffix(" %") if node.stall else ""
        if column == SOURCE:
            chain = self.trace.code.chain(node.line)
            return f"  {place_text(self.trace.sources, *chain[0])}" if chain else ""
        if column in (MEDIAN, P90):
            value = node.median if column == MEDIAN else node.p90
            return "" if np.isnan(value) else grouped(int(value))
        value = {STALL: node.stall, TIMES: node.times}.get(column, 0)
        return grouped(value) if value or (column == STALL and node.is_wait) else ""

    def tip(self, node: WaitNode) -> str:
        """The whole instruction, exact numbers, how sure the latency is, and the source in full."""
        assert self.trace is not None
        head = f"{node.line}  {self.trace.code.text[node.line]}"
        chain = self.trace.code.chain(node.line)[:1]
        places = [place_text(self.trace.sources, *place, full=True) for place in chain]
        return "\n".join([head, *(_wait_facts(node) if node.is_wait else _producer_facts(node)), *places])

    def spoken(self, node: WaitNode) -> str:
        """A row for a screen reader."""
        what = "waits" if node.is_wait else "waited for"
        numbers = f"{grouped(node.stall)} cycles of stall, {grouped(node.times)} times"
        return f"{self.text(node, NAME)}, {what}, {numbers}"

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order waits, and the instructions of each, by a column."""
        self.sorting = (column if 0 <= column < len(TITLES) else STALL, order)
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        kept = [(self.node(index), index.column()) for index in old]
        self._order()
        new = [self.createIndex(node.row, column, node) for node, column in kept]
        self.changePersistentIndexList(old, new)
        self.layoutChanged.emit()

    def _order(self) -> None:
        column, order = self.sorting
        key = self._key(column)
        for node in (self.root, *self.root.children):
            node.children.sort(key=lambda child: child.line)
            node.children.sort(key=key, reverse=order == Qt.SortOrder.DescendingOrder)
            for row, child in enumerate(node.children):
                child.row = row

    def _key(self, column: int) -> Callable[[WaitNode], Any]:
        def number(value: float) -> float:
            return -1.0 if np.isnan(value) else value

        keys: dict[int, Callable[[WaitNode], Any]] = {
            NAME: lambda node: node.line,
            TIMES: lambda node: node.times,
            MEDIAN: lambda node: number(node.median),
            P90: lambda node: number(node.p90),
            SOURCE: lambda node: self.text(node, SOURCE),
        }
        return keys.get(column, lambda node: node.stall)


def _wait_facts(node: WaitNode) -> list[str]:
    part = percent(node.stall, node.whole)
    facts = [f"{grouped(node.stall)} cycles of stall, {part} of all waits, in {grouped(node.times)} runs"]
    rest = node.stall - sum(child.stall for child in node.children)
    return [*facts, f"{grouped(rest)} of them with nothing outstanding that is known"] if rest else facts


def _producer_facts(node: WaitNode) -> list[str]:
    part = percent(node.stall, node.whole)
    charged = (
        f"{grouped(node.stall)} cycles, {part} of the wait's stall" if node.stall else "no stall charged"
    )
    facts = [f"required {grouped(node.times)} times; {charged}"]
    if not node.exact:
        return [*facts, "latency: no wait tells it exactly"]
    numbers = f"median {grouped(int(node.median))}, p90 {grouped(int(node.p90))} cycles"
    return [*facts, f"latency: {numbers} of {grouped(node.exact)} exact samples"]


class EndDelegate(QStyledItemDelegate):
    """Keeps the end of a text that is too long: of a place the line number matters most."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Cut on the left."""
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideLeft


class StallDelegate(QStyledItemDelegate):
    """Paints the bar column: stall by kind of the instruction it is charged to."""

    def __init__(self, model: WaitModel, theme: Theme, scale: Callable[[], str]) -> None:
        super().__init__(model)
        self._model, self._theme, self._scale = model, theme, scale

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the background as usual and the bar on it."""
        super().paint(painter, option, index)
        node, root = self._model.node(index), self._model.root
        largest = max((child.stall for child in root.children), default=0)
        box = QRectF(option.rect).adjusted(4, 6, -4, -6)
        draw_bar(painter, box, self.parts(node), largest, self._scale())

    def parts(self, node: WaitNode) -> list[tuple[int, Any]]:
        """Cycles and colours of a bar."""
        code = self._model.trace.code if self._model.trace is not None else None
        by_kind: dict[int, int] = {}
        for one in node.children if node.is_wait else [node]:
            kind = int(code.kind[one.line]) if code is not None else 0
            by_kind[kind] = by_kind.get(kind, 0) + one.stall
        rest = node.stall - sum(by_kind.values())
        parts = [(cycles, self._theme.kind(kind)) for kind, cycles in sorted(by_kind.items())]
        return [*parts, (rest, self._theme.role("stall"))]

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A fixed height for the row."""
        return QSize(60, ROW_PX)


def kinds_of(trace: Trace, root: WaitNode) -> list[TokenKind]:
    """Return the kinds of instruction that stall is charged to, for a legend."""
    lines = {child.line for node in root.children for child in node.children if child.stall}
    found = sorted({int(trace.code.kind[line]) for line in lines})
    return [TokenKind(kind) for kind in found if kind in KIND_TEXT]
