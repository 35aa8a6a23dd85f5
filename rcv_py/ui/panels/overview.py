"""The whole capture in a strip, and on it the window that the timelines show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from rcv_py.analysis.core.occupancy import steps
from rcv_py.analysis.timeline.pixel_codes import Pixels
from rcv_py.analysis.timeline.raster import raster
from rcv_py.analysis.timeline.wave_places import waves_of_unit
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Panel, panel
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.table import command_text
from rcv_py.ui.timeline.brush import Brush
from rcv_py.ui.timeline.brush_strip import BrushStrip
from rcv_py.ui.timeline.wave_rows import wave_rows

HEIGHT = 44
BAND_PX = 3  # the clock range, at the bottom
REBUILD_MS = 300  # while waves arrive
NAME = "Overview of the whole capture"
NO_TIMES = "Nothing in this capture happened at a known time."
ORDER = (WaveState.EXEC, WaveState.WAIT, WaveState.STALL, WaveState.IDLE)  # from the bottom


@dataclass(frozen=True, eq=False)
class Strip:
    """The whole capture, one column a pixel."""

    outer: TimeWindow
    state: np.ndarray  # float64 [width, 4]: traced waves in IDLE, EXEC, WAIT, STALL
    resident: np.ndarray  # float64 [width]: waves on the whole device, at most in the pixel


def strip(trace: Trace, store: WaveStore, outer: TimeWindow, width_px: int) -> Strip:
    """Sum the states of all loaded waves, and the waves that were resident, in every pixel."""
    pixels = Pixels(outer, width_px)
    made = wave_rows(trace, store, waves_of_unit(trace, None), {}, others=False)
    state = np.zeros((width_px, 4))
    for row in made.rows:
        state += raster([row], pixels).share[0] / 255.0
    resident = np.zeros(width_px)
    for curve in steps(trace.occupancy).values() if len(trace.occupancy) else ():
        at = np.clip(np.searchsorted(curve.time, pixels.edges, side="right") - 1, 0, None)
        most = np.maximum.reduceat(curve.value, np.minimum(at[:-1], len(curve.value) - 1))
        resident += np.where(pixels.edges[1:] > curve.time[0], most, 0)
    return Strip(outer, state, resident)


@panel(id="overview", title="Overview", area="top", order=0, needs=("waves", "occupancy"))
class OverviewPanel(BrushStrip, Panel):
    """All of the capture: what the waves were doing, and which part the timelines show."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.brush = Brush()
        self.strip: Strip | None = None
        self.sentence = ""  # why there is nothing to see
        self._image: QImage | None = None
        self.setMinimumHeight(HEIGHT)
        self.setMaximumHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(
            "The whole capture: how many traced waves execute, wait, stall or idle; behind it all waves of "
            "the device. Drag the window or its edges; drag elsewhere for a new one; click to go there."
        )
        self._rebuild = self.coalesced(self._start, REBUILD_MS)
        session = self.session
        session.trace.watch(self._trace_changed)
        session.loaded.watch(self._rebuild.ask)
        for cell in (session.view, session.selection, session.clock_range, session.bookmarks, session.hover):
            cell.watch(self._repaint)
        ui.theme.changed.connect(self._recolor)
        self._trace_changed()

    def sizeHint(self) -> QSize:
        """A thin strip."""
        return QSize(600, HEIGHT)

    def command_line(self) -> command_text.Words | None:
        """Traced waves by state; what lies behind them is what the panel Occupancy shows."""
        return command_text.rcv(self.session, "occupancy", "--by=state")

    # -- picture ----------------------------------------------------------------------------------------

    def _trace_changed(self) -> None:
        self.strip, self._image = None, None
        trace = self.session.trace.value
        has_times = trace is None or trace.has_times
        self.sentence = "" if has_times else self.reason(NO_TIMES)
        self.setAccessibleName(f"{NAME}. {self.sentence}".removesuffix(". "))
        if self.session.trace.value is not None:
            self.brush.outer = self.session.outer(self.session.trace.value)
            self._rebuild.ask()
        self.update()

    def _start(self) -> None:
        trace, store, width = self.session.trace.value, self.session.store, self.width()
        if trace is None or store is None or width < 2:
            return
        outer = self.brush.outer
        self.run_job(lambda: strip(trace, store, outer, width), self._show)

    def _show(self, made: Strip) -> None:
        self.strip = made
        self._recolor()

    def _recolor(self) -> None:
        self._image = None if self.strip is None else self._picture(self.strip)
        self.update()

    def _repaint(self) -> None:
        self.update()

    def _picture(self, made: Strip) -> QImage:
        theme, height = self.ui.theme, HEIGHT - BAND_PX
        level = np.arange(height, 0, -1)[:, None] - 0.5  # of each line of pixels, from the bottom
        colors = np.full((height, len(made.resident)), theme.role("canvas").rgba(), np.uint32)
        most = max(1.0, float(made.resident.max(initial=0)))
        colors[level <= made.resident / most * (height - 4)] = theme.role("grid").rgba()
        running = np.cumsum(made.state[:, [state - 1 for state in ORDER]], axis=1)
        most = max(1.0, float(running[:, -1].max(initial=0)))
        for i in range(len(ORDER) - 1, -1, -1):
            colors[level <= running[:, i] / most * (height - 4)] = theme.soft(
                theme.state(ORDER[i]), 0.25
            ).rgba()
        image = QImage(colors.data, colors.shape[1], height, colors.shape[1] * 4, QImage.Format.Format_RGB32)
        return image.copy()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the strip, the window, the clock range and the selection."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.ui.theme.role("canvas"))
            if self._image is not None:
                painter.drawImage(QRectF(0, 0, self.width(), HEIGHT - BAND_PX), self._image)
            trace = self.session.trace.value
            if trace is not None and not trace.has_times:
                painter.setPen(self.ui.theme.role("muted"))
                how = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
                draw_text(painter, self.rect().adjusted(8, 0, -8, 0), how, self.sentence)
            elif trace is not None:
                self._paint_range(painter)
                self.paint_window(painter, self.height() - BAND_PX)
                self._paint_marks(painter)
            painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), self.ui.theme.role("line"))

    def _paint_range(self, painter: QPainter) -> None:
        window = self.session.clock_range.value
        if window is not None:
            left, right = self.brush.x_of(window.begin), self.brush.x_of(window.end)
            rect = QRectF(left, self.height() - BAND_PX, max(2.0, right - left), BAND_PX - 1)
            painter.fillRect(rect, self.ui.theme.role("range"))

    def _paint_marks(self, painter: QPainter) -> None:
        theme, trace, hover = self.ui.theme, self.session.trace.value, self.session.hover.value
        token, wave = self.session.token(), self.session.selection.value.wave
        row = None if trace is None or wave is None else trace.waves.row(wave)
        if token is not None:
            x = self.brush.x_of(token[0].tokens.span(token[1]).begin)
            painter.fillRect(QRectF(x - 1, 0, 2, self.height() - BAND_PX), theme.role("accent"))
        elif trace is not None and row is not None:
            span = trace.waves.span(row)
            left, right = self.brush.x_of(span.begin), self.brush.x_of(span.end)
            rect = QRectF(left, self.height() - BAND_PX - 2, max(2.0, right - left), 2)
            painter.fillRect(rect, theme.role("accent"))
        if hover is not None and hover.time is not None:
            painter.fillRect(QRectF(self.brush.x_of(hover.time), 0, 1, self.height()), theme.role("muted"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Sum again for the new width; the old picture is stretched meanwhile."""
        self.brush.width_px = max(1, self.width())
        self._rebuild.ask()
