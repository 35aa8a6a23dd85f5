"""The tree of causes as a widget: bars by cause, columns that give way, branches that stay as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.model.trace import Trace
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.panels.causes.tree import (
    BAR,
    IDLE,
    NAME,
    SHARE,
    SOURCE,
    STALL,
    TIMES,
    CauseModel,
    CauseNode,
    Index,
)
from rcv_py.ui.table.cost_bars import draw_bar
from rcv_py.ui.table.wait_tree import ROW_PX, EndDelegate

WIDTHS = {BAR: 130, STALL: 96, SHARE: 56, IDLE: 80, TIMES: 80, SOURCE: 180}
NAME_PX = 260  # narrower than that, other columns give way
GIVE_WAY = (SOURCE, TIMES, IDLE, BAR)  # which, the least wanted first


def cause_colour(theme: Theme, cause: int) -> QColor:
    """Return the colour of a cause."""
    table, key = CAUSE_TEXT[Cause(cause)].colour
    return theme.role(str(key)) if table == "role" else theme.kind(int(key))


class CauseDelegate(QStyledItemDelegate):
    """Paints the bar column: stall in the colour of the cause, then idle."""

    def __init__(self, model: CauseModel, theme: Theme, scale: Callable[[], str]) -> None:
        super().__init__(model)
        self._model, self._theme, self._scale = model, theme, scale

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the background as usual and the bar on it."""
        super().paint(painter, option, index)
        largest = max((child.cycles for child in self._model.root.children), default=0)
        box = QRectF(option.rect).adjusted(4, 6, -4, -6)
        draw_bar(painter, box, self.parts(self._model.node(index)), largest, self._scale())

    def parts(self, node: CauseNode) -> list[tuple[int, QColor]]:
        """Cycles and colours of a bar."""
        return [(node.stall, cause_colour(self._theme, node.cause)), (node.idle, self._theme.role("idle"))]

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A fixed height for the row."""
        return QSize(60, ROW_PX)


class CauseTree(QTreeView):
    """Causes, late instructions and those to blame.  A chosen row tells its code line, if it has one."""

    chosen = Signal(int)
    hovered = Signal(int)  # -1: nothing, or the mouse left

    def __init__(self, theme: Theme, scale: Callable[[], str]) -> None:
        super().__init__()
        self.rows = CauseModel(self)
        self.bars, self._ends = CauseDelegate(self.rows, theme, scale), EndDelegate(self)
        self._opened: set[tuple[int, int]] = set()
        self._is_quiet = False
        self._set_up()
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)
        self.entered.connect(lambda index: self.hovered.emit(self.rows.node(index).line))
        self.expanded.connect(lambda index: self._turned(index, is_open=True))
        self.collapsed.connect(lambda index: self._turned(index, is_open=False))

    def _set_up(self) -> None:
        self.setModel(self.rows)
        self.setItemDelegateForColumn(BAR, self.bars)
        self.setItemDelegateForColumn(SOURCE, self._ends)
        self.setUniformRowHeights(True)
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setIndentation(16)
        self.setAllColumnsShowFocus(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(36)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in WIDTHS.items():
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            header.resizeSection(column, width)
        header.setSortIndicator(BAR, Qt.SortOrder.DescendingOrder)
        self.setSortingEnabled(True)

    def show_tree(
        self, trace: Trace | None, root: CauseNode, whole: int, *, is_all_open: bool = False
    ) -> None:
        """Show another tree; what the user opened stays open."""
        self._is_quiet = True
        self.rows.show(trace, root, whole)
        for node in root.children:
            if is_all_open or (node.cause, -1) in self._opened:
                self.expand(self.rows.index_of(node))
            for child in node.children:
                if is_all_open or (node.cause, child.line) in self._opened:
                    self.expand(self.rows.index_of(child))
        self._is_quiet = False

    def forget(self) -> None:
        """Show nothing, and forget what was opened."""
        self._opened.clear()
        self.rows.show(None, CauseNode(-1, -1, 0, 0, 0, 0), 0)

    def currentChanged(self, index: QModelIndex, previous: QModelIndex) -> None:
        """Tell what the keyboard reached; a click is told by `clicked`."""
        super().currentChanged(index, previous)
        if self.hasFocus() and not QGuiApplication.mouseButtons() and not self._is_quiet:
            self._choose(index)

    def leaveEvent(self, event: QEvent) -> None:
        """Tell that the mouse left."""
        super().leaveEvent(event)
        self.hovered.emit(-1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave room for names: where there is little, columns that are wanted less give way."""
        super().resizeEvent(event)
        room = self.viewport().width() - NAME_PX - sum(WIDTHS.values())
        for column in GIVE_WAY:
            self.setColumnHidden(column, room < 0)
            room += WIDTHS[column] if room < 0 else 0

    def _choose(self, index: QModelIndex) -> None:
        line = self.rows.node(index).line if index.isValid() else -1
        if line >= 0:
            self.chosen.emit(line)

    def _turned(self, index: QModelIndex, *, is_open: bool) -> None:
        if self._is_quiet:
            return
        node = self.rows.node(index)
        change = self._opened.add if is_open else self._opened.discard
        change((node.cause, node.line))

    def save_state(self) -> dict[str, Any]:
        """Order."""
        column, order = self.rows.sorting
        return {"sort": [column, order == Qt.SortOrder.DescendingOrder]}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned; ignore what does not fit."""
        sort = state.get("sort")
        if isinstance(sort, list) and len(sort) == 2 and sort[0] in range(SOURCE + 1):
            down = Qt.SortOrder.DescendingOrder if sort[1] else Qt.SortOrder.AscendingOrder
            self.sortByColumn(int(sort[0]), down)
