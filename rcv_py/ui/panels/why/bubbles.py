"""Cycles in which a SIMD held waves and nothing happened, by the instructions that waited."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter

from rcv_py.analysis.latency.bubbles import Bubbles
from rcv_py.base.text import count, percent, plural
from rcv_py.results.bubbles import BUBBLES, bubble_table
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import bar, boxed, column
from rcv_py.ui.core.panel import panel
from rcv_py.ui.core.plain_text import ElidedLabel, tooltip
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.result_columns import result_columns, with_bar
from rcv_py.ui.table.table_panel import NO_LINES, TablePanel
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.legend import Legend

KINDS = {  # role of its colour, and meaning
    "stall": ("stall", "the wave stalled in this instruction"),
    "idle": ("idle", "the wave had nothing to do before this instruction"),
    "drain": ("hidden", "the last instruction of the wave had issued, and the wave was still there"),
}
BAR_TIP = "Bubbles by their kind."


@panel(id="bubbles", title="Bubbles", area="bottom", order=25, needs=("code",), within="why")
class BubblesPanel(TablePanel[Bubbles]):
    """Which instructions waves waited in while nothing happened on their SIMD."""

    result_name = "bubbles"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        elastic = Elastic("text", "source", 160, 560, ("drain", "idle"), 320)
        name = "Instructions by cycles in which nothing happened on their SIMD"
        self.view = self.rows_view(name, elastic, bar=self._paint_bar)
        self.legend, self.note = Legend(), ElidedLabel(role="muted")
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.bar = boxed(bar((self.legend, 1), (self.note, 3)))
        self.empty = WithEmptyState(self.view)
        column(self.bar, (self.empty, 1), of=self)
        ui.theme.changed.connect(self._show_legend)
        self._start()

    # -- showing ------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        trace, bubbles = self.session.trace.value, self.ui.results.cell(self.result_name).value
        sentence = self.why_no_waves(bubbles) or ("" if len(bubbles) else BUBBLES.nothing)
        self.result = None if sentence else bubbles
        self.bar.setVisible(not sentence)
        self.empty.say(sentence)
        if trace is not None and self.result is not None:
            columns = result_columns(bubble_table(trace, self.result), trace)
            self.view.show_columns(with_bar(columns, "text", "bubbles", width=140, tip=BAR_TIP))
            self._show_legend()
            self._say(self.result)
            self._follow()

    def _say(self, bubbles: Bubbles) -> None:
        text = self.of_waves(
            f"in {count(bubbles.bubble)} of {count(bubbles.resident)} SIMD cycles with a wave nothing "
            f"happened ({percent(bubbles.bubble, bubbles.resident)}), {plural(len(bubbles.place), 'SIMD')}"
        )
        self.note.setText(text)
        self.note.setToolTip(
            tooltip(
                f"{text}.\n{percent(bubbles.no_issue, bubbles.resident)} of the SIMD cycles are no-issue "
                f"cycles; the MFMA unit worked in {percent(bubbles.matrix, bubbles.resident)}.\n"
                "A bubble is split equally among the waves that were on the SIMD. Cycles in which another "
                "wave issued or the MFMA unit worked do not count, so shortening a stall may uncover "
                "another one."
            )
        )

    def _show_legend(self) -> None:
        role = self.ui.theme.role
        self.legend.set_items([(role(color), kind, meaning) for kind, (color, meaning) in KINDS.items()])

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        bubbles, role = self.result, self.ui.theme.role
        if bubbles is not None and row < len(bubbles):
            cycles = (bubbles.stall, bubbles.idle, bubbles.drain)
            roles = (color for color, _ in KINDS.values())
            parts = [(float(part[row]), role(color)) for part, color in zip(cycles, roles, strict=True)]
            self.paint_bar(painter, cell, parts, float(bubbles.total[0]))

    # -- what the shell asks ------------------------------------------------------------------------

    @property
    def lines(self) -> np.ndarray:
        """The instruction of each row."""
        return NO_LINES if self.result is None else self.result.line

    def caption(self) -> str:
        """How many cycles."""
        return "" if self.result is None else self.note.text()

    def command_line(self) -> command_text.Words | None:
        """The ranking."""
        order = command_text.sorting(self.view.table)
        return command_text.rcv(self.session, "bubbles", *order, "--top=0")
