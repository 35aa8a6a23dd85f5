"""The columns of a table: sorted, moved and hidden in a header, fitted to their content, one elastic."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QCursor, QFontMetrics, QMouseEvent, QPainter, QPolygonF
from PySide6.QtWidgets import QHeaderView, QMenu, QTableView

from rcv_py.base.record import Value
from rcv_py.base.text import translated
from rcv_py.ui.core.panel import MAX_PX
from rcv_py.ui.core.plain_text import add_action, allow, draw_text
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.table_model import Column, TableModel

HEIGHT = 24
PAD = 4  # px left and right of a cell's text
MENU_PX = 13  # at the right of a header that has a menu
GRIP_PX = 4  # px at the edge of a header, where columns are resized

FillMenu = Callable[[QMenu], object]


class TableHeader(QHeaderView):
    """Sorts on click (down, up, program order), moves and resizes columns; its menu hides them.

    A column may have its own menu: at the triangle of its header, or anywhere if it cannot be sorted.
    """

    toggled = Signal(str, bool)  # a column that the user shows or hides

    def __init__(self, table: QTableView, model: TableModel, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self._model, self._theme = model, theme
        self.fixed: frozenset[str] = frozenset()  # columns that cannot be hidden
        self.natural = ""  # the column of row numbers: a click on it restores program order
        self.extend_menu: FillMenu | None = None  # adds a view's own actions
        self.menus: dict[str, FillMenu] = {}  # by column
        self.setSectionsMovable(True)
        self.setSectionsClickable(True)
        self.setSortIndicatorClearable(True)
        self.setMinimumSectionSize(16)
        self._restyle()
        theme.changed.connect(self._restyle)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(lambda at: self.popup(self.menu(), at.x()))
        self.sectionHandleDoubleClicked.connect(table.resizeColumnToContents)

    def _restyle(self) -> None:
        self.setFixedHeight(grown(HEIGHT))

    def menu(self) -> QMenu:
        """Return the header's menu: a check mark per column, and the view's additions."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for at, column in enumerate(self._model.columns):
            is_hidden = self.isSectionHidden(at)
            call = partial(self._show, at, is_hidden)
            action = add_action(menu, column.title or column.id, call, is_on=not is_hidden)
            allow(action, "" if column.id not in self.fixed else "The table is nothing without it.")
        menu.addSeparator()
        add_action(menu, "Program order", lambda: self.setSortIndicator(-1, Qt.SortOrder.AscendingOrder))
        if self.extend_menu is not None:
            self.extend_menu(menu)
        return menu

    def _show(self, at: int, is_shown: bool) -> None:
        self.setSectionHidden(at, not is_shown)
        self.toggled.emit(self._model.columns[at].id, is_shown)

    def is_shown(self, name: str) -> bool:
        """Return whether there is a column and it is shown."""
        return self._model.has_column(name) and not self.isSectionHidden(self._model.column_of(name))

    def toggle(self, name: str) -> None:
        """Show or hide a column, as the user asks."""
        if self._model.has_column(name):
            self._show(self._model.column_of(name), not self.is_shown(name))

    def column_menu(self, name: str) -> QMenu:
        """Return the menu of a column that has one."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self.menus[name](menu)
        return menu

    def menu_at(self, position: QPoint) -> str:
        """Return the column whose menu a click at a point of the header opens, "" if there is none."""
        at = self.logicalIndexAt(position)
        if not 0 <= at < len(self._model.columns) or self._model.columns[at].id not in self.menus:
            return ""
        left = self.sectionViewportPosition(at)
        inside = position.x() - left, left + self.sectionSize(at) - position.x()
        starts = 0 if not self._model.columns[at].has_values else self.sectionSize(at) - MENU_PX - GRIP_PX
        return self._model.columns[at].id if inside[0] >= max(starts, GRIP_PX) and inside[1] > GRIP_PX else ""

    def popup(self, menu: QMenu, left: int = 0) -> None:
        """Show a menu below the header; `left` is in the viewport."""
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.viewport().mapToGlobal(QPoint(max(0, left), self.height())))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        name = self.menu_at(event.position().toPoint())
        if not name or event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        self.popup(self.column_menu(name), self.sectionViewportPosition(self._model.column_of(name)))

    def paintSection(self, painter: QPainter, rect: QRect, at: int) -> None:
        """Paint the longest wording that fits, and the triangle of a menu."""
        column = self._model.columns[at] if 0 <= at < len(self._model.columns) else None
        if column is None:
            super().paintSection(painter, rect, at)
            return
        role, hover = self._theme.role, self.viewport().mapFromGlobal(QCursor.pos())
        is_hovered = self.viewport().underMouse() and rect.contains(hover)
        painter.save()
        painter.fillRect(rect, role("hover" if is_hovered else "window"))
        painter.setPen(role("line"))
        painter.drawLine(rect.topRight(), rect.bottomRight())
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        ink = role("text" if is_hovered else "muted")
        box = rect.adjusted(PAD, 0, -PAD, -1)
        if column.id in self.menus:
            x, y = (box.right() - 4, box.center().y()) if column.heading else rect.center().toTuple()
            _triangle(painter, x, y + 1, ink)
            box.setRight(box.right() - MENU_PX + 2)
        if self._model.sorting is not None and self._model.sorting[0] == column.id:
            is_up = self._model.sorting[1] == Qt.SortOrder.AscendingOrder
            _triangle(painter, box.right() - 4, box.center().y() + 1, role("accent"), is_up)
            box.setRight(box.right() - MENU_PX + 2)
        painter.setPen(ink)
        draw_text(painter, box, column.side, self.fitting(column, box.width()))
        painter.restore()

    def fitting(self, column: Column, width: int) -> str:
        """Return the longest wording that fits into a width in px, else the shortest wording, elided."""
        metrics = QFontMetrics(self.font())
        words = self._words(column)
        fits = (text for text in words if metrics.horizontalAdvance(text) <= width)
        return next(fits, metrics.elidedText(words[-1], Qt.TextElideMode.ElideRight, width))

    def _words(self, column: Column) -> list[str]:
        return list(map(translated, column.headings or (column.title,)))

    def needed(self, column: Column) -> int:
        """Return the width in px that the shortest heading of a column needs."""
        text = self._words(column)[-1]
        width = QFontMetrics(self.font()).horizontalAdvance(text)
        return width + 2 * PAD + 1 + (MENU_PX - 2 if column.id in self.menus and text else 0)


def _triangle(painter: QPainter, x: float, y: float, color: QColor, is_up: bool = False) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    step = -1.0 if is_up else 1.0
    corners = ((-3.5, -2.0), (3.5, -2.0), (0.0, 2.0))
    painter.drawPolygon(QPolygonF([QPointF(x + dx, y + step * dy) for dx, dy in corners]))


class Elastic(Value):
    """The column that takes the room left by the others up to the column `upto`.

    While there is less room than `min_px`, the columns `yields` are hidden in that order, unless the user
    requested them; a column may set its own px threshold.  Room beyond `max_px` goes to `upto` itself, until
    it is `upto_max_px` wide (0: it does not grow).
    """

    column: str
    upto: str
    min_px: int  # px
    max_px: int  # px
    yields: tuple[str | tuple[str, int], ...] = ()
    upto_max_px: int = 0  # px


class ColumnWidths:
    """Sets places, widths and visibility of columns: what the user chose, else what suits the content.

    Choices are kept also for columns that the open capture does not have.
    """

    def __init__(self, view: QTableView, header: TableHeader, model: TableModel) -> None:
        self.elastic: Elastic | None = None
        self.floor_px = 0  # what the elastic column keeps when no further column can give way; 0: all
        self.grows = ""  # the column that takes the room beyond `max_px` instead of `upto`
        self.chars_instead: Callable[[str], int] = lambda name: 0  # texts that cells show instead of values
        self._view, self._header, self._model = view, header, model
        self._is_ours = False  # a change that is not the user's
        self._by_hand: dict[str, int] = {}  # px that the user gave to columns
        self._shown: dict[str, bool] = {}  # columns that the user showed, however little room, or hid
        self._order: list[str] = []  # columns from the left, once the user moved one
        self._yielded: set[str] = set()  # hidden automatically for lack of room
        header.sectionResized.connect(self._resized)
        header.sectionMoved.connect(self._moved)
        header.toggled.connect(self._toggled)

    def apply(self, char_px: float) -> None:
        """Give all columns their place, their width, and whether they are shown."""
        with self._ours():
            self._yielded.clear()
            names = [column.id for column in self._model.columns]
            order = [name for name in merged(self._order, names) if name in names]
            for place, name in enumerate(order):
                self._header.moveSection(self._header.visualIndex(names.index(name)), place)
            for at, column in enumerate(self._model.columns):
                width = self._by_hand.get(column.id) or self._needed(column, char_px)
                self._view.setColumnHidden(at, not self._shown.get(column.id, column.is_shown))
                self._view.setColumnWidth(at, width)

    def grow(self, char_px: float, *, is_anew: bool = False) -> None:
        """Widen columns whose numbers got longer; none shrinks while it is read, unless `is_anew`."""
        with self._ours():
            for at, column in enumerate(self._model.columns):
                if column.id not in self._by_hand and not self._view.isColumnHidden(at):
                    before = 0 if is_anew else self._view.columnWidth(at)
                    self._view.setColumnWidth(at, max(before, self._needed(column, char_px)))

    def reset(self) -> None:
        """Forget what the user chose."""
        self._by_hand, self._shown, self._order = {}, {}, []

    def save(self) -> dict[str, Any]:
        """Return what the user chose, as plain JSON values."""
        return {"by_hand": self._by_hand, "shown": self._shown, "order": self._order}

    def load(self, columns: object) -> None:
        """Restore what `save` returned; leave out what does not fit."""
        saved = columns if isinstance(columns, dict) else {}
        by_hand, shown, order = (saved.get(name) for name in ("by_hand", "shown", "order"))
        if isinstance(by_hand, dict):
            widths = [(name, px) for name, px in by_hand.items() if isinstance(px, int)]
            self._by_hand = {name: px for name, px in widths if 0 < px < MAX_PX}
        if isinstance(shown, dict):
            self._shown = {name: is_shown is True for name, is_shown in shown.items()}
        if isinstance(order, list):
            self._order = [name for name in order if isinstance(name, str)]

    @contextmanager
    def _ours(self) -> Iterator[None]:
        """Treat width changes in the block as automatic; the elastic column follows at the end."""
        was_ours, self._is_ours = self._is_ours, True
        yield
        self._is_ours = was_ours
        if not was_ours:
            self.stretch()

    def stretch(self) -> None:
        """Give the elastic column the room that the others leave, unless the user set its width."""
        if self.elastic is None or self.elastic.column in self._by_hand:
            return
        elastic, has = self.elastic, self._model.has_column
        if not all(map(has, (elastic.column, elastic.upto))):
            return
        at, last = self._model.column_of(elastic.column), self._model.column_of(elastic.upto)
        grower = self._model.column_of(self.grows) if has(self.grows) else last
        self._is_ours = True
        for name in filter(has, self._yielded):
            self._view.setColumnHidden(self._model.column_of(name), False)
        self._yielded.clear()
        grows = elastic.upto_max_px > 0 and self._model.columns[grower].id not in self._by_hand
        own = max(self._model.columns[grower].width, self._header.needed(self._model.columns[grower]))
        if grows:
            self._view.setColumnWidth(grower, own)
        room = self._room(at, last)
        for one in elastic.yields:
            name, wanted = (one, elastic.min_px) if isinstance(one, str) else one
            if not has(name):
                continue
            place = self._model.column_of(name)
            if room >= wanted or self._view.isColumnHidden(place) or self._shown.get(name):
                continue
            self._view.setColumnHidden(place, True)
            self._yielded.add(name)
            room = self._room(at, last)
        width = min(max(room, self.floor_px or elastic.min_px), elastic.max_px)
        self._view.setColumnWidth(at, width)
        if grows and room > width:
            self._view.setColumnWidth(grower, min(own + room - width, max(own, elastic.upto_max_px)))
        self._is_ours = False

    def give(self, name: str, width: int) -> None:
        """Give a column a width that follows its content, unless the user set its width."""
        if self._model.has_column(name) and name not in self._by_hand:
            at = self._model.column_of(name)
            if self._view.columnWidth(at) != width and not self._view.isColumnHidden(at):
                with self._ours():
                    self._view.setColumnWidth(at, width)

    def _room(self, at: int, last: int) -> int:
        others = sum(self._view.columnWidth(i) for i in range(last + 1) if i != at)
        return self._view.viewport().width() - others

    def _needed(self, column: Column, char_px: float) -> int:
        title = self._header.needed(column)
        values, is_plain = column.values, column.is_left or not column.is_number
        if is_plain or not isinstance(values, np.ndarray) or not len(values):
            return max(column.width, title)
        widest = max(len(column.text(value)) for value in (values.max(), values.min()))
        widest = max(widest, self.chars_instead(column.id))
        return max(column.width, title, round(widest * char_px) + 2 * PAD + 2)

    def _toggled(self, name: str, is_shown: bool) -> None:
        self._yielded.discard(name)
        self._shown[name] = is_shown
        self.stretch()

    def _moved(self) -> None:
        if not self._is_ours:
            columns = self._model.columns
            seen = [columns[self._header.logicalIndex(place)].id for place in range(len(columns))]
            self._order = merged(seen, self._order)

    def _resized(self, at: int, old: int, new: int) -> None:
        if not self._is_ours and 0 <= at < len(self._model.columns) and old and new:
            self._by_hand[self._model.columns[at].id] = new


def merged(order: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return an order with the names that only the other has, each after its predecessor there."""
    found = list(order)
    for before, name in pairwise(["", *other]):
        if name not in found:
            found.insert(found.index(before) + 1 if before in found else 0, name)
    return found
