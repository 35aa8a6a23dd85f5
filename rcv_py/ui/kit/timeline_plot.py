"""The widget under every timeline: ruler, names, rows, overlay and scroll bar, tied to the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QScrollBar, QToolTip, QWidget

from rcv_py.base.text import nanoseconds
from rcv_py.model.window import TimeWindow
from rcv_py.ui.kit.context import UiContext
from rcv_py.ui.kit.overlay import Marks, Overlay
from rcv_py.ui.kit.pan_zoom import PanZoom
from rcv_py.ui.kit.row_labels import RowLabels
from rcv_py.ui.kit.rows_item import RowsItem, RowSource
from rcv_py.ui.kit.time_axis import TimeAxis, TimeScale

COMMIT_MS = 160  # after the last wheel step the view counts as chosen


class Guide(Protocol):
    """What a panel says about its rows: exact answers, from tables and never from pixels."""

    def marks(self) -> Marks:
        """What to mark over the rows."""

    def tip(self, row: int, time: int, pixel: TimeWindow, is_strip: bool) -> str:
        """Rich text about what is there, "" for nothing."""

    def hovered(self, row: int, time: int) -> None:
        """Tell the session what the mouse is over; row -1: nothing."""

    def clicked(self, row: int, time: int, is_double: bool) -> None:
        """Select what is there."""

    def measured(self, window: TimeWindow, row: int) -> str:
        """Add to the numbers of a measure, e.g. how many tokens it holds in a row."""


class QuietBox(pg.ViewBox):
    """A view box that leaves the mouse alone."""

    def __init__(self) -> None:
        super().__init__(enableMouse=False, enableMenu=False, defaultPadding=0.0)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.setAcceptHoverEvents(False)

    def wheelEvent(self, event: object, axis: object = None) -> None:
        """Leave it to the widget."""


class TimelinePlot(pg.PlotWidget):
    """Rows over time.  Its x axis counts from the trace's begin, so that Qt sees small numbers only."""

    scrolled = Signal()

    def __init__(self, ui: UiContext, source: RowSource, guide: Guide) -> None:
        self.axis = TimeAxis(ui.theme)
        self._labels = RowLabels(ui.theme)
        box = QuietBox()
        super().__init__(viewBox=box, axisItems={"top": self.axis, "left": self._labels})
        self.box = box
        self.ui, self.session, self.guide = ui, ui.session, guide
        self._measure_row = -1
        self.band_y = -1.0  # how many pixels below the top of its row's band the mouse is; -1: elsewhere
        self.menu: Callable[[int, int], Sequence[tuple[str, Callable[[], None]]]] | None = None
        self.depth = -1.0  # where in its row the mouse is, from 0 at the top of the spans to 1; -1: nowhere
        self._set_up_plot()
        self.rows = RowsItem(box, ui.theme)
        self.rows.source = source
        self.rows.grid = self.axis.grid_px
        self._labels.rows = self.rows
        self.overlay = Overlay(box, self.rows, ui.session, ui.theme)
        self.overlay.marks = guide.marks
        self.overlay.measure_text = self._measure_text
        self.gestures = PanZoom(ui.session, self)
        self._commit = QTimer(self)
        self._commit.setSingleShot(True)
        self._commit.timeout.connect(self._commit_view)
        self._watch()
        self._theme_changed()
        self._view_changed()

    def _set_up_plot(self) -> None:
        self.hideButtons()
        self.hideAxis("bottom")
        self.showAxis("top")
        self.showAxis("left")
        self.getPlotItem().layout.setContentsMargins(0, 0, 0, 0)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(self.Shape.NoFrame)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_AcceptTouchEvents, False)

    def _watch(self) -> None:
        session = self.session
        session.view.watch(self._view_changed)
        session.trace.watch(self._view_changed)
        for cell in (session.hover, session.measure, session.clock_range, session.bookmarks):
            cell.watch(self._marks_changed)
        session.selection.watch(self._marks_changed)
        self.ui.theme.changed.connect(self._theme_changed)
        self.ui.settings.cell("timeline.units").watch(self._view_changed)

    # -- geometry ---------------------------------------------------------------------------------------

    def plot_width(self) -> float:
        """Pixels that show the window."""
        return max(1.0, self.box.width())

    def plot_rect(self) -> QRect:
        """Where the rows are, in widget pixels."""
        box = self.box
        return box.mapRectToScene(box.boundingRect()).toRect()

    def time_at(self, x: float) -> int:
        """The cycle at a position of the widget."""
        window = self.rows.shown
        inside = x - self.box.scenePos().x()
        return window.begin + int(inside * window.width // self.plot_width())

    def pixel_at(self, time: int) -> TimeWindow:
        """The cycles that share a pixel with the given one, from it on."""
        return TimeWindow(time, time + -(-self.rows.shown.width // int(self.plot_width())))

    def x_of(self, time: float) -> float:
        """Position of a time in the widget."""
        window = self.rows.shown
        left = self.box.scenePos().x()
        return left + (time - window.begin) / window.width * self.plot_width()

    def row_at(self, y: float) -> tuple[int, bool]:
        """The row at a position, -1 if there is none, and whether it is the row's strip of states."""
        source = self.rows.source
        inside = y - self.box.scenePos().y() + self.rows.scroll_px
        if source is None or y < self.box.scenePos().y():
            return -1, False
        row, rest = divmod(inside, source.shape.pitch)
        shape = source.shape
        if not 0 <= row < len(source) or rest >= shape.pitch - shape.gap:
            return -1, False
        return int(row), shape.spans <= rest < shape.spans + shape.strip

    def y_of(self, row: int) -> float:
        """The middle of a row's spans in the widget."""
        shape = self.rows.source.shape
        return self.box.scenePos().y() + row * shape.pitch - self.rows.scroll_px + shape.spans / 2

    def _look_at(self, y: float) -> None:
        """Remember where in its row a position is."""
        self.depth = self.band_y = -1.0
        source = self.rows.source
        if source is None:
            return
        shape = source.shape
        inside = (y - self.box.scenePos().y() + self.rows.scroll_px) % shape.pitch
        if 0 <= inside < shape.spans:
            self.depth = inside / shape.spans
        elif 0 <= inside - shape.spans - shape.strip < shape.band:
            self.band_y = inside - shape.spans - shape.strip

    def content_height(self) -> int:
        """Pixels that all rows need."""
        source = self.rows.source
        return 0 if source is None else len(source) * source.shape.pitch

    # -- rows -------------------------------------------------------------------------------------------

    def scroll_rows(self, by_px: float) -> None:
        """Move the rows up by so many pixels."""
        self.set_scroll(self.rows.scroll_px + by_px)

    def set_scroll(self, to_px: float) -> None:
        """Put the given pixel of the content at the top, as far as there is content."""
        most = max(0.0, self.content_height() - self.box.height())
        scroll = min(max(0.0, to_px), most)
        if scroll != self.rows.scroll_px:
            self.rows.scroll_px = scroll
            self._repaint()
            self.scrolled.emit()

    def reveal_row(self, row: int) -> None:
        """Scroll only as far as needed to see a row."""
        source = self.rows.source
        if source is None or row < 0:
            return
        top, height = row * source.shape.pitch, self.box.height()
        if top < self.rows.scroll_px:
            self.set_scroll(top)
        elif top + source.shape.pitch > self.rows.scroll_px + height:
            self.set_scroll(top + source.shape.pitch - height)

    def rows_changed(self) -> None:
        """Paint again: the source has other rows."""
        self.set_scroll(self.rows.scroll_px)
        self._repaint()
        self.scrolled.emit()

    def set_measure_row(self, y: float) -> None:
        """Remember whose tokens a measure counts."""
        self._measure_row = self.row_at(y)[0]

    def preview_range(self, window: TimeWindow | None) -> None:
        """Show the clock range that a drag would set."""
        self.overlay.preview = window
        self.overlay.update()

    def clicked(self, at: QPointF, is_double: bool) -> None:
        """Hand a click to the panel."""
        row, _ = self.row_at(at.y())
        self._look_at(at.y())
        self.guide.clicked(row, self.time_at(at.x()), is_double)

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
            QToolTip.hideText()
        elif not event.buttons():
            self._hover(event.position(), event.globalPosition())

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

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what the panel can do with what is there."""
        at = event.pos()
        if self.menu is None or not self.plot_rect().contains(at):
            return
        self._look_at(at.y())
        actions = self.menu(self.row_at(at.y())[0], self.time_at(at.x()))
        if actions:
            menu = QMenu(self)
            for title, call in actions:
                menu.addAction(title).triggered.connect(call)
            menu.popup(event.globalPos())

    def leaveEvent(self, event: QEvent) -> None:
        """Hover nothing."""
        self.guide.hovered(-1, 0)
        self.session.hover.set(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the scroll position within what there is."""
        super().resizeEvent(event)
        if getattr(self, "plotItem", None) is not None and hasattr(self, "rows"):  # not while made or closed
            self.rows_changed()

    def _hover(self, at: QPointF, on_screen: QPointF) -> None:
        if not self.plot_rect().contains(at.toPoint()):
            self.guide.hovered(-1, 0)
            return
        row, is_strip = self.row_at(at.y())
        self._look_at(at.y())
        time = self.time_at(at.x())
        self.guide.hovered(row, time)
        text = self.guide.tip(row, time, self.pixel_at(time), is_strip) if row >= 0 else ""
        spot = on_screen.toPoint()
        QToolTip.showText(spot, text, self.viewport()) if text else QToolTip.hideText()

    # -- watching ---------------------------------------------------------------------------------------

    def _view_changed(self) -> None:
        trace, view = self.session.trace.value, self.session.view.value
        origin = 0 if trace is None else trace.span.begin
        rate = 0.0
        if trace is not None and self.ui.settings["timeline.units"] == "ns":
            rate = trace.clock.ns(1.0) or 0.0
        self.axis.scale_of_time = TimeScale(origin, rate)
        self.rows.shown = self.axis.shown = view
        self.box.setXRange(view.begin - origin, view.end - origin, padding=0)
        self._repaint()

    def _marks_changed(self) -> None:
        self.overlay.update()

    def _theme_changed(self) -> None:
        self.setBackground(self.ui.theme.role("canvas"))
        self.rows.forget()
        self._repaint()

    def _repaint(self) -> None:
        for item in (self.rows, self.overlay, self.axis, self._labels):
            item.update()

    def _commit_view(self) -> None:
        self.session.set_view(self.session.view.value)

    def _measure_text(self, window: TimeWindow) -> str:
        trace = self.session.trace.value
        length = None if trace is None else trace.clock.ns(window.width)
        parts = [f"{window.width:,} cycles"]
        if length is not None:
            parts.append(nanoseconds(length))
        more = self.guide.measured(window, self._measure_row)
        return " · ".join([*parts, more] if more else parts)


class Timeline(QWidget):
    """A timeline plot with its scroll bar."""

    def __init__(self, ui: UiContext, source: RowSource, guide: Guide) -> None:
        super().__init__()
        self.plot = TimelinePlot(ui, source, guide)
        self.bar = QScrollBar(Qt.Orientation.Vertical)
        self.bar.setAccessibleName("Rows of the timeline")
        policy = self.bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # timelines below each other keep the same scale
        self.bar.setSizePolicy(policy)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.plot)
        layout.addWidget(self.bar)
        self.setFocusProxy(self.plot)
        self.bar.valueChanged.connect(self.plot.set_scroll)
        self.plot.scrolled.connect(self._follow)

    def sizeHint(self) -> QSize:
        """A few rows and the ruler."""
        return QSize(640, 220)

    def minimumSizeHint(self) -> QSize:
        """Two rows."""
        return QSize(160, 72)

    def _follow(self) -> None:
        plot = self.plot
        height = plot.box.height()
        most = max(0, round(plot.content_height() - height))
        self.bar.blockSignals(True)
        self.bar.setRange(0, most)
        self.bar.setPageStep(max(1, round(height)))
        self.bar.setSingleStep(plot.rows.source.shape.pitch)
        self.bar.setValue(round(plot.rows.scroll_px))
        self.bar.blockSignals(False)
        self.bar.setVisible(most > 0)
