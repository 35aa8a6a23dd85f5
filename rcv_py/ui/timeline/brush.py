"""A window on a strip of the whole capture that can be dragged, resized, or drawn anew."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.spoken import SelectionVoice
from rcv_py.ui.timeline.grips import CURSORS, Grip, dragged, grip_at, paint_window
from rcv_py.ui.timeline.time_overlay import soft
from rcv_py.ui.timeline.time_plot import KEY_PAN, NOTCH, PER_NOTCH, SLOP_PX

RANGE_PX = 3  # height of the clock range, at the bottom


class BrushStrip(QWidget):
    """A strip of the whole capture with the visible window; a subclass paints the strip's content."""

    def __init__(self, ui: UiContext, height: int) -> None:
        super().__init__()
        self.ui, self.session = ui, ui.session
        self.outer, self.grip = TimeWindow(0, 1), Grip.NONE
        self._from, self._held = 0.0, self.outer  # start of a drag, and the window then
        self.setFixedHeight(height)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        session = self.session
        session.trace.watch(self._trace_changed)
        for cell in (session.view, session.selection, session.clock_range, session.bookmarks, session.hover):
            cell.watch(self._repaint)
        ui.theme.changed.connect(self.reshape)
        self._voice = SelectionVoice(self, session)

    def sizeHint(self) -> QSize:
        return QSize(600, self.height())

    def reshape(self) -> None:
        """Remake the content below the window: width, colours or data changed."""
        self.update()

    def _trace_changed(self) -> None:
        if (trace := self.session.trace.value) is not None:
            self.outer = self.session.outer(trace)
        self.reshape()

    def _repaint(self) -> None:
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.reshape()

    # -- places -----------------------------------------------------------------------------------------

    def x_of(self, time: float) -> float:
        """Return the position of a time."""
        return (time - self.outer.begin) / self.outer.width * self.width()

    def time_at(self, x: float) -> int:
        """Return the cycle at a position, inside the strip."""
        time = self.outer.begin + int(x * self.outer.width // max(1, self.width()))
        return min(max(time, self.outer.begin), self.outer.end)

    def grip_at(self, x: float, view: TimeWindow) -> Grip:
        """Return what a press at a position grabs."""
        return grip_at(x, self.x_of(view.begin), self.x_of(view.end), self.width())

    def _dragged(self, x: float) -> TimeWindow:
        """Return the window after a drag to a position."""
        return dragged(self.grip, self._held, self.time_at(self._from), self.time_at(x))

    def _is_click(self, x: float) -> bool:
        return abs(x - self._from) < SLOP_PX

    # -- painting ---------------------------------------------------------------------------------------

    def paint_range(self, painter: QPainter) -> None:
        """Paint the clock range and the time under the mouse."""
        window, hover = self.session.clock_range.value, self.session.hover.value
        if window is not None:
            left, right = self.x_of(window.begin), self.x_of(window.end)
            rect = QRectF(left, self.height() - RANGE_PX, max(2.0, right - left), RANGE_PX)
            painter.fillRect(rect, self.ui.theme.role("range"))
        if hover is not None and hover.time is not None:
            rect = QRectF(self.x_of(hover.time), 0, 1, self.height())
            painter.fillRect(rect, self.ui.theme.role("muted"))

    def paint_window(self, painter: QPainter, height: float) -> None:
        """Veil what is out of view and frame the window."""
        theme, view = self.ui.theme, self.session.view.value
        ink = soft(theme.role("window"), 170), theme.role("accent")
        box = QRectF(0, 0, self.width(), height)
        paint_window(painter, box, self.x_of(view.begin), self.x_of(view.end), ink)

    # -- mouse and keys ---------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Grab the window or an edge, or begin a new window."""
        if event.button() == Qt.MouseButton.LeftButton and self.session.trace.value is not None:
            self._from, self._held = event.position().x(), self.session.view.value
            self.grip = self.grip_at(self._from, self._held)
            self._point(self._from)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self.grip is Grip.NONE:
            self._point(x)
        elif not self._is_click(x) or self.grip is not Grip.NEW:
            self.session.set_view(self._dragged(x), commit=False)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Set the window; a click centers it here."""
        if self.grip is Grip.NONE:
            return
        x = event.position().x()
        centred = self._held.moved(self.time_at(x) - self._held.middle)
        window = centred if self._is_click(x) else self._dragged(x)
        self.grip = Grip.NONE
        self.session.set_view(window)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show everything."""
        self.grip = Grip.NONE
        self.session.fit_all()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the cursor."""
        at = self.time_at(event.position().x())
        view = self.session.view.value
        self.session.zoom(PER_NOTCH ** (event.angleDelta().y() / NOTCH), at if view.contains(at) else None)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -KEY_PAN, Qt.Key.Key_Right: KEY_PAN}.get(Qt.Key(event.key()))
        if step is None:
            event.ignore()
        else:
            self.session.pan(step)

    def leaveEvent(self, event: QEvent) -> None:
        self.unsetCursor()

    def _point(self, x: float) -> None:
        grip = self.grip_at(x, self.session.view.value)
        self.setCursor(CURSORS.get(grip, Qt.CursorShape.CrossCursor))
