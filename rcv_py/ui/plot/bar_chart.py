"""Stacked bars side by side: the base of histograms and strips of columns."""

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.base.text import count, short_count, translated
from rcv_py.ui.core.plain_text import MIDDLE_RIGHT, draw_text, show_tip
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme, paint_focus
from rcv_py.ui.timeline.items import round_step

LEFT, NARROW, RIGHT = 52, 8, 12  # px next to the bars, with and without numbers
GAP_FROM_PX = 4  # minimum width of a bar with a gap to the next bar
MIN_BAR_PX = 2.0  # a single bar among thousands must be visible
LABEL_GAP = 6
GRID_LINES, LINE_PX = 4, 16  # at most, where there is room for their numbers
MARK_PX = 3  # px below the axis
TICK_PX = 70  # px that a tick with its number needs

Color = Callable[[Theme], QColor]


class BarChart(QWidget):
    """Stacked bars, as high as their sums; a click or the arrow keys choose a bar that is not empty."""

    chosen = Signal(int)  # bar

    def __init__(
        self, theme: Theme, name: str, *, top: int = 8, bottom: int = 36, height: int = 0, widest: int = 9999
    ) -> None:
        """`top` and `bottom` are px around the bars for usual text, `widest` the maximum px of a bar.

        If a `height` is given it is fixed, and there is no grid with numbers at the left.
        """
        super().__init__()
        self._theme = theme
        self._usual, self._widest = (top, bottom, NARROW if height else LEFT, height), widest
        self.parts = np.zeros((0, 0), dtype=np.int64)  # [bars, parts]
        self.totals = np.zeros(0, dtype=np.int64)
        self.colors: tuple[Color, ...] = ()
        self.selected: tuple[int, int] | None = None  # bars [first, stop)
        self.hover = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(translated(name))
        theme.changed.connect(self._fit_text)
        self._fit_text()

    def _fit_text(self) -> None:
        self._top, self._bottom, self._left, height = map(grown, self._usual)
        if height:
            self.setFixedHeight(height)
        self.updateGeometry()
        self.update()

    def show_parts(self, parts: np.ndarray, colors: Sequence[Color]) -> None:
        """Show other bars: parts from the bottom up, numbers [bars, parts], and the colour of each part."""
        self.parts, self.totals, self.colors = parts, parts.sum(axis=1), tuple(colors)
        self.hover = -1
        self.update()

    def __len__(self) -> int:
        return len(self.parts)

    def select(self, first: int, stop: int = -1) -> None:
        """Mark the bars [first, stop), by default a single bar; -1 for none."""
        selected = (first, max(stop, first + 1)) if first >= 0 else None
        if selected != self.selected:
            self.selected = selected
            self.update()

    def tip(self, bar: int) -> str:
        """Return the tooltip of a bar; -1 is none."""
        return ""

    def sizeHint(self) -> QSize:
        return QSize(420, 160)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self._top + self._bottom + 40)

    @property
    def area(self) -> QRectF:
        """Return the area of the bars."""
        room = self.width() - self._left - RIGHT, self.height() - self._top - self._bottom
        return QRectF(self._left, self._top, max(1, room[0]), max(1, room[1]))

    @property
    def bar_px(self) -> float:
        """Return the width of a bar with the gap after it."""
        return min(self._widest, self.area.width() / max(1, len(self)))

    def x_of(self, bar: float) -> float:
        """Return the left end of a bar, or a position inside of it."""
        return self._left + bar * self.bar_px

    def bar_at(self, x: float) -> int:
        """Return the bar at an x, the highest of several that share a pixel; -1 outside."""
        px, left = self.bar_px, x - self._left
        if not len(self) or not 0 <= left < px * len(self):
            return -1
        first = min(int(left / px), len(self) - 1)
        stop = max(first + 1, int((left + 1) / px)) if px < 1 else first + 1
        return first + int(np.argmax(self.totals[first:stop]))

    def bar_rect(self, bar: int) -> QRectF:
        """Return the rectangle of a bar."""
        area, px = self.area, self.bar_px
        height = area.height() * float(self.totals[bar]) / self._highest
        gap = 1 if px >= GAP_FROM_PX else 0
        return QRectF(self.x_of(bar), area.bottom() - height, max(1.0, px - gap), height)

    @property
    def _highest(self) -> float:
        return max(1.0, float(self.totals.max(initial=0)))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.role("canvas"))
            if len(self):
                if not self._usual[-1]:
                    self._paint_grid(painter)
                if self.hover >= 0:
                    hovered = self._column((self.hover, self.hover + 1))
                    painter.fillRect(hovered, self._theme.role("hover"))
                if self.selected is not None:
                    painter.fillRect(self._column(self.selected), self._theme.role("accent_soft"))
                self._paint_bars(painter)
                self.paint_over(painter)
                if self.selected is not None:
                    self._frame(painter, self._column(self.selected))
            paint_focus(painter, self, self._theme)

    def paint_over(self, painter: QPainter) -> None:
        """Draw the axis, and marks on the bars."""

    def _paint_grid(self, painter: QPainter) -> None:
        area, highest, line = self.area, self._highest, grown(LINE_PX)
        for value in range(0, int(highest) + 1, nice(highest * max(1 / GRID_LINES, line / area.height()))):
            y = area.bottom() - value / highest * area.height()
            painter.setPen(self._theme.role("grid"))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(self._theme.role("muted"))
            text = count(value) if value < 10_000 else re.sub(r"\.0+(?=\D|$)", "", short_count(value))
            draw_text(painter, QRectF(0, y - line / 2, grown(LEFT) - LABEL_GAP, line), MIDDLE_RIGHT, text)

    def _column(self, bars: tuple[int, int]) -> QRectF:
        left, right = (self.x_of(min(bar, len(self))) for bar in bars)
        return QRectF(left, self._top, max(2.0, right - left), self.area.height())

    def _frame(self, painter: QPainter, box: QRectF) -> None:
        """Frame bars, and mark them on the axis: the highest bars fill their column."""
        painter.setPen(QPen(self._theme.role("accent"), 1))
        painter.drawRect(box.adjusted(-0.5, -0.5, -0.5, -0.5))
        painter.fillRect(QRectF(box.x(), box.bottom() + 1, box.width(), MARK_PX), self._theme.role("accent"))

    def _paint_bars(self, painter: QPainter) -> None:
        colors = [color(self._theme) for color in self.colors]
        for bar in self._shown():
            box = self.bar_rect(bar)
            scale = max(box.height(), MIN_BAR_PX) / max(1.0, float(self.totals[bar]))
            bottom = box.bottom()
            for part, color in zip(self.parts[bar].tolist(), colors, strict=True):
                if part > 0:
                    height = part * scale
                    painter.fillRect(QRectF(box.left(), bottom - height, box.width(), height), color)
                    bottom -= height

    def _shown(self) -> list[int]:
        """Return the painted bars: the highest of the bars that share a pixel."""
        bars = np.flatnonzero(self.totals)
        if self.bar_px >= 1:
            return bars.tolist()
        pixel = (bars * self.bar_px).astype(np.int64)
        order = np.lexsort((self.totals[bars], pixel))
        is_last = np.append(pixel[order][1:] != pixel[order][:-1], True)
        return bars[order[is_last]].tolist()

    def paint_axis(self, painter: QPainter, ticks: Iterable[tuple[float, str]], title: str) -> None:
        """Draw the horizontal axis: texts at their x in px, as far as there is room, and a title."""
        area, metrics, free = self.area, self.fontMetrics(), 0.0
        painter.setPen(self._theme.role("line"))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setPen(self._theme.role("muted"))
        for x, name in ticks:
            text = translated(name)
            width = metrics.horizontalAdvance(text)
            left = min(max(x - width / 2, 0.0), self.width() - width - 2.0)
            if left >= free:
                painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 3))
                draw_text(painter, QPointF(left, area.bottom() + 4 + metrics.ascent()), text)
                free = left + width + 14
        box = QRectF(area.left(), self.height() - metrics.height() - 1, area.width(), metrics.height())
        draw_text(painter, box, Qt.AlignmentFlag.AlignHCenter, title)

    def round_numbers(self, low: int, high: int) -> range:
        """Return round numbers from `low` to `high`, about as many as fit on an axis."""
        step = nice((high - low) / max(self.area.width() / grown(TICK_PX), 1))
        return range(-(-low // step) * step, high + 1, step)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the bar under the mouse; the whole height counts."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._choose(self.bar_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._set_hover(self.bar_at(event.position().x()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._set_hover(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next bar that is not empty on Left and Right, to the first and last on Home and End."""
        bars = np.flatnonzero(self.totals)
        here = -1 if self.selected is None else self.selected[0]
        target = {
            Qt.Key.Key_Left: bars[bars < here][-1:] if here >= 0 else bars[:1],
            Qt.Key.Key_Right: bars[bars > here][:1],
            Qt.Key.Key_Home: bars[:1],
            Qt.Key.Key_End: bars[-1:],
        }.get(Qt.Key(event.key()))
        if target is None or not len(self):
            event.ignore()
        elif len(target):
            self._choose(int(target[0]))

    def event(self, event: QEvent) -> bool:
        """Show the tooltip of the bar under the mouse."""
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


def nice(value: float) -> int:
    """Return the smallest of 1, 2 and 5 times a power of ten, at least 1, that is about `value` or above."""
    return max(1, round(round_step(value)))
