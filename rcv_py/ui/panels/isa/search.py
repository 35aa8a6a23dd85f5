"""The session's search in the instruction table: count, highlight, filter, walk."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject

from rcv_py.state.selection import SearchQuery
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for
from rcv_py.ui.panels.isa.view import IsaView
from rcv_py.ui.table.find_bar import FindBar, matches_of, next_place
from rcv_py.ui.table.heat_strip import HeatStrip


class IsaSearch(QObject):
    """Joins the find bar, the table and the heat strip over `session.query`."""

    def __init__(self, ui: UiContext, bar: FindBar, view: IsaView, strip: HeatStrip) -> None:
        super().__init__(view)
        self.found = np.empty(0, dtype=np.int64)  # data rows, ascending
        self._problem = ""
        self._ui, self._session = ui, ui.session
        self._bar, self._view, self._strip = bar, view, strip
        bar.edited.connect(self._session.query.set)
        bar.filtered.connect(lambda on: self.apply_filter())
        bar.stepped.connect(self.step)
        self._session.query.watch(self.search)

    def search(self) -> None:
        """Search for what the session wants, in a thread."""
        trace, query = self._session.trace.value, self._session.query.value
        self._bar.show_query(query)
        if trace is None:
            return
        texts = trace.code.text

        take = only_for(self._session, self._take)
        self._ui.tasks.run(self, lambda: matches_of(texts, query), take)

    def _take(self, answer: tuple[np.ndarray, str]) -> None:
        self.found, self._problem = answer
        self.show()

    def show(self) -> None:
        """Show what was found, if it is about the program that is shown."""
        shown = len(self._view.table.view_rows)
        if self._view.rows is None or (len(self.found) and self.found[-1] >= shown):
            return
        self._view.set_found(self.found, self._session.query.value)
        self._strip.set_marks(self.found)
        self.apply_filter()
        self.say()

    def apply_filter(self) -> None:
        """Hide what does not match, if the user wants that."""
        text = self._session.query.value.text
        is_on = self._bar.filter.isChecked() and bool(text) and not self._problem
        self._view.set_only(self.found if is_on else None)

    def say(self) -> None:
        """Show how many there are, and which of them is selected."""
        total = len(self.found)
        at = np.flatnonzero(self.found == self._session.selection.value.line)
        text = f"{int(at[0]) + 1:,} of {total:,}" if len(at) else f"{total:,} found"
        self._bar.say(text if self._session.query.value.text else "", total, self._problem)

    def filter_to(self, mnemonic: str) -> None:
        """Show only rows that hold a text."""
        self._bar.filter.setChecked(True)
        self._session.query.set(SearchQuery(mnemonic))

    def step(self, direction: int) -> None:
        """Select the next (+1) or previous (-1) match in the order shown, around the end if need be."""
        shown = self._view.table.view_rows
        if not len(self.found) or len(shown) <= self.found[-1]:
            return
        if self._view.is_folding:  # in program order, through what is folded away
            shown = np.arange(len(shown))
        places = np.sort(shown[self.found][shown[self.found] >= 0])
        line = self._session.selection.value.line
        here = int(shown[line]) if line is not None and line < len(shown) else -1
        at = next_place(places, here, direction)
        if len(places):
            place = int(places[at % len(places)])
            self._session.select_line(place if self._view.is_folding else self._view.table.data_row(place))
