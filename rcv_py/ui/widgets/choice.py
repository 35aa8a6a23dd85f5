"""A list of named values of which one is chosen."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QSizePolicy

from rcv_py.ui.core.plain_text import tooltip

NARROWEST_PX = 64


class Choice(QComboBox):
    """Texts by value.  It says what it is for to screen readers, and to the mouse unless `tip` is given."""

    def __init__(self, name: str, texts: Mapping[str, str], *, tip: str = "") -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setToolTip(tooltip(tip or f"{name}."))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(NARROWEST_PX)
        for value, text in texts.items():
            self.addItem(text, value)

    @property
    def value(self) -> str:
        """The value that is chosen."""
        return str(self.currentData())

    def choose(self, value: object) -> None:
        """Choose a value, if there is such a one."""
        at = self.findData(value, flags=Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchCaseSensitive)
        if isinstance(value, str) and at >= 0:
            self.setCurrentIndex(at)

    def save_state(self) -> str:
        """Return the value."""
        return self.value

    def load_state(self, state: object) -> None:
        """Take back what `save_state` returned."""
        self.choose(state)
