"""The shortest answer to where the time went: lines ranked by cost."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QComboBox

from rcv_py.model.modes import LatencyMode
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import charged, cost_job, only_for
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import panel
from rcv_py.ui.core.plain_text import with_tip
from rcv_py.ui.panels.top_lines.ranking import LIMIT, Ranking, code_ranking, ranking_columns, source_ranking
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.widgets.empty_state import page

NO_COST = "No line has a cost: no instruction was executed while the trace was recorded."
STREAM_MS = 500
SORTED = command_text.same("place", "share", "cost", "text", bar="cost")


@panel(id="top_lines", title="Top lines", area="left_bottom", order=10, needs=("code", "source lines"))
class TopLinesPanel(TablePanel[Ranking]):
    """Lines ranked by cost."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._shown_file: int | None = None
        self.view = self.rows_view("Lines ranked by cost")
        self.view.widths.elastic = Elastic("place", "share", 84, 160, yields=("bar",))
        self.view.cell_painters["bar"] = self._paint_bar
        self.scope = with_tip(QComboBox(), "Which files are ranked.")
        self.scope.setAccessibleName("Which files are ranked")
        self.scope.addItems(["All files", "Selected file"])
        self._wanted = self.coalesced(self._compute)
        self._stream = self.coalesced(self._compute, STREAM_MS)
        self.empty = page(self, bar(self.scope, None), (self.view, 1))
        self.view.chosen.connect(self._go)
        self.view.hovered.connect(self._point)
        self.scope.activated.connect(self._compute)
        for cell in (self.session.source_cost, self.session.clock_range, ui.settings.cell("isa.show_idle")):
            cell.watch(self._wanted.ask)
        self.session.loaded.watch(self._more_waves)
        ui.settings.cell("isa.bar_scale").watch(self.view.refresh)
        self._start()

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        self.result = None
        self._stream.reset()
        missing = trace is None or not len(trace.code)
        self.empty.say(self.reason(NO_COST) if missing else "")
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
        self.result = ranking
        self.view.show_columns(ranking_columns(ranking))
        none = not len(ranking.line)
        self.empty.say(self.reason(NO_COST) if none else "")
        self._follow()

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        if self._shown_file != self._wanted_file():
            self._wanted.ask()
        super()._follow()

    def row_of(self, selection: Selection) -> int:
        """The row of the selected source line, or of the instruction where there are no sources."""
        if self.result is not None and self._has_sources and selection.source is not None:
            return self.result.row_of(*selection.source)
        if self.result is not None and not self._has_sources and selection.line is not None:
            return self.result.row_of(-1, selection.line)
        return -1

    def place_of(self, row: int) -> Hover | None:
        """The source line of a row, or its instruction."""
        ranking = self.result
        if ranking is None or not 0 <= row < len(ranking.line):
            return None
        file, line = ranking.file[row], ranking.line[row]
        return Hover(source=(file, line)) if file >= 0 else Hover(line=line)

    # -- painting and state -------------------------------------------------------------------------

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        ranking = self.result
        if ranking is not None and row < len(ranking.cost):
            parts = [(int(ranking.cost[row]), self.ui.theme.role("accent"))]
            self.paint_bar(painter, cell, parts, int(ranking.cost[0]))

    def command_line(self) -> command_text.Words | None:
        """The ranking."""
        trace, file = self.session.trace.value, self._wanted_file()
        by = ("--by=source" if self._has_sources else "--by=line", *command_text.charge(self.ui))
        of = () if file is None or trace is None else (f"--file={trace.sources[file].path}",)
        order = command_text.sorting(self.view.table, SORTED) or ("--sort=cost",)
        return command_text.rcv(self.session, "hotspot", *by, *of, *order, f"--top={LIMIT}")

    def save_state(self) -> dict[str, Any]:
        """Columns and which files are ranked."""
        return {**super().save_state(), "selected_file": self.scope.currentIndex() == 1}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned."""
        super().load_state(state)
        self.scope.setCurrentIndex(1 if state.get("selected_file") is True else 0)
        self._compute()
