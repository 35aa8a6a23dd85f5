"""The most expensive lines, ranked: source lines, or instructions where no source is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.cost.explorer import top_lines
from rcv_py.analysis.cost.place_text import beside, place_text
from rcv_py.base.text import short_count
from rcv_py.model.modes import SourceCost
from rcv_py.model.trace import Trace
from rcv_py.ui.core.costs import unit_of
from rcv_py.ui.table.table_model import Column, grouped

LIMIT = 200


@dataclass(frozen=True, eq=False)
class Ranking:
    """One entry a ranked line, the most expensive first."""

    file: tuple[int, ...]  # index into Trace.sources; -1: `line` is a row of the code table
    line: tuple[int, ...]
    place: tuple[str, ...]  # short, for people
    text: tuple[str, ...]
    cost: np.ndarray  # int64
    total: int  # of all code lines
    unit: str

    def row_of(self, file: int, line: int) -> int:
        """The entry of a place, -1 if it is not ranked."""
        pairs = list(zip(self.file, self.line, strict=True))
        return pairs.index((file, line)) if (file, line) in pairs else -1


def source_ranking(trace: Trace, cost: np.ndarray, how: SourceCost, file: int | None) -> Ranking:
    """Rank the source lines of a file, or of all files."""
    top = top_lines(trace.code, trace.sources, cost, how, file=file, limit=LIMIT)
    return Ranking(
        tuple(line.file for line in top),
        tuple(line.line for line in top),
        tuple(place_text(trace.sources, line.file, line.line) for line in top),
        tuple(line.text for line in top),
        np.array([line.cost for line in top], dtype=np.int64),
        int(cost.sum()),
        unit_of(trace),
    )


def code_ranking(trace: Trace, cost: np.ndarray) -> Ranking:
    """Rank the instructions."""
    rows = np.argsort(-cost, kind="stable")[: min(LIMIT, int(np.count_nonzero(cost)))].tolist()
    return Ranking(
        (-1,) * len(rows),
        tuple(rows),
        tuple(f"row {row}" for row in rows),
        tuple(trace.code.text[row] + beside(trace, row) for row in rows),
        cost[rows].astype(np.int64),
        int(cost.sum()),
        unit_of(trace),
    )


def ranking_columns(ranking: Ranking) -> tuple[Column, ...]:
    """Return the columns of the table of ranked lines."""
    share = 100.0 * ranking.cost / max(1, ranking.total)
    tip = f"Share of all {grouped(ranking.total)} {ranking.unit}."
    count = len(ranking.line)
    return (
        Column("rank", "#", np.arange(1, count + 1), str, True, width=30, tip="Rank."),
        Column("place", "place", ranking.place, is_elided_left=True, width=96, tip="File and line."),
        Column("bar", "cost", ranking.cost, grouped, True, is_left=True, width=48, tip=tip),
        Column("share", "%", share, "{:.1f}".format, True, width=44, tip=tip),
        Column(
            "cost", ranking.unit, ranking.cost, short_count, True, width=50, tip=f"Sum of {ranking.unit}."
        ),
        Column("text", "text", ranking.text, width=300, tip="The line."),
    )
