"""A thin bar of the shares of wave states."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from rcv_py.base.text import percent
from rcv_py.model.kinds import WaveState
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.core.theme import Theme

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
