"""What panels share that show rows about places of the code: where rows come from, and where a click goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QPainter

from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import PANELS, Panel, Sheet
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.table.column_widths import PAD
from rcv_py.ui.table.cost_bars import draw_bar
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.widgets.empty_state import WithEmptyState, reason

NO_WAVES = (
    "This capture has no traced waves, so nothing is known about {topic}. "
    "Record a thread trace with instruction tracing to see {them}."
)
READING = "{title} are shown as soon as waves are read."
UNREAD = "No wave could be read, so nothing is known about {topic}. Problems says why."

Found = TypeVar("Found")


class TablePanel(Panel, Generic[Found]):
    """Rows about places of the code, or a sentence that says why there are none.

    A click on a row selects its place everywhere, and a selection marks its row.  Subclasses make `view` and
    `empty`, show `result` in `_refresh`, and call `_start` when they are complete.
    """

    result_name: ClassVar[str] = ""  # the result of all waves that it shows, "" if it computes its own rows
    topic: ClassVar[str] = ""  # what nothing is known about without waves, by default the panel's title
    view: RowsView
    empty: WithEmptyState

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.result: Found | None = None  # what the rows are about, None while there is nothing

    def rows_view(self, name: str) -> RowsView:
        """Return a table for this panel, with what a screen reader calls it."""
        view = RowsView(self.ui.theme, self.ui.settings)
        view.setAccessibleName(name)
        return view

    def _start(self) -> None:
        """Follow the session, and show what is open."""
        self.session.trace.watch(self._open)
        self.session.selection.watch(self._follow)
        if self.result_name:
            self.session.loaded.watch(self._more_waves)
            self.ui.results.cell(self.result_name).watch(self._arrived)
        self._open()

    # -- where rows come from -----------------------------------------------------------------------

    def _open(self) -> None:
        """Another capture is open, or none."""
        self._refresh()
        trace = self.session.trace.value
        if self.result_name and trace is not None and len(trace.waves) and len(trace.code):
            self.want_result(self.result_name)

    def _refresh(self) -> None:
        """Show what is known."""
        raise NotImplementedError

    def _arrived(self) -> None:
        if not self.puts_off(self._refresh):
            self._refresh()

    def _more_waves(self) -> None:
        if self.result is None:
            self._refresh()

    @property
    def is_over(self) -> bool:
        """Whether no wave can be read any more, since all of them are missing."""
        trace, store = self.session.trace.value, self.session.store
        return trace is not None and store is not None and len(store.missing) >= len(trace.waves)

    def why_no_waves(self, found: Any) -> str:
        """Return why nothing is known of waves, "" if `found` is of some, as its `waves` counts them."""
        trace, title = self.session.trace.value, PANELS[self.panel_id].title
        topic = self.topic or title.lower()
        if trace is None or not len(trace.waves) or not len(trace.code):
            them = title.lower() if self.topic else "them"
            return reason(trace, self.panel_id, NO_WAVES.format(topic=topic, them=them))
        if found is None or not found.waves:
            return UNREAD.format(topic=topic) if self.is_over else READING.format(title=title)
        return ""

    def of_waves(self, text: str) -> str:
        """Return a note, after which waves count if not all of them do."""
        return " · ".join(filter(None, (waves_note(self.session), text)))

    # -- selecting ----------------------------------------------------------------------------------

    def place_of(self, row: Any) -> Hover | None:
        """Return the line or source line that a row is about, None for none; -1 or None is no row."""
        return None

    def row_of(self, selection: Selection) -> int:
        """Return the row that is about what is selected, -1 for none; by default the current one stays."""
        return self.view.current

    def _go(self, row: Any) -> None:
        place, selection = self.place_of(row), self.session.selection.value
        if place is not None and place.source is not None and place.source != selection.source:
            self.session.select_source(*place.source)
        elif place is not None and place.line is not None and place.line != selection.line:
            self.session.select_line(place.line)

    def _point(self, row: Any) -> None:
        self.session.hover.set(self.place_of(row))

    def _follow(self) -> None:
        if self.result is not None:
            row = self.row_of(self.session.selection.value)
            self.view.set_current(row, reveal=row != self.view.current)

    # -- painting, and what the shell wants ---------------------------------------------------------

    def paint_bar(
        self, painter: QPainter, cell: QRect, parts: Sequence[tuple[float, QColor]], largest: float
    ) -> None:
        """Paint a bar of cycles and colours into a cell."""
        box = QRectF(cell).adjusted(PAD, 5, -PAD, -5)
        draw_bar(painter, box, parts, largest, self.ui.settings["isa.bar_scale"])

    def sheet(self) -> Sheet | None:
        """The rows that are shown."""
        if self.result is None:
            return None
        return Sheet(PANELS[self.panel_id].title, self.view.table.headers, self.view.table.table())

    def save_state(self) -> dict[str, Any]:
        """Columns and order."""
        return {"table": self.view.save_state()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.view.load_state(state.get("table") or {})
