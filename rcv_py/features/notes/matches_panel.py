"""All matches of a text: instructions, labels, source lines, markers."""

from functools import partial

from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.overview.text_hits import Hits, text_hits
from rcv_py.base.text import Message, cells
from rcv_py.features.notes.result import HITS
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.result_columns import field_column
from rcv_py.ui.table.table_panel import NOTHING, SearchedPanel
from rcv_py.ui.timeline.unit_markers import go_to_wave
from rcv_py.ui.widgets.empty_state import page

TYPE = "Type what to look for."
EVERY_MS = 120
MAX_WHERE_PX = 180  # px for a number of an instruction, or a source line


class MatchesPanel(SearchedPanel[Hits]):
    """Instructions, labels, source lines and markers that match the search."""

    panel_id = "matches"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.hits = Hits()
        self.view = self.rows_view("Hits of the search", Elastic("text", "text", 80, 4000))
        self.view.opens_by_key = True
        self.empty = page(self, self.view)
        self._soon = self.request(self._search, EVERY_MS, always_rests=True)
        ui.results.cell("markers").watch(self._soon.update)
        self._start()
        self._search()

    def _open(self) -> None:
        self._soon.update()

    def next_hit(self) -> None:
        """Go to the next place that matches the search."""
        self.step(+1)

    def previous_hit(self) -> None:
        """Go to the place before that matches the search."""
        self.step(-1)

    def why_no_hit(self) -> str:
        """Return why there is no hit to go to, "" if there is one."""
        return "" if self.hits.lines else "Nothing was searched for, or nothing was found."

    def _narrow(self) -> None:
        self._soon.update()

    def _search(self) -> None:
        trace, query = self.session.trace.value, self.session.query.value
        if trace is None or not query.text:
            self._take(Hits())
            return
        spans, (text, is_case_sensitive, is_regex) = self.ui.results.cell("markers").value, query
        find = partial(text_hits, is_case_sensitive=is_case_sensitive, is_regex=is_regex)
        self.run_job(lambda: find(trace, text, spans), self._take)

    def _take(self, hits: Hits) -> None:
        trace, query = self.session.trace.value, self.session.query.value
        self.hits = hits
        self.result = hits if hits.lines else None
        texts, short = [], {}
        for where, line, text in zip(hits.where, hits.lines, hits.text, strict=True):
            texts.append(text + (beside(trace, line) if trace is not None and line >= 0 else ""))
            short[where] = str(line) if line >= 0 else where
        longest = max(map(cells, short.values()), default=0) * self.view.char_px + 2 * PAD + 2
        px = round(min(longest, MAX_WHERE_PX))
        places = field_column(HITS["where"], hits.where, text=short.__getitem__, width=px)
        self.view.show_columns((places, field_column(HITS["text"], texts, width=200)))
        if trace is None or not query.text:
            self.empty.say(self.reason(TYPE))
        else:
            self.empty.say(hits.problem or ("" if hits.lines else Message(NOTHING, text=query.text)))
        self._follow()

    def step(self, direction: int) -> None:
        self.view.set_current(self._here())
        self.view.set_current(self.view.next_row(direction))
        self._go(self.view.current)

    def _go(self, row: int) -> None:
        if not 0 <= row < len(self.hits.lines):
            return
        line, place, span = self.hits.lines[row], self.hits.places[row], self.hits.spans[row]
        spans = self.ui.results.cell("markers").value
        if span >= 0:
            if spans is not None and span < len(spans):
                go_to_wave(self.session, int(spans.wave[span]), int(spans.begin[span]))
            self.say()
            return
        selection = self.session.selection.value
        if line >= 0 and selection.line != line:
            self.session.select_line(line)
        elif line < 0 and selection.source != place:
            self.session.select_source(*place)
        self.say()

    def _follow(self) -> None:
        row = self._here()
        if row >= 0:
            self.view.set_current(row)
        self.say()

    def _here(self) -> int:
        selection, current = self.session.selection.value, self.view.current
        lines, places = self.hits.lines, self.hits.places

        def fits(row: int) -> bool:
            if self.hits.spans[row] >= 0:
                return row == current  # a name stands for many places: it stays until another hit is chosen
            return lines[row] == selection.line if lines[row] >= 0 else places[row] == selection.source

        if 0 <= current < len(lines) and fits(current):
            return current
        if selection.line is not None and selection.line in lines:
            return lines.index(selection.line)
        return next((row for row, place in enumerate(places) if place == selection.source), -1)

    def say(self) -> None:
        row, count = self._here(), len(self.hits.lines)
        text = Message("{0:,} of {1:,}", row + 1, count) if row >= 0 else Message("{0:,} found", count)
        self.counted.emit(text if self.session.query.value.text else "", count, self.hits.problem)

    def command_line(self) -> command_text.CommandWords | None:
        words = command_text.matching(self.session.query.value)
        return command_text.rcv(self.session, "search", *words) if words else None
