"""A table of events: dispatches, hardware events, markers, kernel values."""

import numpy as np

from rcv_py.analysis.events.event_table import ENTRY_TEXT, EntryKind, EventTable, event_table
from rcv_py.base.problems import Affects
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, nanoseconds
from rcv_py.features.events.result import EVENTS
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import Sheet, UiContext, has
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.core.times import UNITS
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.filter_menu import FilterButton, FilterItem
from rcv_py.ui.table.find_bar import FindBar, matches_of
from rcv_py.ui.table.result_columns import field_column
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.timeline.unit_markers import go_to_wave
from rcv_py.ui.widgets.empty_state import WithEmptyState, page

NO_MATCH = "No row fits the text and the kinds that are shown."
READING = "Markers are being matched."
TITLES = {
    EntryKind.DISPATCH: ("Dispatches", "Kernels being launched."),
    EntryKind.EVENT: ("Hardware events", "Flushes, code objects, what the trace unit did."),
    EntryKind.MARKER: ("Markers", "Scopes and points of instrumented kernels."),
    EntryKind.SHADER: ("Shader data", "Every value the kernel wrote, markers too."),
}


class EventsPanel(TablePanel[EventTable]):
    """Dispatches, hardware events and markers, by time."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.filter = FilterButton("the table", tuple(ENTRY_TEXT.values()))
        self.bar = FindBar(ui.theme, "Filter by name, place or detail", has_filter=False)
        self.note = self.captioned = PlainLabel(role="muted")
        self.view = self.rows_view("Events, dispatches and markers", Elastic("detail", "detail", 120, 1600))
        self.remembered = {"columns": self.view, "filter": self.filter}
        self._rows = WithEmptyState(self.view)
        self.empty = page(self, bar((self.bar, 1), self.note, self.filter), (self._rows, 1))
        self._soon = self.request(self._compute)
        ui.results.cell("markers").watch(self._soon.ask)
        self.filter.changed.connect(self._narrow)
        self.bar.edited.connect(self._narrow)
        self.bar.stepped.connect(self._step)
        self.view.opened.connect(self._fit)
        ui.settings.cell(UNITS).watch(self._show_again)
        self._start()

    def _open(self) -> None:
        trace = self.session.trace.value
        self.result = None
        nothing = self.why_missing(Affects.MARKERS)
        self.empty.say(nothing)
        if trace is None or nothing:
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
        if trace is None or not has(trace, Affects.MARKERS) or (trace.shader_data and spans is None):
            return  # events are shown once, when they are complete
        self._soon.run(lambda: event_table(trace, spans), self._take)

    def _show_again(self) -> None:
        if self.result is not None:
            self._take(self.result)

    def _take(self, table: EventTable) -> None:
        trace, self.result = self.session.trace.value, table
        if trace is None:
            return
        there = ascending(table.kind).tolist()
        is_plain = EntryKind.MARKER not in there
        items = [
            FilterItem(ENTRY_TEXT[kind], title, kind != EntryKind.SHADER or is_plain, tip)
            for kind, (title, tip) in TITLES.items()
            if kind in there
        ]
        self.filter.set_section("Kinds", items)
        times = self.times
        heading = {"title": times.unit or EVENTS["duration"].title, "width": 72}

        def length(cycles: int) -> str:
            return times.number(int(cycles)) if cycles >= 0 else ""

        kinds, texts = tuple(ENTRY_TEXT.values()), table.texts.__getitem__
        columns = (("name", table.name, 264), ("place", table.place, 280), ("detail", table.detail, 240))
        self.view.show_columns(
            (
                field_column(EVENTS["start"], table.time, text=lambda time: times.at(int(time)), width=96),
                field_column(EVENTS["duration"], table.duration, text=length, **heading),
                field_column(EVENTS["kind"], table.kind, text=kinds.__getitem__, width=76),
                *(field_column(EVENTS[name], words, text=texts, width=px) for name, words, px in columns),
            )
        )
        self._narrow()

    def _narrow(self) -> None:
        table = self.result
        if table is None:
            return
        hidden = self.filter.hidden
        shown = np.array([ENTRY_TEXT[kind] not in hidden for kind in EntryKind])[table.kind]
        problem, query = "", self.bar.query
        if query.text:
            hits, problem = matches_of(table.texts, query)
            fits = np.zeros(len(table.texts) + 1, dtype=bool)
            fits[hits] = True
            shown &= fits[table.name] | fits[table.place] | fits[table.detail] | bool(problem)
        rows = np.flatnonzero(shown)
        self.view.table.set_filter(rows if len(rows) < len(table) else None)
        part = Message(" of {0:,}", len(table)) if len(rows) < len(table) else ""
        self.note.setText(Message("{0:,}{1} rows", len(rows), part))
        self.bar.say("", len(rows), problem)
        self._rows.say("" if len(rows) else NO_MATCH)

    def _step(self, direction: int) -> None:
        self.view.set_current(self.view.next_row(direction))
        self._go(self.view.current)

    def _go(self, row: int) -> None:
        if self.result is not None and 0 <= row < len(self.result):
            go_to_wave(self.session, int(self.result.wave[row]), int(self.result.time[row]))

    def _fit(self, row: int) -> None:
        table = self.result
        if table is None or not 0 <= row < len(table):
            return
        begin, length = int(table.time[row]), int(table.duration[row])
        if length > 0:
            self.session.set_view(TimeWindow(begin, begin + length).padded(0.05))
        else:
            view = self.session.view.value
            self.session.set_view(view.moved(begin - view.middle))

    def focus_search(self) -> bool:
        self.bar.focus()
        return True

    def command_line(self) -> command_text.CommandWords | None:
        if self.result is None:
            return None
        there = {ENTRY_TEXT[EntryKind(kind)] for kind in ascending(self.result.kind).tolist()}
        kinds = [text for text in ENTRY_TEXT.values() if text in there - self.filter.hidden]
        if not kinds:
            return None
        how = (*command_text.matching(self.bar.query), *command_text.sorting(self.view.table))
        return command_text.rcv(self.session, "events", f"--kind={','.join(kinds)}", *how)

    def sheet(self) -> Sheet | None:
        trace, table = self.session.trace.value, self.result
        if trace is None or table is None or not len(table):
            return None

        def real(cycles: int | None) -> str:
            nanos = None if cycles is None else trace.clock.ns(cycles)
            return "" if nanos is None else nanoseconds(nanos)

        cells = (table.cells(row) for row in self.view.table.data_rows.tolist())
        rows = [(*("" if cell is None else cell for cell in row), real(row[1])) for row in cells]
        shown = self.view.table.columns
        headers = ("cycles" if column.id == "duration" else column.title for column in shown)
        return Sheet("Events", (*headers, EVENTS["duration"].title), rows)
