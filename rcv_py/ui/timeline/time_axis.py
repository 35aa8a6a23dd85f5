"""The ruler above a timeline: round times in cycles, or in nanoseconds since the trace began."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from rcv_py.base.text import count
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.items import PlainAxis

HEIGHT = 22
LABEL_PX = 110  # room a tick needs for its number
UNITS_NS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


@dataclass(frozen=True, slots=True)
class TimeScale:
    """How times are written: in cycles, or from `origin` on in nanoseconds if a cycle's length is known."""

    origin: int = 0  # cycles
    ns_per_cycle: float = 0.0  # 0: write cycles

    def ticks(self, window: TimeWindow, width_px: float) -> tuple[list[float], float]:
        """Times of the ticks in cycles, and the step in the written unit."""
        unit, origin = self.ns_per_cycle or 1.0, self.origin if self.ns_per_cycle else 0
        step = round_step(window.width * unit * LABEL_PX / max(1.0, width_px))
        step = step if self.ns_per_cycle else max(1.0, step)
        first, last = -(-(window.begin - origin) * unit // step), (window.end - origin) * unit // step
        return (np.arange(first, last + 1) * step / unit + origin).tolist(), step

    def text(self, time: float, step: float) -> str:
        """The number at a tick, with its unit."""
        if not self.ns_per_cycle:
            return count(round(time))
        value = (time - self.origin) * self.ns_per_cycle
        name, scale = next((unit for unit in UNITS_NS if step >= unit[1] * 0.999), UNITS_NS[-1])
        digits = 0 if step >= scale else 1
        return f"{value / scale:,.{digits}f} {name}"

    @property
    def unit(self) -> str:
        """The unit for the title."""
        return "time since the trace began" if self.ns_per_cycle else "cycles"


def round_step(wanted: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that is not below `wanted`."""
    power = 10.0 ** np.floor(np.log10(max(wanted, 1e-9)))
    return float(next(power * digit for digit in (1, 2, 5, 10) if power * digit >= wanted * 0.999))


class TimeAxis(PlainAxis):
    """Ticks and numbers at the top; the title at the right says the unit and what a pixel stands for."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("top", theme)
        self.scale_of_time = TimeScale()
        self.shown = TimeWindow(0, 1)
        self.setHeight(HEIGHT)

    def title(self) -> str:
        """Unit, and cycles a pixel where a pixel is a reduction."""
        per_px = self.shown.width / max(1.0, self.size().width())
        reduced = f" · 1 px = {per_px:,.0f} cycles" if per_px >= 2 else ""
        return self.scale_of_time.unit + reduced

    def grid_px(self, window: TimeWindow, width_px: int) -> np.ndarray:
        """Pixels of the ticks in a picture of that width, int64."""
        times, _ = self.scale_of_time.ticks(window, self.size().width() or width_px)
        at = np.floor((np.array(times) - window.begin) * width_px / window.width).astype(np.int64)
        return at[(at >= 0) & (at < width_px)]

    def draw(self, painter: QPainter, metrics: QFontMetricsF, width: float, height: float) -> None:
        """Paint ticks, numbers and title."""
        title = self.title()
        room = width - metrics.horizontalAdvance(title) - 12
        times, step = self.scale_of_time.ticks(self.shown, width)
        per_cycle = width / self.shown.width
        for time in times:
            x = (time - self.shown.begin) * per_cycle
            painter.setPen(self._theme.role("line"))
            painter.drawLine(QPointF(x, height - 7), QPointF(x, height))
            text = self.scale_of_time.text(time, step)
            if x + 4 + metrics.horizontalAdvance(text) < room:
                painter.setPen(self._theme.role("muted"))
                draw_text(painter, QPointF(x + 4, height - 7), text)
        painter.setPen(self._theme.role("muted"))
        rect = QRectF(0, 0, width - 6, height - 3)
        draw_text(painter, rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, title)
        painter.setPen(self._theme.role("line"))
        painter.drawLine(QPointF(0, height - 0.5), QPointF(width, height - 0.5))
