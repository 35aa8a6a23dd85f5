"""Can the capture be trusted, and how would a better one be recorded?"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from rcv_py.analysis.health.capture_health import CHECKED, HealthNote, command_line, headline, verdict
from rcv_py.analysis.health.input_yaml import input_yaml
from rcv_py.model.ids import WaveId
from rcv_py.state.commands import Command
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, copy_text, tooltip
from rcv_py.ui.panels.health.note_card import NoteCard, note_text
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page

FINE = f"Nothing wrong with this capture. Looked at: {', '.join(CHECKED)}."
LOOKING = "The capture is being looked at."
MEDIAN_WAVE = "wave of median life"  # the evidence that names a wave


@panel(id="health", title="Health", area="bottom", order=12)
class HealthPanel(Panel):
    """Whether the capture can be trusted, and how to record a better one."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.notes: tuple[HealthNote, ...] | None = None
        self.cards: list[NoteCard] = []
        self.verdict = PlainLabel()
        self.copy = QPushButton("Copy input.yaml")
        self._lay_out()
        self.copy.clicked.connect(self.copy_input)
        ui.session.trace.watch(self._open)
        ui.session.loaded.watch(self._say_partial)
        ui.results.cell("health").watch(self._take)
        ui.theme.changed.connect(self._restyle)
        self._open()

    def _lay_out(self) -> None:
        self.verdict.setProperty("role", "heading")
        self.verdict.setAccessibleName("Verdict")
        self.partial = PlainLabel()
        self.partial.setProperty("role", "muted")
        self.copy.setToolTip(
            tooltip(
                f"Copy an input file for rocprofv3 that records this kernel again, better: {command_line()}"
            )
        )
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 6, 8, 2)
        bar.setSpacing(8)
        for widget in (self.verdict, self.partial):
            bar.addWidget(widget)
        bar.addStretch(1)
        bar.addWidget(self.copy)
        self._list = QWidget()
        self._column = QVBoxLayout(self._list)
        self._column.setContentsMargins(8, 4, 8, 8)
        self._column.setSpacing(6)
        self._column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(self._list)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.empty = page(self, bar, (area, 1))

    # -- showing ------------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        self.notes = None
        self._show_cards(())
        self.empty.say(self.reason(FINE) if trace is None else LOOKING)
        if trace is not None:
            self.want_result("health")

    def _take(self) -> None:
        notes = self.ui.results.cell("health").value
        if notes is None or self.session.trace.value is None:
            return
        self.notes = notes
        self.verdict.setText(verdict(notes).capitalize())
        self._say_partial()
        self._show_cards(notes)
        self.empty.say("" if notes else FINE)

    def _say_partial(self) -> None:
        store, trace = self.session.store, self.session.trace.value
        is_partial = store is not None and trace is not None and not store.is_complete
        self.partial.setText("waves are still being read" if is_partial else "")

    def _show_cards(self, notes: tuple[HealthNote, ...]) -> None:
        """Keep the cards while they say the same, so that reading waves does not make them flicker."""
        if [card.text() for card in self.cards] == [note_text(note) for note in notes]:
            return
        for card in self.cards:
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = [NoteCard(self.ui.theme, note, self._go(note)) for note in notes]
        for place, card in enumerate(self.cards):
            self._column.insertWidget(place, card)

    def _go(self, note: HealthNote) -> tuple[str, Callable[[], None]] | None:
        name = note.number(MEDIAN_WAVE)
        if not isinstance(name, str):
            return None
        wave = WaveId.parse(name)
        return f"Select {wave}", lambda: self.session.select_wave(wave)

    def _restyle(self) -> None:
        for card in self.cards:
            card.restyle()

    # -- what the shell asks ------------------------------------------------------------------------

    def copy_input(self) -> None:
        """Put an input file for rocprofv3 on the clipboard."""
        trace = self.session.trace.value
        if trace is not None and self.notes is not None:
            copy_text(input_yaml(trace, self.notes))

    def commands(self) -> tuple[Command, ...]:
        """Copy the input file."""
        return (
            Command(
                "analyze.copy_input_yaml",
                "Copy input.yaml for a better capture",
                "Analyze",
                self.copy_input,
                ("Ctrl+Alt+Y",),
                "Copy an input file for rocprofv3 that records this kernel again with what Health asks for.",
                why_not=self._why_not,
            ),
        )

    def _why_not(self) -> str:
        if self.session.trace.value is None:
            return "No capture is open."
        return "" if self.notes is not None else "The capture is still being looked at."

    def canvas(self) -> QWidget:
        """All cards."""
        return self.empty

    def caption(self) -> str:
        """The worst of it."""
        return "" if self.notes is None else headline(self.notes)

    def command_line(self) -> command_text.Words | None:
        """The notes."""
        return command_text.rcv(self.session, "check")

    def sheet(self) -> Sheet | None:
        """A row for every piece of evidence."""
        if not self.notes:
            return None
        rows = [
            (str(note.severity), note.title, one.name, one.value, one.text, note.consequence, note.remedy)
            for note in self.notes
            for one in note.evidence
        ]
        names = ("severity", "title", "evidence", "value", "text", "consequence", "remedy")
        return Sheet("Health", names, rows)
