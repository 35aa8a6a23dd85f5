"""The shortest answer to where the time went: lines ranked by cost."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from rcv_py.model.modes import LatencyMode
from rcv_py.state.selection import Hover
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import charged, cost_job, only_for
from rcv_py.ui.core.panel import Panel, Sheet, panel
from rcv_py.ui.panels.top_lines.ranking import LIMIT, Ranking, code_ranking, ranking_columns, source_ranking
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.cost_bars import draw_bar
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.widgets.empty_state import WithEmptyState, reason

NO_COST = "No line has a cost: no instruction was executed while the trace was recorded."
STREAM_MS = 500
SORTED = command_text.same("place", "share", "cost", "text", bar="cost")


@panel(id="top_lines", title="Top lines", area="left_bottom", order=10, tip="Lines ranked by cost.")
class TopLinesPanel(Panel):
    """Ranked source lines of all files or of the selected one; instructions if no source is known."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._ranking: Ranking | None = None
        self._shown_file: int | None = None
        self.view = RowsView(ui.theme, ui.settings)
        self.view.setAccessibleName("Lines ranked by cost")
        self.view.widths.elastic = Elastic("place", "share", 84, 160, yields=("bar",))
        self.view.cell_painters["bar"] = self._paint_bar
        self.scope = QComboBox(toolTip="Which files are ranked.")
        self.scope.setAccessibleName("Which files are ranked")
        self.scope.addItems(["All files", "Selected file"])
        self._wanted = self.coalesced(self._compute)
        self._stream = self.coalesced(self._compute, STREAM_MS)
        self._lay_out()
        self.view.chosen.connect(self._go)
        self.view.hovered.connect(self._tell_hover)
        self.scope.activated.connect(self._compute)
        self._watch()
        self._open()

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 4, 8, 4)
        bar.addWidget(self.scope)
        bar.addStretch(1)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.view, 1)
        self.empty = WithEmptyState(content)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self.empty)

    def _watch(self) -> None:
        session, settings = self.session, self.ui.settings
        session.trace.watch(self._open)
        session.selection.watch(self._follow)
        session.source_cost.watch(self._wanted.ask)
        session.clock_range.watch(self._wanted.ask)
        session.loaded.watch(self._more_waves)
        settings.cell("isa.show_idle").watch(self._wanted.ask)
        settings.cell("isa.bar_scale").watch(self.view.refresh)

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        self._ranking = None
        self._stream.reset()
        missing = trace is None or not len(trace.code)
        self.empty.say(reason(trace, "top_lines", NO_COST) if missing else "")
        if not missing:
            self.scope.setVisible(self._has_sources)
            self._compute()

    @property
    def _has_sources(self) -> bool:
        trace = self.session.trace.value
        return trace is not None and len(trace.code.chain_file) > 0

    def _more_waves(self) -> None:
        if self.session.clock_range.value is not None:
            self._stream.ask()

    def _wanted_file(self) -> int | None:
        source = self.session.selection.value.source
        return source[0] if self.scope.currentIndex() == 1 and source is not None else None

    def _compute(self) -> None:
        trace, job = self.session.trace.value, cost_job(self.session, LatencyMode.SUM_ALL)
        if trace is None or job is None:
            return
        self._stream.started()
        how, idle = self.session.source_cost.value, self.ui.settings["isa.show_idle"]
        file = self._shown_file = self._wanted_file()
        has_sources = self._has_sources

        def ranking() -> Ranking:
            cost = charged(job(), idle)
            return source_ranking(trace, cost, how, file) if has_sources else code_ranking(trace, cost)

        self.run_job(ranking, only_for(self.session, self._take))

    def _take(self, ranking: Ranking) -> None:
        self._stream.finished()
        self._ranking = ranking
        self.view.show_columns(ranking_columns(ranking))
        none = not len(ranking.line)
        self.empty.say(reason(self.session.trace.value, "top_lines", NO_COST) if none else "")
        self._follow()

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        if self._shown_file != self._wanted_file():
            self._wanted.ask()
        selection, ranking = self.session.selection.value, self._ranking
        if ranking is None:
            return
        row = -1
        if self._has_sources and selection.source is not None:
            row = ranking.row_of(*selection.source)
        elif not self._has_sources and selection.line is not None:
            row = ranking.row_of(-1, selection.line)
        self.view.set_current(row, reveal=row != self.view.current)

    def _go(self, row: int) -> None:
        ranking, selection = self._ranking, self.session.selection.value
        if ranking is None or not 0 <= row < len(ranking.line):
            return
        file, line = ranking.file[row], ranking.line[row]
        if file >= 0 and selection.source != (file, line):
            self.session.select_source(file, line)
        elif file < 0 and selection.line != line:
            self.session.select_line(line)

    def _tell_hover(self, row: int) -> None:
        ranking = self._ranking
        if ranking is None or not 0 <= row < len(ranking.line):
            self.session.hover.set(None)
            return
        file, line = ranking.file[row], ranking.line[row]
        self.session.hover.set(Hover(source=(file, line)) if file >= 0 else Hover(line=line))

    # -- painting and state -------------------------------------------------------------------------

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        ranking = self._ranking
        if ranking is not None and row < len(ranking.cost):
            box = QRectF(cell).adjusted(PAD, 5, -PAD, -5)
            parts = [(int(ranking.cost[row]), self.ui.theme.role("accent"))]
            draw_bar(painter, box, parts, int(ranking.cost[0]), self.ui.settings["isa.bar_scale"])

    def command_line(self) -> command_text.Words | None:
        """The ranking."""
        trace, file = self.session.trace.value, self._wanted_file()
        by = ("--by=source" if self._has_sources else "--by=line", *command_text.charge(self.ui))
        of = () if file is None or trace is None else (f"--file={trace.sources[file].path}",)
        order = command_text.sorting(self.view.table, SORTED) or ("--sort=cost",)
        return command_text.rcv(self.session, "hotspot", *by, *of, *order, f"--top={LIMIT}")

    def sheet(self) -> Sheet | None:
        """The ranking."""
        if self._ranking is None:
            return None
        return Sheet("Top lines", self.view.table.headers, self.view.table.table())

    def save_state(self) -> dict[str, Any]:
        """Columns and which files are ranked."""
        return {"table": self.view.save_state(), "selected_file": self.scope.currentIndex() == 1}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        self.view.load_state(state.get("table") or {})
        self.scope.setCurrentIndex(1 if state.get("selected_file") is True else 0)
        self._compute()
