"""A plot over the session's time: ruler, gestures and the window, whatever is drawn in it."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRect, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent

from rcv_py.base.text import nanoseconds
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.plain_text import hide_tip
from rcv_py.ui.timeline.pan_zoom import PanZoom
from rcv_py.ui.timeline.time_axis import TimeAxis, TimeScale
from rcv_py.ui.timeline.time_overlay import TimeOverlay

COMMIT_MS = 160  # after the last wheel step the view counts as chosen


class QuietBox(pg.ViewBox):
    """A view box that leaves the mouse alone."""

    def __init__(self) -> None:
        super().__init__(enableMouse=False, enableMenu=False, defaultPadding=0.0)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.setAcceptHoverEvents(False)

    def wheelEvent(self, event: object, axis: object = None) -> None:
        """Leave it to the widget."""


class TimePlot(pg.PlotWidget):
    """Follows and drives the session's view.  Its x axis counts from the trace's begin, so that Qt sees
    small numbers only.

    A subclass makes `overlay` and what it draws, calls `start`, and says what a repaint, a hover and a click
    are; it may also have rows to scroll.
    """

    overlay: TimeOverlay

    def __init__(self, ui: UiContext, left: pg.AxisItem) -> None:
        self.axis = TimeAxis(ui.theme)
        self.left_axis = left
        box = QuietBox()
        super().__init__(viewBox=box, axisItems={"top": self.axis, "left": left})
        self.box = box
        self.ui, self.session = ui, ui.session
        self.hideButtons()
        self.hideAxis("bottom")
        self.showAxis("top")
        self.showAxis("left")
        self.getPlotItem().layout.setContentsMargins(0, 0, 0, 0)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(self.Shape.NoFrame)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_AcceptTouchEvents, False)

    def start(self) -> None:
        """Begin to follow the session; the overlay is there."""
        self.overlay.measure_text = self._measure_text
        self.gestures = PanZoom(self.session, self)
        self._commit = QTimer(self)
        self._commit.setSingleShot(True)
        self._commit.timeout.connect(self._commit_view)
        session = self.session
        session.view.watch(self._view_changed)
        session.trace.watch(self._view_changed)
        for cell in (session.hover, session.measure, session.clock_range, session.bookmarks):
            cell.watch(self._marks_changed)
        session.selection.watch(self._marks_changed)
        self.ui.theme.changed.connect(self._theme_changed)
        self.ui.settings.cell("timeline.units").watch(self._view_changed)
        self._theme_changed()
        self._view_changed()

    # -- what a subclass says ---------------------------------------------------------------------------

    def repaint_all(self) -> None:
        """Paint everything again: window, colours or content are others."""

    def show_window(self, window: TimeWindow) -> None:
        """Take over the window before a repaint."""

    def forget_colors(self) -> None:
        """The theme is another one: what was painted before must not be used again."""

    def hover_at(self, at: QPointF, on_screen: QPointF) -> None:
        """The mouse moved, no button held, inside the plot."""

    def hover_ended(self) -> None:
        """The mouse is elsewhere."""

    def clicked(self, at: QPointF, is_double: bool) -> None:
        """Select what is there."""

    def measured(self, window: TimeWindow) -> str:
        """Add to the numbers of a measure."""
        return ""

    def scroll_rows(self, by_px: float) -> None:
        """Move the rows up by so many pixels, if there are rows."""

    def set_measure_row(self, y: float) -> None:
        """Remember whose tokens a measure counts, if there are rows."""

    def preview_range(self, window: TimeWindow | None) -> None:
        """Show the clock range that a drag would set."""
        self.overlay.preview = window
        self.overlay.update()

    # -- geometry ---------------------------------------------------------------------------------------

    def plot_width(self) -> float:
        """Pixels that show the window."""
        return max(1.0, self.box.width())

    def plot_rect(self) -> QRect:
        """Where the picture is, in widget pixels."""
        box = self.box
        return box.mapRectToScene(box.boundingRect()).toRect()

    def time_at(self, x: float) -> int:
        """The cycle at a position of the widget."""
        window = self.axis.shown
        inside = x - self.box.scenePos().x()
        return window.begin + int(inside * window.width // self.plot_width())

    def pixel_at(self, time: int) -> TimeWindow:
        """The cycles that share a pixel with the given one, from it on."""
        return TimeWindow(time, time + -(-self.axis.shown.width // int(self.plot_width())))

    def x_of(self, time: float) -> float:
        """Position of a time in the widget."""
        window = self.axis.shown
        left = self.box.scenePos().x()
        return left + (time - window.begin) / window.width * self.plot_width()

    # -- events -----------------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom, pan or scroll."""
        self.gestures.wheel(event)
        self._commit.start(COMMIT_MS)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a gesture."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        event.setAccepted(self.gestures.press(event))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go on with a gesture, or hover."""
        if self.gestures.move(event):
            hide_tip()
        elif not event.buttons():
            if self.plot_rect().contains(event.position().toPoint()):
                self.hover_at(event.position(), event.globalPosition())
            else:
                self.hover_ended()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a gesture."""
        self.gestures.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Fill the view with what is there."""
        self.gestures.double_click(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move by keys."""
        if self.gestures.key(event):
            event.accept()
        else:
            event.ignore()

    def leaveEvent(self, event: QEvent) -> None:
        """Hover nothing."""
        self.hover_ended()
        self.session.hover.set(None)

    # -- watching ---------------------------------------------------------------------------------------

    def _view_changed(self) -> None:
        trace, view = self.session.trace.value, self.session.view.value
        origin = 0 if trace is None else trace.span.begin
        rate = 0.0
        if trace is not None and self.ui.settings["timeline.units"] == "ns":
            rate = trace.clock.ns(1.0) or 0.0
        self.axis.scale_of_time = TimeScale(origin, rate)
        self.axis.shown = view
        self.show_window(view)
        self.box.setXRange(view.begin - origin, view.end - origin, padding=0)
        self._repaint()

    def _marks_changed(self) -> None:
        self.overlay.update()

    def _theme_changed(self) -> None:
        self.setBackground(self.ui.theme.role("canvas"))
        self.forget_colors()
        self._repaint()

    def _repaint(self) -> None:
        for item in (self.overlay, self.axis, self.left_axis):
            item.update()
        self.repaint_all()

    def _commit_view(self) -> None:
        self.session.set_view(self.session.view.value)

    def _measure_text(self, window: TimeWindow) -> str:
        trace = self.session.trace.value
        length = None if trace is None else trace.clock.ns(window.width)
        parts = [f"{window.width:,} cycles"]
        if length is not None:
            parts.append(nanoseconds(length))
        more = self.measured(window)
        return " · ".join([*parts, more] if more else parts)
