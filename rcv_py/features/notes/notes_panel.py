"""Notes of people and agents about the capture, the most severe first."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu

from rcv_py.base.problems import Severity
from rcv_py.features.notes.result import NOTES, note_table
from rcv_py.model.notes import Note
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Sheet
from rcv_py.ui.core.plain_text import add_action, copy_text
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.result_columns import field_column
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import Column
from rcv_py.ui.table.table_panel import SearchedPanel
from rcv_py.ui.widgets.empty_state import page

NONE = (
    "No notes yet. Shift+N writes one about what is selected or measured; so do menus of rows and time views."
)
ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)


class NotesView(RowsView):
    """The view of notes: each row has its flag, and its text as a tooltip."""

    def tip(self, row: int, column: str) -> str:
        return ""


class NotesPanel(SearchedPanel[tuple[Note, ...]]):
    """Notes about places of the capture, written by people and agents."""

    panel_id = "notes"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        own = NotesView(ui.theme, ui.settings)
        self.view = self.rows_view("Notes", Elastic("title", "place", 90, 4000), own)
        self.view.opens_by_key = True
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._open_menu)
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
        found = sorted(self.session.notes.shown.value, key=lambda note: ORDER.index(note.severity))
        self.result = tuple(found) or None
        ranks = [ORDER.index(note.severity) for note in found]
        mark = Column("mark", "", ranks, text=lambda _: "", width=26, tip="How severe it is.")
        title = field_column(NOTES["title"], [note.title for note in found], width=150)
        place = field_column(NOTES["place"], [str(note.anchor) for note in found], width=150)
        self.view.show_columns((mark, title, place))
        self.view.set_notes({row: (note,) for row, note in enumerate(found)})
        self._narrow()

    def _go(self, row: int) -> None:
        if 0 <= row < len(self.notes):
            self.session.go_to_note(self.notes[row])

    def _open_menu(self, at: QPoint) -> None:
        row = self.view.table.data_row(self.view.view_row_at(at.y()))
        menu = QMenu(self.view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if 0 <= row < len(self.notes):
            note = self.notes[row]
            add_action(menu, "Go there", lambda: self.session.go_to_note(note))
            add_action(menu, "Edit …", lambda: self.session.notes.draft.set(note))
            add_action(menu, "Copy", lambda: copy_text(note.words))
            add_action(menu, "Remove", lambda: self.session.notes.remove(note.id))
            menu.addSeparator()
        session = self.session
        add_action(menu, "Note about what is selected …", lambda: session.notes.write(session.here()))
        self.add_copy(menu)
        menu.popup(self.view.viewport().mapToGlobal(at))

    def command_line(self) -> command_text.CommandWords | None:
        return command_text.rcv(self.session, "notes", *command_text.matching(self.session.query.value))

    def sheet(self) -> Sheet | None:
        trace = self.session.trace.value
        return None if trace is None or not self.notes else Sheet.of("Notes", note_table(trace, self.notes))
