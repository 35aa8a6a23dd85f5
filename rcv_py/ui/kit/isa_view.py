"""The instruction table: coloured text, cost bars, arrows in the gutter, tints that follow the session."""

from __future__ import annotations

import re

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QToolTip

from rcv_py.model.kinds import StallReason
from rcv_py.state.selection import SearchQuery
from rcv_py.ui.kit import arrow_gutter
from rcv_py.ui.kit.arrow_gutter import ArrowRows, Emphasis, Placed
from rcv_py.ui.kit.column_widths import PAD, Elastic
from rcv_py.ui.kit.cost_bars import draw_bar, mix
from rcv_py.ui.kit.isa_columns import IsaRows, isa_columns, isa_tip
from rcv_py.ui.kit.rows_view import Look, RowsView
from rcv_py.ui.kit.settings_store import Settings
from rcv_py.ui.kit.theme import Theme

BAR_INSET = 5  # px above and below a cost bar


class IsaView(RowsView):
    """Rows of the code table.  The panel says what is tinted, found, isolated; mouse and keys come out."""

    isolated = Signal(int)  # group of the clicked arrow
    jumped = Signal(int)  # data row at the other end of an arrow
    released = Signal()  # Escape while a wait is isolated

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, settings)
        self.rows: IsaRows | None = None
        self.same_source = np.empty(0, dtype=bool)  # rows from the selected source line
        self.hovered_source = np.empty(0, dtype=bool)
        self.marked: tuple[int, int] | None = None  # range of rows [first, stop)
        self.arrows = ArrowRows.none()
        self.arrow_tips: tuple[str, ...] = ()
        self.gutter_note = ""  # why there are no arrows
        self.isolated_row: int | None = None
        self._hovered_arrow = -1
        self._found = np.empty(0, dtype=bool)
        self._pattern: re.Pattern[str] | None = None
        self.setAccessibleName("Instructions")
        self.widths.elastic = Elastic("instruction", "cost", 160, 460, yields=("stall",))
        self.header.fixed = frozenset({"instruction"})
        self.cell_painters = {
            "instruction": self._paint_instruction,
            "cost": self._paint_cost,
            "reason": self._paint_reason,
        }

    # -- what to show -------------------------------------------------------------------------------

    def show_rows(self, rows: IsaRows) -> None:
        """Show these rows; order, selection and scroll position stay if it is the same program."""
        self.rows = rows
        count = len(rows.text)
        for name in ("same_source", "hovered_source", "_found"):
            if len(getattr(self, name)) != count:
                setattr(self, name, np.zeros(count, dtype=bool))
        self.show_columns(isa_columns(rows, self.settings["isa.bar_scale"]))

    def set_found(self, rows: np.ndarray, query: SearchQuery) -> None:
        """Highlight what a search found."""
        self._found = np.zeros(0 if self.rows is None else len(self.rows.text), dtype=bool)
        self._found[rows] = True
        self._pattern = _pattern(query)
        self.viewport().update()

    def set_arrows(self, arrows: ArrowRows, tips: tuple[str, ...], note: str) -> None:
        """Show other arrows; `tips` has one text an arrow, `note` says why there are none."""
        self.arrows, self.arrow_tips, self.gutter_note = arrows, tips, note
        self._hovered_arrow = -1
        self.viewport().update()

    # -- looks --------------------------------------------------------------------------------------

    def look(self, row: int) -> Look:
        """Labels are headings, rows that never ran are muted, related rows are tinted."""
        assert self.rows is not None
        code = self.rows.trace.code
        role = self.theme.role
        if code.is_label[row]:
            return Look(role("text"), role("raised"), True)
        ink = role("text") if self.rows.cost[row] or self.rows.costs.hits[row] else role("muted")
        return Look(ink, self._band(row))

    def _band(self, row: int) -> QColor | None:
        role = self.theme.role
        if self.hovered_source[row]:
            return role("hover")
        if self.marked is not None and self.marked[0] <= row < self.marked[1]:
            return mix(role("base"), role("accent"), 0.18)
        if self.same_source[row]:
            return mix(role("base"), role("accent"), 0.08)
        return None

    def tip(self, row: int, column: str) -> str:
        """Explain a row, or the gutter."""
        if self.rows is None:
            return ""
        if column == "gutter":
            return self._gutter_tip()
        if column == "place":
            return self.rows.place[row]
        return isa_tip(self.rows, row)

    def _gutter_tip(self) -> str:
        if 0 <= self._hovered_arrow < len(self.arrow_tips):
            return self.arrow_tips[self._hovered_arrow]
        if self.table.sorting is not None:
            return "Arrows are drawn in program order. Click the sorted header again to go back to it."
        return self.gutter_note

    # -- cells --------------------------------------------------------------------------------------

    def _paint_instruction(self, painter: QPainter, cell: QRect, row: int) -> None:
        assert self.rows is not None
        text, code = self.rows.text[row], self.rows.trace.code
        base, left = cell.top() + self.baseline, cell.left() + PAD
        room = self.chars_in(cell.width() - 2 * PAD)
        if self._found[row]:
            self._paint_found(painter, cell, text, room)
        if len(text) > room:
            text = text[: room - 1] + "…"
        if code.is_label[row]:
            painter.drawText(left, base, text)
            return
        word = text.find(" ")
        word = len(text) if word < 0 else word
        ink = painter.pen().color()
        painter.setPen(self.theme.kind(int(code.kind[row])))
        painter.drawText(left, base, text[:word])
        painter.setPen(ink)
        painter.drawText(QPointF(left + word * self.char_px, base), text[word:])

    def _paint_found(self, painter: QPainter, cell: QRect, text: str, room: int) -> None:
        if self._pattern is None:
            return
        color = mix(self.theme.role("base"), self.theme.role("search"), 0.4)
        for match in self._pattern.finditer(text):
            start, stop = match.start(), min(match.end(), room)
            if start < stop:
                left = cell.left() + PAD + start * self.char_px
                box = QRectF(left, cell.top() + 2, (stop - start) * self.char_px, cell.height() - 4)
                painter.fillRect(box, color)

    def _paint_cost(self, painter: QPainter, cell: QRect, row: int) -> None:
        rows = self.rows
        if rows is None or rows.trace.code.is_label[row] or not rows.cost[row]:
            return
        latency, stall = int(rows.costs.latency[row]), int(rows.costs.stall[row])
        stall = min(max(0, stall), latency)
        role = self.theme.role
        parts = (
            (stall, role("stall")),
            (latency - stall, role("issue")),
            (int(rows.cost[row]) - latency, role("idle")),
        )
        box = QRectF(cell).adjusted(PAD, BAR_INSET, -PAD, -BAR_INSET)
        draw_bar(painter, box, parts, rows.largest, self.settings["isa.bar_scale"])

    def _paint_reason(self, painter: QPainter, cell: QRect, row: int) -> None:
        assert self.rows is not None
        reason = int(self.rows.reason[row])
        if reason < 0:
            return
        mark = QRect(cell.left() + PAD, cell.top() + (cell.height() - 10) // 2, 10, 10)
        painter.fillRect(mark, self.theme.reason(reason if reason < len(StallReason) else 0))
        at = self.table.column_of("reason")
        self.draw_text(painter, cell.adjusted(14, 0, 0, 0), self.table.text(row, at), self.table.columns[at])

    # -- arrows -------------------------------------------------------------------------------------

    def gutter_rect(self) -> QRect:
        """The gutter in the viewport; empty if it is hidden."""
        at = self.table.column_of("gutter")
        if at < 0 or self.isColumnHidden(at):
            return QRect()
        return QRect(self.columnViewportPosition(at), 0, self.columnWidth(at), self.viewport().height())

    def placed_arrows(self) -> Placed:
        """The arrows that cross the viewport; none while rows are sorted."""
        arrows = self.arrows if self.table.sorting is None else ArrowRows.none()
        return arrow_gutter.place(
            arrows,
            self.table.view_rows,
            self.gutter_rect(),
            row_height=self.row_height,
            scroll=self.verticalScrollBar().value(),
            isolated=self.isolated_row,
        )

    def paint_over(self, painter: QPainter, first: int, last: int) -> None:
        """Paint the arrows."""
        box = self.gutter_rect()
        if box.isEmpty() or not len(self.arrows):
            return
        painter.setClipRect(box)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = [self.theme.arrow(number) for number in range(13)]
        emphasis = Emphasis(self.isolated_row, self.current, self._hovered_arrow)
        arrow_gutter.paint(painter, self.arrows, self.placed_arrows(), colors, emphasis)

    def arrow_at(self, position: QPoint) -> int:
        """The number of the arrow at a place of the viewport, -1 if there is none."""
        if not self.gutter_rect().contains(position):
            return -1
        return arrow_gutter.hit(self.placed_arrows(), position.x(), position.y())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow arrows as well as rows."""
        super().mouseMoveEvent(event)
        self._set_arrow(self.arrow_at(event.position().toPoint()))

    def event(self, event: QEvent) -> bool:
        """Claim Escape while a wait is isolated, before the window's own shortcut takes it."""
        is_key = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_key and self.isolated_row is not None:
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self.released.emit()
            return True
        return super().event(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Let go of the arrow when the mouse leaves."""
        if event.type() == QEvent.Type.Leave:
            self._set_arrow(-1)
        return super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """An arrow takes the click in front of its row: an end leads to the other, the middle isolates."""
        position = event.position().toPoint()
        number = self.arrow_at(position) if event.button() == Qt.MouseButton.LeftButton else -1
        if number < 0:
            super().mousePressEvent(event)
            return
        placed = self.placed_arrows()
        other = arrow_gutter.end_at(self.arrows, placed, number, position.y(), self.row_height)
        if other >= 0:
            self.jumped.emit(other)
        else:
            self.isolated.emit(int(self.arrows.group[number]))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A second click on an arrow is another click, not an order to open the row."""
        if self.arrow_at(event.position().toPoint()) < 0:
            super().mouseDoubleClickEvent(event)

    def _show_tip(self, event: QHelpEvent) -> None:
        if self.gutter_rect().contains(event.pos()):
            QToolTip.showText(event.globalPos(), self._gutter_tip(), self.viewport())
        else:
            super()._show_tip(event)

    def _set_arrow(self, number: int) -> None:
        if number != self._hovered_arrow:
            self._hovered_arrow = number
            pointing = number >= 0
            self.viewport().setCursor(
                Qt.CursorShape.PointingHandCursor if pointing else Qt.CursorShape.ArrowCursor
            )
            self.viewport().update(self.gutter_rect())


def _pattern(query: SearchQuery) -> re.Pattern[str] | None:
    if not query.text:
        return None
    flags = re.NOFLAG if query.is_case_sensitive else re.IGNORECASE
    try:
        return re.compile(query.text if query.is_regex else re.escape(query.text), flags)
    except (re.error, OverflowError, RecursionError):
        return None  # the search field says what is wrong with it
