"""The tree of waits as a widget: columns that give way, branches that stay as they were left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTreeView

from rcv_py.model.trace import Trace
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.wait_tree import (
    BAR,
    MEDIAN,
    NAME,
    P90,
    SHARE,
    SOURCE,
    STALL,
    TIMES,
    EndDelegate,
    StallDelegate,
    WaitModel,
    WaitNode,
)

WIDTHS = {BAR: 120, STALL: 92, SHARE: 52, TIMES: 72, MEDIAN: 66, P90: 56, SOURCE: 160}
NAME_PX = 240  # narrower than that, other columns give way
GIVE_WAY = (P90, SOURCE, SHARE, BAR)  # which, the least wanted first
OPEN_SHARE = 0.05  # waits with more of all stall start open


class WaitTree(QTreeView):
    """Waits and producers.  Clicked, or reached by keyboard, a row tells its code line with `chosen`."""

    chosen = Signal(int)
    hovered = Signal(int)  # -1: the mouse left

    def __init__(self, theme: Theme, scale: Callable[[], str]) -> None:
        super().__init__()
        self.rows = WaitModel(self)
        self.bars, self._ends = StallDelegate(self.rows, theme, scale), EndDelegate(self)
        self._widths = dict(WIDTHS)  # also of columns that are hidden
        self._opened: set[int] = set()  # waits that the user opened
        self._closed: set[int] = set()
        self._is_quiet = False
        self._set_up()
        self._set_up_header()
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)
        self.doubleClicked.connect(lambda index: self._toggle(index.siblingAtColumn(0)))
        self.entered.connect(lambda index: self.hovered.emit(self.rows.node(index).line))
        self.expanded.connect(lambda index: self._turned(index, self._opened, self._closed))
        self.collapsed.connect(lambda index: self._turned(index, self._closed, self._opened))

    def _set_up(self) -> None:
        self.setModel(self.rows)
        self.setItemDelegateForColumn(BAR, self.bars)
        self.setItemDelegateForColumn(SOURCE, self._ends)
        self.setUniformRowHeights(True)
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setIndentation(16)
        self.setExpandsOnDoubleClick(False)
        self.setAllColumnsShowFocus(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def _set_up_header(self) -> None:
        header = self.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(36)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in WIDTHS.items():
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            header.resizeSection(column, width)
        header.sectionResized.connect(self._resized)
        header.setSortIndicator(STALL, Qt.SortOrder.DescendingOrder)
        self.setSortingEnabled(True)

    # -- showing ------------------------------------------------------------------------------------

    def show_tree(self, trace: Trace | None, root: WaitNode, is_all_open: bool = False) -> None:
        """Show another tree: open is what the user opened, and large waits that were not closed."""
        self._is_quiet = True
        self.rows.show(trace, root)
        for node in root.children:
            is_large = node.stall > OPEN_SHARE * max(1, node.whole) and node.line not in self._closed
            if is_all_open or is_large or node.line in self._opened:
                self.expand(self.rows.index_of(node))
        self._is_quiet = False

    def forget(self) -> None:
        """Show nothing, and forget what was opened and closed."""
        self._opened.clear()
        self._closed.clear()
        self.rows.show(None, WaitNode(-1, 0, 0, 0))

    def mark(self, line: int | None) -> None:
        """Make a line the current row; one that shows it already is kept."""
        here = self.currentIndex()
        if here.isValid() and self.rows.node(here).line == line:
            return
        node = self._node_of(line)
        index = QModelIndex() if node is None else self.rows.index_of(node)
        self._is_quiet = True
        self.setCurrentIndex(index)
        if index.isValid():
            self.scrollTo(index)
        self._is_quiet = False

    def _node_of(self, line: int | None) -> WaitNode | None:
        waits = self.rows.root.children
        open_ones = [node for node in waits if self.isExpanded(self.rows.index_of(node))]
        inner = [child for node in open_ones for child in node.children]
        return next((node for node in (*waits, *inner) if node.line == line), None)

    # -- events -------------------------------------------------------------------------------------

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
        """Leave room for instructions: where there is little, columns that are wanted less give way."""
        super().resizeEvent(event)
        room = self.viewport().width() - NAME_PX - sum(self._widths.values())
        for column in GIVE_WAY:
            self.setColumnHidden(column, room < 0)
            room += self._widths[column] if room < 0 else 0

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(self.rows.node(index).line)

    def _toggle(self, index: QModelIndex) -> None:
        self.setExpanded(index, not self.isExpanded(index))

    def _turned(self, index: QModelIndex, into: set[int], out_of: set[int]) -> None:
        if not self._is_quiet:
            into.add(self.rows.node(index).line)
            out_of.discard(self.rows.node(index).line)

    def _resized(self, column: int, before: int, width: int) -> None:
        if column in WIDTHS and width > 0:
            self._widths[column] = width

    # -- state --------------------------------------------------------------------------------------

    def save_state(self) -> dict[str, Any]:
        """Widths and order."""
        column, order = self.rows.sorting
        return {
            "widths": [self._widths[at] for at in WIDTHS],
            "sort": [column, order == Qt.SortOrder.DescendingOrder],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned; ignore what does not fit."""
        widths, sort = state.get("widths"), state.get("sort")
        if isinstance(widths, list) and len(widths) == len(WIDTHS):
            for at, width in zip(WIDTHS, widths, strict=True):
                if isinstance(width, int) and 0 < width < 2000:
                    self._widths[at] = width
                    self.setColumnWidth(at, width)
        if isinstance(sort, list) and len(sort) == 2 and sort[0] in range(SOURCE + 1):
            down = Qt.SortOrder.DescendingOrder if sort[1] else Qt.SortOrder.AscendingOrder
            self.sortByColumn(int(sort[0]), down)
