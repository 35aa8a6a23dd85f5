"""The axis of values beside a plot over time: round numbers, a title with its unit."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from rcv_py.base.text import short_count
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.items import TEXT_PX, PlainAxis
from rcv_py.ui.timeline.row_labels import WIDTH
from rcv_py.ui.timeline.time_axis import round_step

TICK_PX = 34  # room a tick needs
LARGE = 100_000  # from here on numbers are shortened


class ValueAxis(PlainAxis):
    """As wide as the names beside a timeline, so that times stand above each other."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("left", theme)
        self.title = ""
        self.low, self.high = 0.0, 1.0
        self.is_whole = False  # values are whole numbers: no ticks between
        self.setWidth(WIDTH)

    def draw(self, painter: QPainter, metrics: QFontMetricsF, width: float, height: float) -> None:
        """Paint numbers and the title, which runs upwards."""
        values = ticks(self.low, self.high, height, self.is_whole)
        step = values[1] - values[0] if len(values) > 1 else 1.0
        for value in values:
            y = height - (value - self.low) / (self.high - self.low) * height
            painter.setPen(self._theme.role("line"))
            painter.drawLine(QPointF(width - 5, y), QPointF(width - 1, y))
            painter.setPen(self._theme.role("muted"))
            # The outermost numbers stay inside the axis, beside their ticks.
            middle = min(max(y, metrics.height() / 2), height - metrics.height() / 2)
            rect = QRectF(20, middle - metrics.height() / 2, width - 28, metrics.height())
            side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            draw_text(painter, rect, side, value_text(value, step))
        painter.fillRect(QRectF(width - 1, 0, 1, height), self._theme.role("line"))
        painter.save()
        painter.setPen(self._theme.role("text"))
        painter.translate(4, height)
        painter.rotate(-90)
        text = metrics.elidedText(self.title, Qt.TextElideMode.ElideRight, max(0.0, height - 4))
        draw_text(painter, QRectF(0, 0, height, metrics.height() + 2), Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()


def ticks(low: float, high: float, height_px: float, is_whole: bool) -> list[float]:
    """Round values between two bounds, as many as have room."""
    wanted = max(high - low, 1e-9) * TICK_PX / max(1.0, height_px)
    step = round_step(wanted)
    if is_whole:
        step = max(1.0, step)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    if first >= last and height_px >= 2 * TEXT_PX:  # one number is no scale: room for two has to do
        step = round_down(max(high - low, 1e-9), is_whole)
        first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
        return [float(at * step + 0.0) for at in ((first, last) if last > first else (first,))]
    return (np.arange(first, last + 1) * step + 0.0).tolist()  # no -0


def round_down(span: float, is_whole: bool) -> float:
    """Return the largest round step that is not above a span; at least 1 for whole numbers."""
    step = round_step(span)
    while step > span * 1.001:
        step = round_step(step / 2.6)
    return max(1.0, step) if is_whole else step


def bounds(low: float, high: float, from_zero: bool) -> tuple[float, float]:
    """Bounds of an axis that hold all values, with a little room above; they stay while values vary little.

    `from_zero` keeps 0 in view, since the height of a curve is otherwise no measure.
    """
    if from_zero:
        low, high = min(0.0, low), max(0.0, high)
    span = high - low or abs(high) or 1.0
    step = round_step(span / 10)
    top = np.ceil((high + span * 0.03) / step) * step if high or not from_zero else 1.0
    bottom = low if from_zero and low == 0 else np.floor((low - span * 0.03) / step) * step
    return float(bottom), float(max(top, bottom + step))


def value_text(value: float, step: float = 0.0) -> str:
    """A value as text: grouped, short where it is large, with as many digits as the step needs."""
    if abs(value) >= LARGE:
        return short_count(value)
    digits = max(0, -int(np.floor(np.log10(step) + 1e-9))) if step > 0 else 0
    return f"{value:,.{digits}f}"


def exact_text(value: float) -> str:
    """A value as it is in its column: all digits of a whole number, six of another."""
    return f"{value:,}" if isinstance(value, int) or float(value).is_integer() else f"{value:,.6g}"
