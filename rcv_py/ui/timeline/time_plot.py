"""A plot over the session's time: ruler, window, and the shared gestures of wheel, drag and keys."""

from collections.abc import Callable
from enum import Enum

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QRegion, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsScene, QGraphicsView, QGraphicsWidget

from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import show_tip
from rcv_py.ui.core.spoken import SelectionVoice
from rcv_py.ui.core.times import Times
from rcv_py.ui.timeline.items import BoxItem, PlainAxis, PlotBox, TimeAxis, TimeScale
from rcv_py.ui.timeline.time_overlay import CURSORS, Grip, TimeOverlay, dragged, grip_at

NOTCH = 120  # units of one step of a wheel
PER_NOTCH = 0.8  # share of the time that a wheel step shows
KEY_ZOOM = 0.7
KEY_PAN = 0.15  # share of the view
FAR = 1e9  # shares of the view, limited by the trace
SLOP_PX = 4  # px: a press that moves less is a click
ROWS_PER_NOTCH = 60  # pixels

Keys = Qt.Key
Modifier = Qt.KeyboardModifier


Drag = Enum("Drag", "NONE PAN MEASURE RANGE BRUSH")  # the meaning of a press of the left or middle button
COMMIT_MS = 160  # ms after the last wheel step that the view counts as chosen


class TimePlot(QGraphicsView):
    """Follows and drives the session's view, or shows the whole capture with that view as a brush.

    In such an overview a drag moves, resizes or draws the brush; the wheel and the middle button change only
    what the overview shows.
    It holds a box with axes above and to the left of it.  A subclass makes `content` and `overlay`, calls
    `start`, and handles hover and clicks; it may also have rows to scroll.
    """

    range_measured = Signal()  # the end of a measuring drag
    content: BoxItem  # the drawn item
    overlay: TimeOverlay  # the item painted over it
    is_started = False
    drag = Drag.NONE
    _from = _last = QPointF()  # position of a press, and the end of its drag so far
    _left_over = 0.0  # of a pan, in cycles

    def __init__(self, ui: UiContext, left: PlainAxis, *, is_overview: bool = False) -> None:
        super().__init__()
        self.is_overview = is_overview
        self._own = self._whole_time = TimeWindow(0, 1)  # what an overview shows, and can show at most
        self.beside: TimePlot | None = None  # another overview, which shows the same time
        self._grip, self._held = Grip.NONE, self._own  # of the brush, and the brush at the press
        self.axis, self.left_axis, self.box = TimeAxis(ui.theme), left, PlotBox()
        self._whole = QGraphicsWidget()
        self.places = QGraphicsGridLayout(self._whole)
        self.places.setContentsMargins(0, 0, 0, 0)
        self.places.setSpacing(0)
        self.places.addItem(self.box, 1, 1)
        self.places.addItem(self.axis, 0, 1)
        self.places.addItem(left, 1, 0)
        self.setScene(QGraphicsScene(self))
        self.scene().addItem(self._whole)
        self.scene().setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)  # of a handful of items
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.ui, self.session = ui, ui.session
        self.viewport().setMouseTracking(True)
        self.setFrameShape(self.Shape.NoFrame)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_AcceptTouchEvents, False)

    def start(self) -> None:
        """Begin to follow the session; the overlay exists."""
        self.overlay.measure_text = self._measure_text
        self.overlay.has_brush = self.is_overview
        session = self.session
        zoom, pan = session.zoom, session.pan
        rows = ROWS_PER_NOTCH / 2
        self._keys: dict[Qt.Key, Callable[[], object]] = {
            Keys.Key_W: lambda: zoom(KEY_ZOOM), Keys.Key_S: lambda: zoom(1 / KEY_ZOOM),
            Keys.Key_Up: lambda: self.scroll_rows(-rows), Keys.Key_Down: lambda: self.scroll_rows(rows),
            Keys.Key_A: lambda: pan(-KEY_PAN), Keys.Key_Left: lambda: pan(-KEY_PAN),
            Keys.Key_D: lambda: pan(KEY_PAN), Keys.Key_Right: lambda: pan(KEY_PAN),
            Keys.Key_Home: lambda: pan(-FAR), Keys.Key_End: lambda: pan(FAR),
            Keys.Key_F: session.fit_selection, Keys.Key_0: session.fit_all,
            Keys.Key_Comma: lambda: session.step_token(-1), Keys.Key_Period: lambda: session.step_token(1),
            Keys.Key_BracketLeft: lambda: session.step_hit(-1),
            Keys.Key_BracketRight: lambda: session.step_hit(1),
            Keys.Key_M: session.measure_from, Keys.Key_Escape: self._dismiss,
        }  # fmt: skip
        self._commit = self.ui.scheduler.request(self, lambda: session.set_view(session.view.value))
        session.view.watch(self._paint_marks if self.is_overview else self._view_changed)
        session.trace.watch(self._trace_changed)
        marks = (
            session.hover, session.measure, session.clock_range, session.bookmarks, session.selection,
            session.notes.shown,
        )  # fmt: skip
        for cell in marks:
            cell.watch(self._paint_marks)
        self.ui.theme.changed.connect(self._theme_changed)
        self.ui.settings.cell("timeline.units").watch(self._view_changed)
        self._theme_changed()
        self._voice = SelectionVoice(self, session)
        self._trace_changed()
        self.is_started = True

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """Fill the background that the picture does not cover."""
        below = QRegion(QRectF(rect).toAlignedRect())
        if self.content.covers:  # to the nearest pixel of the screen
            below -= QRegion(self.plot_rect().adjusted(1, 1, -1, -1))
        painter.save()
        painter.setClipRegion(below, Qt.ClipOperation.IntersectClip)
        painter.fillRect(rect, self.backgroundBrush())
        painter.restore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fill the view, and set the session's width of the visible time."""
        super().resizeEvent(event)
        self.setSceneRect(self.rect())  # with the frame, which only takes colour with the focus
        self._whole.setGeometry(self.sceneRect())
        if self.isVisible() and not self.is_overview:
            self.session.plot_px = max(1, round(self.plot_width()))

    def hover_at(self, at: QPointF, on_screen: QPointF) -> None:
        """Handle a mouse move without a button inside the plot."""

    def hover_ended(self) -> None:
        """Handle the mouse leaving the plot."""

    def clicked(self, at: QPointF, is_double: bool) -> None:
        """Select what is at the point."""

    def measured(self, window: TimeWindow) -> str:
        """Return text added to the numbers of a measured range."""
        return ""

    def scroll_rows(self, by_px: float) -> None:
        """Move the rows up by a number of pixels, if there are rows."""

    def set_measure_row(self, y: float) -> None:
        """Store the row whose tokens a measured range counts, if there are rows."""

    def plot_width(self) -> float:
        """Return the pixels that show the window."""
        return max(1.0, self.box.width())

    def plot_rect(self) -> QRect:
        """Return the rectangle of the picture, in widget pixels."""
        box = self.box
        return box.mapRectToScene(box.boundingRect()).toRect()

    def time_at(self, x: float) -> int:
        """Return the cycle at a position of the widget."""
        window = self.axis.shown
        inside = x - self.box.scenePos().x()
        return window.begin + int(inside * window.width // self.plot_width())

    def pixel_at(self, time: int) -> TimeWindow:
        """Return the cycles of a pixel that starts at the given cycle."""
        return TimeWindow(time, time + -(-self.axis.shown.width // int(self.plot_width())))

    def x_of(self, time: float) -> float:
        """Return the position of a time in the widget."""
        window = self.axis.shown
        left = self.box.scenePos().x()
        return left + (time - window.begin) / window.width * self.plot_width()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the cursor; Shift scrolls rows; sideways pans."""
        x, y = event.angleDelta().x(), event.angleDelta().y()
        if event.modifiers() & Modifier.ShiftModifier:
            self.scroll_rows(-(y or x) / NOTCH * ROWS_PER_NOTCH)
        elif event.modifiers() & Modifier.AltModifier or abs(x) > abs(y):  # Alt swaps the axes in Qt
            self._set_view(self.view.moved(round(-(x or y) / NOTCH * KEY_PAN * self.view.width)))
        else:
            at = self.time_at(event.position().x())
            self._set_view(self.view.zoomed(PER_NOTCH ** (y / NOTCH), at))
        self._commit.ask(COMMIT_MS)
        event.accept()

    def viewportEvent(self, event: QEvent) -> bool:
        """Keep the tip while the mouse rests: Qt then asks the scene for a tip, which hides ours."""
        return event.type() == QEvent.Type.ToolTip or super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a drag: Shift measures, Alt chooses the clock range."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        event.setAccepted(event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton))
        if not event.isAccepted():
            return
        self._from = self._last = event.position()
        self._left_over = 0.0
        held = event.modifiers()
        self.drag = Drag.RANGE if held & Modifier.AltModifier else Drag.PAN
        if held & Modifier.ShiftModifier:
            self.drag = Drag.MEASURE
            self.set_measure_row(event.position().y())
        elif self.is_overview and self.drag is Drag.PAN and event.button() == Qt.MouseButton.LeftButton:
            self.drag, self._held = Drag.BRUSH, self.session.view.value
            self._grip = self._grip_at(self._from.x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if self.drag is not Drag.NONE and not self._is_click(at):
            self._drag_to(at)
            show_tip(QPoint(), "", self)
        elif not event.buttons():
            if self.is_overview:
                self.viewport().setCursor(CURSORS.get(self._grip_at(at.x()), Qt.CursorShape.ArrowCursor))
            if self.plot_rect().contains(at.toPoint()):
                self.hover_at(at, event.globalPosition())
            else:
                self.hover_ended()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        drag, self.drag = self.drag, Drag.NONE
        if drag is Drag.RANGE:
            self.session.clock_range.set(self.overlay.preview)
            self._preview(None)
        elif drag is not Drag.NONE and not self._is_click(event.position()):
            self.session.set_view(self.session.view.value)
            if drag is Drag.MEASURE:
                self.range_measured.emit()
        elif drag in (Drag.PAN, Drag.BRUSH):
            self.clicked(event.position(), is_double=False)
        elif drag is Drag.MEASURE:
            self._dismiss()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.drag = Drag.NONE
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked(event.position(), is_double=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        others = Modifier.ControlModifier | Modifier.AltModifier | Modifier.MetaModifier
        action = None if event.modifiers() & others else self._keys.get(Keys(event.key()))
        event.setAccepted(action is not None)
        if action is not None:
            action()

    def _dismiss(self) -> None:
        self.session.measure.set(None)
        self.session.between.set(None)

    def _is_click(self, at: QPointF) -> bool:
        """Return whether the pointer is still where it was pressed."""
        moved = at - self._from
        return self._last == self._from and max(abs(moved.x()), abs(moved.y())) < SLOP_PX

    def _grip_at(self, x: float) -> Grip:
        view = self.session.view.value
        return grip_at(x, self.x_of(view.begin), self.x_of(view.end), self.plot_width())

    def _drag_to(self, at: QPointF) -> None:
        before, self._last = self._last, at
        start, time = self.time_at(self._from.x()), self.time_at(at.x())
        window = TimeWindow(*sorted((start, time)))
        if self.drag is Drag.BRUSH:
            self.session.set_view(dragged(self._grip, self._held, start, time), commit=False)
        elif self.drag is Drag.MEASURE:
            self.session.measure.set(window)
        elif self.drag is Drag.RANGE:
            self._preview(window)
        else:
            view = self.view
            cycles = (before.x() - at.x()) * view.width / self.plot_width() + self._left_over
            self._set_view(view.moved(round(cycles)))
            self._left_over = cycles - round(cycles)
            self.scroll_rows(before.y() - at.y())

    def _preview(self, window: TimeWindow | None) -> None:
        self.overlay.preview = window
        self.overlay.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.hover_ended()
        self.session.hover.set(None)

    @property
    def view(self) -> TimeWindow:
        """Return the shown time."""
        return self._own if self.is_overview else self.session.view.value

    def _set_view(self, window: TimeWindow) -> None:
        """Show other time during a gesture."""
        if not self.is_overview:
            self.session.set_view(window, commit=False)
        elif self.session.trace.value is not None:
            self._own = self.session.fitted(window, self._whole_time)
            self._view_changed()
            if self.beside is not None:
                self.beside._own = self._own
                self.beside._view_changed()

    def _trace_changed(self) -> None:
        trace = self.session.trace.value
        if trace is None:
            self._view_changed()
        else:
            self.show_whole(self.session.outer(trace))

    def show_whole(self, window: TimeWindow) -> None:
        """Show all of a time, beyond which an overview shows nothing."""
        self._own = self._whole_time = window
        self._view_changed()

    def _view_changed(self) -> None:
        times = Times.of(self.session.trace.value, self.ui.settings)
        self.axis.scale_of_time = TimeScale(times.origin, times.ns_per_cycle)
        self.axis.shown = self.content.shown = self.overlay.shown = self.view
        self._repaint()

    def _paint_marks(self) -> None:
        self.overlay.update()

    def _theme_changed(self) -> None:
        self.setBackgroundBrush(self.ui.theme.role("canvas"))
        for axis in (self.axis, self.left_axis):
            axis.fit_text()
        self.content.forget()
        self._repaint()

    def _repaint(self) -> None:
        for item in (self.overlay, self.axis, self.left_axis, self.content):
            item.update()

    def _measure_text(self, window: TimeWindow) -> str:
        trace = self.session.trace.value
        parts = [] if trace is None else [Times.of(trace, self.ui.settings).both(window.width)]
        more = self.measured(window)
        return " · ".join([*parts, more] if more else parts)
