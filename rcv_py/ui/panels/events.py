"""A table of what happened at a moment: dispatches, hardware events, markers, values of the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcv_py.analysis.core.search import find
from rcv_py.analysis.events.event_table import ENTRY_TEXT, EntryKind, EventTable, event_table, has_entries
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, nanoseconds
from rcv_py.model.window import TimeWindow
from rcv_py.results.events import EVENTS
from rcv_py.state.selection import SearchQuery
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.filter_menu import Choice, FilterButton
from rcv_py.ui.table.find_bar import FindBar
from rcv_py.ui.table.result_columns import sort_names
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import Column
from rcv_py.ui.timeline.unit_markers import go_to_wave
from rcv_py.ui.widgets.empty_state import WithEmptyState, page

NOTHING = (
    "The capture holds no dispatches, hardware events or shader data. Dispatches and events are written with "
    "format 3.1; markers need a kernel that is instrumented with s_ttracedata, and shader data enabled when "
    "recording."
)
NO_MATCH = "No row fits the text and the kinds that are shown."
SORTED = sort_names(EVENTS)
READING = "Markers are being matched."
TITLES = {
    EntryKind.DISPATCH: ("Dispatches", "Kernels being launched."),
    EntryKind.EVENT: ("Hardware events", "Flushes, code objects, what the trace unit did."),
    EntryKind.MARKER: ("Markers", "Scopes and points of instrumented kernels."),
    EntryKind.SHADER: ("Shader data", "Every value the kernel wrote, markers too."),
}


@panel(id="events", title="Events", area="bottom", order=60, needs=("markers",))
class EventsPanel(Panel):
    """Dispatches, hardware events and markers, by time."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.table: EventTable | None = None
        self._query = SearchQuery()
        self.filter = FilterButton("the table")
        self.bar = FindBar(ui.theme, "Filter by name, place or detail", has_filter=False)
        self.note = PlainLabel()
        self.note.setObjectName("muted")
        self.view = RowsView(ui.theme, ui.settings)
        self.view.setAccessibleName("Events, dispatches and markers")
        self.view.widths.elastic = Elastic("detail", "detail", 120, 1600)
        self._lay_out()
        self._soon = self.coalesced(self._compute)
        self._connect()
        self._open()

    def _lay_out(self) -> None:
        top = bar((self.bar, 1), self.note, self.filter)
        self._rows = WithEmptyState(self.view)
        self.empty = page(self, top, (self._rows, 1))

    def _connect(self) -> None:
        self.session.trace.watch(self._open)
        self.ui.results.cell("markers").watch(self._soon.ask)
        self.filter.changed.connect(self._narrow)
        self.bar.edited.connect(self._search)
        self.bar.stepped.connect(self._step)
        self.view.chosen.connect(self._go)
        self.view.opened.connect(self._fit)

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        self.table = None
        is_empty = trace is None or not has_entries(trace)
        self.empty.say(self.reason(NOTHING) if is_empty else "")
        if trace is None or is_empty:
            self.view.show_columns(())
            return
        if trace.shader_data:
            self.view.show_columns(())
            self.note.setText("")
            self._rows.say(READING)
            self.want_result("markers")
        self._soon.ask()

    def _compute(self) -> None:
        trace, spans = self.session.trace.value, self.ui.results.cell("markers").value
        if trace is None or not has_entries(trace) or (trace.shader_data and spans is None):
            return  # what is there is shown when it is complete, not twice
        self._soon.started()
        self.run_job(lambda: event_table(trace, spans), only_for(self.session, self._take))

    def _take(self, table: EventTable) -> None:
        self._soon.finished()
        trace, self.table = self.session.trace.value, table
        if trace is None:
            return
        kinds = np.unique(table.kind).tolist()
        is_plain = EntryKind.MARKER not in kinds
        self.filter.set_section(
            "Kinds",
            [
                Choice(ENTRY_TEXT[kind], title, kind != EntryKind.SHADER or is_plain, tip)
                for kind, (title, tip) in TITLES.items()
                if kind in kinds
            ],
        )
        self.view.show_columns(self._columns(table))
        self._narrow()

    def _columns(self, table: EventTable) -> tuple[Column, ...]:
        texts = table.texts.__getitem__
        kinds = [ENTRY_TEXT[kind] for kind in EntryKind]
        return (
            Column(
                "time",
                "time",
                table.time,
                lambda one: count(int(one)),
                True,
                width=96,
                tip="Begin, in cycles.",
            ),
            Column(
                "duration",
                "cycles",
                table.duration,
                lambda one: count(int(one)) if one >= 0 else "",
                True,
                width=72,
                tip="Cycles from begin to end; nothing for a moment.",
            ),
            Column("kind", "kind", table.kind, kinds.__getitem__, width=76, tip="What it is."),
            Column("name", "name", table.name, texts, width=264, tip="Kernel, event or marker."),
            Column("place", "place", table.place, texts, width=280, tip="Where it happened."),
            Column("detail", "detail", table.detail, texts, width=240, tip="More about it."),
        )

    # -- filtering ----------------------------------------------------------------------------------

    def _search(self, query: SearchQuery) -> None:
        self._query = query
        self._narrow()

    def _narrow(self) -> None:
        table = self.table
        if table is None:
            return
        hidden = self.filter.hidden
        shown = np.array([ENTRY_TEXT[kind] not in hidden for kind in EntryKind])[table.kind]
        problem, query = "", self._query
        if query.text:
            try:
                hits = find(table.texts, query.text, query.is_case_sensitive, query.is_regex)
            except UsageError as error:
                problem = f"{error} {error.hint}"
            else:
                fits = np.zeros(len(table.texts) + 1, dtype=bool)
                fits[hits] = True
                shown &= fits[table.name] | fits[table.place] | fits[table.detail]
        rows = np.flatnonzero(shown)
        self.view.table.set_filter(rows if len(rows) < len(table) else None)
        self.note.setText(
            f"{len(rows):,} of {len(table):,} rows" if len(rows) < len(table) else f"{len(table):,} rows"
        )
        self.bar.say("", len(rows), problem)
        self._rows.say("" if len(rows) else NO_MATCH)

    # -- going there --------------------------------------------------------------------------------

    def _step(self, direction: int) -> None:
        rows = self.view.table.data_rows
        if not len(rows):
            return
        here = self.view.table.view_row(self.view.current)
        at = (here + direction) % len(rows) if here >= 0 else (0 if direction > 0 else len(rows) - 1)
        row = self.view.table.data_row(at)
        self.view.set_current(row)
        self._go(row)

    def _go(self, row: int) -> None:
        if self.table is not None and 0 <= row < len(self.table):
            go_to_wave(self.session, int(self.table.wave[row]), int(self.table.time[row]))

    def _fit(self, row: int) -> None:
        table = self.table
        if table is None or not 0 <= row < len(table):
            return
        begin, length = int(table.time[row]), int(table.duration[row])
        if length > 0:
            self.session.set_view(TimeWindow(begin, begin + length).padded(0.05))
        else:
            view = self.session.view.value
            self.session.set_view(view.moved(begin - view.middle))

    # -- what the shell asks ------------------------------------------------------------------------

    def focus_search(self) -> bool:
        """Put the cursor into the field."""
        self.bar.focus()
        return True

    def caption(self) -> str:
        """How many rows there are."""
        return self.note.text()

    def command_line(self) -> command_text.Words | None:
        """The rows that are shown."""
        if self.table is None:
            return None
        there = {ENTRY_TEXT[EntryKind(kind)] for kind in np.unique(self.table.kind).tolist()}
        kinds = [text for text in ENTRY_TEXT.values() if text in there - self.filter.hidden]
        if not kinds:
            return None
        how = (*command_text.matching(self._query), *command_text.sorting(self.view.table, SORTED))
        return command_text.rcv(self.session, "events", f"--kind={','.join(kinds)}", *how)

    def sheet(self) -> Sheet | None:
        """The rows that are shown, in their order; durations also in nanoseconds where they are known."""
        table, trace = self.table, self.session.trace.value
        if table is None or trace is None or not len(table):
            return None
        headers = ("time", "cycles", "kind", "name", "place", "detail", "duration")
        rows = (self._values(table, row) for row in self.view.table.data_rows.tolist())
        return Sheet("Events", headers, rows)

    def _values(self, table: EventTable, row: int) -> tuple[Any, ...]:
        time, length, *words = table.cells(row)
        trace = self.session.trace.value
        real = None if trace is None or length is None else trace.clock.ns(length)
        return (time, "" if length is None else length, *words, "" if real is None else nanoseconds(real))

    def save_state(self) -> dict[str, Any]:
        """Columns and kinds."""
        return {"columns": self.view.save_state(), "filter": self.filter.save(tuple(ENTRY_TEXT.values()))}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        columns = state.get("columns")
        if isinstance(columns, dict):
            self.view.load_state(columns)
        self.filter.load(state.get("filter"))
