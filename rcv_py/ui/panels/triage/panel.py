"""What to look at first: patterns that cost cycles, with evidence one click away and a remedy."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QWidget

from rcv_py.analysis.findings.finding import Finding, Findings
from rcv_py.analysis.findings.text import markdown, one_as_markdown
from rcv_py.results.field import At
from rcv_py.results.triage import finding_table
from rcv_py.state.commands import Command
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import column
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, copy_text, tooltip
from rcv_py.ui.panels.triage.evidence_go import go_to
from rcv_py.ui.panels.triage.finding_list import FindingList
from rcv_py.ui.panels.triage.finding_text import ASSUMPTION, EVIDENCE, finding_html, small_html
from rcv_py.ui.panels.triage.number_strip import NumberStrip
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.elided_label import ElidedLabel
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.links import LinkText

RESULT = "findings"
READING = "Findings are shown as soon as waves are read."
NOTHING_OPEN = "Open a capture to see what to look at first."


@panel(id="triage", title="Triage", area="top", order=5)
class TriagePanel(Panel):
    """What to look at first: findings with evidence and a remedy."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.found: Findings | None = None
        self.strip, self.note, self.headline = NumberStrip(), ElidedLabel(), PlainLabel()
        self.list = FindingList(ui.theme)
        self.page = LinkText(ui.session, ui.theme, "The chosen finding with its evidence")
        self.copy = QPushButton("Copy")
        self._is_open = False  # whether assumptions are shown
        self._lay_out()
        self.list.chosen.connect(self._show_one)
        self.list.asked.connect(self.go)
        self.list.copied.connect(self.copy_one)
        self.page.anchorClicked.connect(self._clicked)
        ui.session.trace.watch(self._open)
        ui.results.cell(RESULT).watch(self._take)
        self._open()

    def _lay_out(self) -> None:
        self.note.setProperty("role", "muted")
        self.headline.setTextFormat(Qt.TextFormat.PlainText)
        self.headline.setWordWrap(True)
        self.headline.setProperty("role", "headline")
        self.headline.setContentsMargins(8, 4, 8, 0)
        self.headline.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.headline.setAccessibleName("What limits the kernel")
        self.copy.setToolTip("Copy all findings as Markdown, to paste into a ticket.")
        self.copy.setAccessibleName("Copy all findings as Markdown")
        self.copy.setProperty("small", True)
        self.copy.clicked.connect(self.copy_all)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 8, 0)
        head.addWidget(self.strip, 1)
        head.addWidget(self.note)
        head.addWidget(self.copy)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.addWidget(self.list)
        self.split.addWidget(self.page)
        self.split.setStretchFactor(0, 2)
        self.split.setStretchFactor(1, 3)
        self.split.setChildrenCollapsible(False)
        self.list.setMinimumWidth(220)
        self.empty = WithEmptyState(self.split)
        self.head = QWidget()
        self.head.setLayout(head)
        column(self.headline, self.head, (self.empty, 1), of=self)

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self.found = None
        self._is_open = False
        self._want()
        self._take()

    def _want(self) -> None:
        if self.session.trace.value is not None:
            self.want_result(RESULT)

    def _take(self) -> None:
        self.found = self.ui.results.cell(RESULT).value
        self._show()

    # -- showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        trace, found = self.session.trace.value, self.found
        self.head.setVisible(found is not None and bool(found.numbers))
        bound = None if found is None or found.alarm else found.bound_class
        self.headline.setVisible(bound is not None)
        self.headline.setText("" if bound is None else bound.sentence)
        self.empty.say(self._why_empty())
        if trace is None or found is None:
            self.list.show_findings(())
            return
        self.strip.show_numbers(found.numbers)
        self.note.setText(f"partial: {found.partial}" if found.partial else "")
        self.note.setToolTip(tooltip(self._why_partial(found) or self.note.text()))
        self.copy.setVisible(bool(found.findings))
        self.list.show_findings(found.in_full, found.small_text)

    def _why_empty(self) -> str:
        if self.session.trace.value is None:
            return self.reason(NOTHING_OPEN)
        if self.found is None:
            return READING
        return "" if self.found.findings else self.found.why or self.found.headline

    def _why_partial(self, found: Findings) -> str:
        store = self.session.store
        if not found.partial or store is None:
            return ""
        if not store.is_complete:
            return "Waves are still being read; findings follow."
        return found.why_partial.replace("--all", "rcv triage --all")

    def _show_one(self, row: int) -> None:
        one = self._one(row)
        trace = self.session.trace.value
        sources = None if trace is None else trace.sources
        if one is None:
            self.page.show_html("" if row < 0 or self.found is None else small_html(self.found))
        else:
            self.page.show_html(finding_html(one, is_open=self._is_open, sources=sources))

    def _one(self, row: int) -> Finding | None:
        if self.found is None or not 0 <= row < len(self.found.in_full):
            return None
        return self.found.in_full[row]

    @property
    def current(self) -> Finding | None:
        """The finding that is shown at the right."""
        return self._one(self.list.currentRow())

    # -- selecting ----------------------------------------------------------------------------------

    def _clicked(self, link: QUrl) -> None:
        kind, _, number = link.toString().partition(":")
        if kind == EVIDENCE and number.isdigit():
            self.go(int(number))
        elif kind == ASSUMPTION:
            self._is_open = not self._is_open
            self._show_one(self.list.currentRow())

    def go(self, number: int) -> None:
        """Select the place of a piece of evidence everywhere, and bring what shows it to the front."""
        one = self.current
        if one is None or not 0 <= number < len(one.evidence):
            return
        name = go_to(self.session, one.evidence[number])
        if name:
            self.wants.emit(name)

    def copy_one(self) -> None:
        """Copy the chosen finding as Markdown."""
        if self.current is not None:
            copy_text(one_as_markdown(self.list.currentRow() + 1, self.current))

    def copy_all(self) -> None:
        """Copy all findings as Markdown."""
        trace = self.session.trace.value
        if trace is not None and self.found is not None:
            copy_text(markdown(trace.name, self.found))

    # -- what the shell asks ------------------------------------------------------------------------

    def commands(self) -> tuple[Command, ...]:
        """The page, and its contents."""
        return (
            Command(
                "triage.show",
                "What to look at first",
                "Analyze",
                lambda: self.wants.emit("triage"),
                ("F4",),
                "Show the findings: patterns that cost cycles, with evidence and a remedy.",
                lambda: "" if self.session.trace.value is not None else NOTHING_OPEN,
            ),
            Command(
                "triage.copy",
                "Copy findings as Markdown",
                "Analyze",
                self.copy_all,
                ("Ctrl+Shift+F",),
                "Copy all findings with their evidence, to paste into a ticket.",
                lambda: "" if self.found is not None and self.found.findings else "There are no findings.",
            ),
        )

    def caption(self) -> str:
        """Which waves are ranked, and how much was looked at."""
        selection = "" if self.found is None else self.found.selection
        return " · ".join(filter(None, (selection, self.note.text())))

    def command_line(self) -> command_text.Words | None:
        """The findings."""
        return command_text.rcv(self.session, "triage", "--top=0")

    def sheet(self) -> Sheet | None:
        """One row a finding."""
        if self.found is None or not self.found.findings:
            return None
        table = finding_table(self.found.findings)
        fields = table.fields(At.WINDOW)
        return Sheet(
            "Findings",
            tuple(field.title for field in fields),
            table.flat([field.name for field in fields]),
        )

    def save_state(self) -> dict[str, Any]:
        """Widths."""
        return {"sizes": self.split.sizes()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        sizes = state.get("sizes")
        if isinstance(sizes, list) and len(sizes) == 2 and all(isinstance(size, int) for size in sizes):
            self.split.setSizes(sizes)
