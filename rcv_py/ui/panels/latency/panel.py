"""Latency of code lines: what other waves hide of it, and how long memory takes to answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QComboBox

from rcv_py.analysis.latency.hidden_latency import why_not_hidden
from rcv_py.analysis.latency.latency_tables import hidden_table
from rcv_py.analysis.waits.wait_latency import WaitLatency
from rcv_py.results.latency import HIDDEN, MEMORY_AND_WAITS
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import BAR_ABOVE, BAR_BELOW, bar, column, row
from rcv_py.ui.core.panel import Sheet, panel
from rcv_py.ui.core.plain_text import PlainLabel, with_tip
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.panels.latency.bars import draw_latency, legend_items
from rcv_py.ui.panels.latency.columns import LatencyRows, hidden_rows, memory_rows
from rcv_py.ui.plot.curve_legend import Legend
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.result_columns import sort_names
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.widgets.empty_state import WithEmptyState, reason

KINDS = ("hidden", "memory")
KIND_TEXT = ("Hidden latency", "Memory latency")
RULE_TEXT = ("Better estimate", "Reference viewer")
SUFFIX = ("", "_reference")
CHOSEN = "_chosen"  # of hidden latency, where not all waves count
RULES = ("ours", "reference")
SORTED = {  # the name of each column on the command line
    "hidden": sort_names(HIDDEN) | {"bar": "total"},
    "memory": sort_names(MEMORY_AND_WAITS) | {"bar": "mean"},
}
WAITS = "waits"
READING = "Waves are being read."
NO_COST = "No instruction was executed while the trace was recorded, so there is no latency."
BY_WAITS = (
    "Latencies by waits: from the issue of an operation to the end of the wait that had to wait for it."
)


@panel(
    id="latency",
    title="Latency",
    area="bottom",
    order=40,
    tip="What other waves hide of the latency, and how long memory takes.",
)
class LatencyPanel(TablePanel[LatencyRows]):
    """A table a code line, of hidden latency or of memory latency, by our rule or the reference viewer's."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.view = self.rows_view("Latency of code lines")
        self.view.cell_painters["bar"] = self._paint_bar
        self.kind = _choice("What is shown", KIND_TEXT, "Hidden latency, or latency of memory operations.")
        self.rule = _choice(
            "By which rule", RULE_TEXT, "Our estimate, or the definition of the reference viewer."
        )
        self.legend = Legend()
        self.note = PlainLabel()
        self.note.setObjectName("muted")
        self.assumption = PlainLabel()
        self.assumption.setObjectName("muted")
        self.assumption.setWordWrap(True)
        choices = bar(self.kind, self.rule, (self.legend, 1), self.note, margins=BAR_ABOVE)
        self.empty = WithEmptyState(self.view)
        column(choices, row(self.assumption, margins=BAR_BELOW), (self.empty, 1), of=self)
        self._watch()
        self._start()

    def _watch(self) -> None:
        session, settings = self.session, self.ui.settings
        for cell in (session.waves, session.populations):
            cell.watch(self._open)
        names = [kind + suffix for kind in (*KINDS, KINDS[0] + CHOSEN) for suffix in SUFFIX]
        for name in (*names, WAITS):
            self.ui.results.cell(name).watch(self._arrived)
        settings.cell("isa.show_idle").watch(self._refresh)
        settings.cell("isa.bar_scale").watch(self.view.refresh)
        for box in (self.kind, self.rule):
            box.currentIndexChanged.connect(self._open)
        self.view.chosen.connect(self._go)
        self.view.hovered.connect(self._point)
        self.ui.theme.changed.connect(self._show_legend)

    # -- computing ----------------------------------------------------------------------------------

    @property
    def is_memory(self) -> bool:
        """Whether memory latency is shown."""
        return KINDS[self.kind.currentIndex()] == "memory"

    def _open(self) -> None:
        self._refresh()
        if self.session.trace.value is None or self._why_not():
            return
        self.want_result(self._name())
        if self.is_memory:
            self.want_result(WAITS)

    def _name(self) -> str:
        choice = self.session.choice
        is_part = not self.is_memory and choice is not None and choice.rows is not None
        chosen = CHOSEN if is_part else ""
        return KINDS[self.kind.currentIndex()] + chosen + SUFFIX[self.rule.currentIndex()]

    def _why_not(self) -> str:
        """Why nothing of the kind can ever be known of this capture, "" if it can."""
        trace = self.session.trace.value
        return why_not_hidden(trace) if trace is not None else ""

    def _waits(self) -> WaitLatency | None:
        """The table of latencies by waits, None until it is known."""
        found = self.ui.results.cell(WAITS).value
        return None if found is None else found.latency

    def _refresh(self) -> None:
        trace = self.session.trace.value
        self.result = None
        self.note.clear()
        self.assumption.clear()
        if trace is None or self._why_not():
            self._say(reason(trace, "latency", self._why_not()))
            return
        found = self.ui.results.cell(self._name()).value
        if found is None or not getattr(found, "waves", 1):
            self._say(READING)
            return
        if self.is_memory:
            self._show_memory(found)
        else:
            code = found.code or trace.code
            table = hidden_table(code, found, self.ui.settings["isa.show_idle"])
            note = waves_note(self.session)
            text = f"Of {note}. {found.assumption}" if note else found.assumption
            self._show(hidden_rows(trace, table), text, NO_COST)

    def _show_memory(self, found: Any) -> None:
        trace, waits = self.session.trace.value, self._waits()
        assert trace is not None
        rows = memory_rows(trace, found, waits)
        by_waits = f" {BY_WAITS}" if waits is not None and len(waits.line) else ""
        text = found.assumption if len(found) else found.reason
        self._show(rows, text + by_waits, found.reason)

    def _show(self, rows: LatencyRows, assumption: str, otherwise: str) -> None:
        if not len(rows):
            self._say(reason(self.session.trace.value, "latency", otherwise))
            return
        self._say("")
        self.result = rows
        self.assumption.setText(assumption)
        self.note.setText(rows.note)
        self._show_legend()
        self.view.widths.elastic = Elastic("text", rows.columns[-1].id, 160, 560)
        self.view.show_columns(rows.columns)
        self._follow()

    def _say(self, sentence: str) -> None:
        self.empty.say(sentence)
        self.assumption.setVisible(not sentence)
        self._show_legend()

    def _show_legend(self) -> None:
        self.legend.set_items([] if self.result is None else legend_items(self.ui.theme, self.result))

    # -- selecting ----------------------------------------------------------------------------------

    def place_of(self, row: int) -> Hover | None:
        """The instruction of a row."""
        rows = self.result
        return Hover(line=int(rows.line[row])) if rows is not None and 0 <= row < len(rows) else None

    def row_of(self, selection: Selection) -> int:
        """The row of the selected instruction: a line may have two, and the one that was clicked stays."""
        current, line = self.view.current, -1 if selection.line is None else selection.line
        found = (
            np.zeros(0, dtype=np.int64) if self.result is None else np.flatnonzero(self.result.line == line)
        )
        return current if current in found else int(found[0]) if len(found) else -1

    # -- painting -----------------------------------------------------------------------------------

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        if self.result is not None and row < len(self.result):
            box = QRectF(cell).adjusted(PAD, 5, -PAD, -5)
            scale = self.ui.settings["isa.bar_scale"]
            draw_latency(painter, box, self.ui.theme, self.result, row, scale=scale)

    # -- what the shell asks ------------------------------------------------------------------------

    def caption(self) -> str:
        """What is shown, and by which rule."""
        return f"{self.kind.currentText()}, {self.rule.currentText().lower()}"

    def command_line(self) -> command_text.Words | None:
        """The table that is shown."""
        kind, rule = KINDS[self.kind.currentIndex()], RULES[self.rule.currentIndex()]
        waits = self._waits() if self.is_memory else None
        what = (f"--kind={kind}", f"--rule={rule}", *(("--waits",) if waits is not None else ()))
        idle = () if self.is_memory else command_text.idle(self.ui)
        order = command_text.sorting(self.view.table, SORTED[kind])
        return command_text.rcv(self.session, "latency", *what, *idle, *order, "--top=0")

    def sheet(self) -> Sheet | None:
        """The table that is shown; what is not known is left empty."""
        if self.result is None:
            return None
        lines = (
            tuple("" if isinstance(value, float) and np.isnan(value) else value for value in line)
            for line in self.view.table.table()
        )
        return Sheet(self.kind.currentText(), self.view.table.headers, lines)

    def save_state(self) -> dict[str, Any]:
        """What is shown, by which rule, and the columns."""
        return {
            "kind": KINDS[self.kind.currentIndex()],
            "is_reference": self.rule.currentIndex() == 1,
            **super().save_state(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        super().load_state(state)
        self.kind.setCurrentIndex(1 if state.get("kind") == "memory" else 0)
        self.rule.setCurrentIndex(1 if state.get("is_reference") is True else 0)


def _choice(name: str, texts: tuple[str, ...], tip: str) -> QComboBox:
    box = with_tip(QComboBox(), tip)
    box.setAccessibleName(name)
    box.addItems(list(texts))
    return box
