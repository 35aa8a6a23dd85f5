"""Key numbers side by side: a name over a value, each with all of it in the tooltip."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QWidget

from rcv_py.analysis.findings.finding import KeyNumber
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.widgets.elided_label import ElidedLabel

ROUNDING = 2  # px that a text may need more than its advance


class NumberStrip(QWidget):
    """Equal columns; where room is short, names and the first value (a kernel) are cut, numbers never."""

    def __init__(self) -> None:
        super().__init__()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(10, 4, 10, 4)
        self._row.setSpacing(12)
        self._cells: list[_Cell] = []
        self.numbers: tuple[KeyNumber, ...] = ()

    def show_numbers(self, numbers: Sequence[KeyNumber]) -> None:
        """Replace the numbers that are shown."""
        self.numbers = tuple(numbers)
        while len(self._cells) < len(numbers):
            self._cells.append(_Cell())
            self._row.addWidget(self._cells[-1], 1 if len(self._cells) > 1 else 2)  # a kernel has a long name
        for place, cell in enumerate(self._cells):
            cell.setVisible(place < len(numbers))
            if place < len(numbers):
                cell.put(numbers[place], is_whole=place > 0)
        self.setAccessibleName(", ".join(f"{one.name} {one.text} {one.of}".strip() for one in numbers))


class _Cell(QWidget):
    """One number with its title."""

    def __init__(self) -> None:
        super().__init__()
        self.name, self.value = ElidedLabel(), ElidedLabel()
        self.name.setProperty("role", "muted")
        self.value.setProperty("role", "heading")
        column(self.name, self.value, of=self)

    def put(self, number: KeyNumber, is_whole: bool) -> None:
        tip = "\n".join(part for part in (f"{number.text}  {number.of}".strip(), number.meaning) if part)
        self.name.setText(number.name)
        self.value.setText(number.text)
        self.value.ensurePolished()  # the width is that of the heading's font
        room = self.value.fontMetrics().horizontalAdvance(number.text) + ROUNDING
        self.value.setMinimumWidth(room if is_whole else 0)
        for widget in (self, self.name, self.value):
            widget.setToolTip(tooltip(tip))
