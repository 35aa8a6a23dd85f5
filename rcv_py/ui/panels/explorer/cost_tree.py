"""A tree of places with a cost each: folders and files, or kernels and labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from rcv_py.analysis.cost.place_trees import Place
from rcv_py.base.text import percent, short_count, visible
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.cost_bars import draw_bar
from rcv_py.ui.table.table_model import grouped

NAME, BAR, COST, SHARE = range(4)
TITLES = ("place", "cost", "cycles", "%")
ROW_PX = 22

Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class TreeModel(QAbstractItemModel):
    """The children of a root `Place`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.root = Place("", "", 0, np.zeros(KIND_COUNT, dtype=np.int64))
        self.total = 0
        self.unit = "cycles"

    def show(self, root: Place, total: int, unit: str) -> None:
        """Show another tree; `total` is what shares refer to."""
        self.beginResetModel()
        self.root, self.total, self.unit = root, total, unit
        self.endResetModel()

    def place(self, index: Index) -> Place:
        """The node of an index; the root for an invalid one."""
        return index.internalPointer() if index.isValid() else self.root

    def index_of(self, place: Place) -> QModelIndex:
        """The index of a node."""
        return QModelIndex() if place is self.root else self.createIndex(place.row, 0, place)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """What Qt asks for."""
        children = self.place(parent).children
        inside = 0 <= row < len(children) and 0 <= column < len(TITLES) and parent.column() <= 0
        return self.createIndex(row, column, children[row]) if inside else QModelIndex()

    def parent(self, index: Index = None) -> Any:
        """The index above one."""
        if index is None:
            return super().parent()
        above = self.place(index).parent if index.isValid() else None
        return QModelIndex() if above is None else self.index_of(above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """How many children a node has."""
        return 0 if parent.column() > 0 else len(self.place(parent).children)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Name, bar, cost, share."""
        return len(TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(TITLES):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.unit if section == COST else TITLES[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in (COST, SHARE) else _LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell says."""
        if not index.isValid():
            return None
        place, column = self.place(index), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return visible(self.text(place, column))
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(self.tip(place))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{place.name}, {grouped(place.cost)} {self.unit}, {percent(place.cost, self.total)}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in (COST, SHARE) else _LEFT
        return None

    def text(self, place: Place, column: int) -> str:
        """The text of a cell."""
        if column == NAME:
            return place.name
        if not place.cost or column == BAR:
            return ""
        return (
            short_count(place.cost) if column == COST else percent(place.cost, self.total).removesuffix(" %")
        )

    def tip(self, place: Place) -> str:
        """Path, exact cost, and the cost by kind."""
        lines = [place.tip or place.name]
        lines.append(f"{grouped(place.cost)} {self.unit}, {percent(place.cost, self.total)} of all")
        for kind in np.argsort(-place.by_kind, kind="stable").tolist():
            if place.by_kind[kind]:
                lines.append(f"{KIND_TEXT[TokenKind(kind)]}: {grouped(place.by_kind[kind])}")
        return "\n".join(lines)


class BarDelegate(QStyledItemDelegate):
    """Paints the bar column, stacked by kind; the length is the share of the largest sibling tree."""

    def __init__(self, model: TreeModel, theme: Theme, scale: Callable[[], str]) -> None:
        super().__init__(model)
        self._model, self._theme, self._scale = model, theme, scale

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the background as usual and the bar on it."""
        super().paint(painter, option, index)
        place = self._model.place(index)
        largest = max((child.cost for child in self._model.root.children), default=0)
        box: QRect = option.rect
        parts = [(int(place.by_kind[kind]), self._theme.kind(kind)) for kind in range(KIND_COUNT)]
        draw_bar(painter, QRectF(box).adjusted(4, 6, -4, -6), parts, largest, self._scale())

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A fixed height for the row."""
        return QSize(60, ROW_PX)
