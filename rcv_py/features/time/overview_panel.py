"""The whole capture as a strip, with the window that the timelines show."""

import numpy as np
from PySide6 import QtGui
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.analysis.core.occupancy import all_resident
from rcv_py.analysis.core.step_curve import pixel_edges
from rcv_py.analysis.device.wave_states import STATES, STRIP
from rcv_py.base.record import Value
from rcv_py.base.text import join_texts, translated
from rcv_py.model.activity import STATE_ORDER
from rcv_py.model.kinds import STATE_NAME
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.panel import Panel, UiContext
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.core.shapes import draws_shapes, paint_codes
from rcv_py.ui.core.spoken import SelectionVoice
from rcv_py.ui.core.swatches import AFTER_NAME, Swatch, line_height, paint_swatches, width_of
from rcv_py.ui.core.theme import paint_focus
from rcv_py.ui.table import command_text
from rcv_py.ui.timeline.items import small_text
from rcv_py.ui.timeline.time_overlay import CURSORS, Grip, dragged, grip_at, paint_window, soft
from rcv_py.ui.timeline.time_plot import KEY_PAN, NOTCH, PER_NOTCH, SLOP_PX

HEIGHT = 44
RANGE_PX = 3  # height of the clock range, at the bottom
SOFT = 0.12  # share of the canvas in the colour of a state
MAX_LEGEND = 0.35  # maximum share of the width for names
REBUILD_MS = 300  # while waves arrive
NAME = "Overview of the whole capture"
NO_TIMES = "Nothing in this capture happened at a known time."
TIP = (
    "The whole capture: how many traced waves execute, wait, stall or idle, before all waves of the device. "
    "Drag the window or its edges; drag elsewhere for a new one; click to go there."
)


class OverviewColumns(Value):
    """The whole capture, one column per pixel."""

    state: np.ndarray  # float64 [width, STATES]: traced waves in each state
    resident: np.ndarray  # float64 [width]: waves on the whole device, maximum in the pixel


def residents(trace: Trace, outer: TimeWindow, width_px: int) -> np.ndarray:
    """Return the maximum number of waves on the whole device in every pixel, float64 [width]."""
    edges, curve = pixel_edges(outer, width_px), all_resident(trace.occupancy)
    if curve is None:
        return np.zeros(width_px)
    at = np.clip(np.searchsorted(curve.time, edges, side="right") - 1, 0, None)
    peak = np.maximum.reduceat(curve.value, np.minimum(at[:-1], len(curve.value) - 1))
    return np.where(edges[1:] > curve.time[0], peak, 0.0)


class OverviewStrip(QWidget):
    """The picture of the sums, with the clock range, the selection and the visible window on it.

    The window can be dragged, resized, or drawn anew.
    """

    resized = Signal()

    def __init__(self, ui: UiContext) -> None:
        super().__init__()
        self.ui, self.session = ui, ui.session
        self.outer, self.grip = TimeWindow(0, 1), Grip.NONE
        self._from, self._held = 0.0, self.outer  # start of a drag, and the window then
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.sums: OverviewColumns | None = None
        self.sentence = ""  # why the strip is empty
        self._image: QtGui.QImage | None = None
        self.setToolTip(tooltip(TIP))
        session = self.session
        session.trace.watch(self._trace_changed)
        for cell in (session.view, session.selection, session.clock_range, session.bookmarks, session.hover):
            cell.watch(self._repaint)
        ui.theme.changed.connect(self.reshape)
        self._voice = SelectionVoice(self, session)
        self._trace_changed()

    def show_sums(self, sums: OverviewColumns | None) -> None:
        """Show other sums, None for nothing."""
        self.sums = sums
        self.reshape()

    def reshape(self) -> None:
        """Make the picture in the colours of the theme; it is stretched to the width."""
        self._image = None if self.sums is None else self._picture(self.sums)
        self.update()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Request sums of the new width; meanwhile the old picture is stretched."""
        self.resized.emit()

    def _picture(self, sums: OverviewColumns) -> QtGui.QImage:
        codes, palette = self._levels(sums)
        colors = np.array([color.rgba() for color in palette], np.uint32)[codes]
        height, width = colors.shape
        return QtGui.QImage(colors.data, width, height, width * 4, QtGui.QImage.Format.Format_RGB32).copy()

    def _levels(self, sums: OverviewColumns) -> tuple[np.ndarray, list[QtGui.QColor]]:
        """Return a picture of codes, uint8 [height, width], and the colour of each code."""
        theme, height = self.ui.theme, HEIGHT - RANGE_PX
        level = np.arange(height, 0, -1)[:, None] - 0.5  # of each line of pixels, from the bottom
        codes = np.zeros((height, len(sums.resident)), np.uint8)
        peak = max(1.0, float(sums.resident.max(initial=0)))
        codes[level <= sums.resident / peak * (height - 4)] = 1
        running = np.cumsum(sums.state[:, [STATES.index(state) for state in STATE_ORDER]], axis=1)
        peak = max(1.0, float(running[:, -1].max(initial=0)))
        for i in reversed(range(len(STATE_ORDER))):
            codes[level <= running[:, i] / peak * (height - 4)] = 2 + i
        states = [theme.soft(theme.state(state), SOFT) for state in STATE_ORDER]
        return codes, [theme.role("canvas"), theme.role("line"), *states]

    def swatches(self) -> tuple[Swatch, ...]:
        """Return swatches of the colours."""
        if self.sums is None:
            return ()
        theme, some, swatches = self.ui.theme, self.sums.state.sum(axis=0), list[Swatch]()
        for state in (state for state in STATE_ORDER if some[STATES.index(state)] > 0):
            swatches.append(Swatch(theme.soft(theme.state(state), SOFT), STATE_NAME[state]))
        device = [Swatch(theme.role("line"), "all waves")] if self.sums.resident.any() else []
        return (*swatches, *device)

    def _paint_legend(self, painter: QtGui.QPainter) -> None:
        """Name the colours at the right on a plain background, if all of them have room."""
        theme, swatches = self.ui.theme, self.swatches()
        small_text(painter)
        metrics = painter.fontMetrics()
        width = sum(width_of(metrics, one) + AFTER_NAME for one in swatches)
        if not swatches or width > self.width() * MAX_LEGEND:
            return
        box = QRectF(self.width() - width - 4, 1, width, line_height(metrics))
        painter.fillRect(box, soft(theme.role("canvas"), 205))
        inside = box.adjusted(AFTER_NAME / 2, 0, 1, 0)
        paint_swatches(painter, inside, swatches, theme.role("text"), theme.role("text"))

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        theme, trace, height = self.ui.theme, self.session.trace.value, self.height() - RANGE_PX
        with QtGui.QPainter(self) as painter:
            painter.fillRect(self.rect(), theme.role("canvas"))
            if self.sums is not None and draws_shapes():
                codes, palette = self._levels(self.sums)
                painter.save()
                painter.scale(self.width() / codes.shape[1], height / codes.shape[0])
                paint_codes(painter, codes, lambda code: palette[code])
                painter.restore()
            elif self._image is not None:
                painter.drawImage(QRectF(0, 0, self.width(), height), self._image)
            if trace is not None:
                self.paint_window(painter, height)
                self._paint_selection(painter, trace, height)
                self.paint_range(painter)
                self._paint_legend(painter)
            painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.role("line"))
            paint_focus(painter, self, theme)

    def _paint_selection(self, painter: QtGui.QPainter, trace: Trace, height: int) -> None:
        token, row, color = self.session.token(), self.session.wave_row, self.ui.theme.role("accent")
        if token is not None:
            x = self.x_of(token[0].tokens.span(token[1]).begin)
            painter.fillRect(QRectF(x - 1, 0, 2, height), color)
        elif row is not None:
            span = trace.waves.span(row)
            left, right = self.x_of(span.begin), self.x_of(span.end)
            painter.fillRect(QRectF(left, height - 2, max(2.0, right - left), 2), color)

    def sizeHint(self) -> QSize:
        return QSize(600, self.height())

    def _trace_changed(self) -> None:
        if (trace := self.session.trace.value) is not None:
            self.outer = self.session.outer(trace)
        self.reshape()

    def _repaint(self) -> None:
        self.update()

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
        return dragged(self.grip, self._held, self.time_at(self._from), self.time_at(x))

    def paint_range(self, painter: QtGui.QPainter) -> None:
        """Paint the clock range and the time under the mouse."""
        window, hover = self.session.clock_range.value, self.session.hover.value
        if window is not None:
            left, right = self.x_of(window.begin), self.x_of(window.end)
            rect = QRectF(left, self.height() - RANGE_PX, max(2.0, right - left), RANGE_PX)
            painter.fillRect(rect, self.ui.theme.role("range"))
        if hover is not None and hover.time is not None:
            rect = QRectF(self.x_of(hover.time), 0, 1, self.height())
            painter.fillRect(rect, self.ui.theme.role("muted"))

    def paint_window(self, painter: QtGui.QPainter, height: float) -> None:
        """Veil what is out of view and frame the window."""
        theme, view, box = self.ui.theme, self.session.view.value, QRectF(0, 0, self.width(), height)
        ink = soft(theme.role("window"), 170), theme.role("accent")
        paint_window(painter, box, self.x_of(view.begin), self.x_of(view.end), ink)

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Grab the window or an edge, or begin a new window."""
        if event.button() == Qt.MouseButton.LeftButton and self.session.trace.value is not None:
            self._from, self._held = event.position().x(), self.session.view.value
            self.grip = self.grip_at(self._from, self._held)
            self._point(self._from)

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        x = event.position().x()
        if self.grip is Grip.NONE:
            self._point(x)
        elif self.grip is not Grip.NEW or abs(x - self._from) >= SLOP_PX:
            self.session.set_view(self._dragged(x), commit=False)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Set the window; a click centers it here."""
        if self.grip is Grip.NONE:
            return
        x, window = event.position().x(), self._dragged(event.position().x())
        if abs(x - self._from) < SLOP_PX:
            window = self._held.moved(self.time_at(x) - self._held.middle)
        self.grip = Grip.NONE
        self.session.set_view(window)

    def mouseDoubleClickEvent(self, event: QtGui.QMouseEvent) -> None:
        """Show everything."""
        self.grip = Grip.NONE
        self.session.fit_all()

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """Zoom about the cursor."""
        at = self.time_at(event.position().x())
        view = self.session.view.value
        self.session.zoom(PER_NOTCH ** (event.angleDelta().y() / NOTCH), at if view.contains(at) else None)
        event.accept()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        steps, key = {Qt.Key.Key_Left: -KEY_PAN, Qt.Key.Key_Right: KEY_PAN}, Qt.Key(event.key())
        if key in steps:
            self.session.pan(steps[key])
        else:
            event.ignore()

    def leaveEvent(self, event: QEvent) -> None:
        self.unsetCursor()

    def _point(self, x: float) -> None:
        self.setCursor(CURSORS.get(self.grip_at(x, self.session.view.value), Qt.CursorShape.CrossCursor))


class OverviewPanel(Panel):
    """All of the capture: what the waves were doing, and which part the timelines show."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.strip = OverviewStrip(ui)
        column(self.strip, of=self)
        self.setFixedHeight(HEIGHT)
        self.setFocusProxy(self.strip)
        self._rebuild = self.request(self._start, REBUILD_MS)
        self.strip.resized.connect(self._rebuild.update)
        self.session.trace.watch(self._trace_changed)
        self.session.loaded.watch(self._rebuild.update)
        self._trace_changed()

    def command_line(self) -> command_text.CommandWords | None:
        """Return the command for traced waves by state; the panel Occupancy shows all waves of the device."""
        return command_text.rcv(self.session, "occupancy", "--by=state")

    def _trace_changed(self) -> None:
        trace = self.session.trace.value
        self.strip.sentence = "" if trace is None or trace.has_times else self.reason(NO_TIMES)
        for part in (self, self.strip):
            part.setAccessibleName(translated(join_texts(". ", filter(None, (NAME, self.strip.sentence)))))
        self.strip.show_sums(None)
        if trace is not None:
            self._rebuild.ask()

    def _start(self) -> None:
        trace, store, width = self.session.trace.value, self.session.store, self.strip.width()
        if trace is None or store is None or width < 2:
            return
        outer, ask = self.strip.outer, self.incremental("overview", STRIP)
        known = self.strip.sums  # None if another capture was open before

        def job() -> OverviewColumns:
            is_known = known is not None and len(known.resident) == width
            resident = known.resident if known and is_known else residents(trace, outer, width)
            return OverviewColumns(ask(None).waves(outer, width), resident)

        self._rebuild.run(job, self.strip.show_sums)
