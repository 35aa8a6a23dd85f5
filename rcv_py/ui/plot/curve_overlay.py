"""Painted over curves: marks of the session, and the values at the cursor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from rcv_py.base.text import elide_right
from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.time_overlay import TimeOverlay

LINE_PX = 15
PAD_PX = 6
LONGEST = 40  # characters of a name
TEXT_PX = 11
TAG_PX = 26


@dataclass(frozen=True, slots=True)
class Reading:
    """A line of the read-out."""

    name: str
    value: str
    color: QColor | None = None
    y: float | None = None  # where the curve is in the box, for a dot
    is_bold: bool = False


class CurveOverlay(TimeOverlay):
    """An overlay with a box of values beside the cursor."""

    def __init__(
        self, box: pg.ViewBox, session: Session, theme: Theme, shown: Callable[[], TimeWindow]
    ) -> None:
        super().__init__(box, session, theme, shown)
        self.read: Callable[[int], tuple[str, list[Reading]]] = lambda time: ("", [])

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the marks, and on top of them what is read at the cursor."""
        super().paint(painter, option, widget)
        self._paint_reading(painter)

    def _paint_reading(self, painter: QPainter) -> None:
        """Paint a dot on every curve and the box of values."""
        hover = self._session.hover.value
        if hover is None or hover.time is None or not self._shown().contains(hover.time):
            return
        x = self.x_of(hover.time)
        title, readings = self.read(hover.time)
        if not readings:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.role("canvas"))
        for reading in readings:
            if reading.y is not None and reading.color is not None:
                painter.setBrush(reading.color)
                painter.drawEllipse(QPointF(round(x) + 0.5, reading.y), 3.5, 3.5)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_box(painter, x, title, self._fitting(readings))

    def _fitting(self, readings: list[Reading]) -> list[Reading]:
        """As many lines as have room, the one under the mouse among them."""
        room = max(1, int((self._box.height() - 2 * PAD_PX - LINE_PX - 8) // LINE_PX))
        if len(readings) <= room:
            return readings
        kept = sorted(readings, key=lambda one: not one.is_bold)[: max(1, room - 1)]
        kept = [one for one in readings if one in kept]
        return [*kept, Reading(f"{len(readings) - len(kept)} more", "")] if room > 1 else kept

    def _paint_box(self, painter: QPainter, x: float, title: str, readings: list[Reading]) -> None:
        font = painter.font()
        font.setPixelSize(TEXT_PX)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        names = [elide_right(one.name, LONGEST) for one in readings]
        left = max(metrics.horizontalAdvance(name) for name in names) * 1.06 + 14
        right = max(metrics.horizontalAdvance(one.value) for one in readings) * 1.06
        width = max(left + 16 + right, metrics.horizontalAdvance(title)) + 2 * PAD_PX
        height = LINE_PX * (len(readings) + 1) + 2 * PAD_PX
        at = x + 12 if x + 12 + width <= self._box.width() else x - 12 - width
        has_tag = self._session.measure.value is not None  # at the top, where its length is written
        rect = QRectF(round(max(2.0, at)), TAG_PX if has_tag else 4, width, height)
        painter.setPen(self._theme.role("line"))
        painter.setBrush(self._theme.role("raised"))
        painter.drawRoundedRect(rect, 3, 3)
        line = QRectF(rect.x() + PAD_PX, rect.y() + PAD_PX, width - 2 * PAD_PX, LINE_PX)
        painter.setPen(self._theme.role("muted"))
        draw_text(painter, line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)
        for one, name in zip(readings, names, strict=True):
            line.translate(0, LINE_PX)
            if one.color is not None:
                painter.fillRect(QRectF(line.x(), line.center().y() - 4, 8, 8), one.color)
            font.setBold(one.is_bold)
            painter.setFont(font)
            painter.setPen(self._theme.role("text" if one.value else "muted"))
            middle = Qt.AlignmentFlag.AlignVCenter
            draw_text(painter, line.adjusted(14, 0, 0, 0), Qt.AlignmentFlag.AlignLeft | middle, name)
            draw_text(painter, line, Qt.AlignmentFlag.AlignRight | middle, one.value)
        font.setBold(False)
        painter.setFont(font)
