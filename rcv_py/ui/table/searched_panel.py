"""The base of tables that the session's search narrows."""

from collections.abc import Sequence

from PySide6.QtCore import Signal

from rcv_py.base.text import Message
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.table.find_bar import matches_of
from rcv_py.ui.table.table_panel import Result, TablePanel

NOTHING = "Nothing matches “{text}”."


class SearchedPanel(TablePanel[Result]):
    """A part of the search: a table that the text narrows.  Arrows move over rows, Return goes to a row."""

    counted = Signal(str, int, str)  # text about the rows, their number, the error of the search

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        ui.session.query.watch(self._narrow)

    @property
    def texts(self) -> Sequence[str]:
        """Return the searched texts, one per row."""
        return ()

    @property
    def nothing(self) -> str:
        """Return why there are no rows at all."""
        raise NotImplementedError

    def _narrow(self) -> None:
        """Show the rows that match, or all without a text."""
        query, texts = self.session.query.value, self.texts
        rows, problem = matches_of(texts, query) if query.text else (None, "")
        self.view.table.set_filter(rows)
        is_none = rows is not None and not len(rows)
        missing = Message(NOTHING, text=query.text) if is_none else ""
        self.empty.say(self.nothing if not texts else problem or missing)
        self.say()

    def say(self) -> None:
        """Show the number of rows."""
        query, shown = self.session.query.value, len(self.view.table.data_rows)
        problem = matches_of((), query)[1] if query.text else ""
        self.counted.emit(Message("{0:,} found", shown) if query.text else "", shown, problem)

    def step(self, direction: int) -> None:
        """Go to the next (+1) or previous (-1) row, wrapping around the end."""
        self.view.set_current(self.view.next_row(direction))
        if self.view.current >= 0:
            self._go(self.view.current)
