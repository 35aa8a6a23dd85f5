"""Which colour is which: a row of small squares with names."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.ui.core.plain_text import draw_text, tooltip

SQUARE = 10
GAP = 12


class Legend(QWidget):
    """Squares with names, from the left, as many as fit; the tooltip has all of them."""

    def __init__(self) -> None:
        super().__init__()
        self._items: tuple[tuple[QColor, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_items(self, items: Sequence[tuple[QColor, str, str]]) -> None:
        """Show these colours and short names; the third is what the name means."""
        self._items = tuple((color, name) for color, name, _ in items)
        self.setToolTip(tooltip("\n".join(f"{name}: {meaning}" for _, name, meaning in items)))
        self.setAccessibleName("Colours: " + ", ".join(meaning for _, _, meaning in items))
        self.updateGeometry()
        self.update()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that are shown."""
        return tuple(name for _, name in self._items)

    def sizeHint(self) -> QSize:
        """Room for all names."""
        width = sum(self._width(name) for _, name in self._items)
        return QSize(width, max(SQUARE + 6, self.fontMetrics().height() + 2))

    def minimumSizeHint(self) -> QSize:
        """Nothing has to be shown."""
        return QSize(0, self.sizeHint().height())

    def _width(self, name: str) -> int:
        return SQUARE + 5 + self.fontMetrics().horizontalAdvance(name) + GAP

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the squares and names that fit."""
        with QPainter(self) as painter:
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        painter.setPen(self.palette().text().color())
        left, middle = 0, self.height() // 2
        base = middle + (self.fontMetrics().ascent() - self.fontMetrics().descent()) // 2
        for color, name in self._items:
            if left + self._width(name) - GAP > self.width():
                draw_text(painter, QPoint(left, base), "…")
                return
            painter.fillRect(left, middle - SQUARE // 2, SQUARE, SQUARE, color)
            draw_text(painter, QPoint(left + SQUARE + 5, base), name)
            left += self._width(name)
