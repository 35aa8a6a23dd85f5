"""Loops and their iterations: how long each round took, what it was spent on, and which took much longer."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QSplitter

from rcv_py.analysis.iterations.loop_summary import LoopSummary
from rcv_py.analysis.iterations.phases import PHASES
from rcv_py.base.text import plural
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.window import TimeWindow
from rcv_py.results.loops import ITERATIONS, iteration_table, iterations_of, loop_table
from rcv_py.state.selection import Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import panel
from rcv_py.ui.core.plain_text import tooltip, with_tip
from rcv_py.ui.panels.loops.iteration_strip import IterationStrip, color_of, stack_of
from rcv_py.ui.plot.curve_legend import Legend
from rcv_py.ui.table import command_text
from rcv_py.ui.table.result_columns import result_columns, sort_names
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.widgets.elided_label import ElidedLabel
from rcv_py.ui.widgets.empty_state import page

NO_LOOP = "No wave that counts jumped back to an instruction it had run: no loop, or one iteration of each."
ALL, SELECTED, OUTLIERS = range(3)
SCOPES = ("All waves", "Selected wave", "Outliers")


@panel(
    id="loops",
    title="Loops",
    area="bottom",
    order=27,
    tip="Iterations of loops: how long each took, and what on.",
)
class LoopsPanel(TablePanel[LoopSummary]):
    """Loops on the left, iterations on the right; a click on one selects its wave and shows its time."""

    result_name = "loops"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._loop = -1
        self.rows = np.zeros(0, dtype=np.int64)  # iterations that are shown
        self.loops = self.rows_view("Loops, most often continued first")
        self.view = self.rows_view("Iterations of the chosen loop")
        self.strip = IterationStrip(ui.theme)
        self.scope = with_tip(QComboBox(), "Which iterations are shown.")
        self.scope.setAccessibleName("Which iterations are shown")
        self.scope.addItems(list(SCOPES))
        self.legend, self.note, self.phases = Legend(), ElidedLabel(), ElidedLabel()
        self._lay_out()
        ui.theme.changed.connect(self._show_legend)
        self.scope.activated.connect(self._list)
        self.loops.chosen.connect(self._choose_loop)
        self.view.chosen.connect(self._go)
        self.strip.chosen.connect(self._go)
        self._start()

    def _lay_out(self) -> None:
        for label in (self.note, self.phases):
            label.setProperty("role", "muted")
        self.phases.setContentsMargins(8, 2, 8, 4)
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.right = QSplitter(Qt.Orientation.Vertical)
        self.right.addWidget(self.strip)
        self.right.addWidget(self.view)
        self.right.setSizes([150, 130])
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.addWidget(self.loops)
        self.split.addWidget(self.right)
        self.split.setSizes([440, 720])
        for splitter in (self.right, self.split):
            splitter.setChildrenCollapsible(False)
        choices = bar((self.legend, 1), (self.note, 1), self.scope)
        self.empty = page(self, choices, (self.split, 1), self.phases)

    def _open(self) -> None:
        self._loop = -1
        super()._open()

    # -- showing ------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        trace, summary = self.session.trace.value, self.ui.results.cell("loops").value
        sentence = self.why_no_waves(summary) or ("" if len(summary.found.iterations) else NO_LOOP)
        chosen = self._pair()
        self.result = None if sentence else summary
        self.empty.say(sentence)
        if trace is None or self.result is None:
            return
        table = self.result.found.table
        self.loops.show_columns(result_columns(loop_table(trace, table), trace))
        same = [i for i in range(len(table)) if (int(table.head[i]), int(table.branch[i])) == chosen]
        self._loop = same[0] if same else max(0, table.dominant)
        self.loops.set_current(self._loop)
        self.phases.setText(self._phases_text())
        self.phases.setToolTip(tooltip(self.phases.text()))
        self._list()

    def _pair(self) -> tuple[int, int] | None:
        """Head and branch of the chosen loop: its row may change when more waves are read."""
        if self.result is None or self._loop < 0:
            return None
        table = self.result.found.table
        return int(table.head[self._loop]), int(table.branch[self._loop])

    def _phases_text(self) -> str:
        assert self.result is not None
        found = self.result.phases
        if not len(found):
            return ""
        parts = [
            f"{name} {100 * share:.1f} % ({100 * stall:.0f} % stalled)"
            for name, share, stall in zip(PHASES, found.shares, found.stall_shares, strict=True)
        ]
        table = self.result.found.table
        loop = f"{table.head[found.loop]} – {table.branch[found.loop]}"
        without = f"; {plural(found.without, 'wave')} did not run it twice" if found.without else ""
        return f"Time of {plural(len(found), 'wave')} around loop {loop}: {', '.join(parts)}{without}"

    def _list(self) -> None:
        """Show the iterations of the chosen loop."""
        trace, summary = self.session.trace.value, self.result
        if trace is None or summary is None:
            return
        found = summary.found
        self.rows = self._chosen()
        rows = iteration_table(trace, found, self.rows, has_note=True)
        self.view.show_columns(result_columns(rows, trace))
        one = found.iterations
        names = tuple(
            f"{trace.waves.id(int(one.wave[i]))}, iteration {one.number[i]}" for i in self.rows.tolist()
        )
        cycles, order = stack_of(found, self.rows)
        self.strip.show_stacks(cycles, order, np.isin(self.rows, found.outliers), names)
        outliers = int(np.count_nonzero(one.loop[found.outliers] == self._loop))
        text = f"{plural(len(self.rows), 'iteration')}, {plural(outliers, 'outlier')} in the loop"
        text = self.of_waves(text)
        self.note.setText(text)
        self.note.setToolTip(
            tooltip(
                f"{text}.\nAn outlier took much longer than others: beyond the third quartile by 1.5 times "
                "the distance of the quartiles. Entry and last round are not counted."
            )
        )
        self._show_legend()
        self._mark()

    def _chosen(self) -> np.ndarray:
        assert self.result is not None
        found, trace = self.result.found, self.session.trace.value
        if self.scope.currentIndex() == OUTLIERS:
            return found.outliers[found.iterations.loop[found.outliers] == self._loop]
        wave = self.session.selection.value.wave
        row = trace.waves.row(wave) if trace is not None and wave is not None else None
        is_all = self.scope.currentIndex() == ALL
        return iterations_of(found, self._loop, None if is_all else (-1 if row is None else row))

    def _show_legend(self) -> None:
        if self.result is None:
            return
        theme = self.ui.theme
        _, order = stack_of(self.result.found, self.rows)
        items = [
            (
                color_of(theme, kind),
                "idle" if kind == TokenKind.NONE else TokenKind(kind).name,
                KIND_TEXT[TokenKind(kind)],
            )
            for kind in order
        ]
        self.legend.set_items(items)

    # -- selecting ----------------------------------------------------------------------------------

    def _choose_loop(self, row: int) -> None:
        summary = self.result
        if summary is None or not 0 <= row < len(summary.found.table) or row == self._loop:
            return
        self._loop = row
        self._list()
        self.session.select_line(int(summary.found.table.head[row]))

    def _follow(self) -> None:
        if self.result is None:
            return
        if self.scope.currentIndex() == SELECTED and not np.array_equal(self._chosen(), self.rows):
            self._list()
        else:
            self._mark()

    def _mark(self) -> None:
        """Point at the iteration that holds the selected token."""
        token, at = self.session.token(), np.zeros(0, dtype=np.int64)
        if token is not None and self.result is not None:
            one = self.result.found.iterations.at(self.rows)
            at = np.flatnonzero((one.wave == token[0].row) & (one.first <= token[1]) & (token[1] < one.stop))
        row = int(at[0]) if len(at) else -1
        self.view.set_current(row, reveal=row != self.view.current)
        self.strip.set_current(row)

    def _go(self, at: int) -> None:
        trace, summary = self.session.trace.value, self.result
        if trace is None or summary is None or not 0 <= at < len(self.rows):
            return
        one, i = summary.found.iterations, int(self.rows[at])
        wave = trace.waves.id(int(one.wave[i]))
        store = self.session.store
        if store is not None and store.wave_by_id(wave) is not None:
            self.session.select_token(wave, int(one.first[i]))
        else:
            self.session.select(Selection(wave=wave))
        self.session.set_view(TimeWindow(int(one.begin[i]), int(one.end[i])))

    # -- what the shell asks ------------------------------------------------------------------------

    def caption(self) -> str:
        """The loop, and which iterations."""
        pair = self._pair()
        return "" if pair is None else f"loop {pair[0]} to {pair[1]}, {self.scope.currentText().lower()}"

    def command_line(self) -> command_text.Words | None:
        """The rounds of the chosen loop, or the loops."""
        pair = self._pair()
        if pair is None:
            return command_text.rcv(self.session, "loops", "--top=0")
        scope = {SELECTED: command_text.wave(self.session, "rounds-of"), OUTLIERS: ("--outliers",)}
        which = (
            "--show=iterations",
            f"--loop={pair[0]}:{pair[1]}",
            *scope.get(self.scope.currentIndex(), ()),
        )
        order = command_text.sorting(self.view.table, sort_names(ITERATIONS))
        return command_text.rcv(self.session, "loops", *which, *order, "--top=0")

    def save_state(self) -> dict[str, Any]:
        """Columns, and which iterations."""
        return {
            **super().save_state(),
            "loops": self.loops.save_state(),
            "scope": self.scope.currentIndex(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        super().load_state(state)
        self.loops.load_state(state.get("loops") or {})
        scope = state.get("scope")
        self.scope.setCurrentIndex(scope if scope in (ALL, SELECTED, OUTLIERS) else ALL)
        self._list()
