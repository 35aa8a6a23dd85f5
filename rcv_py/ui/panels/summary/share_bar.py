"""Parts of a whole: a ring or one stacked bar, and under or beside it every part with its number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.base.text import count, percent
from rcv_py.ui.core.plain_text import draw_text, show_tip
from rcv_py.ui.core.theme import Theme

BAR = 14
SWATCH = 10
RING = 76  # px, diameter of the ring
RING_WIDTH = 13
FULL_CIRCLE = 360 * 16  # Qt counts sixteenths of a degree
GAP = 8
WIDEST = "100.0 %"
LEFT, RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight


@dataclass(frozen=True, slots=True)
class Share:
    """One part: `color` is asked for at every painting, so that it follows the theme."""

    name: str
    value: int
    color: Callable[[Theme], QColor]
    meaning: str = ""


class ShareBar(QWidget):
    """Shares of a whole in the order given; `is_ring` draws a ring with the list beside it."""

    def __init__(self, theme: Theme, name: str, unit: str, *, is_ring: bool = False) -> None:
        super().__init__()
        self._theme, self._name, self._unit, self._is_ring = theme, name, unit, is_ring
        self.shares: tuple[Share, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName(name)
        theme.changed.connect(self.update)

    def set_shares(self, shares: Sequence[Share]) -> None:
        """Show these parts."""
        self.shares = tuple(shares)
        self.setAccessibleName(f"{self._name}: " + ", ".join(self._line(share) for share in self.shares))
        self.updateGeometry()
        self.update()

    @property
    def whole(self) -> int:
        """Sum of all parts."""
        return sum(share.value for share in self.shares)

    def text(self) -> str:
        """All parts, one a line."""
        return "\n".join(
            f"{share.name}\t{share.value}\t{percent(share.value, self.whole)}" for share in self.shares
        )

    def tip(self, row: int) -> str:
        """What a part is."""
        if not 0 <= row < len(self.shares):
            return ""
        share = self.shares[row]
        meaning = f"\n{share.meaning[:1].upper()}{share.meaning[1:]}." if share.meaning else ""
        return f"{self._line(share)} of {count(self.whole)}{meaning}"

    def _line(self, share: Share) -> str:
        return f"{share.name} {percent(share.value, self.whole)}, {count(share.value)} {self._unit}"

    # -- geometry -----------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """Room for the drawing and every row."""
        rows = len(self.shares) * self._row
        height = max(RING, rows) if self._is_ring else BAR + 6 + rows
        return QSize(220, height)

    def minimumSizeHint(self) -> QSize:
        """The same height, less width."""
        return QSize(160, self.sizeHint().height())

    @property
    def _row(self) -> int:
        return self.fontMetrics().height() + 4

    def _rows_area(self) -> QRect:
        if not self._is_ring:
            return QRect(0, BAR + 6, self.width(), self.height() - BAR - 6)
        rows = len(self.shares) * self._row
        return QRect(RING + GAP, max(0, (RING - rows) // 2), self.width() - RING - GAP, rows)

    def row_at(self, x: float, y: float) -> int:
        """The part at a place of the list or of the bar, -1 if there is none."""
        area = self._rows_area()
        if area.left() <= x <= area.right() and y >= area.top():
            row = int(y - area.top()) // self._row
            return row if row < len(self.shares) else -1
        if self._is_ring or y >= BAR or not self.whole:
            return -1
        passed, at = 0, x / max(1, self.width()) * self.whole
        for row, share in enumerate(self.shares):
            passed += share.value
            if at < passed:
                return row
        return -1

    # -- painting -----------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the whole and the list."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._is_ring)
            (self._paint_ring if self._is_ring else self._paint_bar)(painter)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            self._paint_rows(painter)

    def _paint_bar(self, painter: QPainter) -> None:
        painter.fillRect(QRectF(0, 0, self.width(), BAR), self._theme.role("raised"))
        left, whole = 0.0, max(self.whole, 1)
        for share in self.shares:
            width = share.value / whole * self.width()
            gap = 1.0 if width > 3 else 0.0
            painter.fillRect(QRectF(left, 0, max(0.0, width - gap), BAR), share.color(self._theme))
            left += width

    def _paint_ring(self, painter: QPainter) -> None:
        half = RING_WIDTH / 2
        box = QRectF(half, half, RING - RING_WIDTH, RING - RING_WIDTH)
        whole, begin = max(self.whole, 1), 0
        for share in self.shares:
            end = begin + share.value
            first, last = (round(FULL_CIRCLE * part / whole) for part in (begin, end))
            pen = QPen(share.color(self._theme), RING_WIDTH, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            if last > first:
                painter.drawArc(box, 90 * 16 - last, last - first)  # from the top, clockwise
            begin = end
        if self.shares:
            largest = max(self.shares, key=lambda share: share.value)
            painter.setPen(self._theme.role("text"))
            text = f"{100 * largest.value / whole:.0f} %\n{largest.name}"
            draw_text(painter, QRectF(0, 0, RING, RING), Qt.AlignmentFlag.AlignCenter, text)

    def _paint_rows(self, painter: QPainter) -> None:
        area, metrics = self._rows_area(), self.fontMetrics()
        numbers = metrics.horizontalAdvance(WIDEST) + 8
        left, right = (side | Qt.AlignmentFlag.AlignVCenter for side in (LEFT, RIGHT))
        for row, share in enumerate(self.shares):
            top = area.top() + row * self._row
            swatch = top + (self._row - SWATCH) // 2
            painter.fillRect(area.left(), swatch, SWATCH, SWATCH, share.color(self._theme))
            box = QRect(area.left() + SWATCH + 6, top, area.width() - SWATCH - 6, self._row)
            painter.setPen(self._theme.role("text"))
            draw_text(painter, box, right, percent(share.value, self.whole))
            painter.setPen(self._theme.role("muted"))
            room, amount = box.width() - numbers, count(share.value)
            if room > metrics.horizontalAdvance(share.name + amount) + 16:
                draw_text(painter, box.adjusted(0, 0, -numbers, 0), right, amount)
            draw_text(painter, box, left, metrics.elidedText(share.name, Qt.TextElideMode.ElideRight, room))

    def event(self, event: QEvent) -> bool:
        """Explain the part under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self.tip(self.row_at(event.x(), event.y())), self)
            return True
        return super().event(event)
