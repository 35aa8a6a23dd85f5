"""The header of a table: sort, third click back, show and hide columns, widths that survive."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QHeaderView, QMenu, QTableView

from rcv_py.ui.core.plain_text import add_action
from rcv_py.ui.table.table_model import TableModel

HEIGHT = 24


class TableHeader(QHeaderView):
    """Sorts on click (down, up, program order), moves and resizes columns; its menu hides them."""

    def __init__(self, table: QTableView, model: TableModel) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self._table, self._model = table, model
        self.fixed: frozenset[str] = frozenset()  # columns that cannot be hidden
        self.extend_menu: Callable[[QMenu], None] | None = None  # adds a view's own actions
        self.setSectionsMovable(True)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setSortIndicatorClearable(True)
        self.setMinimumSectionSize(24)
        self.setFixedHeight(HEIGHT)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
        self.sectionHandleDoubleClicked.connect(self._fit)

    def menu(self) -> QMenu:
        """Return the header's menu: a tick a column, and what the view adds."""
        menu = QMenu(self)
        for at, column in enumerate(self._model.columns):
            is_hidden = self.isSectionHidden(at)
            call = partial(self.setSectionHidden, at, not is_hidden)
            action = add_action(menu, column.title or column.id, call, is_on=not is_hidden)
            action.setEnabled(column.id not in self.fixed)
        menu.addSeparator()
        menu.addAction("Program order", lambda: self.setSortIndicator(-1, Qt.SortOrder.AscendingOrder))
        if self.extend_menu is not None:
            self.extend_menu(menu)
        return menu

    def save(self) -> dict[str, Any]:
        """Return place, width and visibility of every column by id, and the order of rows."""
        columns = {
            column.id: [self.visualIndex(at), self._width(at), not self.isSectionHidden(at)]
            for at, column in enumerate(self._model.columns)
        }
        sorting = self._model.sorting
        order = [sorting[0], sorting[1] == Qt.SortOrder.DescendingOrder] if sorting else None
        return {"columns": columns, "sort": order}

    def load(self, state: dict[str, Any]) -> None:
        """Take back what `save` returned; columns that are not there any more are skipped."""
        saved = state.get("columns")
        if not isinstance(saved, dict):
            return
        known = [(at, saved[c.id]) for at, c in enumerate(self._model.columns) if _fits(saved.get(c.id))]
        for at, (place, width, shown) in sorted(known, key=lambda item: item[1][0]):
            self.moveSection(self.visualIndex(at), min(max(0, place), self.count() - 1))
            self.resizeSection(at, width)
            self.setSectionHidden(at, not shown)
        order = state.get("sort")
        if isinstance(order, list) and len(order) == 2 and self._model.has_column(str(order[0])):
            down = Qt.SortOrder.DescendingOrder if order[1] else Qt.SortOrder.AscendingOrder
            self.setSortIndicator(self._model.column_of(str(order[0])), down)

    def _width(self, at: int) -> int:
        return self._model.columns[at].width if self.isSectionHidden(at) else self.sectionSize(at)

    def _open_menu(self, position: QPoint) -> None:
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.mapToGlobal(position))

    def _fit(self, at: int) -> None:
        self._table.resizeColumnToContents(at)


def _fits(saved: object) -> bool:
    return (
        isinstance(saved, list)
        and len(saved) == 3
        and isinstance(saved[0], int)
        and isinstance(saved[1], int)
        and 0 < saved[1] < 10_000
    )
