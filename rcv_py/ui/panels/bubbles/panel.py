"""Cycles in which a SIMD held waves and nothing happened, by the instructions that waited."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from rcv_py.analysis.latency.bubbles import Bubbles
from rcv_py.base.text import count, percent, plural
from rcv_py.state.selection import Hover
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.counted_waves import waves_note
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.panels.bubbles.columns import ROLE_OF, WAY_TEXT, bubble_columns, row_of_line
from rcv_py.ui.plot.legend import Legend
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.cost_bars import draw_bar
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.widgets.elided_label import ElidedLabel
from rcv_py.ui.widgets.empty_state import WithEmptyState, reason

NO_WAVES = (
    "This capture has no traced waves, so nothing is known about bubbles. "
    "Record a thread trace with instruction tracing to see them."
)
READING = "Bubbles are shown as soon as waves are read."
UNREAD = "No wave could be read, so nothing is known about bubbles. Problems says why."
SORTED = command_text.same(
    "line", "text", "cycles", "share", "stall", "idle", "drain", "source", bar="cycles"
)
NONE = "Every SIMD issued or computed in every cycle in which it held a wave: there are no bubbles."


@panel(
    id="bubbles",
    title="Bubbles",
    area="bottom",
    order=28,
    tip="Which instructions waves waited in while nothing happened on their SIMD.",
)
class BubblesPanel(Panel):
    """Lines ranked by uncovered cycles, split into stall, idle and drain; a click selects the line."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.found: Bubbles | None = None
        self.view = RowsView(ui.theme, ui.settings)
        self.view.setAccessibleName("Instructions by cycles in which nothing happened on their SIMD")
        self.view.cell_painters["bar"] = self._paint_bar
        self.view.widths.elastic = Elastic("text", "source", 160, 560, ("drain", "idle"), 320)
        self.legend, self.note = Legend(), ElidedLabel()
        self.note.setProperty("role", "muted")
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._lay_out()
        self._watch()
        self._open()

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 4, 8, 4)
        bar.setSpacing(8)
        bar.addWidget(self.legend, 1)
        bar.addWidget(self.note, 3)
        self.bar = QWidget()
        self.bar.setLayout(bar)
        self.empty = WithEmptyState(self.view)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.setSpacing(0)
        around.addWidget(self.bar)
        around.addWidget(self.empty, 1)

    def _watch(self) -> None:
        session = self.session
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.loaded.watch(self._more_waves)
        self.ui.results.cell("bubbles").watch(self._arrived)
        self.ui.settings.cell("isa.bar_scale").watch(self.view.refresh)
        self.ui.theme.changed.connect(self._show_legend)
        self.view.chosen.connect(self._go)
        self.view.hovered.connect(self._tell_hover)

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._refresh()
        self._want()

    def _arrived(self) -> None:
        if not self.puts_off(self._refresh):
            self._refresh()

    def _want(self) -> None:
        trace = self.session.trace.value
        if trace is not None and len(trace.waves) and len(trace.code):
            self.want_result("bubbles")

    def _more_waves(self) -> None:
        if self.found is None:
            self._refresh()

    # -- showing ------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        trace, found = self.session.trace.value, self.ui.results.cell("bubbles").value
        sentence = self._why_empty(found)
        self.found = None if sentence else found
        self.bar.setVisible(not sentence)
        self.empty.say(sentence)
        if trace is None or self.found is None:
            return
        self.view.show_columns(bubble_columns(trace, self.found))
        self._show_legend()
        self._say(self.found)
        self._follow()

    def _why_empty(self, found: Bubbles | None) -> str:
        trace, store = self.session.trace.value, self.session.store
        if trace is None or not len(trace.waves) or not len(trace.code):
            return reason(trace, "bubbles", NO_WAVES)
        if found is None or not found.waves:
            is_over = store is not None and len(store.missing) >= len(trace.waves)
            return UNREAD if is_over else READING
        return "" if len(found) else NONE

    def _say(self, found: Bubbles) -> None:
        text = (
            f"in {count(found.bubble)} of {count(found.resident)} SIMD cycles with a wave nothing happened "
            f"({percent(found.bubble, found.resident)}), {plural(len(found.place), 'SIMD')}"
        )
        text = " · ".join(filter(None, (waves_note(self.session), text)))
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
        found = self.found
        if found is not None and row < len(found):
            theme = self.ui.theme
            parts = [(float(getattr(found, way)[row]), theme.role(role)) for way, role in ROLE_OF.items()]
            box = QRectF(cell).adjusted(PAD, 5, -PAD, -5)
            draw_bar(painter, box, parts, float(found.total[0]), self.ui.settings["isa.bar_scale"])

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        if self.found is not None:
            row = row_of_line(self.found, self.session.selection.value.line)
            self.view.set_current(row, reveal=row != self.view.current)

    def _go(self, row: int) -> None:
        found = self.found
        if found is None or not 0 <= row < len(found):
            return
        line = int(found.line[row])
        if line >= 0 and self.session.selection.value.line != line:
            self.session.select_line(line)

    def _tell_hover(self, row: int) -> None:
        found = self.found
        is_line = found is not None and 0 <= row < len(found) and found.line[row] >= 0
        self.session.hover.set(Hover(line=int(found.line[row])) if found is not None and is_line else None)

    # -- what the shell asks ------------------------------------------------------------------------

    def caption(self) -> str:
        """How many cycles."""
        return "" if self.found is None else self.note.text()

    def command_line(self) -> command_text.Words | None:
        """The ranking."""
        order = command_text.sorting(self.view.table, SORTED)
        return command_text.rcv(self.session, "bubbles", *order, "--top=0")

    def sheet(self) -> Sheet | None:
        """The ranking."""
        if self.found is None:
            return None
        return Sheet("Bubbles", self.view.table.headers, self.view.table.table())

    def save_state(self) -> dict[str, Any]:
        """Columns and order."""
        return {"table": self.view.save_state()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.view.load_state(state.get("table") or {})
