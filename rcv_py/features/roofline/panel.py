"""The kernel and its loops against the peaks of a compute unit and of memory: plot and numbers."""

from PySide6.QtWidgets import QWidget

from rcv_py.analysis.iterations.loop_summary import LOOPS
from rcv_py.analysis.latency.access_widths import WIDTHS
from rcv_py.analysis.overview.roofline import Roofline, roofline
from rcv_py.features.roofline.chart import RooflineChart
from rcv_py.features.roofline.result import computed_texts, roofline_note, roofline_table
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.results.table import ResultTable
from rcv_py.ui.core.computing import Computing
from rcv_py.ui.core.layout import boxed, column, split
from rcv_py.ui.core.panel import Panel, Sheet, UiContext
from rcv_py.ui.core.plain_text import PlainLabel, named, tooltip
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.table import command_text
from rcv_py.ui.table.result_columns import result_columns
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.widgets.empty_state import page

NOTHING = "No instruction of the program computes with floats or requests bytes of memory."
STREAM_MS = 800


class RooflinePanel(Panel):
    """The kernel and its loops against the peaks of computing and of memory."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.roofline: Roofline | None = None
        self.shown: ResultTable | None = None
        self.chart = RooflineChart(ui.theme)
        name = "The kernel and its loops, with their rates and peaks"
        self.table = named(RowsView(ui.theme, ui.settings), name)
        self.said, self.note = PlainLabel(wordWrap=True), PlainLabel(role="muted", wordWrap=True)
        self.captioned = self.note
        self._computing = Computing(self, self._say)
        self._request = self.request(self._compute, STREAM_MS)
        for label in (self.said, self.note):
            label.setContentsMargins(8, 2, 8, 2)
        self.split = split(self.chart, boxed(column((self.table, 1), self.said, self.note)), sizes=(480, 620))
        self.remembered = {"table": self.table, "sizes": self.split}
        self.empty = page(self, (self.split, 1))
        self.chart.chosen.connect(self._choose)
        self.table.chosen.connect(self._choose)
        self.session.trace.watch(self._open)
        self.session.waves.watch(self._request.ask)
        self._request.follow_doublings()
        self._open()

    def _open(self) -> None:
        self.roofline = self.shown = None
        self._say()
        if self.session.trace.value is not None and not self.why_missing("waves"):
            self._request.ask()

    def _compute(self) -> bool:
        trace, store = self.session.trace.value, self.session.store
        if trace is None or store is None or not store.batches:
            return False
        read, chosen, flag = self.session.snapshot(), self.chosen_rows(), self._request.new_flag()

        def job() -> tuple[Roofline, str]:
            rows, run = chosen(), facts_about(trace)
            widths, loops = read.of_all(WIDTHS, rows, flag), read.of_all(LOOPS, rows, flag)
            found = roofline(trace, widths, loops, run)
            return found, roofline_note(trace, found, run)

        self._request.run(job, self._take)
        return True

    def _take(self, made: tuple[Roofline, str]) -> None:
        trace, (found, said) = self.session.trace.value, made
        assert trace is not None
        self.roofline, self.shown = found, roofline_table(trace, found)
        self.chart.show_scopes(found.scopes)
        self.table.show_columns(result_columns(self.shown, trace))
        texts = [text for one in found.scopes[:1] for text in computed_texts(one.computed)]
        self.said.setText("\n".join(texts))
        self.note.setText(" ".join(filter(None, (waves_note(self.session), said))))
        self.note.setToolTip(tooltip(self.note.text()))
        self._say()

    def _say(self) -> None:
        missing = self.reason(NOTHING)
        if self.session.trace.value is not None:
            missing = self.why_missing("waves") or self.why_unread("the roofline")
        if missing or self.roofline is not None:
            self._computing.stop()
            scopes = () if self.roofline is None else self.roofline.scopes
            self.empty.say(missing or ("" if any(one.flop() or one.bytes for one in scopes) else NOTHING))
        else:
            self.empty.say(self._computing.begin("the roofline", stage=lambda: self._request.flag.stage))

    def _choose(self, at: int) -> None:
        scopes = () if self.roofline is None else self.roofline.scopes
        if not 0 <= at < len(scopes):
            return
        self.chart.select(at)
        self.table.set_current(at)
        if scopes[at].is_loop:
            self.session.select_line(scopes[at].first)

    def canvas(self) -> QWidget:
        return self.chart

    def command_line(self) -> command_text.CommandWords | None:
        return None if self.roofline is None else command_text.rcv(self.session, "roofline")

    def sheet(self) -> Sheet | None:
        return None if self.shown is None else Sheet.as_shown("Roofline", self.shown)
