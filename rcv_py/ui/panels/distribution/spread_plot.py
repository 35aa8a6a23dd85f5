"""A histogram of times: bars that fill the width, marks for minimum, median, p95 and maximum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.analysis.cost.distribution import DistributionView
from rcv_py.base.text import count, percent, plural, short_count
from rcv_py.ui.core.plain_text import draw_text, show_tip
from rcv_py.ui.core.theme import Theme

LEFT, RIGHT, TOP, BOTTOM = 48, 12, 34, 36  # px around the bars
BAR_PX = 9  # width that a bar should have
FEWEST, MOST = 8, 160
LABEL_GAP = 6
HIGH_LINES = 4  # grid lines
TICK_PX = 70  # px that a tick with its number needs

Color = Callable[[Theme], QColor]


class SpreadPlot(QWidget):
    """Bars of a `DistributionView`; a click or the arrow keys choose one."""

    chosen = Signal(int)  # bar
    bars_changed = Signal(int)  # how many bars there is room for

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.view: DistributionView | None = None
        self.colors: tuple[Color, ...] = ()
        self.selected = -1  # bar
        self.token: int | None = None  # value of the selected hit
        self.hover = -1
        self._room = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Histogram of the hits of the selected instruction")
        theme.changed.connect(self.update)

    # -- showing ------------------------------------------------------------------------------------

    def show_view(self, view: DistributionView | None, colors: tuple[Color, ...] = ()) -> None:
        """Show other bars."""
        self.view, self.colors = view, colors
        self.hover = -1
        self.selected = min(self.selected, self._bars - 1)
        if view is not None and view.spread is not None:
            found = view.spread
            self.setAccessibleDescription(
                f"{plural(found.count, 'hit')}: minimum {found.least}, median {found.median}, "
                f"p95 {found.p95}, maximum {found.most} cycles"
            )
        self.update()

    def select(self, bar: int) -> None:
        """Mark a bar, -1 for none."""
        if bar != self.selected:
            self.selected = bar
            self.update()

    def mark_token(self, value: int | None) -> None:
        """Point at the value of the selected hit."""
        if value != self.token:
            self.token = value
            self.update()

    @property
    def bars_wanted(self) -> int:
        """How many bars there is room for."""
        return max(FEWEST, min(MOST, (self.width() - LEFT - RIGHT) // BAR_PX))

    @property
    def _bars(self) -> int:
        return 0 if self.view is None else len(self.view.histogram.counts)

    def tip(self, bar: int) -> str:
        """Range and number of hits of a bar, by group if there are several."""
        if self.view is None or not 0 <= bar < self._bars:
            return ""
        view, totals = self.view, self.view.histogram.totals
        lines = [
            self.range_text(bar),
            f"{plural(int(totals[bar]), 'hit')}, {percent(int(totals[bar]), int(totals.sum()))}"
            f" of {count(int(totals.sum()))}",
        ]
        if len(view.groups) > 1:
            lines += [
                f"{name}: {count(hits)}"
                for name, hits in zip(view.groups, view.histogram.counts[bar].tolist(), strict=True)
                if hits
            ]
        return "\n".join(lines)

    def range_text(self, bar: int) -> str:
        """The cycles of a bar in words."""
        assert self.view is not None
        low, high = (int(self.view.histogram.edges[at]) for at in (bar, bar + 1))
        return f"{count(low)} cycles" if high == low + 1 else f"{count(low)} to {count(high - 1)} cycles"

    # -- geometry -----------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """A strip."""
        return QSize(480, 200)

    def minimumSizeHint(self) -> QSize:
        """Small, but with room for bars."""
        return QSize(200, TOP + BOTTOM + 40)

    def _area(self) -> QRectF:
        return QRectF(LEFT, TOP, max(1, self.width() - LEFT - RIGHT), max(1, self.height() - TOP - BOTTOM))

    def x_of(self, value: float) -> float:
        """Where a number of cycles is."""
        assert self.view is not None
        area = self._area()
        return area.left() + self.view.histogram.place(value) / max(1, self._bars) * area.width()

    def bar_at(self, x: float) -> int:
        """The bar at a horizontal place, -1 outside."""
        area = self._area()
        if not self._bars or not area.left() <= x < area.right():
            return -1
        return min(int((x - area.left()) / area.width() * self._bars), self._bars - 1)

    # -- painting -----------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw grid, bars, marks and axis."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.role("canvas"))
            if self.view is None or self.view.spread is None:
                return
            area = self._area()
            highest = max(1, int(self.view.histogram.totals.max()))
            self._paint_grid(painter, area, highest)
            self._paint_bars(painter, area, highest)
            self._paint_axis(painter, area)
            self._paint_marks(painter, area)

    def _paint_grid(self, painter: QPainter, area: QRectF, highest: int) -> None:
        step = _nice(highest / HIGH_LINES)
        for hits in range(0, highest + 1, step):
            y = area.bottom() - hits / highest * area.height()
            painter.setPen(self._theme.role("grid"))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(self._theme.role("muted"))
            box = QRectF(0, y - 8, LEFT - LABEL_GAP, 16)
            draw_text(painter, box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, _short(hits))

    def _paint_bars(self, painter: QPainter, area: QRectF, highest: int) -> None:
        assert self.view is not None
        width = area.width() / self._bars
        for bar, role in ((self.hover, "hover"), (self.selected, "accent_soft")):
            if 0 <= bar < self._bars:
                box = QRectF(area.left() + bar * width, area.top(), width, area.height())
                painter.fillRect(box, self._theme.role(role))
        gap = 1.0 if width >= 4 else 0.0
        for bar, counts in enumerate(self.view.histogram.counts.tolist()):
            base, left = area.bottom(), area.left() + bar * width
            least = 2.0 if sum(counts) else 0.0  # one hit among thousands must be seen
            for hits, color in zip(counts, self.colors, strict=True):
                height = max(hits / highest * area.height(), least if hits else 0.0)
                painter.fillRect(QRectF(left, base - height, width - gap, height), color(self._theme))
                base -= height

    def _paint_axis(self, painter: QPainter, area: QRectF) -> None:
        assert self.view is not None
        painter.setPen(self._theme.role("line"))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setPen(self._theme.role("muted"))
        metrics, free = self.fontMetrics(), 0.0
        for value in self._ticks(area.width() / TICK_PX):
            x = self.x_of(value)
            text = count(value)
            half = metrics.horizontalAdvance(text) / 2
            left = min(max(x - half, 0.0), self.width() - 2 * half - 2)
            if left < free:
                continue
            painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 3))
            draw_text(painter, QPointF(left, area.bottom() + 4 + metrics.ascent()), text)
            free = left + 2 * half + 14
        scale = "cycles, logarithmic" if self.view.wanted.is_log else "cycles"
        box = QRectF(area.left(), self.height() - metrics.height() - 1, area.width(), metrics.height())
        draw_text(painter, box, Qt.AlignmentFlag.AlignHCenter, scale)

    def _ticks(self, room: float) -> list[int]:
        """Round numbers of cycles inside the bars, about as many as there is room for."""
        assert self.view is not None
        low, high = (int(edge) for edge in self.view.histogram.edges[[0, -1]])
        if self.view.wanted.is_log:
            powers = 10 ** np.arange(0, 19, dtype=np.int64)
            found = np.sort(np.concatenate([[0], *(factor * powers for factor in (1, 2, 5))]))
            return found[(found >= low) & (found <= high)].tolist()
        step = _nice((high - low) / max(room, 1))
        return list(range(-(-low // step) * step, high + 1, step))

    def _paint_marks(self, painter: QPainter, area: QRectF) -> None:
        assert self.view is not None
        assert self.view.spread is not None
        found, metrics, free = self.view.spread, self.fontMetrics(), [-1.0, -1.0]
        marks = (("min", found.least), ("median", found.median), ("p95", found.p95), ("max", found.most))
        for name, value in marks:
            x = self.x_of(value)
            painter.setPen(self._theme.role("text"))
            painter.drawLine(QPointF(x, area.top() - 2), QPointF(x, area.bottom()))
            text = f"{name} {count(value)}"
            width = metrics.horizontalAdvance(text)
            left = min(max(x - width / 2, 2.0), self.width() - width - 2.0)
            line = next((at for at, end in enumerate(free) if left > end), None)
            if line is not None:
                draw_text(painter, QPointF(left, TOP - 20 - 14 * line + metrics.ascent()), text)
                free[line] = left + width + LABEL_GAP
        if self.token is not None:
            x, y = self.x_of(self.token), area.bottom() + 1
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.role("accent"))
            painter.drawPolygon(QPolygonF([QPointF(x, y - 7), QPointF(x - 5, y + 2), QPointF(x + 5, y + 2)]))

    # -- mouse and keys -----------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for as many bars as fit."""
        super().resizeEvent(event)
        if self.bars_wanted != self._room:
            self._room = self.bars_wanted
            self.bars_changed.emit(self._room)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the bar under the mouse; the whole height counts."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._choose(self.bar_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Mark the bar under the mouse."""
        self._set_hover(self.bar_at(event.position().x()))

    def leaveEvent(self, event: QEvent) -> None:
        """Forget the mouse."""
        super().leaveEvent(event)
        self._set_hover(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right go to the next bar with hits, Home and End to the first and last."""
        if self.view is None or not self._bars:
            event.ignore()
            return
        full = np.flatnonzero(self.view.histogram.totals)
        here = self.selected
        target = {
            Qt.Key.Key_Left: full[full < here][-1:] if here >= 0 else full[:1],
            Qt.Key.Key_Right: full[full > here][:1],
            Qt.Key.Key_Home: full[:1],
            Qt.Key.Key_End: full[-1:],
        }.get(Qt.Key(event.key()))
        if target is None:
            event.ignore()
        elif len(target):
            self._choose(int(target[0]))

    def event(self, event: QEvent) -> bool:
        """Explain the bar under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self.tip(self.bar_at(event.x())), self)
            return True
        return super().event(event)

    def _choose(self, bar: int) -> None:
        if bar >= 0:
            self.select(bar)
            self.chosen.emit(bar)

    def _set_hover(self, bar: int) -> None:
        if bar != self.hover:
            self.hover = bar
            self.update()


def _nice(value: float) -> int:
    """The whole number of 1, 2 or 5 times a power of ten that is at least `value`."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if factor * step >= value:
                return factor * step
        step *= 10


def _short(value: int) -> str:
    return count(value) if value < 10_000 else short_count(value)
