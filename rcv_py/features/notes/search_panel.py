"""Search by text: one field for code and sources, notes, bookmarks and visited places."""

from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QShowEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QStackedWidget, QWidget

from rcv_py.analysis.cost.place_text import beside, place_text
from rcv_py.analysis.health.note import RANK
from rcv_py.analysis.overview.text_hits import Hits, text_hits
from rcv_py.base.text import Message, cells
from rcv_py.features.notes.result import HITS, NOTES, note_table
from rcv_py.model.notes import Note
from rcv_py.model.trace import Trace
from rcv_py.state.note_places import go_to_note, place_of_selection
from rcv_py.state.selection import Selection
from rcv_py.ui.core.icons import pixmap
from rcv_py.ui.core.layout import BAR, boxed, column, row
from rcv_py.ui.core.panel import PART, Panel, Sheet, UiContext, discover
from rcv_py.ui.core.plain_text import add_action, copy_text
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.find_bar import FindBar
from rcv_py.ui.table.result_columns import field_column
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import Column
from rcv_py.ui.table.table_panel import NOTHING, SearchedPanel
from rcv_py.ui.timeline.unit_markers import go_to_wave
from rcv_py.ui.widgets.choice import ChoiceBox
from rcv_py.ui.widgets.empty_state import make_panel, page

PARTS = {"matches": "Code", "history": "History", "notes": "Notes"}


class SearchPanel(Panel):
    """One field for the panels that are `within` this one, each made when it is first shown.

    The panel's table, command and so on come from the visible part.
    """

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._infos = {name: one for name, one in discover().items() if one.within == self.declared.id}
        self._made: dict[str, Panel] = {}
        self._states: dict[str, dict[str, Any]] = {}  # states of parts that are not made yet
        self.stack = QStackedWidget()
        self.stack.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.choice = ChoiceBox("What is searched", PARTS)
        self.choice.currentIndexChanged.connect(self._show_chosen)
        self.bar = FindBar(ui.theme, "Search code and sources", has_filter=False, is_narrow=True)
        self.bar.edited.connect(ui.session.query.set)
        self.bar.stepped.connect(self._step)
        ui.session.query.watch(self._show_query)
        head = row(self.choice, (self.bar, 1), margins=BAR, spacing=4)
        head.setAlignment(self.choice, Qt.AlignmentFlag.AlignTop)
        column(boxed(head), (self.stack, 1), of=self)
        self._show_query()

    def showEvent(self, event: QShowEvent) -> None:
        self._show_chosen()
        super().showEvent(event)

    def _show_query(self) -> None:
        self.bar.show_query(self.session.query.value)

    def _say(self, part: Panel, text: str, count: int, problem: str) -> None:
        if part is self.chosen_panel:
            self.bar.say(text, count, problem)

    def _step(self, direction: int) -> None:
        part = self.chosen_panel
        if isinstance(part, SearchedPanel):
            part.step(direction)

    @property
    def chosen_panel(self) -> Panel:
        return self.part(self.choice.value)

    @property
    def chosen_part(self) -> str:
        return self.choice.value

    def part(self, name: str) -> Panel:
        if name not in self._made:
            part = self._made[name] = make_panel(self.ui, self._infos[name])
            part.wants.connect(self.wants)
            part.copy_asked.connect(self.copy_asked)
            self.stack.addWidget(part)
            part.load_state(self._states.get(name, {}))
            if isinstance(part, SearchedPanel):  # without a notice that it is broken
                part.counted.connect(partial(self._say, part))
        return self._made[name]

    def made_part(self, name: str) -> Panel | None:
        return self._made.get(name)

    def show_part(self, name: str) -> None:
        self.choice.choose(name)

    def _show_chosen(self) -> None:
        part = self.chosen_panel
        self.stack.setCurrentWidget(part)
        if isinstance(part, SearchedPanel):
            part.say()

    def first_focus(self) -> QWidget:
        """Return the field: the user enters this panel to type."""
        return self.bar.field

    def focus_search(self) -> bool:
        self.bar.focus()
        return True

    def sheet(self) -> Sheet | None:
        return self.chosen_panel.sheet()

    def command_line(self) -> tuple[str, ...] | None:
        return self.chosen_panel.command_line()

    def caption(self) -> str:
        return self.chosen_panel.caption()

    def save_state(self) -> dict[str, Any]:
        """Return the id of the visible part, and the state of each part by its name."""
        made = {name: part.save_state() for name, part in self._made.items()}
        return {**super().save_state(), PART: self.choice.value, **self._states, **made}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore what `save_state` returned, each part now or when it is made."""
        super().load_state(state)
        for name in self._infos:
            own = state.get(name)
            if isinstance(own, dict):
                self._states[name] = own
                if name in self._made:
                    self._made[name].load_state(own)
        self.choice.choose(state.get(PART))


MAX_PLACES = 24  # maximum places in a command
NOWHERE = "Places you visit are listed here. B keeps the present one as a bookmark."


class HistoryRow(NamedTuple):
    """A row: a bookmark if `visit` is -1, else a visit by its index in the history."""

    selection: Selection
    visit: int = -1


class HistoryPanel(SearchedPanel[tuple[HistoryRow, ...]]):
    """Bookmarks and visited places."""

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


TYPE = "Type what to look for."
EVERY_MS = 120
MAX_WHERE_PX = 180  # px for a number of an instruction, or a source line


class MatchesPanel(SearchedPanel[Hits]):
    """Instructions, labels, source lines and markers that match the search."""

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


NONE = (
    "No notes yet. Shift+N writes one about what is selected or measured; so do menus of rows and time views."
)


class NotesView(RowsView):
    """The view of notes: each row has its flag, and its text as a tooltip."""

    def tip(self, row: int, column: str) -> str:
        return ""


class NotesPanel(SearchedPanel[tuple[Note, ...]]):
    """Notes about places of the capture, written by people and agents."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        own = NotesView(ui.theme, ui.settings)
        self.view = self.rows_view("Notes", Elastic("title", "place", 90, 4000), own)
        self.view.opens_by_key = True
        self.view.offer_menu(self._fill_menu)
        self.empty = page(self, self.view)
        self._soon = self.request(self._refresh)
        ui.session.notes.shown.watch(self._soon.ask)
        ui.theme.changed.connect(self.view.refresh)
        self._start()

    @property
    def notes(self) -> tuple[Note, ...]:
        """Return the listed notes: the most severe first, equal notes in their original order."""
        return self.result or ()

    @property
    def texts(self) -> list[str]:
        return [f"{note.words}\n{note.anchor}" for note in self.notes]

    @property
    def nothing(self) -> str:
        return self.reason(NONE)

    def _refresh(self) -> None:
        found = sorted(self.session.notes.shown.value, key=lambda note: RANK[note.severity])
        self.result = tuple(found) or None
        ranks = [RANK[note.severity] for note in found]
        mark = Column("mark", "", ranks, text=lambda _: "", width=26, tip="How severe it is.")
        title = field_column(NOTES["title"], [note.title for note in found], width=150)
        place = field_column(NOTES["place"], [str(note.anchor) for note in found], width=150)
        self.view.show_columns((mark, title, place))
        self.view.set_notes({row: (note,) for row, note in enumerate(found)})
        self._narrow()

    def _go(self, row: int) -> None:
        if 0 <= row < len(self.notes):
            go_to_note(self.session, self.notes[row])

    def _fill_menu(self, menu: QMenu, row: int) -> None:
        if 0 <= row < len(self.notes):
            note = self.notes[row]
            add_action(menu, "Go there", lambda: go_to_note(self.session, note))
            add_action(menu, "Edit …", lambda: self.session.notes.draft.set(note))
            add_action(menu, "Copy", lambda: copy_text(note.words))
            add_action(menu, "Remove", lambda: self.session.notes.remove(note.id))
            menu.addSeparator()
        session = self.session
        add_action(
            menu, "Note about what is selected …", lambda: session.notes.write(place_of_selection(session))
        )
        self.add_copy(menu)

    def command_line(self) -> command_text.CommandWords | None:
        how = (*command_text.matching(self.session.query.value), *command_text.sorting(self.view.table))
        return command_text.rcv(self.session, "notes", *how, "--top=0")

    def sheet(self) -> Sheet | None:
        trace = self.session.trace.value
        return None if trace is None or not self.notes else Sheet.of("Notes", note_table(trace, self.notes))
