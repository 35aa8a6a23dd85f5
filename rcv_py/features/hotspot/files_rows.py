"""Source lines ranked by cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from rcv_py.analysis.cost.explorer import top_kinds, top_lines
from rcv_py.analysis.cost.place_text import beside, place_text
from rcv_py.base.text import Message, percent, short_count
from rcv_py.features.hotspot.result import places_spec
from rcv_py.model.kinds import KIND_COUNT
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.costs import CostUpdates, charged_job, has_sources, unit_of
from rcv_py.ui.core.layout import bar
from rcv_py.ui.core.panel import Sheet
from rcv_py.ui.table import command_text
from rcv_py.ui.table.code_panel import share_text
from rcv_py.ui.table.column_widths import Elastic
from rcv_py.ui.table.cost_bars import kind_parts
from rcv_py.ui.table.result_columns import field_column
from rcv_py.ui.table.rows_view import RowsView
from rcv_py.ui.table.table_model import Column, grouped
from rcv_py.ui.table.table_panel import TablePanel
from rcv_py.ui.widgets.choice import ChoiceBox
from rcv_py.ui.widgets.empty_state import page

NO_COST = "No line has a cost: no instruction was executed while the trace was recorded."
STREAM_MS = 500
LEAST_NAME_PX = 40  # minimum room for the name of a file
LIMIT, ALL = 200, 20_000  # maximum lines shown, and lines searched for a text


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranked lines, the most expensive first."""

    places: tuple[Hover, ...]  # one source line each, or one instruction
    names: tuple[str, ...]  # short place names
    text: tuple[str, ...]
    cost: np.ndarray  # int64
    by_kind: tuple[np.ndarray, ...]  # int64 [KIND_COUNT] each
    total: int  # of all instructions
    unit: str


def ranking(trace: Trace, cost: np.ndarray, how: SourceCost, file: int | None, wanted: str = "") -> Ranking:
    """Rank the source lines of a file or of all, or instructions where there are no sources.

    Return at most LIMIT lines, only lines with `wanted` in place or code if it is given.
    """
    rows: list[tuple[Hover, str, str, int, np.ndarray]]
    limit = ALL if wanted else LIMIT
    if has_sources(trace):
        top = top_lines(trace.code, trace.sources, cost, how, file=file, limit=limit)
        kinds = top_kinds(trace.code, cost, how, len(trace.sources), file=file, limit=limit)
        rows = [
            (Hover(source=at), place_text(trace.sources, *at), line.text, line.cost, by_kind)
            for line, by_kind in zip(top, kinds, strict=True)
            for at in ((line.file, line.line),)
        ]
    else:
        order = np.argsort(-cost, kind="stable")[: min(limit, int(np.count_nonzero(cost)))].tolist()
        kinds = np.zeros((len(order), KIND_COUNT), dtype=np.int64)
        kinds[np.arange(len(order)), trace.code.kind[order]] = cost[order]
        rows = [
            (Hover(line=row), f"#{row}", trace.code.text[row] + beside(trace, row), int(cost[row]), by_kind)
            for row, by_kind in zip(order, kinds, strict=True)
        ]
    fits = wanted.casefold()
    rows = [one for one in rows if fits in one[1].casefold() or fits in one[2].casefold()][:LIMIT]
    hovers, names, texts, costs, parts = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    return Ranking(
        places=hovers,
        names=names,
        text=texts,
        cost=np.array(costs, dtype=np.int64),
        by_kind=parts,
        total=int(cost.sum()),
        unit=unit_of(trace),
    )


def ranking_columns(ranking: Ranking) -> tuple[Column, ...]:
    """Return the columns of the table of ranked lines."""
    spec, cost = places_spec("source", ranking.unit), ranking.cost
    share = 100.0 * cost / max(1, ranking.total)
    tip = Message("Share of all {0} {1}.", grouped(ranking.total), ranking.unit)
    is_source = any(place.source is not None for place in ranking.places)
    return (
        Column(
            id="line",
            title="line" if is_source else "#",
            values=np.array([line_of(place) for place in ranking.places], dtype=np.int64),
            text=str,
            is_number=True,
            width=36,
            tip="Line of the source file." if is_source else "Instruction.",
        ),
        field_column(spec["share_of_total"], share, title="%", text=share_text, width=44, tip=tip),
        field_column(spec["cost"], cost, id="bar", title="cost", is_left=True, width=44, tip=tip),
        field_column(spec["cost"], cost, text=short_count, width=50),
        field_column(spec["text"], ranking.text, width=300),
        field_column(spec["place"], ranking.names, width=160, sort="name"),
        Column(
            id="rank",
            title="rank",
            values=np.arange(1, len(cost) + 1),
            text=str,
            is_number=True,
            width=40,
            tip="Place in the ranking.",
        ),
    )


def line_of(place: Hover) -> int:
    """Return the number of a source line, or of an instruction."""
    return place.source[1] if place.source is not None else place.line or 0


class RankedView(RowsView):
    """The view of ranked lines, with the full text of a line in its tooltip."""

    ranking: Ranking | None = None

    def tip(self, row: int, column: str) -> str:
        ranking = self.ranking
        if ranking is None or not 0 <= row < len(ranking.cost):
            return ""
        cost = int(ranking.cost[row])
        said = Message("{0} {1}, {2} of all", grouped(cost), ranking.unit, percent(cost, ranking.total))
        return "\n".join(filter(None, (ranking.names[row], ranking.text[row], said)))


class TopLinesPanel(TablePanel[Ranking]):
    """Lines ranked by cost."""

    panel_id = "top_lines"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._files = 0  # number of files of the ranked lines
        self._shown_file: int | None = None
        self._filter = ""
        elastic = Elastic("text", "rank", 150, 4000, yields=("rank", "place", ("cost", 260), "bar"))
        self.lines_view = RankedView(ui.theme, ui.settings)
        self.view = self.rows_view(
            "Lines ranked by cost", elastic, self.lines_view, bar=self._paint_bar, text=self._paint_text
        )
        self.view.opens_by_key = True
        self.scope = ChoiceBox("Which files are ranked", {"all": "All files", "selected": "Selected file"})
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
        missing = trace is None or not len(trace.code)
        self.empty.say(self.reason(NO_COST) if missing else "")
        if not missing:
            self.scope.setVisible(has_sources(trace) and trace is not None and len(trace.sources) > 1)
            self._compute()

    def _wanted_file(self) -> int | None:
        source = self.session.selection.value.source
        return source[0] if self.scope.value == "selected" and source is not None else None

    def _compute(self) -> None:
        trace, cost = self.session.trace.value, charged_job(self.ui)
        if trace is None or cost is None:
            return
        how = self.session.source_cost.value
        file, wanted = self._wanted_file(), self._filter
        self._shown_file = file
        self._costs.run(lambda: ranking(trace, cost(), how, file, wanted), self._take)

    def set_filter(self, text: str) -> None:
        """Rank only lines with this text in their place or code; "" for all."""
        if text != self._filter:
            self._filter = text
            self._compute()

    def _take(self, ranking: Ranking) -> None:
        self.result = self.lines_view.ranking = ranking
        self._files = len({place.source[0] for place in ranking.places if place.source is not None})
        self.view.show_columns(ranking_columns(ranking))
        nothing = Message("No line has “{0}” in it.", self._filter) if self._filter else self.reason(NO_COST)
        self.empty.say("" if ranking.places else nothing)
        self._follow()

    # -- selecting ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        if self._shown_file != self._wanted_file():
            self._costs.ask()
        super()._follow()

    def row_of(self, selection: Selection) -> int:
        is_source = has_sources(self.session.trace.value)
        places = () if self.result is None else self.result.places
        wanted = Hover(source=selection.source) if is_source else Hover(line=selection.line)
        return places.index(wanted) if wanted in places else -1

    def place_of(self, row: int) -> Hover | None:
        places = () if self.result is None else self.result.places
        return places[row] if 0 <= row < len(places) else None

    # -- painting and state -------------------------------------------------------------------------

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        ranking = self.result
        if ranking is not None and row < len(ranking.cost):
            parts = kind_parts(self.ui.theme, ranking.by_kind[row])
            self.paint_bar(painter, cell, parts, int(ranking.cost[0]))

    def _paint_text(self, painter: QPainter, cell: QRect, row: int) -> None:
        """Draw the code, followed by the name of its file if there are several files."""
        ranking, view = self.result, self.view
        if ranking is None or row >= len(ranking.cost):
            return
        view.draw_plain(painter, cell, ranking.text[row], self.ui.theme.role("text"))
        rest = cell.adjusted(view.px_of(ranking.text[row]), 0, 0, 0)
        if self._files > 1 and rest.width() > LEAST_NAME_PX:
            name = PurePosixPath(ranking.names[row].rpartition(":")[0]).name
            view.draw_plain(painter, rest, name, self.ui.theme.role("muted"))

    def first_focus(self) -> QWidget:
        return self.view

    def sheet(self) -> Sheet | None:
        ranking = self.result
        if ranking is None:
            return None
        names = ("#", "place", "cost", "%", ranking.unit, "text")
        share = 100.0 * ranking.cost / max(1, ranking.total)
        rows = (
            (row + 1, ranking.names[row], cost, float(share[row]), cost, ranking.text[row])
            for row in self.view.table.data_rows.tolist()
            for cost in (int(ranking.cost[row]),)
        )
        return Sheet("Top lines", names, rows)

    def command_line(self) -> command_text.CommandWords | None:
        trace, file = self.session.trace.value, self._wanted_file()
        by = "--by=source" if has_sources(trace) else "--by=instruction"
        of = () if file is None or trace is None else (f"--file={trace.sources[file].path}",)
        order = command_text.sorting(self.view.table) or ("--sort=cost",)
        how = (by, *command_text.charge(self.ui), *of, *order)
        return command_text.rcv(self.session, "hotspot", *how, f"--top={LIMIT}")
