"""The bases of panels with rows about places of the code, and of those that the session's search narrows."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from PySide6.QtCore import Signal

from rcv_py.base.problems import Affects
from rcv_py.base.text import Message, translated
from rcv_py.base.tree import TreeNode
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.computing import Computing
from rcv_py.ui.core.panel import Panel, Sheet, UiContext
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.find_bar import matches_of
from rcv_py.ui.table.rows_view import CellPainter, RowsView
from rcv_py.ui.widgets.empty_state import WithEmptyState

NO_WAVES = (
    "This capture has no traced waves, so nothing is known about {topic}. "
    "Record a thread trace with instruction tracing to see {them}."
)
NOTHING = "Nothing matches “{text}”."
NO_LINES = np.empty(0, dtype=np.int64)

Result = TypeVar("Result")
N = TypeVar("N", bound=TreeNode)


class TablePanel(Panel, Generic[Result]):
    """Rows about places of the code, or a sentence that gives the reason for having none.

    A click on a row selects its place everywhere, and a selection marks its row.  Subclasses make `view` and
    `empty`, show `result` in `_refresh`, and call `_start` when they are complete.
    """

    result_name: str = ""  # the result of all waves that it shows, "" if it computes its own rows
    topic: str = ""  # the missing data if there are no waves, by default the panel's title
    view: RowsView
    empty: WithEmptyState

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.result: Result | None = None  # the data of the rows, None while there is none
        self.computing = Computing(self, self._refresh)
        self._answered = self.request(self._refresh)

    def rows_view(
        self, name: str, elastic: Elastic | None = None, own: RowsView | None = None, **painters: CellPainter
    ) -> RowsView:
        """Return the panel's table: its screen-reader name, and the painters of columns by id.

        `own` is the table, if the panel has its own class.
        """
        view = own or RowsView(self.ui.theme, self.ui.settings)
        view.setAccessibleName(translated(name))
        view.widths.elastic = elastic
        view.cell_painters.update(painters)
        view.chosen.connect(self._go)
        view.hovered.connect(self._point)
        self.remembered.setdefault("table", view)
        return view

    def _start(self) -> None:
        self.session.trace.watch(self._open)
        self.session.selection.watch(self._follow)
        if self.result_name:
            self.session.loaded.watch(self._more_waves)
            for name in self.result_names():
                self.ui.results.cell(name).watch(self._arrived)
        self._open()

    def result_names(self) -> tuple[str, ...]:
        """Return the results that it may show."""
        return (self.result_name,)

    def _open(self) -> None:
        """React to another capture, or none."""
        self._refresh()
        trace = self.session.trace.value
        if self.result_name and trace is not None and len(trace.waves) and len(trace.code):
            self.want_result(self.result_name)

    def _refresh(self) -> None:
        """Show the present data."""
        raise NotImplementedError

    def _arrived(self) -> None:
        self._answered.now()

    def _more_waves(self) -> None:
        if self.result is None:
            self._refresh()

    def why_no_waves(self, known: Any) -> str:
        """Return why there is no data of waves, "" if `known.waves`, the number of its waves, is not 0."""
        trace, title = self.session.trace.value, self.declared.title
        self.computing.stop()
        topic = self.topic or title.lower()
        if trace is None or not len(trace.waves) or not len(trace.code):
            them = title.lower() if self.topic else "them"
            return self.reason(Message(NO_WAVES, topic=topic, them=them), Affects.WAVES)
        if known is None or not known.waves:
            names = filter(None, (self.result_name,))
            return self.why_unread(topic) or self.computing.begin(title.lower(), *names)
        return ""

    @property
    def lines(self) -> np.ndarray:
        """Return the code row of each row, -1 for none; int64.  Empty if rows are not about code."""
        return NO_LINES

    def place_of(self, row: Any) -> Hover | None:
        """Return the instruction or source line of a row, None for none; -1 or None is not a row."""
        line = int(self.lines[row]) if 0 <= row < len(self.lines) else -1
        return Hover(line=line) if line >= 0 else None

    def row_of(self, selection: Selection) -> int:
        """Return the row of the selected instruction or source line, -1 for none.

        If several rows match, the current row stays; it also stays if rows are not about code.
        """
        current, line = self.view.current, selection.line
        rows = np.flatnonzero(self.lines == line) if line is not None else NO_LINES
        if not len(self.lines) or current in rows:
            return current
        return int(rows[0]) if len(rows) else -1

    def _go(self, row: Any) -> None:
        place, selection = self.place_of(row) or Hover(), self.session.selection.value
        if place.source is not None and place.source != selection.source:
            self.session.select_source(*place.source)
        elif place.line is not None and place.line != selection.line:
            self.session.select_line(place.line)

    def _point(self, row: Any) -> None:
        self.session.hover.set(self.place_of(row))

    def _follow(self) -> None:
        if self.result is not None:
            row = self.row_of(self.session.selection.value)
            self.view.set_current(row, reveal=row != self.view.current)

    def sheet(self) -> Sheet | None:
        if self.result is None:
            return None
        return Sheet(self.declared.title, self.view.table.headers, self.view.table.table())


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
