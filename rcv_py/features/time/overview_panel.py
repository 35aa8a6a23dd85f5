"""The whole capture as a strip, with the window that the timelines show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QResizeEvent

from rcv_py.analysis.core.occupancy import steps
from rcv_py.analysis.core.step_curve import pixel_edges
from rcv_py.analysis.device.state_strip import STATES, STRIP
from rcv_py.base.text import Message, join_texts, translated
from rcv_py.model.kinds import STATE_NAME, WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.core.shapes import draws_shapes, paint_codes
from rcv_py.ui.core.swatches import AFTER_NAME, Swatch, line_height, paint_swatches, width_of
from rcv_py.ui.core.theme import paint_focus
from rcv_py.ui.table import command_text
from rcv_py.ui.timeline.brush import RANGE_PX, BrushStrip
from rcv_py.ui.timeline.items import small_text
from rcv_py.ui.timeline.time_overlay import soft

HEIGHT = 44
SOFT = 0.12  # share of the canvas in the colour of a state
MAX_LEGEND = 0.8  # maximum share of the width for names
REBUILD_MS = 300  # while waves arrive
NAME = "Overview of the whole capture"
NO_TIMES = "Nothing in this capture happened at a known time."
ORDER = (WaveState.EXEC, WaveState.WAIT, WaveState.STALL, WaveState.IDLE)  # from the bottom


@dataclass(frozen=True, eq=False)
class OverviewColumns:
    """The whole capture, one column per pixel."""

    state: np.ndarray  # float64 [width, STATES]: traced waves in each state
    resident: np.ndarray  # float64 [width]: waves on the whole device, maximum in the pixel


def residents(trace: Trace, outer: TimeWindow, width_px: int) -> np.ndarray:
    """Return the maximum number of waves on the whole device in every pixel, float64 [width]."""
    edges, resident = pixel_edges(outer, width_px), np.zeros(width_px)
    for curve in steps(trace.occupancy).values() if len(trace.occupancy) else ():
        at = np.clip(np.searchsorted(curve.time, edges, side="right") - 1, 0, None)
        peak = np.maximum.reduceat(curve.value, np.minimum(at[:-1], len(curve.value) - 1))
        resident += np.where(edges[1:] > curve.time[0], peak, 0)
    return resident


class OverviewStrip(BrushStrip):
    """The picture of the sums, with the window, the clock range and the selection on it."""

    resized = Signal()

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui, HEIGHT)
        self.sums: OverviewColumns | None = None
        self.sentence = ""  # why the strip is empty
        self._image: QImage | None = None
        self.setToolTip(
            tooltip(
                "The whole capture: how many traced waves execute, wait, stall or idle, before all waves of "
                "the device. Drag the window or its edges; drag elsewhere for a new one; click to go there."
            )
        )
        self._trace_changed()

    def show_sums(self, sums: OverviewColumns | None) -> None:
        """Show other sums, None for nothing."""
        self.sums = sums
        self.reshape()

    def reshape(self) -> None:
        """Make the picture in the colours of the theme; it is stretched to the width."""
        self._image = None if self.sums is None else self._picture(self.sums)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Request sums of the new width; meanwhile the old picture is stretched."""
        self.resized.emit()

    def _picture(self, sums: OverviewColumns) -> QImage:
        codes, palette = self._levels(sums)
        colors = np.array([color.rgba() for color in palette], np.uint32)[codes]
        height, width = colors.shape
        return QImage(colors.data, width, height, width * 4, QImage.Format.Format_RGB32).copy()

    def _levels(self, sums: OverviewColumns) -> tuple[np.ndarray, list[QColor]]:
        """Return a picture of codes, uint8 [height, width], and the colour of each code."""
        theme, height = self.ui.theme, HEIGHT - RANGE_PX
        level = np.arange(height, 0, -1)[:, None] - 0.5  # of each line of pixels, from the bottom
        codes = np.zeros((height, len(sums.resident)), np.uint8)
        peak = max(1.0, float(sums.resident.max(initial=0)))
        codes[level <= sums.resident / peak * (height - 4)] = 1
        running = np.cumsum(sums.state[:, [STATES.index(state) for state in ORDER]], axis=1)
        peak = max(1.0, float(running[:, -1].max(initial=0)))
        for i in reversed(range(len(ORDER))):
            codes[level <= running[:, i] / peak * (height - 4)] = 2 + i
        states = [theme.soft(theme.state(state), SOFT) for state in ORDER]
        return codes, [theme.role("canvas"), theme.role("grid"), *states]

    def swatches(self) -> tuple[Swatch, ...]:
        """Return swatches of the colours."""
        if self.sums is None:
            return ()
        theme, some = self.ui.theme, self.sums.state.sum(axis=0)
        states = [state for state in ORDER if some[STATES.index(state)] > 0]
        named = [
            Swatch(theme.soft(theme.state(state), SOFT), Message("wave: {0}", STATE_NAME[state]))
            for state in states
        ]
        device = [Swatch(theme.role("grid"), "all waves of the device")] if self.sums.resident.any() else []
        return (*named, *device)

    def _paint_legend(self, painter: QPainter) -> None:
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

    def _paint_shapes(self, painter: QPainter, height: int) -> None:
        assert self.sums is not None
        codes, palette = self._levels(self.sums)
        painter.save()
        painter.scale(self.width() / codes.shape[1], height / codes.shape[0])
        paint_codes(painter, codes, lambda code: palette[code])
        painter.restore()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, trace, height = self.ui.theme, self.session.trace.value, self.height() - RANGE_PX
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), theme.role("canvas"))
            if self._image is not None and draws_shapes():
                self._paint_shapes(painter, height)
            elif self._image is not None:
                painter.drawImage(QRectF(0, 0, self.width(), height), self._image)
            if trace is not None:
                self.paint_window(painter, height)
                self._paint_selection(painter, trace, height)
                self.paint_range(painter)
                self._paint_legend(painter)
            painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.role("line"))
            paint_focus(painter, self, theme)

    def _paint_selection(self, painter: QPainter, trace: Trace, height: int) -> None:
        token, row, color = self.session.token(), self.session.wave_row, self.ui.theme.role("accent")
        if token is not None:
            x = self.x_of(token[0].tokens.span(token[1]).begin)
            painter.fillRect(QRectF(x - 1, 0, 2, height), color)
        elif row is not None:
            span = trace.waves.span(row)
            left, right = self.x_of(span.begin), self.x_of(span.end)
            painter.fillRect(QRectF(left, height - 2, max(2.0, right - left), 2), color)


class OverviewPanel(Panel):
    """All of the capture: what the waves were doing, and which part the timelines show."""

    panel_id = "overview"

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
        has_times = trace is None or trace.has_times
        self.strip.sentence = "" if has_times else self.reason(NO_TIMES)
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
        resident = None if known is None or len(known.resident) != width else known.resident

        def job() -> OverviewColumns:
            state = ask(None).waves(outer, width)
            return OverviewColumns(state, residents(trace, outer, width) if resident is None else resident)

        self._rebuild.run(job, self.strip.show_sums)
