"""Which colour is which, as a row of squares with names; shares of wave states, as a thin bar."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.base.text import percent
from rcv_py.model.kinds import WaveState
from rcv_py.ui.core.plain_text import draw_text, tooltip
from rcv_py.ui.core.theme import Theme

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


SHOWN = (WaveState.EXEC, WaveState.WAIT, WaveState.STALL, WaveState.IDLE)
HEIGHT_PX = 8


def state_text(cycles: Sequence[int]) -> str:
    """Return the shares in words, largest first; "" if there are no states."""
    total = sum(cycles[state] for state in SHOWN) if cycles else 0
    present = sorted((state for state in SHOWN if total and cycles[state]), key=lambda state: -cycles[state])
    return ", ".join(f"{state.name.lower()} {percent(cycles[state], total)}" for state in present)


class StateBar(QWidget):
    """Cycles by WaveState as coloured pieces; the tooltip says them in words."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._cycles: Sequence[int] = ()
        self.setAccessibleName("Wave states")
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(120, HEIGHT_PX)

    def show_cycles(self, cycles: Sequence[int]) -> None:
        """Show the cycles in each WaveState."""
        self._cycles = tuple(cycles)
        self.setToolTip(tooltip(state_text(self._cycles) or "The trace has no wave states."))
        self.setAccessibleDescription(self.toolTip())
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the pieces."""
        painter = QPainter(self)
        total = sum(self._cycles[state] for state in SHOWN) if self._cycles else 0
        box = QRectF(0, (self.height() - HEIGHT_PX) / 2, self.width(), HEIGHT_PX)
        painter.fillRect(box, self._theme.role("raised"))
        left = 0.0
        for state in SHOWN if total else ():
            width = self.width() * self._cycles[state] / total
            painter.fillRect(QRectF(left, box.top(), width, HEIGHT_PX), self._theme.state(state))
            left += width
