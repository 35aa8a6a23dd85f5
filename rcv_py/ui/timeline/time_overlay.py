"""What is painted over anything drawn over time: clock range, moments, bookmarks, cursor, measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from rcv_py.model.window import TimeWindow
from rcv_py.state.session import Session
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a row: of its spans, or of a part of the given height so far below their top."""

    row: int
    span: TimeWindow
    below: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A moment drawn through all rows, and how many cycles what began there lasted."""

    time: int
    role: str  # of the theme
    text: str = ""
    length: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What the owner of a picture wants marked; what has a row is for pictures that have rows."""

    selected: Place | None = None
    hovered: Place | None = None
    ticks: tuple[tuple[int, np.ndarray], ...] = ()  # row, times of the selected line, int64
    data: tuple[tuple[int, np.ndarray], ...] = ()  # row, times of values the kernel wrote, int64
    lines: Sequence[Line] = ()
    bookmarks: tuple[int, ...] = field(default=())  # times


def no_marks() -> Marks:
    """Nothing is marked."""
    return Marks()


class TimeOverlay(pg.GraphicsObject):
    """Painted at every change of selection, hover or cursor; never touches the picture below."""

    def __init__(
        self, box: pg.ViewBox, session: Session, theme: Theme, shown: Callable[[], TimeWindow]
    ) -> None:
        super().__init__()
        self.setParentItem(box)
        self.setZValue(10)
        self._box, self._session, self._theme, self._shown = box, session, theme, shown
        self.marks: Callable[[], Marks] = no_marks
        self.preview: TimeWindow | None = None
        self.measure_text: Callable[[TimeWindow], str] = str
        box.sigResized.connect(self._resized)

    def boundingRect(self) -> QRectF:
        """The whole view box."""
        return QRectF(0, 0, self._box.width(), self._box.height())

    def viewTransformChanged(self) -> None:
        """Data coordinates mean nothing to this item."""

    def x_of(self, time: float) -> float:
        """Position of a time, brought near if it is far outside."""
        window = self._shown()
        x = (time - window.begin) / window.width * self._box.width()
        return min(max(x, -10.0), self._box.width() + 10.0)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint the marks, the most important last."""
        if self._session.trace.value is None:
            return
        marks = self.marks()
        self._paint_range(painter)
        self._paint_lines(painter, marks.lines)
        self.paint_below(painter, marks)
        for time in marks.bookmarks:
            self._paint_bookmark(painter, time)
        self._paint_cursor(painter)
        self.paint_above(painter, marks)
        self._paint_measure(painter)

    def paint_below(self, painter: QPainter, marks: Marks) -> None:
        """What a kind of picture paints before bookmarks and cursor."""

    def paint_above(self, painter: QPainter, marks: Marks) -> None:
        """What a kind of picture paints after the cursor."""

    # -- parts ------------------------------------------------------------------------------------------

    def _paint_range(self, painter: QPainter) -> None:
        window = self.preview or self._session.clock_range.value
        if window is None:
            return
        left, right = self.x_of(window.begin), self.x_of(window.end)
        height = self._box.height()
        painter.fillRect(QRectF(left, 0, right - left, height), soft(self._theme.role("range"), 22))
        painter.fillRect(QRectF(left, 0, max(1.0, right - left), 2), self._theme.role("range"))
        for x in (left, right):
            painter.fillRect(QRectF(x, 0, 1, height), soft(self._theme.role("range"), 140))

    def _paint_lines(self, painter: QPainter, lines: Sequence[Line]) -> None:
        height = self._box.height()
        shown = self._shown()
        for line in lines:
            if line.length > 0 and shown.overlaps(line.time, line.time + line.length):
                left, right = self.x_of(line.time), self.x_of(line.time + line.length)
                painter.fillRect(QRectF(left, 0, right - left, height), soft(self._theme.role(line.role), 34))
            if shown.contains(line.time):
                painter.fillRect(
                    QRectF(self.x_of(line.time), 0, 1, height), soft(self._theme.role(line.role), 150)
                )

    def _paint_bookmark(self, painter: QPainter, time: int) -> None:
        if not self._shown().contains(time):
            return
        x = self.x_of(time)
        painter.fillRect(QRectF(x, 0, 1, self._box.height()), soft(self._theme.role("warning"), 90))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.role("warning"))
        painter.drawPolygon(QPolygonF([QPointF(x, 0), QPointF(x + 7, 0), QPointF(x, 7)]))

    def _paint_cursor(self, painter: QPainter) -> None:
        hover = self._session.hover.value
        if hover is None or hover.time is None or not self._shown().contains(hover.time):
            return
        x = round(self.x_of(hover.time))
        painter.fillRect(QRectF(x, 0, 1, self._box.height()), soft(self._theme.role("text"), 70))

    def _paint_measure(self, painter: QPainter) -> None:
        window = self._session.measure.value
        shown = self._shown()
        if window is None or not window.overlaps(shown.begin, shown.end):
            return
        color = self._theme.role("measure")
        left, right = self.x_of(window.begin), self.x_of(window.end)
        painter.fillRect(QRectF(left, 0, right - left, self._box.height()), soft(color, 36))
        for x in (left, right):
            painter.fillRect(QRectF(round(x), 0, 1, self._box.height()), color)
        self._paint_tag(painter, self.measure_text(window), (left + right) / 2)

    def _paint_tag(self, painter: QPainter, text: str, middle: float) -> None:
        """Write a text into a small box at the top, wholly inside the view."""
        font = painter.font()
        font.setPixelSize(11)
        painter.setFont(font)
        width = QFontMetricsF(font).horizontalAdvance(text) + 12
        left = min(max(middle - width / 2, 2.0), max(2.0, self._box.width() - width - 2))
        rect = QRectF(left, 4, width, 18)
        painter.setPen(self._theme.role("measure"))
        painter.setBrush(self._theme.role("base"))
        painter.drawRoundedRect(rect, 3, 3)
        painter.setPen(self._theme.role("text"))
        draw_text(painter, rect, Qt.AlignmentFlag.AlignCenter, text)

    def _resized(self) -> None:
        self.prepareGeometryChange()
        self.update()


def soft(color: QColor, alpha: int) -> QColor:
    """Return a colour that lets through what is below it."""
    faint = QColor(color)
    faint.setAlpha(alpha)
    return faint
