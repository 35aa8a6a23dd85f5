"""Cycles in which a SIMD held waves and nothing happened, by the instructions that waited."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter

from rcv_py.analysis.latency.bubbles import Bubbles
from rcv_py.base.text import count, percent, plural
from rcv_py.results.bubbles import BUBBLES, bubble_table
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import bar, boxed, column
from rcv_py.ui.core.panel import panel
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.plot.curve_legend import Legend
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.result_columns import result_columns, sort_names
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.widgets.elided_label import ElidedLabel
from rcv_py.ui.widgets.empty_state import WithEmptyState

ROLE_OF = {"stall": "stall", "idle": "idle", "drain": "hidden"}
WAY_TEXT = {
    "stall": "the wave stalled in this instruction",
    "idle": "the wave had nothing to do in front of this instruction",
    "drain": "the last instruction of the wave had issued, and the wave was still there",
}
BAR_TIP = "Bubbles by their kind."
SORTED = sort_names(BUBBLES) | {"bar": "cycles"}


@panel(
    id="bubbles",
    title="Bubbles",
    area="bottom",
    order=28,
    tip="Which instructions waves waited in while nothing happened on their SIMD.",
)
class BubblesPanel(TablePanel[Bubbles]):
    """Lines ranked by uncovered cycles, split into stall, idle and drain; a click selects the line."""

    result_name = "bubbles"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.view = self.rows_view("Instructions by cycles in which nothing happened on their SIMD")
        self.view.cell_painters["bar"] = self._paint_bar
        self.view.widths.elastic = Elastic("text", "source", 160, 560, ("drain", "idle"), 320)
        self.legend, self.note = Legend(), ElidedLabel()
        self.note.setProperty("role", "muted")
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.bar = boxed(bar((self.legend, 1), (self.note, 3)))
        self.empty = WithEmptyState(self.view)
        column(self.bar, (self.empty, 1), of=self)
        self.view.chosen.connect(self._go)
        self.view.hovered.connect(self._point)
        ui.settings.cell("isa.bar_scale").watch(self.view.refresh)
        ui.theme.changed.connect(self._show_legend)
        self._start()

    # -- showing ------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        trace, found = self.session.trace.value, self.ui.results.cell("bubbles").value
        sentence = self.why_no_waves(found) or ("" if len(found) else BUBBLES.nothing)
        self.result = None if sentence else found
        self.bar.setVisible(not sentence)
        self.empty.say(sentence)
        if trace is None or self.result is None:
            return
        columns = {column.id: column for column in result_columns(bubble_table(trace, self.result), trace)}
        bar = replace(columns["cycles"], id="bar", title="cost", is_left=True, width=140, tip=BAR_TIP)
        self.view.show_columns((columns.pop("line"), columns.pop("text"), bar, *columns.values()))
        self._show_legend()
        self._say(self.result)
        self._follow()

    def _say(self, found: Bubbles) -> None:
        text = (
            f"in {count(found.bubble)} of {count(found.resident)} SIMD cycles with a wave nothing happened "
            f"({percent(found.bubble, found.resident)}), {plural(len(found.place), 'SIMD')}"
        )
        text = self.of_waves(text)
        self.note.setText(text)
        self.note.setToolTip(
            tooltip(
                f"{text}.\n{percent(found.no_issue, found.resident)} of the SIMD cycles are no-issue cycles; "
                f"the matrix unit worked in {percent(found.matrix, found.resident)}.\n"
                "A bubble is split equally among the waves that were on the SIMD. Cycles in which another "
                "wave issued or the matrix unit worked do not count, so shortening a stall may uncover "
                "another one."
            )
        )

    def _show_legend(self) -> None:
        theme = self.ui.theme
        self.legend.set_items([(theme.role(role), way, WAY_TEXT[way]) for way, role in ROLE_OF.items()])

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        found = self.result
        if found is not None and row < len(found):
            theme = self.ui.theme
            parts = [(float(getattr(found, way)[row]), theme.role(role)) for way, role in ROLE_OF.items()]
            self.paint_bar(painter, cell, parts, float(found.total[0]))

    # -- selecting ----------------------------------------------------------------------------------

    def place_of(self, row: int) -> Hover | None:
        """The instruction of a row."""
        found = self.result
        is_line = found is not None and 0 <= row < len(found) and found.line[row] >= 0
        return Hover(line=int(found.line[row])) if found is not None and is_line else None

    def row_of(self, selection: Selection) -> int:
        """The row of the selected instruction."""
        if self.result is None or selection.line is None:
            return -1
        found = np.flatnonzero(self.result.line == selection.line)
        return int(found[0]) if len(found) else -1

    # -- what the shell asks ------------------------------------------------------------------------

    def caption(self) -> str:
        """How many cycles."""
        return "" if self.result is None else self.note.text()

    def command_line(self) -> command_text.Words | None:
        """The ranking."""
        order = command_text.sorting(self.view.table, SORTED)
        return command_text.rcv(self.session, "bubbles", *order, "--top=0")
