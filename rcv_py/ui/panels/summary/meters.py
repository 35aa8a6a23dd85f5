"""Named bars from 0 to 100 %, with a fine mark for each of the units that a bar sums up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.ui.core.plain_text import draw_text, show_tip
from rcv_py.ui.core.theme import Theme

THICK = 9
NUMBER = "100.0 %"
LOW = 0.05  # percent, below which a number is written as less than a tenth


@dataclass(frozen=True, slots=True)
class Meter:
    """A bar: `value` in percent may exceed 100, the bar does not; `marks` are the values it sums up."""

    name: str
    value: float  # percent
    color: Callable[[Theme], QColor]
    meaning: str
    marks: tuple[float, ...] = ()  # percent
    is_heading: bool = False  # a row of text without a bar


class Meters(QWidget):
    """Rows of bars with a common scale."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme, self._name = theme, name
        self.meters: tuple[Meter, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName(name)
        theme.changed.connect(self.update)

    def set_meters(self, meters: Sequence[Meter]) -> None:
        """Show these bars."""
        self.meters = tuple(meters)
        said = (f"{meter.name} {number(meter)}" for meter in self.meters if not meter.is_heading)
        self.setAccessibleName(f"{self._name}: " + ", ".join(said))
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """All bars, one a line."""
        return "\n".join(f"{meter.name}\t{number(meter)}".rstrip() for meter in self.meters)

    def tip(self, row: int) -> str:
        """What a bar is."""
        if not 0 <= row < len(self.meters):
            return ""
        meter = self.meters[row]
        return meter.meaning if meter.is_heading else f"{meter.name}: {number(meter)}\n{meter.meaning}"

    # -- geometry -----------------------------------------------------------------------------------

    @property
    def _row(self) -> int:
        return self.fontMetrics().height() + 4

    def sizeHint(self) -> QSize:
        """Room for every row."""
        return QSize(260, len(self.meters) * self._row)

    def minimumSizeHint(self) -> QSize:
        """The same height, less width."""
        return QSize(180, self.sizeHint().height())

    # -- painting -----------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows."""
        metrics = self.fontMetrics()
        names = [metrics.horizontalAdvance(meter.name) for meter in self.meters if not meter.is_heading]
        left = min(max(names, default=0) + 8, self.width() // 3)
        right = metrics.horizontalAdvance(NUMBER) + 8
        with QPainter(self) as painter:
            for row, meter in enumerate(self.meters):
                top = row * self._row
                self._paint_row(painter, meter, QRect(0, top, self.width(), self._row), left, right)

    def _paint_row(self, painter: QPainter, meter: Meter, box: QRect, left: int, right: int) -> None:
        theme, middle = self._theme, Qt.AlignmentFlag.AlignVCenter
        painter.setPen(theme.role("muted"))
        if meter.is_heading:
            draw_text(painter, box, Qt.AlignmentFlag.AlignLeft | middle, meter.name)
            return
        name = self.fontMetrics().elidedText(meter.name, Qt.TextElideMode.ElideRight, left - 4)
        draw_text(painter, box, Qt.AlignmentFlag.AlignLeft | middle, name)
        painter.setPen(theme.role("text"))
        draw_text(painter, box, Qt.AlignmentFlag.AlignRight | middle, number(meter))
        room = max(0, box.width() - left - right)
        top = box.top() + (box.height() - THICK) / 2
        painter.fillRect(QRectF(left, top, room, THICK), theme.role("raised"))
        length = min(meter.value, 100.0) / 100 * room
        if meter.value > 0:
            painter.fillRect(QRectF(left, top, max(2.0, length), THICK), meter.color(theme))
        for mark in meter.marks:
            at = left + min(max(mark, 0.0), 100.0) / 100 * room
            painter.fillRect(QRectF(round(at), top - 2, 1, THICK + 4), theme.role("text"))

    def event(self, event: QEvent) -> bool:
        """Explain the bar under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self.tip(event.y() // self._row), self)
            return True
        return super().event(event)


def number(meter: Meter) -> str:
    """The value of a bar as text, "" for a heading."""
    if meter.is_heading:
        return ""
    return f"{meter.value:.1f} %" if meter.value >= LOW or not meter.value else "<0.1 %"
