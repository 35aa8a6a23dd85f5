"""The instructions: what each costs, what it waits for, where it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from rcv_py.model.modes import LatencyMode
from rcv_py.state.commands import Command
from rcv_py.state.selection import Hover
from rcv_py.ui.kit.coalesce import Coalesce
from rcv_py.ui.kit.context import UiContext
from rcv_py.ui.kit.costs import OF_ALL_WAVES, cost_job, only_for
from rcv_py.ui.kit.empty_state import WithEmptyState, reason
from rcv_py.ui.kit.find_bar import FindBar
from rcv_py.ui.kit.heat_strip import HeatStrip
from rcv_py.ui.kit.isa_arrows import MODES, GutterArrows
from rcv_py.ui.kit.isa_columns import IsaRows, isa_rows
from rcv_py.ui.kit.isa_menus import extend_header_menu, popup, row_menu
from rcv_py.ui.kit.isa_search import IsaSearch
from rcv_py.ui.kit.isa_view import IsaView
from rcv_py.ui.kit.panel import Panel, Sheet, panel
from rcv_py.ui.kit.places import rows_at_leaf, rows_of_place

NO_CODE = "This capture has no instructions: code.json is missing or empty. Record the trace again."
STREAM_MS = 300  # while waves arrive, costs are computed at most this often


@panel(id="isa", title="ISA", area="center", order=10, tip="Instructions with their costs and waits.")
class IsaPanel(Panel):
    """Every instruction with hits, latency, stall, share, cost bar and source place."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._rows: IsaRows | None = None
        self._cost_key: tuple[Any, ...] = ()
        self._arrow_key: tuple[Any, ...] = ()
        self.view = IsaView(ui.theme, ui.settings)
        self.strip = HeatStrip(self.view)
        self.find = FindBar(ui.theme, "Find instructions")
        self.search = IsaSearch(ui, self.find, self.view, self.strip)
        self.mode = QComboBox(toolTip="Which numbers the columns show.")
        self.gutter = QComboBox(toolTip="Which arrows the gutter shows.")
        self.note = QLabel(visible=False)
        self._costs_wanted = Coalesce(self, self._compute)
        self._stream = Coalesce(self, self._compute, STREAM_MS)
        self._lay_out()
        self._connect()
        self._watch()
        self._open()

    # -- set up -------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        for mode in LatencyMode:
            self.mode.addItem(mode.value, mode)
        for name, (title, _) in MODES.items():
            self.gutter.addItem(title, name)
        self.mode.setAccessibleName("Latency mode")
        self.gutter.setAccessibleName("Arrows in the gutter")
        for box, length in ((self.mode, 15), (self.gutter, 8)):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(length)
        self.note.setObjectName("muted")
        self.note.setContentsMargins(8, 0, 8, 4)
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 4, 8, 4)
        bar.setSpacing(8)
        bar.addWidget(self.find, 1)
        bar.addWidget(self.mode)
        bar.addWidget(self.gutter)
        rows = QHBoxLayout()
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self.view, 1)
        rows.addWidget(self.strip)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.note)
        column.addLayout(rows, 1)
        self.empty = WithEmptyState(content)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self.empty)

    def _connect(self) -> None:
        session = self.session
        self.view.chosen.connect(self._choose)
        self.view.opened.connect(lambda row: session.fit_selection())
        self.view.hovered.connect(lambda row: session.hover.set(Hover(line=row) if row >= 0 else None))
        self.view.jumped.connect(session.select_line)
        self.view.isolated.connect(self._isolate)
        self.view.released.connect(lambda: session.isolated_wait.set(None))
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self.view.header.extend_menu = extend_header_menu(self.ui.settings)
        self.strip.clicked.connect(session.select_line)
        self.mode.activated.connect(lambda: session.latency_mode.set(self.mode.currentData()))
        self.gutter.activated.connect(self._refresh_arrows)

    def _watch(self) -> None:
        session, settings = self.session, self.ui.settings
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.hover.watch(self._show_hover)
        session.loaded.watch(self._more_waves)
        session.latency_mode.watch(self._mode_changed)
        session.clock_range.watch(self._costs_wanted.ask)
        session.isolated_wait.watch(self._show_isolated)
        settings.cell("isa.bar_scale").watch(self._show)
        settings.cell("isa.show_idle").watch(self._costs_wanted.ask)

    # -- showing ------------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        self._rows = None
        self._stream.reset()
        self._cost_key = self._arrow_key = ()
        missing = trace is None or not len(trace.code)
        self.empty.say(reason(trace, "isa", NO_CODE) if missing else "")
        if trace is None or missing:
            return
        self.mode.setVisible(trace.has_thread_trace)
        self.gutter.setVisible(trace.has_thread_trace)
        self._compute()
        self.search.search()

    def _compute(self) -> None:
        trace, job = self.session.trace.value, cost_job(self.session)
        if trace is None or job is None or self.empty.is_empty:
            return
        self._cost_key = self._key()
        self._stream.started()
        idle = self.ui.settings["isa.show_idle"]
        self.ui.tasks.run(
            self, lambda: isa_rows(trace, job(), idle), only_for(self.session, self._take_rows), "costs"
        )

    def _key(self) -> tuple[Any, ...]:
        """What the costs depend on besides the trace, the clock range and how many waves are loaded."""
        mode = self.session.latency_mode.value
        if mode in OF_ALL_WAVES:
            return (mode,)
        hit = self.session.selection.value.hit if mode is LatencyMode.ITERATION else None
        return (mode, self.session.wave(), hit)

    def _take_rows(self, rows: IsaRows) -> None:
        self._stream.finished()
        is_first = self._rows is None
        self._rows = rows
        self.strip.set_cost(np.where(rows.trace.code.is_label, 0, rows.cost))
        self._show()
        self._show_note()
        if is_first:
            self.search.show()
        self._follow()

    def _show(self) -> None:
        if self._rows is not None:
            self.view.show_rows(self._rows)

    def _show_note(self) -> None:
        needs_wave = self.session.latency_mode.value not in OF_ALL_WAVES
        note = ""
        if needs_wave and self.session.wave() is None:
            wave = self.session.selection.value.wave
            note = f"Wave {wave} is not read yet; its numbers follow." if wave else "No wave is selected."
        self.note.setText(note)
        self.note.setVisible(bool(note))

    # -- following the session ----------------------------------------------------------------------

    def _mode_changed(self) -> None:
        self.mode.setCurrentIndex(self.mode.findData(self.session.latency_mode.value))
        self._costs_wanted.ask()

    def _more_waves(self) -> None:
        if self.session.clock_range.value is not None:
            self._stream.ask()
        if self._key() != self._cost_key:
            self._costs_wanted.ask()
        self._refresh_arrows()

    def _follow(self) -> None:
        trace, selection = self.session.trace.value, self.session.selection.value
        if self._key() != self._cost_key:
            self._costs_wanted.ask()
        self._refresh_arrows()
        if trace is None or self._rows is None:
            return
        line = selection.line if selection.line is not None and selection.line < len(trace.code) else -1
        self.view.same_source = rows_at_leaf(trace.code, selection.source)
        self.view.marked = selection.lines
        if selection.lines is not None and line != self.view.current:
            self._reveal_range(*selection.lines)
        self.view.set_current(line, reveal=line != self.view.current)
        self.strip.update()
        self.search.say()

    def _reveal_range(self, first: int, stop: int) -> None:
        rows = self.view.table.view_rows[first:stop]
        rows = rows[rows >= 0]
        if len(rows):
            self.view.reveal(int(rows.max()))
            self.view.reveal(int(rows.min()))

    def _show_hover(self) -> None:
        trace, hover = self.session.trace.value, self.session.hover.value
        if trace is None or self._rows is None:
            return
        line = -1 if hover is None or hover.line is None else hover.line
        source = None if hover is None else hover.source
        tint = np.zeros(len(trace.code), dtype=bool)
        if source is not None:
            tint[rows_of_place(trace.code, *source)] = True
        if line != self.view.hover or not np.array_equal(tint, self.view.hovered_source):
            self.view.hover, self.view.hovered_source = line, tint
            self.view.viewport().update()

    # -- arrows -------------------------------------------------------------------------------------

    def _refresh_arrows(self) -> None:
        trace, wave, mode = self.session.trace.value, self.session.wave(), self.gutter.currentData()
        if trace is None or (trace, wave, mode) == self._arrow_key:
            return
        self._arrow_key = (trace, wave, mode)
        make = MODES[mode][1]
        self.ui.tasks.run(
            self,
            lambda: make(wave, trace.code, trace.gfxip),
            only_for(self.session, self._take_arrows),
            "arrows",
        )

    def _take_arrows(self, arrows: GutterArrows) -> None:
        self.view.set_arrows(arrows.rows, arrows.tips, arrows.note)

    def _isolate(self, row: int) -> None:
        is_on = self.session.isolated_wait.value == row
        self.session.isolated_wait.set(None if is_on else row)

    def _show_isolated(self) -> None:
        self.view.isolated_row = self.session.isolated_wait.value
        self.view.viewport().update()

    # -- selecting ----------------------------------------------------------------------------------

    def _choose(self, row: int) -> None:
        if row != self.session.selection.value.line or self.session.selection.value.lines is not None:
            self.session.select_line(row)

    def step_hottest(self, direction: int) -> None:
        """Select the row that costs next less (+1) or next more (-1) than the selected one."""
        trace = self.session.trace.value
        if trace is None or self._rows is None:
            return
        cost = np.where(trace.code.is_label, 0, self._rows.cost)
        ranked = np.argsort(-cost, kind="stable")[: int(np.count_nonzero(cost))]
        if not len(ranked):
            return
        at = np.flatnonzero(ranked == self.view.current)
        place = (int(at[0]) + direction) % len(ranked) if len(at) else 0
        self.session.select_line(int(ranked[place]))

    def focus_search(self) -> bool:
        """Put the cursor into the search field."""
        self.find.focus()
        return True

    def _open_menu(self, position: QPoint) -> None:
        row = self.view.table.data_row(self.view.view_row_at(position.y()))
        if row >= 0:
            popup(
                row_menu(self.view, self.session, row, self.search.filter_to), self.view.viewport(), position
            )

    # -- what the shell asks ------------------------------------------------------------------------

    def commands(self) -> tuple[Command, ...]:
        """Walks through the hottest rows."""
        return (
            Command(
                "isa.next_hottest",
                "Next hottest instruction",
                "Go",
                lambda: self.step_hottest(+1),
                ("M",),
                "Select the instruction that costs most after the selected one.",
                self._why_not_hottest,
            ),
            Command(
                "isa.previous_hottest",
                "Previous hottest instruction",
                "Go",
                lambda: self.step_hottest(-1),
                ("Shift+M",),
                "Select the instruction that costs most before the selected one.",
                self._why_not_hottest,
            ),
        )

    def _why_not_hottest(self) -> str:
        return "" if self._rows is not None and self._rows.total else "No instruction has a cost."

    def sheet(self) -> Sheet | None:
        """The table as it is shown: filtered and sorted."""
        if self._rows is None:
            return None
        return Sheet("ISA", self.view.table.headers, self.view.table.table())

    def caption(self) -> str:
        """Which numbers are shown."""
        return "" if self._rows is None else self._rows.costs.label

    def save_state(self) -> dict[str, Any]:
        """Columns, order and the kind of arrows."""
        return {"table": self.view.save_state(), "gutter": self.gutter.currentData()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.view.load_state(state.get("table") or {})
        at = self.gutter.findData(state.get("gutter"))
        if at >= 0:
            self.gutter.setCurrentIndex(at)
            self._refresh_arrows()
