"""PC samples by instruction, and where they differ from the traced waves."""

import numpy as np

from rcv_py.base.errors import TraceError
from rcv_py.base.record import Value
from rcv_py.base.text import join_texts
from rcv_py.features.samples.result import samples_table, sentences
from rcv_py.model.trace import Trace
from rcv_py.results.table import ResultTable
from rcv_py.ui.core.layout import bar, column
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.result_columns import result_columns
from rcv_py.ui.table.table_panel import NO_LINES, TablePanel
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.work.beside import samples_of_run

READING = "PC samples are being read."


class _Shown(Value):
    text: str  # what the rows say as a whole, or the reason for having none
    table: ResultTable | None = None
    row: np.ndarray = NO_LINES  # int64, code row of each row


class SamplesPanel(TablePanel[_Shown]):
    """PC samples of the capture, or of a file beside it, by instruction."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.note = PlainLabel(role="muted", wordWrap=True)
        self.view = self.rows_view("Instructions by PC samples", Elastic("text", "source", 160, 600))
        self.empty = WithEmptyState(self.view)
        column(bar((self.note, 1)), (self.empty, 1), of=self)
        self._wanted = self.request(self._compute)
        self._start()

    def _open(self) -> None:
        trace, self.result = self.session.trace.value, None
        self.view.show_columns(())
        self.note.setText("")
        self.empty.say(READING if trace is not None else self.reason(""))
        if trace is not None:
            self._wanted.ask()

    def _refresh(self) -> None:
        """Nothing arrives from other results."""

    def _compute(self) -> None:
        trace = self.session.trace.value
        if trace is not None:
            self._wanted.run(lambda: _shown(trace), self._take)

    def _take(self, shown: _Shown) -> None:
        trace, self.result = self.session.trace.value, shown
        if trace is None:
            return
        self.empty.say("" if shown.table is not None else shown.text)
        self.note.setText(shown.text if shown.table is not None else "")
        if shown.table is not None:
            self.view.show_columns(result_columns(shown.table, trace))
            self._follow()

    @property
    def lines(self) -> np.ndarray:
        return NO_LINES if self.result is None else self.result.row

    def command_line(self) -> command_text.CommandWords | None:
        return command_text.rcv(self.session, "samples", *command_text.sorting(self.view.table), "--top=0")


def _shown(trace: Trace) -> _Shown:
    try:
        found = samples_of_run(trace)
    except TraceError as error:
        return _Shown(str(error))
    if found.rows is None or found.why:
        return _Shown(found.why)
    table, shares = samples_table(trace, found.rows)
    return _Shown(join_texts(" ", sentences(found, shares)), table, shares.row)
