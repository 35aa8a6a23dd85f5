"""Whether the capture can be trusted, and how to record a better one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from rcv_py.analysis.health.capture_health import CHECKED, headline, verdict
from rcv_py.analysis.health.input_yaml import command_line, input_yaml
from rcv_py.analysis.health.note import HealthNote
from rcv_py.base.problems import Severity
from rcv_py.base.text import Message, capitalized, join_texts, translated
from rcv_py.features.health.result import NOTES, number_table
from rcv_py.model.ids import WaveId
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.icons import SEVERITIES, pixmap
from rcv_py.ui.core.layout import bar, scrolled
from rcv_py.ui.core.panel import Panel, Sheet
from rcv_py.ui.core.plain_text import PlainLabel, copy_text, named, push_button, tooltip
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page

FINE = Message("No problems in this capture. Looked at: {0}.", join_texts(", ", CHECKED))
LOOKING = "The capture is being looked at."
MEDIAN_WAVE = "wave of median life"  # the evidence that names a wave
ICON_PX = 16
NAME_PX = 72  # so that the texts of all cards begin at the same x
WORDS = {Severity.INFO: "Note", Severity.WARNING: "Warning", Severity.ERROR: "Error"}


class NoteCard(QFrame):
    """A note; Ctrl+C copies it.  `go` is the action of a text button, if there is a place to go to."""

    def __init__(self, theme: Theme, note: HealthNote, go: tuple[str, Callable[[], None]] | None) -> None:
        super().__init__()
        self.note = note
        self._theme = theme
        self.setObjectName("card")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(translated(Message("{0}: {1}", WORDS[note.severity], note.title)))
        self.setAccessibleDescription(translated(Message("{0} {1}", note.consequence, note.remedy)))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(10, 8, 10, 8)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnMinimumWidth(1, NAME_PX)
        self._grid.setColumnStretch(2, 1)
        self._icon = PlainLabel()
        self._icon.setFixedSize(QSize(ICON_PX, ICON_PX))
        self._icon.setToolTip(tooltip(WORDS[note.severity]))
        self._grid.addWidget(self._icon, 0, 0)
        self._grid.addWidget(_text(note.title, "heading"), 0, 1, 1, 2)
        for row, (name, text) in enumerate(lines(note), 1):
            self._grid.addWidget(PlainLabel(name, role="muted"), row, 1, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(_text(text), row, 2)
        if go is not None:
            button = push_button(go[0], *go, link=True)
            self._grid.addWidget(button, self._grid.rowCount(), 2, Qt.AlignmentFlag.AlignLeft)
        self.restyle()

    def restyle(self) -> None:
        """Draw the icon in the colours of the theme."""
        name, role = SEVERITIES[self.note.severity]
        self._icon.setPixmap(pixmap(name, self._theme.role(role), ICON_PX, self.devicePixelRatioF()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            copy_text(note_text(self.note))
        else:
            event.ignore()


def note_text(note: HealthNote) -> str:
    """Return all texts of a note, one per line."""
    said = [Message("{0}: {1}", name, text) for name, text in lines(note)]
    return join_texts("\n", [Message("{0}: {1}", note.severity, note.title), *said])


def lines(note: HealthNote) -> list[tuple[str, str]]:
    """Return the texts below the title of a note."""
    rows = [("Evidence", note.evidence_text), ("Impact", note.consequence), ("Fix", note.remedy)]
    if note.settings:
        rows.append(("Settings", ", ".join(f"{name}: {value}" for name, value in note.settings.items())))
    return rows


def _text(text: str, role: str = "") -> PlainLabel:
    label = PlainLabel(text, role=role, wordWrap=True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


class HealthPanel(Panel):
    """Whether the capture can be trusted, and how to record a better one."""

    panel_id = "health"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.notes: tuple[HealthNote, ...] | None = None
        self.cards: list[NoteCard] = []
        self._card_soon = self.request(self._show_card)
        self.verdict, self.partial = named(PlainLabel(role="heading"), "Verdict"), PlainLabel(role="muted")
        tip = Message(
            "Copy an input file for rocprofv3 that records this kernel again, better: {0}", command_line()
        )
        self.copy = push_button("Copy input.yaml", tip, self.copy_input)
        cards = QWidget()
        self._column = QVBoxLayout(cards)
        self._column.setContentsMargins(8, 4, 8, 8)
        self._column.setSpacing(6)
        self._column.addStretch(1)
        head = bar(self.verdict, self.partial, None, self.copy, margins=(12, 6, 8, 2))
        self.empty = page(self, head, (scrolled(cards, is_wide=False), 1))
        ui.session.trace.watch(self._open)
        ui.session.loaded.watch(self._say_partial)
        ui.results.cell("health").watch(self._take)
        ui.theme.changed.connect(self._restyle)
        self._open()

    # -- showing ------------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        self.notes = None
        self._show_card()
        self.empty.say(self.reason(FINE) if trace is None else LOOKING)
        if trace is not None:
            self.want_result("health")
            self._take()  # the button that counts warnings may have requested it earlier

    def _take(self) -> None:
        notes = self.ui.results.cell("health").value
        if notes is None or self.session.trace.value is None:
            return
        self.notes = notes
        self.verdict.setText(capitalized(verdict(notes)))
        self._say_partial()
        self._card_soon.ask()
        self.empty.say("" if notes else FINE)

    def _say_partial(self) -> None:
        store, trace = self.session.store, self.session.trace.value
        is_partial = store is not None and trace is not None and not store.is_complete
        self.partial.setText("waves are still being read" if is_partial else "")

    def _show_card(self) -> None:
        """Remake the first card that differs from its note, and schedule the next; the other cards stay.

        So reading waves does not make them flicker, and each turn of the event loop makes at most one card.
        """
        notes = self.notes or ()
        for surplus in self.cards[len(notes) :]:
            self._remove(surplus)
        for place, note in enumerate(notes):
            there = self.cards[place : place + 1]
            if [note_text(card.note) for card in there] != [note_text(note)]:
                for card in there:
                    self._remove(card)
                made = NoteCard(self.ui.theme, note, self._go(note))
                self.cards.insert(place, made)
                self._column.insertWidget(place, made)
                self._card_soon.ask()
                return

    def _remove(self, card: NoteCard) -> None:
        self.cards.remove(card)
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()

    def _go(self, note: HealthNote) -> tuple[str, Callable[[], None]] | None:
        name = note.number(MEDIAN_WAVE)
        if not isinstance(name, str):
            return None
        wave = WaveId.parse(name)
        return Message("Select {0}", wave), lambda: self.session.select_wave(wave)

    def _restyle(self) -> None:
        for card in self.cards:
            card.restyle()

    # -- called by the shell ------------------------------------------------------------------------

    def copy_input(self) -> None:
        """Put an input file for rocprofv3 on the clipboard."""
        trace = self.session.trace.value
        if trace is not None and self.notes is not None:
            copy_text(input_yaml(trace, self.notes))

    def why_no_input(self) -> str:
        """Return why there is no input file to copy, "" if there is one."""
        if self.session.trace.value is None:
            return "No capture is open."
        return "" if self.notes is not None else "The capture is still being looked at."

    def caption(self) -> str:
        return "" if self.notes is None else headline(self.notes)

    def command_line(self) -> command_text.CommandWords | None:
        return command_text.rcv(self.session, "check")

    def sheet(self) -> Sheet | None:
        if not self.notes:
            return None
        sheet = Sheet.of("Health", number_table(self.notes))
        advice = [(note.consequence, note.remedy) for note in self.notes for _ in note.evidence]
        names = (NOTES["consequence"].name, NOTES["remedy"].name)
        rows = [row + more for row, more in zip(sheet.rows, advice, strict=True)]
        return Sheet(sheet.title, (*sheet.headers, *names), rows)
