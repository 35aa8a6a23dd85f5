"""A field for a moment in cycles: digits, with or without commas."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit

from rcv_py.ui.core.plain_text import tooltip

LARGEST = 1 << 62


def cycles_in(text: str) -> int | None:
    """Return the number a text says, None if it says none: `109,776`, `-4`, `110 000`."""
    plain = text.replace(",", "").replace(" ", "").replace("\u202f", "").strip()
    sign, digits = (-1, plain[1:]) if plain.startswith("-") else (1, plain)
    if not digits.isascii() or not digits.isdigit() or len(digits) > 19:
        return None
    value = sign * int(digits)
    return value if abs(value) <= LARGEST else None


class CycleField(QLineEdit):
    """Emits `edited` when the user has finished and the text is a number; else it is marked as wrong."""

    edited = Signal(object)  # int

    def __init__(self, name: str) -> None:
        super().__init__()
        self._shown = ""
        self.setAccessibleName(name)
        self.setToolTip(tooltip(name))
        self.setPlaceholderText("cycles")
        self.textEdited.connect(
            lambda: self.mark(cycles_in(self.text()) is None, "This is not a number of cycles.")
        )
        self.editingFinished.connect(self._finish)

    def show_cycles(self, value: int) -> None:
        """Show a number; emits nothing."""
        self._shown = f"{value:,}"
        self.setText(self._shown)
        self.setCursorPosition(0)
        self.mark(False)

    def mark(self, is_wrong: bool, why: str = "") -> None:
        """Colour the field, and say why in its tooltip."""
        self.setToolTip(tooltip(why if is_wrong else self.accessibleName()))
        if bool(self.property("invalid")) != is_wrong:
            self.setProperty("invalid", is_wrong)
            self.style().unpolish(self)
            self.style().polish(self)

    def _finish(self) -> None:
        value = cycles_in(self.text())
        if value is not None and self.text() != self._shown:
            self._shown = self.text()
            self.edited.emit(value)
