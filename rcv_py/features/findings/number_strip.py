"""The strip of key numbers above the findings."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from rcv_py.analysis.findings.finding import KeyNumber
from rcv_py.base.text import join_texts, translated
from rcv_py.ui.core.layout import column, wrapped
from rcv_py.ui.core.plain_text import ElidedLabel, tooltip
from rcv_py.ui.core.theme import Theme

ROUNDING = 2  # px that a text may need beyond its advance
SHARE_PX = 3  # height of the bar of a number
MIN_NAME_PX, MAX_NAME_PX, GAP, GAP_DOWN, MARGIN_PX = 48, 160, 10, 4, 8


class NumberStrip(QWidget):
    """Rows of numbers, as many as fit; names and the first value (a kernel) may be cut, numbers never are."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._cells: list[_Cell] = []
        self.numbers: tuple[KeyNumber, ...] = ()

    def show_numbers(self, numbers: Sequence[KeyNumber]) -> None:
        """Replace the shown numbers."""
        self.numbers = tuple(numbers)
        while len(self._cells) < len(numbers):
            self._cells.append(_Cell(self._theme, self))
        for place, cell in enumerate(self._cells):
            cell.setVisible(place < len(numbers))
            if place < len(numbers):
                cell.put(numbers[place], is_whole=numbers[place].id != "kernel")
        parts = ((number.name, number.text, number.of) for number in numbers)
        texts = (" ".join(map(translated, filter(None, part))) for part in parts)
        self.setAccessibleName(", ".join(texts))
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Put the cells in rows that share their free width."""
        top, room = GAP_DOWN, self.width() - 2 * MARGIN_PX
        for line in wrapped(self._cells[: len(self.numbers)], room, GAP):
            left, height = MARGIN_PX, line[0].minimumSizeHint().height()
            free = max(0, room - sum(cell.sizeHint().width() + GAP for cell in line) + GAP)
            for cell in line:
                width = min(cell.sizeHint().width() + free // len(line), room)
                cell.setGeometry(left, top, width, height)
                left += width + GAP
            top += height + GAP_DOWN
        self.setFixedHeight(top)


class _Cell(QWidget):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.name, self.value = ElidedLabel(role="muted"), ElidedLabel(role="heading")
        self._room = 0  # px that value and name need
        self.share: float | None = None  # that the bar shows; None: no bar
        column(self.name, self.value, of=self, margins=(0, 0, 0, SHARE_PX + 1))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(self._room, self.minimumSizeHint().height())

    def bar_rects(self) -> tuple[QRectF, QRectF]:
        """Return the places of the whole and of the share."""
        whole = QRectF(0, self.height() - SHARE_PX, min(self.width(), MAX_NAME_PX), SHARE_PX)
        part = QRectF(whole)
        part.setWidth(whole.width() * min(1.0, max(0.0, self.share or 0.0)))
        return whole, part

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the share as a part of a bar."""
        if self.share is not None:
            whole, part = self.bar_rects()
            with QPainter(self) as painter:
                painter.fillRect(whole, self._theme.role("line"))
                painter.fillRect(part, self._theme.role("accent"))

    def put(self, number: KeyNumber, is_whole: bool) -> None:
        value = join_texts("  ", filter(None, (number.text, number.of)))
        tip = join_texts("\n", filter(None, (value, number.meaning)))
        self.share = number.share
        self.update()
        self.name.setText(number.name)
        self.value.setText(number.text)
        self.value.ensurePolished()  # the width in the heading's font
        value_px = self.value.fontMetrics().horizontalAdvance(translated(number.text)) + ROUNDING
        name_px = self.name.fontMetrics().horizontalAdvance(translated(number.name)) + ROUNDING
        self._room = max(value_px, name_px, MIN_NAME_PX) if is_whole else MAX_NAME_PX
        self.value.setMinimumWidth(value_px if is_whole else 0)
        self.name.setMinimumWidth(name_px if is_whole else 0)
        for widget in (self, self.name, self.value):
            widget.setToolTip(tooltip(tip))
