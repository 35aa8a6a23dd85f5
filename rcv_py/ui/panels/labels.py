"""The named places of the code, with what the code behind each costs."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.program.blocks import Label, labels
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for
from rcv_py.ui.core.panel import panel
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.table_model import Column
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.widgets.empty_state import page

NO_LABELS = "The code has no labels: the trace was written without symbols."


@panel(id="labels", title="Labels", area="right_bottom", order=31, needs=("code",))
class LabelsPanel(TablePanel[tuple[Label, ...]]):
    """Named places of the code."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.view = self.rows_view("Labels")
        self.view.widths.elastic = Elastic("name", "address", 90, 4000)
        self.view.chosen.connect(self._go)
        self.empty = page(self, self.view)
        self._start()

    def _open(self) -> None:
        trace = self.session.trace.value
        if trace is None:
            self._take(())
            return
        self.run_job(lambda: labels(trace.code), only_for(self.session, self._take))

    def _take(self, found: tuple[Label, ...]) -> None:
        self.result = found or None
        self.view.show_columns(
            (
                Column("name", "label", [label.name for label in found], width=120, tip="Name in the code."),
                Column(
                    "share",
                    "%",
                    np.array([100 * label.share for label in found]),
                    lambda value: f"{value:.1f}",
                    is_number=True,
                    width=48,
                    tip="Latency from here to the next label, of the latency of all.",
                ),
                Column(
                    "address",
                    "address",
                    [label.address for label in found],
                    lambda value: f"{value:#x}",
                    is_number=True,
                    width=84,
                    tip="Address inside the code object.",
                ),
            )
        )
        self.empty.say("" if found else self.reason(NO_LABELS))
        self._follow()

    def place_of(self, row: int) -> Hover | None:
        """The label itself."""
        labels = self.result or ()
        return Hover(line=labels[row].row) if 0 <= row < len(labels) else None

    def row_of(self, selection: Selection) -> int:
        """The label under which the selected instruction stands."""
        rows = np.array([label.row for label in self.result or ()], dtype=np.int64)
        return -1 if selection.line is None else int(np.searchsorted(rows, selection.line, side="right")) - 1

    def command_line(self) -> command_text.Words | None:
        """The labels."""
        order = command_text.sorting(self.view.table, command_text.same("name", "share", "address"))
        return command_text.rcv(self.session, "isa", "--labels", *order)
