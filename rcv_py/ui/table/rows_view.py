"""A table that paints its visible rows itself: fast, dense, with the same style in every panel."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QKeySequence, QPainter
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTableView

from rcv_py.base.csv_text import csv_cell
from rcv_py.base.record import Value
from rcv_py.base.text import cells, elide_left, elide_right, translated, visible
from rcv_py.model.notes import Note
from rcv_py.ui.core.plain_text import copy_text, draw_data, joined, show_tip
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.text_size import SMALLEST_PT, grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.column_widths import PAD, ColumnWidths, TableHeader
from rcv_py.ui.table.note_marks import note_tip, paint_flag, role_of
from rcv_py.ui.table.table_model import Column, Index, TableModel

FLAG_PX, FLAG_LEFT = 11, 4  # px of a note, and its distance from the left
MIN_ROW = 17  # px: as many rows of code as remain distinguishable
DENSE_ROW = 14  # px
CONTEXT_ROWS = 3  # rows kept visible around a row that is scrolled to

CellPainter = Callable[[QPainter, QRect, int], None]


class RowStyle(Value):
    """The drawing of a row; `band` is its background, None for the plain background."""

    ink: QColor
    band: QColor | None = None
    is_bold: bool = False


class RowInView(NamedTuple):
    """A row to paint."""

    top: int  # in the viewport
    row: int  # data row
    look: RowStyle


class RowsView(QTableView):
    """Rows of a `TableModel` at a fixed height.

    Subclasses style a row (`row_style`), paint special cells (`cell_painters`), explain cells (`tip`) and may
    paint over the rows (`paint_over`).  All row numbers in signals and hooks are data rows.
    """

    hovered = Signal(int)  # -1: the mouse left
    chosen = Signal(int)  # clicked, or reached by keyboard
    opened = Signal(int)  # double-clicked, or Return
    flag_column = ""  # column with the flags of notes at its right end; "": the left end of the row
    opens_by_key = False  # arrows move over rows, and Return or Space chooses a row; else arrows choose

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(showGrid=False)
        self.theme, self.settings = theme, settings
        self.table = TableModel(self)
        self.cell_painters: dict[str, CellPainter] = {}
        self.current = -1  # data row with the accent
        self.char_px = 1.0  # width of a character of the monospace font, fractional
        self.noted: Mapping[int, tuple[Note, ...]] = {}  # notes by data row
        self.hover = -1
        self._is_quiet = self._is_key = False
        self._room_px = 0  # height of the viewport
        self._saved_order: object = None  # of rows, until there is the column
        self.setModel(self.table)
        header = TableHeader(self, self.table, self.theme)
        self.setHorizontalHeader(header)
        self.setSortingEnabled(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.sortIndicatorChanged.connect(self._sorted)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(self.verticalHeader().ResizeMode.Fixed)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setAutoScroll(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMinimumSize(QSize(80, 60))
        self.doubleClicked.connect(lambda index: self.opened.emit(self.table.data_row(index.row())))
        self.widths = ColumnWidths(self, header, self.table)
        self._restyle()
        theme.changed.connect(self._restyle)
        settings.cell("look.dense_rows").watch(self._restyle)

    @property
    def header(self) -> TableHeader:
        """Return the header above the rows."""
        header = self.horizontalHeader()
        assert isinstance(header, TableHeader)
        return header

    def show_columns(self, columns: tuple[Column, ...]) -> None:
        """Show other values; new columns get their default width."""
        changed = [column.id for column in columns] != [column.id for column in self.table.columns]
        self.table.set_columns(columns)
        if changed:
            self.widths.apply(self.char_px)
            self._sort_as_saved()
        else:
            self.widths.grow(self.char_px)
        self.viewport().update()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Fit the elastic column, and keep the current row in view, whole, if any of it was visible."""
        row = self.table.view_row(self.current)
        top = self.row_top(row)
        # Not the event's old size: it is unknown for a panel that moved to another place.
        was_seen = row >= 0 and self.covered_px - self.row_height < top < self._room_px
        self._room_px = event.size().height()
        super().resizeEvent(event)
        self.widths.stretch()
        if was_seen:
            self.reveal(row)

    def set_current(self, row: int, reveal: bool = True) -> None:
        """Accent a data row, -1 for none, and bring it into view without emitting a signal."""
        self.current = row
        view_row = self.table.view_row(row)
        if view_row != self.currentIndex().row():
            self._is_quiet = True
            self.selectRow(view_row)
            self._is_quiet = False
        if reveal and view_row >= 0:
            self.reveal(view_row)
        self.viewport().update()

    def selectRow(self, row: int) -> None:
        """Select one view row, none below 0; Qt's method would extend the selection while Shift is down."""
        index = self.table.index(row, 0)
        wanted = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().setCurrentIndex(index, wanted)

    def reveal(self, view_row: int) -> None:
        """Scroll as little as needed to show the row with some context; not at all if it is in view."""
        bar, page, height = self.verticalScrollBar(), self.viewport().height(), self.row_height
        here = bar.value()
        top, bottom = view_row * height, (view_row + 1) * height
        if top >= here + self.covered_px and bottom <= here + page:
            return
        context = min(CONTEXT_ROWS * height, max(0, (page - height) // 2))
        bar.setValue(top - context if top < here + self.covered_px else bottom + context - page)

    def _sorted(self, column: int) -> None:
        """Show the start of the new order: the first row, or in program order the current row."""
        view_row = self.table.view_row(self.current)
        if column >= 0 and self.table.columns[column].id == self.header.natural:
            self.header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        elif column >= 0:
            self.scrollToTop()
        elif view_row >= 0:
            self.reveal(view_row)

    def selected_rows(self) -> list[int]:
        """Return the selected data rows, in display order."""
        rows = sorted({index.row() for index in self.selectionModel().selectedRows()})
        return [self.table.data_row(row) for row in rows]

    def next_row(self, direction: int) -> int:
        """Return the data row shown after (+1) or before (-1) the current row, wrapping around; -1: none."""
        rows, here = self.table.data_rows, self.table.view_row(self.current)
        start = here if here >= 0 else -1 if direction > 0 else 0
        return int(rows[(start + direction) % len(rows)]) if len(rows) else -1

    def copy_rows(self) -> None:
        """Put the selected rows on the clipboard, tab-separated, with headers if there are several."""
        rows = self.selected_rows()
        if not rows:
            return
        lines = ["\t".join(str(csv_cell(value, "")) for value in line) for line in self.table.table(rows)]
        if len(lines) > 1:
            lines.insert(0, "\t".join(self.table.headers))
        copy_text("\n".join(lines))

    def row_style(self, row: int) -> RowStyle:
        """Return the drawing of a data row."""
        return RowStyle(self.theme.role("text"))

    def tip(self, row: int, column: str) -> str:
        """Return the tooltip of a cell, "" for none."""
        return self.table.text(row, self.table.column_of(column))

    def notes_of(self, row: int) -> tuple[Note, ...]:
        """Return the notes on a data row."""
        return self.noted.get(row, ())

    def set_notes(self, noted: Mapping[int, tuple[Note, ...]]) -> None:
        """Mark the rows that have notes."""
        self.noted = noted
        self.viewport().update()

    def paint_over(self, painter: QPainter, first: int, last: int) -> None:
        """Paint on top of the view rows `first` to `last`."""

    def refresh(self) -> None:
        """Paint again."""
        self.viewport().update()

    @property
    def covered_px(self) -> int:
        """Return the height at the viewport's top that may be covered."""
        return 0

    @property
    def row_height(self) -> int:
        """Return the height of every row in px."""
        return self.verticalHeader().defaultSectionSize()

    def chars_in(self, width: int) -> int:
        """Return how many characters fit into a width in px, at least 1."""
        return max(1, int(width / self.char_px + 0.01))

    def row_top(self, view_row: int) -> int:
        """Return the top of a view row in the viewport."""
        return view_row * self.row_height - self.verticalScrollBar().value()

    def row_rect(self, data_row: int) -> QRect:
        """Return the rectangle of a data row in the viewport; empty if it is hidden."""
        view_row = self.table.view_row(data_row)
        if view_row < 0:
            return QRect()
        return QRect(0, self.row_top(view_row), self.viewport().width(), self.row_height)

    def cell_rect(self, data_row: int, column: str) -> QRect:
        """Return the rectangle of a cell in the viewport."""
        at, row = self.table.column_of(column), self.row_rect(data_row)
        return QRect(self.columnViewportPosition(at), row.top(), self.columnWidth(at), row.height())

    def view_row_at(self, y: int) -> int:
        """Return the view row at a height of the viewport, -1 below the last row."""
        row = (y + self.verticalScrollBar().value()) // self.row_height
        return row if 0 <= row < self.table.rowCount() else -1

    def row_at(self, y: int) -> int:
        """Return the data row at a height of the viewport, -1 below the last row."""
        return self.table.data_row(self.view_row_at(y))

    def offer_menu(self, fill: Callable[[QMenu, int], None]) -> None:
        """Open a menu at each right click, which `fill` gives the actions of the data row there; -1: none."""

        def open_menu(at: QPoint) -> None:
            menu = QMenu(self, toolTipsVisible=True)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            fill(menu, self.row_at(at.y()))
            menu.popup(self.viewport().mapToGlobal(at))

        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(open_menu)

    def sizeHintForColumn(self, column: int) -> int:
        """Return the width of the widest of the first 2,000 cells."""
        rows = self.table.data_rows[:2000].tolist()
        longest = max((cells(self.table.shown_text(row, column)) for row in rows), default=0)
        said = translated(self.table.columns[column].title)
        title = QFontMetrics(self.header.font()).horizontalAdvance(said)
        return max(round(longest * self.char_px), title + 16) + 2 * PAD + 1

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        area, scroll, height = event.rect(), self.verticalScrollBar().value(), self.row_height
        first = max(0, (area.top() + scroll) // height)
        stop = min((area.bottom() + scroll) // height + 1, self.table.rowCount())
        with QPainter(self.viewport()) as painter:
            painter.fillRect(area, self.theme.role("base"))
            if first >= stop:
                return
            seen = enumerate(self.table.data_rows[first:stop].tolist(), first)
            rows = [RowInView(self.row_top(at), row, self.row_style(row)) for at, row in seen]
            self._paint_bands(painter, first, rows)
            for at, column in enumerate(self.table.columns):
                left, width = self.columnViewportPosition(at), self.columnWidth(at)
                is_shown = width > 0 and not self.isColumnHidden(at)
                if is_shown and left < area.right() and left + width > area.left():
                    self._paint_column(painter, column, QRect(left, 0, width, height), rows)
            self._paint_marks(painter, rows)
            self.paint_over(painter, first, stop - 1)

    def _paint_bands(self, painter: QPainter, first: int, rows: list[RowInView]) -> None:
        selected = self.selectionModel()
        for at, (top, row, look) in enumerate(rows, first):
            band = self.theme.role("accent_soft") if row == self.current else look.band
            if band is None and selected.isRowSelected(at, QModelIndex()):
                band = self.theme.role("hover")
            if band is not None:
                painter.fillRect(0, top, self.viewport().width(), self.row_height, band)

    def _paint_column(self, painter: QPainter, column: Column, box: QRect, rows: list[RowInView]) -> None:
        painter.save()
        painter.setClipRect(QRect(box.left(), 0, box.width(), self.viewport().height()))
        special, at_column = self.cell_painters.get(column.id), self.table.column_of(column.id)
        is_bold = None
        for top, row, look in rows:
            cell = QRect(box.left(), top, box.width(), box.height())
            if look.is_bold is not is_bold:
                is_bold = look.is_bold
                painter.setFont(self._bold if is_bold else self._mono)
            painter.setPen(look.ink)
            if special is not None:
                special(painter, cell, row)
            elif column.has_values:
                self.draw_text(painter, cell, self.table.shown_text(row, at_column), column)
        painter.restore()

    def draw_text(self, painter: QPainter, cell: QRect, text: str, column: Column) -> None:
        """Draw a cell's text with the painter's pen, cut with an ellipsis if it does not fit."""
        text, room = visible(text), self.chars_in(cell.width() - 2 * PAD)
        text = elide_left(text, room) if column.is_elided_left else elide_right(text, room)
        left = cell.right() - PAD - cells(text) * self.char_px if column.is_number else cell.left() + PAD
        draw_data(painter, QPointF(left, cell.top() + self.baseline), text)

    def _paint_marks(self, painter: QPainter, rows: list[RowInView]) -> None:
        width, height, side = self.viewport().width(), self.row_height, min(FLAG_PX, self.row_height - 4)
        for top, row, _ in rows:
            if row == self.current:
                painter.fillRect(0, top, 3, height, self.theme.role("accent"))
            elif row == self.hover:
                painter.setPen(self.theme.role("accent"))
                painter.setOpacity(0.55)
                painter.drawRect(0, top, width - 1, height - 1)
                painter.setOpacity(1.0)
            if self.noted and (notes := self.notes_of(row)):
                column, y = self.flag_column, top + (height - side) // 2
                right = self.cell_rect(row, column).right() if column else FLAG_LEFT + side
                paint_flag(painter, right - side, y, side, self.theme.role(role_of(notes)))

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if self._is_key and self.opens_by_key and current.isValid():
            self.reveal(current.row())
        elif not self._is_quiet and current.isValid():
            self.current = self.table.data_row(current.row())
            self.reveal(current.row())
            self.chosen.emit(self.current)
        self.viewport().update()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()
        elif self.opens_by_key and is_enter and self.currentIndex().isValid():
            self.current = self.table.data_row(self.currentIndex().row())
            self.chosen.emit(self.current)
            self.viewport().update()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current >= 0:
            self.opened.emit(self.current)
        elif event.text().isprintable() and event.text():
            event.ignore()
        else:
            self._is_key = True
            super().keyPressEvent(event)
            self._is_key = False

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Move to the first or last row with Home or End, and show columns with Ctrl+Left or Ctrl+Right."""
        moves, here, last = QAbstractItemView.CursorAction, self.currentIndex(), self.table.rowCount() - 1
        if last >= 0 and (row := {moves.MoveHome: 0, moves.MoveEnd: last}.get(action)) is not None:
            return self.table.index(row, max(0, here.column()))
        if modifiers & Qt.KeyboardModifier.ControlModifier and action in (moves.MoveLeft, moves.MoveRight):
            bar, header = self.horizontalScrollBar(), self.header
            shown = (at for at in range(header.count()) if not self.isColumnHidden(at))
            starts = [header.sectionPosition(at) for at in shown]  # one of them comes to the left edge
            if action is moves.MoveRight:
                bar.setValue(min((x for x in starts if x > bar.value()), default=bar.maximum()))
            else:
                bar.setValue(max((x for x in starts if x < bar.value()), default=0))
            return here
        return super().moveCursor(action, modifiers)

    def focusInEvent(self, event: QtGui.QFocusEvent) -> None:
        """Choose nothing: without a current row, Qt makes the first row current."""
        was_quiet, self._is_quiet = self._is_quiet, True
        super().focusInEvent(event)
        self._is_quiet = was_quiet

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._set_hover(self.row_at(event.position().toPoint().y()))

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._set_hover(-1)
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QtGui.QHelpEvent):
            self._show_tip(event)
            return True
        return super().viewportEvent(event)

    def _show_tip(self, event: QtGui.QHelpEvent) -> None:
        row = self.row_at(event.pos().y())
        at = self.columnAt(event.pos().x())
        text = self.tip(row, self.table.columns[at].id) if row >= 0 and at >= 0 else ""
        show_tip(event.globalPos(), self.with_notes(row, text), self.viewport())

    def with_notes(self, row: int, tip: str) -> str:
        """Return a tooltip of a row, preceded by the notes on the row."""
        notes = self.notes_of(row) if row >= 0 else ()
        return joined("<br>", filter(None, (note_tip(notes), tip))) if notes else tip

    def _set_hover(self, row: int) -> None:
        if row == self.hover:
            return
        old, self.hover = self.hover, row
        for changed in (old, row):
            if changed >= 0:
                self.viewport().update(self.row_rect(changed))
        self.hovered.emit(row)

    def _restyle(self) -> None:
        least, self._mono = MIN_ROW, self.theme.mono
        if self.settings["look.dense_rows"]:
            least = grown(DENSE_ROW)
            while QFontMetrics(self._mono).height() > least and self._mono.pointSizeF() > SMALLEST_PT:
                self._mono.setPointSizeF(self._mono.pointSizeF() - 0.5)
        self._bold = QFont(self._mono)
        self._bold.setBold(True)
        metrics = QFontMetrics(self._mono)
        self.char_px = max(1.0, QFontMetricsF(self._mono).horizontalAdvance("0" * 64) / 64)
        height = max(least, metrics.height())
        self.baseline = (height + metrics.ascent() - metrics.descent() + 1) // 2
        bar, before = self.verticalScrollBar(), self.row_height
        top = bar.value() / max(1, before)
        self.verticalHeader().setMinimumSectionSize(height)
        self.verticalHeader().setDefaultSectionSize(height)
        if height != before:  # the visible rows stay
            self.updateGeometries()
            bar.setValue(round(top * height))
        self.widths.grow(self.char_px, is_anew=True)
        self.viewport().update()

    def save_state(self) -> dict[str, Any]:
        """Return columns and order, as plain JSON values."""
        sorting = self.table.sorting
        order = [sorting[0], sorting[1] == Qt.SortOrder.DescendingOrder] if sorting else self._saved_order
        return {"columns": self.widths.save(), "sort": order}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `save_state` returned, now or when there are columns."""
        if not isinstance(state, dict):  # of a file that anyone can edit
            return
        self.widths.load(state.get("columns"))
        self._saved_order = state.get("sort")
        self.widths.apply(self.char_px)
        self._sort_as_saved()

    def reset_columns(self) -> None:
        """Give all columns the places and widths that they have at first."""
        self.widths.reset()
        self.widths.apply(self.char_px)

    def _sort_as_saved(self) -> None:
        order = self._saved_order
        if isinstance(order, list) and len(order) == 2 and self.table.has_column(str(order[0])):
            down = Qt.SortOrder.DescendingOrder if order[1] else Qt.SortOrder.AscendingOrder
            self._saved_order = None
            self.header.setSortIndicator(self.table.column_of(str(order[0])), down)
