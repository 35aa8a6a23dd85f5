"""Latency of code lines: what other waves hide of it, and how long memory takes to answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QPainter, QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout

from rcv_py.analysis.hidden_latency import why_not_hidden
from rcv_py.analysis.latency_tables import hidden_table
from rcv_py.model.kinds import TokenKind
from rcv_py.state.selection import Hover
from rcv_py.ui.kit.column_widths import PAD, Elastic
from rcv_py.ui.kit.context import UiContext
from rcv_py.ui.kit.cost_bars import bar_length, draw_bar
from rcv_py.ui.kit.empty_state import WithEmptyState, reason
from rcv_py.ui.kit.latency_columns import LatencyRows, hidden_rows, memory_rows
from rcv_py.ui.kit.legend import Legend
from rcv_py.ui.kit.panel import Panel, Sheet, panel
from rcv_py.ui.kit.rows_view import RowsView
from rcv_py.ui.kit.shared_results import JOBS

KINDS = ("hidden", "memory")
KIND_TEXT = ("Hidden latency", "Memory latency")
RULE_TEXT = ("Better estimate", "Reference viewer")
SUFFIX = ("", "_reference")
WAITS = "waits"
READING = "Waves are being read."
NO_COST = "No instruction was executed while the trace was recorded, so there is no latency."
BY_WAITS = (
    "Latencies by waits: from the issue of an operation to the end of the wait that had to wait for it."
)
LEGENDS = {
    "hidden": (
        ("stall", "stall", "stall that nothing hides"),
        ("issue", "issue", "issue that nothing hides"),
        ("idle", "idle", "idle time that nothing hides"),
        ("hidden", "hidden", "covered by other waves of the SIMD"),
    ),
    "memory": (("memory", "latency", "from issue to return; the line is one standard deviation"),),
}


@panel(
    id="latency",
    title="Latency",
    area="bottom",
    order=40,
    tip="What other waves hide of the latency, and how long memory takes.",
)
class LatencyPanel(Panel):
    """A table a code line, of hidden latency or of memory latency, by our rule or the reference viewer's."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.rows: LatencyRows | None = None
        self.view = RowsView(ui.theme, ui.settings)
        self.view.setAccessibleName("Latency of code lines")
        self.view.widths.elastic = Elastic("text", "bar", 160, 420)
        self.view.cell_painters["bar"] = self._paint_bar
        self.kind = _choice("What is shown", KIND_TEXT, "Hidden latency, or latency of memory operations.")
        self.rule = _choice(
            "By which rule", RULE_TEXT, "Our estimate, or the definition of the reference viewer."
        )
        self.legend = Legend()
        self.note = QLabel()
        self.note.setObjectName("muted")
        self.assumption = QLabel()
        self.assumption.setObjectName("muted")
        self.assumption.setWordWrap(True)
        self._lay_out()
        self._watch()
        self._open()

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 4, 8, 0)
        bar.setSpacing(8)
        for widget in (self.kind, self.rule):
            bar.addWidget(widget)
        bar.addWidget(self.legend, 1)
        bar.addWidget(self.note)
        below = QHBoxLayout()
        below.setContentsMargins(8, 2, 8, 4)
        below.addWidget(self.assumption)
        self.empty = WithEmptyState(self.view)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.setSpacing(0)
        around.addLayout(bar)
        around.addLayout(below)
        around.addWidget(self.empty, 1)

    def _watch(self) -> None:
        session, settings = self.session, self.ui.settings
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        names = [kind + suffix for kind in KINDS for suffix in SUFFIX]
        for name in (*names, WAITS):
            if name in JOBS:
                self.ui.results.cell(name).watch(self._refresh)
        settings.cell("isa.show_idle").watch(self._refresh)
        settings.cell("isa.bar_scale").watch(self.view.refresh)
        self.kind.currentIndexChanged.connect(self._chosen)
        self.rule.currentIndexChanged.connect(self._chosen)
        self.view.chosen.connect(self._go)
        self.view.hovered.connect(self._tell_hover)
        self.ui.theme.changed.connect(self._show_legend)

    # -- computing ----------------------------------------------------------------------------------

    @property
    def is_memory(self) -> bool:
        """Whether memory latency is shown."""
        return KINDS[self.kind.currentIndex()] == "memory"

    def showEvent(self, event: QShowEvent) -> None:
        """Compute when somebody looks."""
        super().showEvent(event)
        self._want()

    def _open(self) -> None:
        self._chosen()

    def _chosen(self) -> None:
        self._show_legend()
        self._refresh()
        if self.isVisible():
            self._want()

    def _want(self) -> None:
        if self.session.trace.value is None or self._why_not():
            return
        self.ui.results.want(self._name())
        if self.is_memory and WAITS in JOBS:
            self.ui.results.want(WAITS)

    def _name(self) -> str:
        return KINDS[self.kind.currentIndex()] + SUFFIX[self.rule.currentIndex()]

    def _why_not(self) -> str:
        """Why nothing of the kind can ever be known of this capture, "" if it can."""
        trace = self.session.trace.value
        return why_not_hidden(trace) if trace is not None else ""

    def _waits(self) -> Any:
        """The table of latencies by waits, None while or where there is none."""
        found = self.ui.results.cell(WAITS).value if WAITS in JOBS else None
        return getattr(found, "latency", None)

    def _refresh(self) -> None:
        trace = self.session.trace.value
        self.rows = None
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
            table = hidden_table(trace.code, found, self.ui.settings["isa.show_idle"])
            self._show(hidden_rows(trace.code, table), found.assumption, NO_COST)

    def _show_memory(self, found: Any) -> None:
        trace, waits = self.session.trace.value, self._waits()
        assert trace is not None
        rows = memory_rows(trace.code, found, waits)
        by_waits = f" {BY_WAITS}" if waits is not None and len(waits.line) else ""
        text = found.assumption if len(found) else found.reason
        self._show(rows, text + by_waits, found.reason)

    def _show(self, rows: LatencyRows, assumption: str, otherwise: str) -> None:
        if not len(rows):
            self._say(reason(self.session.trace.value, "latency", otherwise))
            return
        self._say("")
        self.rows = rows
        self.assumption.setText(assumption)
        self.assumption.setVisible(True)
        self.note.setText(rows.note)
        self.view.show_columns(rows.columns)
        self._follow()

    def _say(self, sentence: str) -> None:
        self.empty.say(sentence)
        self.assumption.setVisible(not sentence)
        self.legend.setVisible(not sentence)

    def _show_legend(self) -> None:
        items = LEGENDS[KINDS[self.kind.currentIndex()]]
        self.legend.set_items([(self._color(role), name, text) for role, name, text in items])

    def _color(self, role: str) -> QColor:
        theme = self.ui.theme
        return theme.kind(TokenKind.VMEM) if role == "memory" else theme.role(role)

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        line = self.session.selection.value.line
        if self.rows is None:
            return
        found = np.flatnonzero(self.rows.line == (-1 if line is None else line))
        row = int(found[0]) if len(found) else -1
        if row < 0 or self.rows.line[self.view.current] != line or self.view.current < 0:
            self.view.set_current(row, reveal=row != self.view.current)

    def _go(self, row: int) -> None:
        if self.rows is not None and 0 <= row < len(self.rows):
            line = int(self.rows.line[row])
            if self.session.selection.value.line != line:
                self.session.select_line(line)

    def _tell_hover(self, row: int) -> None:
        is_row = self.rows is not None and 0 <= row < len(self.rows)
        self.session.hover.set(Hover(line=int(self.rows.line[row])) if is_row and self.rows else None)

    # -- painting -----------------------------------------------------------------------------------

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        rows = self.rows
        if rows is None or row >= len(rows):
            return
        box = QRectF(cell).adjusted(PAD, 5, -PAD, -5)
        parts = [
            (float(value), self._color(role))
            for value, role in zip(rows.bars[:, row], rows.roles, strict=True)
        ]
        if rows.spread is None:
            draw_bar(
                painter, box, parts, float(rows.bars.sum(axis=0).max()), self.ui.settings["isa.bar_scale"]
            )
        else:
            self._paint_length(painter, box, rows, row)

    def _paint_length(self, painter: QPainter, box: QRectF, rows: LatencyRows, row: int) -> None:
        """A bar of the mean with a whisker; lengths compare, so the scale is linear."""
        assert rows.spread is not None
        largest = float((rows.bars[0] + rows.spread).max())
        mean, spread = float(rows.bars[0, row]), float(rows.spread[row])
        draw_bar(painter, box, [(mean, self._color(rows.roles[0]))], largest, "linear")
        if spread > 0:
            ends = [
                box.left() + bar_length(max(0.0, mean + side * spread), largest, box.width(), "linear")
                for side in (-1, 1)
            ]
            painter.setPen(self.ui.theme.role("text"))
            middle = box.center().y()
            painter.drawLine(QPointF(ends[0], middle), QPointF(ends[1], middle))
            for end in ends:
                painter.drawLine(QPointF(end, middle - 2), QPointF(end, middle + 2))

    # -- what the shell asks ------------------------------------------------------------------------

    def caption(self) -> str:
        """What is shown, and by which rule."""
        return f"{self.kind.currentText()}, {self.rule.currentText().lower()}"

    def sheet(self) -> Sheet | None:
        """The table that is shown; what is not known is left empty."""
        if self.rows is None:
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
            "table": self.view.save_state(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.view.load_state(state.get("table") or {})
        self.kind.setCurrentIndex(1 if state.get("kind") == "memory" else 0)
        self.rule.setCurrentIndex(1 if state.get("is_reference") is True else 0)


def _choice(name: str, texts: tuple[str, ...], tip: str) -> QComboBox:
    box = QComboBox(toolTip=tip)
    box.setAccessibleName(name)
    box.addItems(list(texts))
    return box
