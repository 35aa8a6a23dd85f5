"""Dragging an instruction up the listing, to try it there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QApplication

from rcv_py.ui.core.plain_text import hide_tip, show_tip
from rcv_py.ui.panels.isa.view import IsaView

SCROLL_MS = 50  # between two rows, while the mouse is at an edge
ARROW_PX = 5


class RowDrag(QObject):
    """Watches the mouse over a listing; rows are code rows.

    A drag begins on the text of an instruction; one that begins on numbers selects rows.  `why_not` says why
    an instruction cannot stand before another, "" if it can.
    """

    dropped = Signal(int, int)  # an instruction, and before which one
    refused = Signal(str)  # dropped where it cannot stand, and why

    def __init__(self, view: IsaView, why_not: Callable[[int, int], str]) -> None:
        super().__init__(view)
        self.why_not = why_not
        self.row = self.before = -1  # while it is dragged
        self.why = ""
        self._view = view
        self._pressed, self._began = -1, QPoint()
        self._at = QPoint()
        self._scroll = QTimer(self, interval=SCROLL_MS)
        self._scroll.timeout.connect(self._scroll_on)
        view.viewport().installEventFilter(self)
        view.installEventFilter(self)

    @property
    def is_on(self) -> bool:
        """Whether an instruction is being dragged."""
        return self.row >= 0

    # -- events -------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what belongs to a drag."""
        kind = event.type()
        if isinstance(event, QMouseEvent) and watched is self._view.viewport():
            if kind == QEvent.Type.MouseMove:
                return self._move(event)
            elif kind == QEvent.Type.MouseButtonRelease:
                return self._release()
        if self.is_on and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            if kind == QEvent.Type.KeyPress:
                self.cancel()
            return True
        return False

    def press(self, event: QMouseEvent) -> None:
        """Remember where the mouse was pressed: a drag may follow."""
        view, position = self._view, event.position().toPoint()
        is_plain = event.button() == Qt.MouseButton.LeftButton and not event.modifiers()
        row = view.table.data_row(view.view_row_at(position.y()))
        is_text = view.column_rect("text").contains(position) and view.heading_at(position) is None
        self._began, self._pressed = position, -1
        if is_plain and is_text and row >= 0 and view.can_drag(row):
            self._pressed = row

    def _move(self, event: QMouseEvent) -> bool:
        if self._pressed < 0:
            return False
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self.cancel()
            return False
        self._at = event.position().toPoint()
        far = abs(self._at.y() - self._began.y())
        if not self.is_on and far < max(QApplication.startDragDistance(), self._view.row_height // 2):
            return True  # else Qt would extend the selection
        if not self.is_on:
            self.row = self._pressed
            self._view.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        self._follow()
        return True

    def _release(self) -> bool:
        was_on, row, before, why = self.is_on, self.row, self.before, self.why
        self.cancel()
        if was_on and before >= 0:
            if why:
                self.refused.emit(why)
            else:
                self.dropped.emit(row, before)
        return was_on

    def cancel(self) -> None:
        """Drag nothing any more."""
        was_on, self._pressed = self.is_on, -1
        self.row = self.before = -1
        self.why = ""
        self._scroll.stop()
        if was_on:
            hide_tip()
            self._view.viewport().setCursor(Qt.CursorShape.ArrowCursor)
            self._view.viewport().update()

    def _follow(self) -> None:
        """Find the place under the mouse, and say what a drop there would mean."""
        view, height = self._view, self._view.row_height
        view_row = view.view_row_at(self._at.y() + height // 2)
        self.before = view.table.data_row(view_row)
        if self.before >= 0:
            self.why = self.why_not(self.row, self.before)
            title = f"Instruction {self.row} before {self.before}"
            text = f"{title}: let go to try it." if not self.why else f"Not before {self.before}. {self.why}"
            show_tip(view.viewport().mapToGlobal(self._at), text, view.viewport())
        top, bottom = view.covered_px, view.viewport().height()
        is_at_edge = self._at.y() < top + height // 2 or self._at.y() > bottom - height // 2
        if is_at_edge and not self._scroll.isActive():
            self._scroll.start()
        elif not is_at_edge:
            self._scroll.stop()
        view.viewport().update()

    def _scroll_on(self) -> None:
        view = self._view
        up = self._at.y() < view.viewport().height() // 2
        bar = view.verticalScrollBar()
        bar.setValue(bar.value() + (-view.row_height if up else view.row_height))
        self._follow()

    # -- painting -----------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        """Paint where the instruction would stand, and the way up to it."""
        view = self._view
        row, before = view.table.view_row(self.row), view.table.view_row(self.before)
        if not self.is_on or before < 0:
            return
        box = view.column_rect("text")
        color = view.theme.role("error" if self.why else "accent")
        y, x = view.row_top(before), box.left() + 1
        painter.setPen(QPen(color, 2, Qt.PenStyle.DashLine if self.why else Qt.PenStyle.SolidLine))
        painter.drawLine(box.left(), y, box.right(), y)
        if row >= 0:
            faint = view.theme.role("muted")
            painter.setPen(QPen(faint, 1, Qt.PenStyle.DotLine))
            painter.drawRect(QRectF(box.left(), view.row_top(row), box.width() - 1, view.row_height - 1))
            painter.setPen(QPen(color, 1))
            painter.drawLine(x, y, x, view.row_top(row) + view.row_height // 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        tip = [(x - ARROW_PX, y - ARROW_PX), (x + ARROW_PX, y), (x - ARROW_PX, y + ARROW_PX)]
        painter.drawPolygon(QPolygonF([QPointF(*point) for point in tip]))
