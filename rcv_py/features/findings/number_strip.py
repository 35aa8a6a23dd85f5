"""The strip of key numbers above the findings."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from rcv_py.analysis.findings.finding import KeyNumber
from rcv_py.base.text import join_texts, translated
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.plain_text import ElidedLabel, tooltip
from rcv_py.ui.core.theme import Theme

ROUNDING = 2  # px that a text may need beyond its advance
SHARE_PX = 3  # height of the bar of a number
MIN_NAME_PX, MAX_NAME_PX, GAP, MARGIN_PX = 48, 160, 10, 8


def _columns(rooms: Sequence[int], width: int) -> int:
    """Return how many columns of cells fit into a width, at least one; a lone last cell fills its row."""
    for columns in range(len(rooms), 1, -1):
        shared = rooms[:-1] if len(rooms) % columns == 1 else rooms
        if sum(max(shared[at::columns]) for at in range(columns)) + GAP * (columns - 1) <= width:
            return columns
    return 1


class NumberStrip(QWidget):
    """Rows of numbers, as many as fit; names and the first value (a kernel) may be cut, numbers never are."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(MARGIN_PX, 4, MARGIN_PX, 4)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(4)
        self._cells: list[_Cell] = []
        self._shape = (False, 0, 0)  # whether all are in a row, their number, columns
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
        """Put the cells in rows; the first cell has its own row if a row cannot hold all."""
        shown = self._cells[: len(self.numbers)]
        if not shown:
            return
        first, rest = shown[0], shown[1:]
        rooms = [max(cell.room, MIN_NAME_PX) for cell in rest]
        is_one_row = sum(rooms) + GAP * len(rooms) + MAX_NAME_PX <= self.width() - 2 * MARGIN_PX
        columns = len(rest) if is_one_row else _columns(rooms, self.width() - 2 * MARGIN_PX)
        alone = not is_one_row and columns > 1 and len(rest) % columns == 1  # the last cell, in its row
        if self._shape == (is_one_row, len(rest), columns):
            return
        self._shape = (is_one_row, len(rest), columns)
        self._grid.addWidget(first, 0, 0, 1, 1 if is_one_row else columns)
        for number, cell in enumerate(rest):
            down, across = (0, number + 1) if is_one_row else (1 + number // columns, number % columns)
            is_wide = alone and number == len(rest) - 1
            self._grid.addWidget(cell, down, across, 1, columns if is_wide else 1)
        for at in range(self._grid.columnCount()):
            self._grid.setColumnStretch(at, 0)
        for at in range(columns):
            self._grid.setColumnStretch(
                at + is_one_row, max(rooms[at::columns][: len(rest) // columns or 1], default=0)
            )
        if is_one_row:
            self._grid.setColumnStretch(0, MAX_NAME_PX)


class _Cell(QWidget):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.name, self.value = ElidedLabel(role="muted"), ElidedLabel(role="heading")
        self.room = 0  # px that value and name need
        self.share: float | None = None  # that the bar shows; None: no bar
        column(self.name, self.value, of=self, margins=(0, 0, 0, SHARE_PX + 1))
        theme.changed.connect(self.update)

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
        tip = join_texts(
            "\n", filter(None, (join_texts("  ", filter(None, (number.text, number.of))), number.meaning))
        )
        self.share = number.share
        self.update()
        self.name.setText(number.name)
        self.value.setText(number.text)
        self.value.ensurePolished()  # the width in the heading's font
        value_px = self.value.fontMetrics().horizontalAdvance(translated(number.text)) + ROUNDING
        name_px = self.name.fontMetrics().horizontalAdvance(translated(number.name)) + ROUNDING
        self.room = max(value_px, name_px)
        self.value.setMinimumWidth(value_px if is_whole else 0)
        self.name.setMinimumWidth(name_px if is_whole else 0)
        for widget in (self, self.name, self.value):
            widget.setToolTip(tooltip(tip))
