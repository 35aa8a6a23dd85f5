"""The shortest answer to where the time went: source lines ranked by cost."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from rcv_py.analysis.cost.explorer import top_lines
from rcv_py.analysis.cost.place_text import beside, place_text
from rcv_py.base.records import dataclass
from rcv_py.base.text import short_count
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.results.hotspot import places_spec
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import CostUpdates, charged_job, has_sources, unit_of
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import panel
from rcv_py.ui.table import command_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.result_columns import field_column
from rcv_py.ui.table.table_model import Column, grouped
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.widgets.choice import Choice
from rcv_py.ui.widgets.empty_state import page

NO_COST = "No line has a cost: no instruction was executed while the trace was recorded."
STREAM_MS = 500
LIMIT = 200


@dataclass(frozen=True, eq=False)
class Ranking:
    """One entry a ranked line, the most expensive first."""

    places: tuple[Hover, ...]  # a source line each, or an instruction
    names: tuple[str, ...]  # of places, short
    text: tuple[str, ...]
    cost: np.ndarray  # int64
    total: int  # of all code lines
    unit: str


def ranking(trace: Trace, cost: np.ndarray, how: SourceCost, file: int | None) -> Ranking:
    """Rank the source lines of a file or of all, or instructions where there are no sources."""
    rows: list[tuple[Hover, str, str, int]]
    if has_sources(trace):
        top = top_lines(trace.code, trace.sources, cost, how, file=file, limit=LIMIT)
        rows = [
            (Hover(source=at), place_text(trace.sources, *at), line.text, line.cost)
            for line in top
            for at in ((line.file, line.line),)
        ]
    else:
        order = np.argsort(-cost, kind="stable")[: min(LIMIT, int(np.count_nonzero(cost)))].tolist()
        rows = [
            (Hover(line=row), f"#{row}", trace.code.text[row] + beside(trace, row), int(cost[row]))
            for row in order
        ]
    hovers, names, texts, costs = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Ranking(hovers, names, texts, np.array(costs, dtype=np.int64), int(cost.sum()), unit_of(trace))


def ranking_columns(ranking: Ranking) -> tuple[Column, ...]:
    """Return the columns of the table of ranked lines."""
    spec, cost = places_spec("source", ranking.unit), ranking.cost
    share = 100.0 * cost / max(1, ranking.total)
    tip = f"Share of all {grouped(ranking.total)} {ranking.unit}."
    return (
        Column(
            id="rank",
            title="#",
            values=np.arange(1, len(cost) + 1),
            text=str,
            is_number=True,
            width=30,
            tip="Rank.",
        ),
        field_column(spec["place"], ranking.names, is_elided_left=True, width=96, sort="name"),
        field_column(spec["cost"], cost, id="bar", title="cost", is_left=True, width=48, tip=tip),
        field_column(spec["share_of_total"], share, title="%", text="{:.1f}".format, width=44, tip=tip),
        field_column(spec["cost"], cost, text=short_count, width=50),
        field_column(spec["text"], ranking.text, width=300),
    )


@panel(id="top_lines", title="Top lines", area="left", order=25, icon="line", needs=("code", "source lines"))
class TopLinesPanel(TablePanel[Ranking]):
    """Lines ranked by cost."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._shown_file: int | None = None
        elastic = Elastic("place", "share_of_total", 84, 160, yields=("bar",))
        self.view = self.rows_view("Lines ranked by cost", elastic, bar=self._paint_bar)
        self.scope = Choice("Which files are ranked", {"all": "All files", "selected": "Selected file"})
        self.remembered["scope"] = self.scope
        self._costs = CostUpdates(self, self._compute, STREAM_MS)
        self.empty = page(self, bar(self.scope, None), (self.view, 1))
        self.scope.currentIndexChanged.connect(self._compute)
        self.session.source_cost.watch(self._costs.ask)
        self._start()

    # -- computing ----------------------------------------------------------------------------------

    def _open(self) -> None:
        trace = self.session.trace.value
        self.result = None
        self._costs.reset()
        missing = trace is None or not len(trace.code)
        self.empty.say(self.reason(NO_COST) if missing else "")
        if not missing:
            self.scope.setVisible(has_sources(self.session.trace.value))
            self._compute()

    def _wanted_file(self) -> int | None:
        source = self.session.selection.value.source
        return source[0] if self.scope.value == "selected" and source is not None else None

    def _compute(self) -> None:
        trace, cost = self.session.trace.value, charged_job(self.ui)
        if trace is None or cost is None:
            return
        how = self.session.source_cost.value
        file = self._shown_file = self._wanted_file()
        self.run_job(lambda: ranking(trace, cost(), how, file), self._take, stream=self._costs.stream)

    def _take(self, ranking: Ranking) -> None:
        self.result = ranking
        self.view.show_columns(ranking_columns(ranking))
        none = not ranking.places
        self.empty.say(self.reason(NO_COST) if none else "")
        self._follow()

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        if self._shown_file != self._wanted_file():
            self._costs.ask()
        super()._follow()

    def row_of(self, selection: Selection) -> int:
        """The row of the selected source line, or of the instruction where there are no sources."""
        is_source = has_sources(self.session.trace.value)
        places = () if self.result is None else self.result.places
        wanted = Hover(source=selection.source) if is_source else Hover(line=selection.line)
        return places.index(wanted) if wanted in places else -1

    def place_of(self, row: int) -> Hover | None:
        """The source line of a row, or its instruction."""
        places = () if self.result is None else self.result.places
        return places[row] if 0 <= row < len(places) else None

    # -- painting and state -------------------------------------------------------------------------

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        ranking = self.result
        if ranking is not None and row < len(ranking.cost):
            parts = [(int(ranking.cost[row]), self.ui.theme.role("accent"))]
            self.paint_bar(painter, cell, parts, int(ranking.cost[0]))

    def command_line(self) -> command_text.Words | None:
        """The ranking."""
        trace, file = self.session.trace.value, self._wanted_file()
        by = "--by=source" if has_sources(trace) else "--by=instruction"
        of = () if file is None or trace is None else (f"--file={trace.sources[file].path}",)
        order = command_text.sorting(self.view.table) or ("--sort=cost",)
        how = (by, *command_text.charge(self.ui), *of, *order)
        return command_text.rcv(self.session, "hotspot", *how, f"--top={LIMIT}")
