"""Search by text: code and sources, labels, bookmarks and visited places."""

from __future__ import annotations

from types import MappingProxyType

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import BAR, boxed, column, row
from rcv_py.ui.core.panel import Panel
from rcv_py.ui.table.find_bar import FindBar
from rcv_py.ui.table.searched_panel import SearchedPanel
from rcv_py.ui.widgets.parts import PartedPanel


class SearchPanel(PartedPanel):
    """Search code, labels, sources, bookmarks and visited places."""

    panel_id = "search"

    texts = MappingProxyType({"matches": "Code", "labels": "Labels", "history": "History", "notes": "Notes"})
    choice_name = "What is searched"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.bar = FindBar(ui.theme, "Search code, labels, sources", has_filter=False, is_narrow=True)
        self.bar.edited.connect(ui.session.query.set)
        self.bar.stepped.connect(self._step)
        ui.session.query.watch(self._show_query)
        head = row(self.choice, (self.bar, 1), margins=BAR, spacing=4)
        head.setAlignment(self.choice, Qt.AlignmentFlag.AlignTop)
        column(boxed(head), (self.stack, 1), of=self)
        self._show_query()

    def focus_search(self) -> bool:
        self.bar.focus()
        return True

    def first_focus(self) -> QWidget:
        """Return the field: the user enters this panel to type."""
        return self.bar.field

    def _show_query(self) -> None:
        self.bar.show_query(self.session.query.value)

    def _prepare(self, part: Panel) -> None:
        def say(text: str, count: int, problem: str) -> None:
            if part is self.chosen_panel:
                self.bar.say(text, count, problem)

        if isinstance(part, SearchedPanel):  # without a notice that it is broken
            part.counted.connect(say)

    def _show_chosen(self) -> None:
        super()._show_chosen()
        part = self.chosen_panel
        if isinstance(part, SearchedPanel):
            part.say()

    def _step(self, direction: int) -> None:
        part = self.chosen_panel
        if isinstance(part, SearchedPanel):
            part.step(direction)
