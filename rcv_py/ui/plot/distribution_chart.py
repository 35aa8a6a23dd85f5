"""A histogram of the times of an instruction's hits."""

import math
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPolygonF, QResizeEvent

from rcv_py.analysis.cost.distribution import DistributionView, Spread
from rcv_py.base.text import Message, count, join_texts, percent, plural, translated
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.spoken import NOTHING
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.core.times import Times
from rcv_py.ui.plot.bar_chart import LABEL_GAP, BarChart

BAR_PX, SMALL_BAR_PX = 9, 5  # preferred width of a bar
MIN_BARS, MAX_BARS = 8, 160
SMALL_PX, MAX_BAR_PX = 64, 24  # height of a small chart, maximum width of its bars


class DistributionChart(BarChart):
    """A histogram of times with marks for minimum, median, p95 and maximum, and for the selected hit.

    A small chart has no scale at the left, and labels only the smallest and largest time and the median.
    """

    bars_changed = Signal(int)  # how many bars fit

    def __init__(self, theme: Theme, *, is_small: bool = False) -> None:
        name = "Histogram of the hits of the selected instruction"
        if is_small:
            super().__init__(theme, name, top=4, bottom=18, widest=MAX_BAR_PX, height=SMALL_PX)
        else:
            super().__init__(theme, name, top=34)
        self._is_small = is_small
        self.times = Times()  # format of times
        self.view: DistributionView | None = None
        self.token: int | None = None  # value of the selected hit
        self._room = 0

    def show_view(self, view: DistributionView | None) -> None:
        """Show other bars."""
        self.view = view
        if view is None or view.spread is None:
            self.show_parts(np.zeros((0, 0), dtype=np.int64), ())
            return
        self.show_parts(view.histogram.totals[:, None], [partial(Theme.role, name="accent")])
        self._describe()

    def _describe(self) -> None:
        if self.view is None or self.view.spread is None:
            return
        spread = self.view.spread
        low, middle, high = map(self.times.number, (spread.min, spread.median, spread.p95))
        hits, most = plural(spread.hits, "hit"), self.times.span(spread.max)
        times = Message("{0}: minimum {1}, median {2}, p95 {3}, maximum {4}", hits, low, middle, high, most)
        chosen = NOTHING if self.token is None else Message("Selected: {0}.", self.times.span(self.token))
        self.setAccessibleDescription(translated(join_texts(". ", (times, chosen))))

    def mark_token(self, value: int | None) -> None:
        """Mark the value of the selected hit."""
        if value != self.token:
            self.token = value
            self._describe()
            self.update()

    @property
    def bars_wanted(self) -> int:
        """Return how many bars fit."""
        px = SMALL_BAR_PX if self._is_small else BAR_PX
        return max(MIN_BARS, min(MAX_BARS, int(self.area.width()) // px))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.bars_wanted != self._room:
            self._room = self.bars_wanted
            self.bars_changed.emit(self._room)

    def tip(self, bar: int) -> str:
        if self.view is None or not 0 <= bar < len(self):
            return ""
        hits, total = int(self.totals[bar]), int(self.totals.sum())
        share = Message("{0}, {1} of {2}", plural(hits, "hit"), percent(hits, total), count(total))
        return f"{self.range_text(bar)}\n{share}"

    def range_text(self, bar: int) -> str:
        """Return the times of a bar as text."""
        assert self.view is not None
        low, high = (int(self.view.histogram.edges[at]) for at in (bar, bar + 1))
        if high == low + 1:
            return self.times.span(low)
        return Message("{0} to {1}", self.times.number(low), self.times.span(high - 1))

    def x_of_value(self, value: float) -> float:
        """Return the position of a number of cycles."""
        assert self.view is not None
        return self.x_of(self.view.histogram.place(value))

    def paint_over(self, painter: QPainter) -> None:
        """Draw the axis, the marks of the distribution, and the mark of the selected hit."""
        assert self.view is not None
        assert self.view.spread is not None
        (self._paint_small if self._is_small else self._paint_marks)(painter, self.view.spread)
        if self.token is not None:
            x, y = self.x_of_value(self.token), self.area.bottom() + 1
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.role("accent"))
            painter.drawPolygon(QPolygonF([QPointF(x, y - 7), QPointF(x - 5, y + 2), QPointF(x + 5, y + 2)]))

    def _paint_small(self, painter: QPainter, spread: Spread) -> None:
        area, line = self.area, self.fontMetrics().height()
        painter.setPen(self._theme.role("line"))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setPen(self._theme.role("text"))
        x = self.x_of_value(spread.median)
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        painter.setPen(self._theme.role("muted"))
        below = QRectF(area.left(), self.height() - line, area.width(), line)
        draw_text(painter, below, Qt.AlignmentFlag.AlignLeft, self.times.number(spread.min))
        draw_text(painter, below, Qt.AlignmentFlag.AlignRight, self.times.number(spread.max))

    def _paint_marks(self, painter: QPainter, spread: Spread) -> None:
        ticks = ((self.x_of_value(value), self.times.number(value)) for value in self._ticks())
        self.paint_axis(painter, ticks, self.times.unit or "time")
        area, metrics, free = self.area, self.fontMetrics(), [-1.0, -1.0]
        painter.setPen(self._theme.role("text"))
        marks = (("min", spread.min), ("median", spread.median), ("p95", spread.p95), ("max", spread.max))
        for name, value in marks:
            x = self.x_of_value(value)
            painter.drawLine(QPointF(x, area.top() - 2), QPointF(x, area.bottom()))
            text = f"{translated(name)} {self.times.number(value)}"
            width = metrics.horizontalAdvance(text)
            left = min(max(x - width / 2, 2.0), self.width() - width - 2.0)
            line = next((at for at, end in enumerate(free) if left > end), None)
            if line is not None:
                draw_text(painter, QPointF(left, area.top() - grown(20 + 14 * line) + metrics.ascent()), text)
                free[line] = left + width + LABEL_GAP

    def _ticks(self) -> list[float]:
        """Return cycles that are round numbers in the shown unit."""
        assert self.view is not None
        unit = self.times.ns_per_cycle or 1.0
        low, high = (math.floor(edge * unit) for edge in self.view.histogram.edges[[0, -1]].tolist())
        return [value / unit for value in self.round_numbers(low, high) if value >= low]
