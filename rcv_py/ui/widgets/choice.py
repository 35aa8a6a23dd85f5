"""A choice of named values: a drop-down list, or buttons side by side."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QComboBox, QPushButton, QSizePolicy, QWidget

from rcv_py.base.text import Message, translated
from rcv_py.ui.core.layout import row
from rcv_py.ui.core.plain_text import button_text, shown, tooltip

NARROWEST_PX = 64


class ChoiceBox(QComboBox):
    """Texts by value.  Its purpose goes to screen readers, and to the tooltip unless `tip` is given."""

    def __init__(self, name: str, texts: Mapping[str, str], *, tip: str = "") -> None:
        super().__init__()
        self.setAccessibleName(translated(name))
        self.setToolTip(tooltip(tip or Message("{0}.", name)))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(NARROWEST_PX)
        for value, text in texts.items():
            self.addItem(shown(text), value)

    @property
    def value(self) -> str:
        """Return the chosen value."""
        return str(self.currentData())

    def choose(self, value: object) -> None:
        """Choose a value, if it is offered."""
        if not isinstance(value, str):  # of a file that anyone can edit
            return
        at = self.findData(value, flags=Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchCaseSensitive)
        if at >= 0:
            self.setCurrentIndex(at)

    def save_state(self) -> str:
        """Return the value."""
        return self.value

    load_state = choose  # what `save_state` returned


class Switch(QWidget):
    """The same as buttons, exactly one of them checked; the arrow keys move between them."""

    currentIndexChanged = Signal(int)  # noqa: N815 - Qt's name

    def __init__(self, name: str, texts: Mapping[str, str]) -> None:
        super().__init__()
        self.setAccessibleName(translated(name))
        self._values = tuple(texts)
        self.buttons = {value: QPushButton(button_text(text)) for value, text in texts.items()}
        self._group = QButtonGroup(self)
        for place, button in enumerate(self.buttons.values()):
            button.setCheckable(True)
            button.setAutoExclusive(True)
            button.setProperty("segment", "true")
            self._group.addButton(button, place)
        self._group.button(0).setChecked(True)
        self._group.idToggled.connect(
            lambda place, is_down: self.currentIndexChanged.emit(place) if is_down else None
        )
        row(*self.buttons.values(), spacing=0, of=self)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def value(self) -> str:
        """Return the chosen value."""
        return self._values[self._group.checkedId()]

    def choose(self, value: object) -> None:
        """Choose a value, if it is offered."""
        if isinstance(value, str) and value in self.buttons:
            self.buttons[value].setChecked(True)

    def save_state(self) -> str:
        """Return the value."""
        return self.value

    load_state = choose  # what `save_state` returned
