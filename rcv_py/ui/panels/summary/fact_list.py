"""Key numbers: name, value, and what the value is counted over, each with its definition as tooltip."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from rcv_py.analysis.overview.device_summary import Fact
from rcv_py.ui.core.plain_text import PlainLabel, tooltip
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.widgets.elided_label import ElidedLabel


class FactList(QWidget):
    """A grid of three columns; values can be selected with the mouse and copied."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.facts: tuple[Fact, ...] = ()
        self._labels: list[QLabel] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(2, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName("Key numbers")

    def set_facts(self, facts: Sequence[Fact]) -> None:
        """Show these numbers; labels are kept while the facts are the same ones."""
        facts = tuple(facts)
        if _shape(facts) != _shape(self.facts):
            self._rebuild(facts)
        self.facts = facts
        for row, fact in enumerate(facts):
            for column, text in enumerate((fact.name, fact.text, fact.of)):
                label = self._labels[3 * row + column]
                label.setText(text)
                label.setToolTip(tooltip(f"{fact.name}: {fact.text} {fact.of}\n{fact.meaning}"))
            self._labels[3 * row + 1].setAccessibleName(f"{fact.name}: {fact.text} {fact.of}")

    def text(self) -> str:
        """All numbers, one a line."""
        return "\n".join(f"{fact.name}\t{fact.text}\t{fact.of}".rstrip() for fact in self.facts)

    def _rebuild(self, facts: tuple[Fact, ...]) -> None:
        for label in self._labels:
            self._grid.removeWidget(label)
            label.deleteLater()
        self._labels = []
        for row in range(len(facts)):
            for column in range(3):
                label = ElidedLabel() if column == 2 or not facts[row].of else PlainLabel()
                label.setTextFormat(Qt.TextFormat.PlainText)
                if column != 1:
                    label.setProperty("role", "muted")
                else:
                    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                is_wide = column == 1 and not facts[row].of  # a name, which may be long
                self._grid.addWidget(label, row, column, 1, 2 if is_wide else 1)
                self._labels.append(label)
        self._grid.setRowStretch(len(facts), 1)


def _shape(facts: tuple[Fact, ...]) -> list[tuple[str, bool]]:
    return [(fact.id, bool(fact.of)) for fact in facts]
