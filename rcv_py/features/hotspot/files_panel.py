"""Cost by source place: files and their lines as a tree, or all lines ranked."""

from __future__ import annotations

from types import MappingProxyType
from typing import Protocol, runtime_checkable

from PySide6.QtWidgets import QLineEdit

from rcv_py.base.text import translated
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import BAR, boxed, column, row
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.core.plain_text import named, with_tip
from rcv_py.ui.widgets.parts import PartedPanel

EVERY_MS = 120


@runtime_checkable
class Filtered(Protocol):
    """A part that shows only what matches a text."""

    def set_filter(self, text: str) -> None:
        """Show only matching rows; all rows for an empty text."""


class FilesPanel(PartedPanel):
    """Files and lines by cost, as a tree or ranked."""

    panel_id = "explorer"

    texts = MappingProxyType({"file_tree": "Tree", "top_lines": "Ranked"})
    choice_name = "How lines are listed"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        tip = "Show only files and lines with this text in their path, place or code."
        field = QLineEdit(placeholderText=translated("Filter files and lines"), clearButtonEnabled=True)
        self.field = with_tip(named(field, "Filter files and lines"), tip)
        self._soon = self.request(self._filter, EVERY_MS, always_rests=True)
        self.field.textChanged.connect(self._soon.update)
        column(boxed(row(self.choice, (self.field, 1), margins=BAR, spacing=4)), (self.stack, 1), of=self)

    def focus_search(self) -> bool:
        self.field.setFocus()
        self.field.selectAll()
        return True

    def _prepare(self, part: Panel) -> None:
        if isinstance(part, Filtered):
            part.set_filter(self.field.text().strip())

    def _show_chosen(self) -> None:
        super()._show_chosen()
        self._filter()

    def _filter(self) -> None:
        self._prepare(self.chosen_panel)
