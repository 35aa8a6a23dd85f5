"""Labels of the code, with the cost of the code after each."""

import numpy as np

from rcv_py.analysis.program.blocks import Label, labels
from rcv_py.features.isa.result import LABELS
from rcv_py.state.selection import Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.table import command_text
from rcv_py.ui.table.code_panel import share_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.result_columns import field_column
from rcv_py.ui.table.searched_panel import SearchedPanel
from rcv_py.ui.widgets.empty_state import page

NO_LABELS = "The code has no labels: the trace was written without symbols."


class LabelsPanel(SearchedPanel[tuple[Label, ...]]):
    """Named places of the code."""

    panel_id = "labels"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.view = self.rows_view("Labels", Elastic("name", "address", 90, 4000))
        self.view.opens_by_key = True
        self.empty = page(self, self.view)
        self._start()

    def _open(self) -> None:
        trace = self.session.trace.value
        if trace is None:
            self._take(())
        else:
            self.run_job(lambda: labels(trace.code), self._take)

    def _take(self, rows: tuple[Label, ...]) -> None:
        self.result = rows or None
        share = np.array([100 * label.share for label in rows])
        self.view.show_columns(
            (
                field_column(LABELS["name"], [label.name for label in rows], title="label", width=120),
                field_column(LABELS["share_of_labels"], share, title="%", text=share_text, width=48),
                field_column(LABELS["address"], [label.address for label in rows], width=84),
            )
        )
        self._narrow()
        self._follow()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(label.name for label in self.result or ())

    @property
    def nothing(self) -> str:
        return self.reason(NO_LABELS)

    @property
    def lines(self) -> np.ndarray:
        return np.array([label.row for label in self.result or ()], dtype=np.int64)

    def row_of(self, selection: Selection) -> int:
        line = selection.line
        return -1 if line is None else int(np.searchsorted(self.lines, line, side="right")) - 1

    def command_line(self) -> command_text.CommandWords | None:
        return command_text.rcv(self.session, "isa", "--labels", *command_text.sorting(self.view.table))
