"""What is wrong with the files, and whether the capture can be trusted."""

from collections.abc import Iterable

from rcv_py.analysis.health.capture_health import CHECKED, headline, verdict
from rcv_py.analysis.health.input_yaml import command_line, input_yaml
from rcv_py.analysis.health.note import RANK, HealthNote
from rcv_py.base.problems import Problem, Severity
from rcv_py.base.text import Message, capitalized, join_texts
from rcv_py.features.health.result import NOTES, number_table
from rcv_py.model.ids import WaveId
from rcv_py.ui.core.icons import SEVERITIES
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import Panel, Sheet, UiContext
from rcv_py.ui.core.plain_text import PlainLabel, Rich, copy_text, joined, named, push_button, rich
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page
from rcv_py.ui.widgets.links import LinkText, facts_table, wave_link

FINE = Message("No problems in this capture. Looked at: {0}.", join_texts(", ", CHECKED))
LOOKING = "The capture is being looked at."
MEDIAN_WAVE = "wave of median life"  # the evidence of notes that ask to look at a typical wave
WORDS = {Severity.INFO: "Note", Severity.WARNING: "Warning", Severity.ERROR: "Error"}


def _rows_html(theme: Theme, severity: Severity, title: str, rows: Iterable[tuple[str, str]]) -> Rich:
    """Return a coloured title over rows of names and texts; empty texts are left out."""
    color = theme.role(SEVERITIES[severity][1]).name()
    head = rich("<p><b style='color:{}'>{}</b> · <b>{}</b></p>", color, WORDS[severity], title)
    return head + facts_table(rows)


def note_html(theme: Theme, note: HealthNote) -> Rich:
    """Return a note as a title and rows: evidence, impact, fix, settings, a link to a typical wave."""
    rows: list[tuple[str, str]] = [
        ("Evidence", note.evidence_text), ("Impact", note.consequence), ("Fix", note.remedy),
        ("Settings", ", ".join(f"{name}: {value}" for name, value in note.settings.items())),
    ]  # fmt: skip
    name = note.number(MEDIAN_WAVE)
    if isinstance(name, str):
        rows.append(("", wave_link(WaveId.parse(name), Message("Select {0}", name))))
    return _rows_html(theme, note.severity, note.title, rows)


class TrustPanel(Panel):
    """Problems of the files, the worst first, and notes on the health of the recording."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.notes: tuple[HealthNote, ...] | None = None
        self.verdict, self.partial = named(PlainLabel(role="heading"), "Verdict"), PlainLabel(role="muted")
        template = "Copy an input file for rocprofv3 that records this kernel again, better: {0}"
        tip = Message(template, command_line())
        self.copy = push_button("Copy input.yaml", tip, self.copy_input)
        self.text = LinkText(ui.session, ui.theme, "Problems and notes about the capture")
        head = bar(self.verdict, self.partial, None, self.copy, margins=(12, 6, 8, 2))
        self.empty = page(self, head, (self.text, 1))
        ui.session.trace.watch(self._open)
        ui.session.loaded.watch(self._say_partial)
        ui.session.problems.watch(self._show)
        ui.results.cell("health").watch(self._take)
        ui.theme.changed.connect(self._show)
        self._open()

    def _open(self) -> None:
        trace = self.session.trace.value
        self.notes = None
        self.verdict.clear()
        self._show()
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
        self._show()

    def _say_partial(self) -> None:
        store, trace = self.session.store, self.session.trace.value
        is_partial = store is not None and trace is not None and not store.is_complete
        self.partial.setText("waves are still being read" if is_partial else "")

    @property
    def problems(self) -> list[Problem]:
        """Return the problems of the files, the worst first."""
        return sorted(self.session.problems.value, key=lambda problem: RANK[problem.severity])

    def _show(self) -> None:
        theme, notes = self.ui.theme, self.notes
        found = [
            _rows_html(theme, one.severity, one.text, (("File", one.where), ("Fix", one.hint)))
            for one in self.problems
        ]
        parts = (*found, *(note_html(theme, note) for note in notes or ()))
        self.text.show_html(joined("", parts))
        is_open = self.session.trace.value is not None
        self.empty.say("" if is_open and parts else self.reason(FINE if notes is not None else LOOKING))

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
