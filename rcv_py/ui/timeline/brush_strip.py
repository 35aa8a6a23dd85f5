"""A strip of the whole capture with the visible window on it, to be dragged: for every widget that is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QWidget

from rcv_py.state.session import Session
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.timeline.brush import Brush, Grip
from rcv_py.ui.timeline.pan_zoom import NOTCH, PER_NOTCH

CURSORS = {
    Grip.BEGIN: Qt.CursorShape.SizeHorCursor,
    Grip.END: Qt.CursorShape.SizeHorCursor,
    Grip.BODY: Qt.CursorShape.OpenHandCursor,
}


# Two bases of Qt mix up the signals of a class: for the type checker this is a widget, in truth beside one.
if TYPE_CHECKING:
    _Base = QWidget
else:
    _Base = object


class BrushStrip(_Base):
    """Gestures and the look of the window, for a widget that has `brush`, `session` and `ui`."""

    brush: Brush
    session: Session
    ui: UiContext

    def paint_window(self, painter: QPainter, height: float) -> None:
        """Veil what is out of view and frame what is in it."""
        theme = self.ui.theme
        left, right = (
            self.brush.x_of(time) for time in (self.session.view.value.begin, self.session.view.value.end)
        )
        right = max(right, left + 2)
        veil = QColor(theme.role("window"))
        veil.setAlpha(170)
        painter.fillRect(QRectF(0, 0, left, height), veil)
        painter.fillRect(QRectF(right, 0, self.brush.width_px - right, height), veil)
        accent, grip = theme.role("accent"), min(14.0, height - 4)
        for x in (left, right - 1):
            painter.fillRect(QRectF(x, 0, 1, height), accent)
            painter.fillRect(QRectF(x - 1, (height - grip) / 2, 3, grip), accent)
        painter.fillRect(QRectF(left, 0, right - left, 1), accent)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the window, of an edge, or begin a new window."""
        if event.button() == Qt.MouseButton.LeftButton and self.session.trace.value is not None:
            self.brush.press(event.position().x(), self.session.view.value)
            self._point(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move what is held."""
        x = event.position().x()
        if self.brush.grip is Grip.NONE:
            self._point(event.position())
        elif not self.brush.is_click(x) or self.brush.grip is not Grip.NEW:
            self.session.set_view(self.brush.drag(x), commit=False)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the window; a click brings its middle here."""
        if self.brush.grip is Grip.NONE:
            return
        x = event.position().x()
        window = self.brush.centred(x) if self.brush.is_click(x) else self.brush.drag(x)
        self.brush.grip = Grip.NONE
        self.session.set_view(window)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show everything."""
        self.brush.grip = Grip.NONE
        self.session.fit_all()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the cursor."""
        at = self.brush.time_at(event.position().x())
        view = self.session.view.value
        self.session.zoom(PER_NOTCH ** (event.angleDelta().y() / NOTCH), at if view.contains(at) else None)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pan with the arrows."""
        step = {Qt.Key.Key_Left: -0.15, Qt.Key.Key_Right: 0.15}.get(Qt.Key(event.key()))
        if step is None:
            event.ignore()
        else:
            self.session.pan(step)

    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is pointed at."""
        self.unsetCursor()

    def _point(self, at: QPointF) -> None:
        grip = self.brush.grip_at(at.x(), self.session.view.value)
        self.setCursor(CURSORS.get(grip, Qt.CursorShape.CrossCursor))
