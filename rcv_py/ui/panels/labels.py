"""The named places of the code, with what the code behind each costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtWidgets import QVBoxLayout

from rcv_py.analysis.program.labels import Label, labels
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import only_for
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import Column
from rcv_py.ui.widgets.empty_state import WithEmptyState, reason

NO_LABELS = "The code has no labels: the trace was written without symbols."


@panel(id="labels", title="Labels", area="right_bottom", order=31, tip="Named places of the code.")
class LabelsPanel(Panel):
    """Name, share and address of every label; a click goes there."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.labels: tuple[Label, ...] = ()
        self.view = RowsView(ui.theme, ui.settings)
        self.view.setAccessibleName("Labels")
        self.view.widths.elastic = Elastic("name", "address", 90, 4000)
        self.view.chosen.connect(self._go)
        self.empty = WithEmptyState(self.view)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self.empty)
        ui.session.trace.watch(self._open)
        ui.session.selection.watch(self._follow)
        self._open()

    def _open(self) -> None:
        trace = self.session.trace.value
        if trace is None:
            self._take(())
            return
        self.run_job(lambda: labels(trace.code), only_for(self.session, self._take))

    def _take(self, found: tuple[Label, ...]) -> None:
        self.labels = found
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
        self.empty.say("" if found else reason(self.session.trace.value, "labels", NO_LABELS))
        self._follow()

    def _go(self, row: int) -> None:
        if 0 <= row < len(self.labels) and self.session.selection.value.line != self.labels[row].row:
            self.session.select_line(self.labels[row].row)

    def _follow(self) -> None:
        """Mark the label under which the selected instruction stands."""
        line = self.session.selection.value.line
        rows = np.array([label.row for label in self.labels], dtype=np.int64)
        at = -1 if line is None else int(np.searchsorted(rows, line, side="right")) - 1
        if at != self.view.current:
            self.view.set_current(at)

    def command_line(self) -> command_text.Words | None:
        """The labels."""
        order = command_text.sorting(self.view.table, command_text.same("name", "share", "address"))
        return command_text.rcv(self.session, "isa", "--labels", *order)

    def sheet(self) -> Sheet | None:
        """All labels."""
        if not self.labels:
            return None
        return Sheet("Labels", self.view.table.headers, self.view.table.table())

    def save_state(self) -> dict[str, Any]:
        """Columns."""
        return {"table": self.view.save_state()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.view.load_state(state.get("table") or {})
