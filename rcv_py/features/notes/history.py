"""Bookmarks and visited places, newest first."""

from typing import NamedTuple

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from rcv_py.analysis.cost.place_text import beside, place_text
from rcv_py.model.trace import Trace
from rcv_py.state.selection import Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.icons import pixmap
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.table_model import Column
from rcv_py.ui.table.table_panel import SearchedPanel
from rcv_py.ui.widgets.empty_state import page

MAX_PLACES = 24  # maximum places in a command
NOWHERE = "Places you visit are listed here. B keeps the present one as a bookmark."


class HistoryRow(NamedTuple):
    """A row: a bookmark if `visit` is -1, else a visit by its index in the history."""

    selection: Selection
    visit: int = -1


class HistoryPanel(SearchedPanel[tuple[HistoryRow, ...]]):
    """Bookmarks and visited places."""

    panel_id = "history"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        elastic = Elastic("what", "wave", 90, 4000)
        self.view = self.rows_view("Bookmarks and visits", elastic, mark=self._paint_mark)
        self.view.opens_by_key = True
        self.view.setSortingEnabled(False)
        self._what: list[str] = []  # instruction of each place
        self.empty = page(self, self.view)
        self._soon = self.request(self._refresh)
        for cell in (ui.session.visited, ui.session.bookmarks):
            cell.watch(self._soon.ask)
        self._start()

    @property
    def places(self) -> tuple[HistoryRow, ...]:
        """Return the listed places: bookmarks, then visits, the newest first."""
        return self.result or ()

    @property
    def texts(self) -> list[str]:
        return self._what

    @property
    def nothing(self) -> str:
        return NOWHERE if self.session.trace.value is not None else self.reason(NOWHERE)

    def _refresh(self) -> None:
        trace, history = self.session.trace.value, self.session.history
        if trace is None:
            self.result, self._what = None, []
            self._narrow()
            return
        marks = [HistoryRow(mark) for mark in self.session.bookmarks.value]
        visits = [HistoryRow(visit.selection, at) for at, visit in enumerate(history.visits)]
        self.result = (*marks, *reversed(visits))
        what = self._what = [instruction(trace, place.selection) for place in self.places]
        wave = [str(place.selection.wave or "") for place in self.places]
        kind = ["bookmark" if place.visit < 0 else "" for place in self.places]
        mark = Column("mark", "", kind, text=lambda _: "", width=26, tip="A bookmark.")
        place = Column("what", "place", what, width=140, tip="Instruction, source line or wave.")
        waves = Column("wave", "wave", wave, width=150, is_elided_left=True, tip="Wave.")
        self.view.show_columns((mark, place, waves))
        self._narrow()
        here = [row for row, place in enumerate(self.places) if place.visit == history.position]
        self.view.set_current(here[0] if here else -1)

    def _paint_mark(self, painter: QPainter, cell: QRect, row: int) -> None:
        if 0 <= row < len(self.places) and self.places[row].visit < 0:
            picture = pixmap("bookmark", self.ui.theme.role("accent"), 14, self.devicePixelRatioF())
            painter.drawPixmap(cell.left() + 6, cell.center().y() - 6, picture)

    def _go(self, row: int) -> None:
        if 0 <= row < len(self.places):
            selection, visit = self.places[row]
            if visit < 0:
                self.session.select(selection)
            elif visit != self.session.history.position:
                self.session.go_to_visit(visit)

    def command_line(self) -> command_text.CommandWords | None:
        links = [text for place in self.places if (text := str(place.selection))]
        return command_text.rcv(self.session, "place", *dict.fromkeys(links[:MAX_PLACES])) if links else None


def instruction(trace: Trace, selection: Selection) -> str:
    """Return the instruction of a place in few words."""
    if selection.line is not None and selection.line < len(trace.code):
        hit = "" if selection.hit is None else f" #{selection.hit + 1}"
        return f"{selection.line}{hit}  {trace.code.text[selection.line]}{beside(trace, selection.line)}"
    if selection.source is not None:
        return place_text(trace.sources, *selection.source)
    return "wave" if selection.wave is not None else "start"
