"""The columns of a table: sorted, moved and hidden in a header, as wide as they need, one of them elastic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHeaderView, QMenu, QTableView

from rcv_py.base.records import dataclass
from rcv_py.ui.core.plain_text import add_action
from rcv_py.ui.table.table_model import Column, TableModel

HEIGHT = 24


class TableHeader(QHeaderView):
    """Sorts on click (down, up, program order), moves and resizes columns; its menu hides them."""

    def __init__(self, table: QTableView, model: TableModel) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self._model = model
        self.fixed: frozenset[str] = frozenset()  # columns that cannot be hidden
        self.natural = ""  # the column that numbers the rows: a click on it gives their own order back
        self.extend_menu: Callable[[QMenu], None] | None = None  # adds a view's own actions
        self.setSectionsMovable(True)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setSortIndicatorClearable(True)
        self.setMinimumSectionSize(24)
        self.setFixedHeight(HEIGHT)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
        self.sectionHandleDoubleClicked.connect(table.resizeColumnToContents)

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
        columns = {}
        for at, column in enumerate(self._model.columns):
            width = self.sectionSize(at) or column.width  # a hidden one has no size
            columns[column.id] = [self.visualIndex(at), width, not self.isSectionHidden(at)]
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

    def _open_menu(self, position: QPoint) -> None:
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.mapToGlobal(position))


def _fits(saved: object) -> bool:
    if not isinstance(saved, list) or len(saved) != 3:
        return False
    return isinstance(saved[0], int) and isinstance(saved[1], int) and 0 < saved[1] < 10_000


PAD = 6  # px left and right of a cell's text


@dataclass(frozen=True, slots=True)
class Elastic:
    """The column that takes the room left by the others up to the column `upto`.

    While there is less room than `min_px`, the columns `yields` are hidden, the first one first; one may
    say itself below how many px.  Room beyond `max_px` goes to `upto` itself, until that is `upto_max_px`
    wide (0: it does not grow).
    """

    column: str
    upto: str
    min_px: int  # px
    max_px: int  # px
    yields: tuple[str | tuple[str, int], ...] = ()
    upto_max_px: int = 0  # px

    @property
    def yielding(self) -> tuple[tuple[str, int], ...]:
        """The columns that yield, and below how many px each does."""
        return tuple((one, self.min_px) if isinstance(one, str) else one for one in self.yields)


class ColumnWidths:
    """Gives columns their widths and remembers which ones the user changed."""

    def __init__(self, view: QTableView, model: TableModel) -> None:
        self.elastic: Elastic | None = None
        self._view, self._model = view, model
        self._is_ours = False  # a change that is not the user's
        self._by_hand: set[str] = set()
        self._yielded: set[str] = set()  # hidden by us for want of room
        view.horizontalHeader().sectionResized.connect(self._resized)

    def remember(self) -> dict[str, tuple[int, bool]]:
        """Return width and whether it is hidden of each column that exists."""
        view = self._view
        return {
            column.id: (view.columnWidth(at), view.isColumnHidden(at) and column.id not in self._yielded)
            for at, column in enumerate(self._model.columns)
        }

    def apply(self, columns: Sequence[Column], before: dict[str, tuple[int, bool]], char_px: float) -> None:
        """Give new columns what they need, and those the user changed what they had in `before`."""
        with self._ours():
            for at, column in enumerate(columns):
                width, is_hidden = before.get(column.id, (0, False))
                width = width if column.id in self._by_hand else 0
                self._view.setColumnHidden(at, is_hidden)
                self._view.setColumnWidth(at, width or self._needed(column, char_px))

    def grow(self, char_px: float, *, is_anew: bool = False) -> None:
        """Widen columns whose numbers have become longer.

        None gets narrower under the reader's eyes, unless widths are found `is_anew`.
        """
        with self._ours():
            for at, column in enumerate(self._model.columns):
                if column.id not in self._by_hand and not self._view.isColumnHidden(at):
                    before = 0 if is_anew else self._view.columnWidth(at)
                    self._view.setColumnWidth(at, max(before, self._needed(column, char_px)))

    def save(self) -> dict[str, list[str]]:
        """Return which columns have the user's width, and which are hidden only for want of room."""
        return {"by_hand": sorted(self._by_hand), "yielded": sorted(self._yielded)}

    def load(self, state: object, load_header: Callable[[], None], char_px: float) -> None:
        """Take back what `save` returned, around the header that takes back its own.

        Widths that came from another size of the window are not the user's: they are found anew.
        """
        saved = state if isinstance(state, dict) else {}
        with self._ours():
            load_header()
            self._by_hand, self._yielded = _names(saved.get("by_hand")), _names(saved.get("yielded"))
            self.grow(char_px, is_anew=True)
            self._show_yielded()

    @contextmanager
    def _ours(self) -> Iterator[None]:
        """Widths that change meanwhile are not the user's; the elastic column follows at the end."""
        was_ours, self._is_ours = self._is_ours, True
        yield
        self._is_ours = was_ours
        if not was_ours:
            self.stretch()

    def stretch(self) -> None:
        """Give the elastic column the room that the others leave, unless the user gave it a width."""
        if self.elastic is None or self.elastic.column in self._by_hand:
            return
        if not all(map(self._model.has_column, (self.elastic.column, self.elastic.upto))):
            return
        at, last = self._model.column_of(self.elastic.column), self._model.column_of(self.elastic.upto)
        self._is_ours = True
        self._show_yielded()
        grows = self.elastic.upto_max_px > 0 and self.elastic.upto not in self._by_hand
        if grows:
            self._view.setColumnWidth(last, self._model.columns[last].width)
        room = self._room(at, last)
        for name, wanted in self.elastic.yielding:
            if not self._model.has_column(name):
                continue
            place = self._model.column_of(name)
            if room >= wanted or self._view.isColumnHidden(place):
                continue
            self._view.setColumnHidden(place, True)
            self._yielded.add(name)
            room = self._room(at, last)
        width = min(max(room, self.elastic.min_px), self.elastic.max_px)
        self._view.setColumnWidth(at, width)
        if grows and room > width:
            own = self._model.columns[last].width
            self._view.setColumnWidth(last, min(own + room - width, max(own, self.elastic.upto_max_px)))
        self._is_ours = False

    def _room(self, at: int, last: int) -> int:
        others = sum(self._view.columnWidth(i) for i in range(last + 1) if i != at)
        return self._view.viewport().width() - others

    def _show_yielded(self) -> None:
        for name in filter(self._model.has_column, self._yielded):
            self._view.setColumnHidden(self._model.column_of(name), False)
        self._yielded.clear()

    def _needed(self, column: Column, char_px: float) -> int:
        metrics = QFontMetrics(self._view.horizontalHeader().font())
        title = metrics.horizontalAdvance(column.title) + 2 * PAD + 4
        values, is_plain = column.values, column.is_left or not column.is_number
        if is_plain or not isinstance(values, np.ndarray) or not len(values):
            return max(column.width, title)
        widest = max(len(column.text(value)) for value in (values.max(), values.min()))
        return max(column.width, title, round(widest * char_px) + 2 * PAD + 2)

    def _resized(self, at: int, old: int, new: int) -> None:
        if not self._is_ours and 0 <= at < len(self._model.columns) and old and new:
            self._by_hand.add(self._model.columns[at].id)


def _names(saved: object) -> set[str]:
    return {name for name in saved if isinstance(name, str)} if isinstance(saved, list) else set()
