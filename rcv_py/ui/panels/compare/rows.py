"""The tables of a comparison: ranked changes, and both programs side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from rcv_py.analysis.compare.align import FATE_TEXT, Fate
from rcv_py.analysis.compare.changes import Change, changes
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.base.paths import short_paths, short_place
from rcv_py.results.compare import CHANGES, UNITS
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.rows_view import Look, RowsView
from rcv_py.ui.table.table_model import Column, grouped

BAND_SOFT = 0.8  # share of the canvas in the band of a row that only one build has, or that moved
BANDS = {"inserted": "good", "removed": "stall", "moved": "measure"}  # colours of rows by what became of them
SIDE_BY_SIDE = "listing"


@dataclass(frozen=True, eq=False)
class CompareRows:
    """What is shown of a row: its columns are in `columns`; these are for clicks and colours."""

    columns: tuple[Column, ...]
    line: np.ndarray  # int64, row of the open capture's code, -1 if it has none
    is_real: np.ndarray  # bool, beyond noise
    delta: np.ndarray  # float64, cycles a wave
    fate: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.line)


class CompareView(RowsView):
    """Rows within noise are grey, inserted, removed and moved ones have a band."""

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, settings)
        self.rows: CompareRows | None = None
        for name in ("delta", "ratio"):
            self.cell_painters[name] = self._painter_of(name)

    def show_rows(self, rows: CompareRows, only_real: bool) -> None:
        """Show a table, all of it or what is beyond noise."""
        self.rows = rows
        self.show_columns(rows.columns)
        self.table.set_filter(np.flatnonzero(rows.is_real) if only_real else None)

    def look(self, row: int) -> Look:
        """How a row is drawn."""
        rows = self.rows
        if rows is None or row >= len(rows):
            return Look(self.theme.role("text"))
        band = BANDS.get(rows.fate[row])
        ink = self.theme.role("text" if rows.is_real[row] or band else "muted")
        return Look(ink, self.theme.soft(self.theme.role(band), BAND_SOFT) if band else None)

    def _painter_of(self, name: str) -> Callable[[QPainter, QRect, int], None]:
        def paint(painter: QPainter, cell: QRect, row: int) -> None:
            rows, at = self.rows, self.table.column_of(name)
            if rows is None or at < 0 or row >= len(rows):
                return
            if rows.is_real[row]:
                painter.setPen(self.theme.role("stall" if rows.delta[row] > 0 else "accent"))
            self.draw_text(painter, cell, self.table.text(row, at), self.table.columns[at])
            painter.setPen(self.look(row).ink)

        return paint


def compare_rows(found: Comparison, by: str) -> CompareRows:
    """Return the table of a mode: line, source, block, class, or both programs side by side."""
    return _listing(found) if by == SIDE_BY_SIDE else _ranked(found, by)


def _ranked(found: Comparison, by: str) -> CompareRows:
    rows, spec = changes(found, by), CHANGES[by]
    line = np.array([row.line_b for row in rows], dtype=np.int64)
    fate = tuple(row.fate for row in rows)
    delta = np.array([row.delta for row in rows])
    is_real = np.array([row.is_real for row in rows], dtype=bool)
    first: tuple[Column, ...]
    if by == "line":
        first = (
            _lines("line_a", "A", [row.line_a for row in rows], "Row in the baseline."),
            _lines("line_b", "B", [row.line_b for row in rows], "Row in the open capture."),
            Column("status", "status", fate, width=84, tip="What became of the instruction of A."),
        )
    else:
        names = [row.name for row in rows]
        first = (Column("name", UNITS[by], names, is_elided_left=by == "source", width=260, tip=UNITS[by]),)
    numbers = (
        _hits("hits_a", spec["hits_a"].title, [row.hits_a for row in rows]),
        _hits("hits_b", spec["hits_b"].title, [row.hits_b for row in rows]),
        _cycles("cost_a", spec["cycles_a"].title, [row.cost_a for row in rows], COST_TIP),
        _cycles("cost_b", spec["cycles_b"].title, [row.cost_b for row in rows], COST_TIP),
        *_deltas(delta, [row.ratio for row in rows]),
        _noise([row.noise if row.is_noise_known else np.inf for row in rows]),
        _shares("share_a", spec["share_a"].title, [row.share_a for row in rows]),
        _shares("share_b", spec["share_b"].title, [row.share_b for row in rows]),
    )
    tip = "What the instructions do." if by == "class" else "The line."
    text = Column("text", "text", [row.text for row in rows], width=420, tip=tip)
    last: tuple[Column, ...] = (text,) if by in ("line", "source", "class") else ()
    if by == "line":
        last = (text, Column("place", "source", _places(rows), is_elided_left=True, width=220, tip=PLACE_TIP))
    return CompareRows((*first, *numbers, *last), line, is_real, delta, fate)


def _places(rows: Sequence[Change]) -> list[str]:
    """The innermost source place of each instruction, in B or where it is removed, in A; shortest names."""
    found = [row.source_b or row.source_a for row in rows]
    short = short_paths({place.rpartition(":")[0] for place in found if place})
    return [short_place(place, short) for place in found]


PLACE_TIP = "Innermost place in the source, of A where B lacks the instruction."
COST_TIP = "Cycles a wave, both at the executions of the baseline."
NOISE_TIP = (
    "A difference up to this may be by chance: it is what groups of waves or engines differ by. "
    "Unknown: there are too few groups to tell."
)


def _listing(found: Comparison) -> CompareRows:
    table, (row_a, row_b) = found.rows, found.listing
    code_a, code_b = found.a.code.text, found.b.code.text
    fate = tuple(FATE_TEXT[Fate(fate)] for fate in found.fate.tolist())
    texts = [
        [code[row] if row >= 0 else "" for row in rows.tolist()]
        for code, rows in ((code_a, row_a), (code_b, row_b))
    ]
    columns = (
        _lines("line_a", "A", row_a.tolist(), "Row in the baseline."),
        Column("text_a", "baseline", texts[0], width=380, tip="Instruction in the baseline."),
        _cycles("cost_a", "cycles A", table.cost_a, COST_TIP),
        _lines("line_b", "B", row_b.tolist(), "Row in the open capture."),
        Column("text_b", "open capture", texts[1], width=380, tip="Instruction in the open capture."),
        _cycles("cost_b", "cycles B", table.cost_b, COST_TIP),
        *_deltas(table.delta, table.ratio.tolist()),
        Column("status", "status", fate, width=84, tip="What became of the instruction of A."),
    )
    return CompareRows(columns, row_b.astype(np.int64), table.is_real, table.delta, fate)


def _lines(name: str, title: str, rows: list[int], tip: str) -> Column:
    values = np.array(rows, dtype=np.int64)
    return Column(name, title, values, lambda row: str(row) if row >= 0 else "", True, width=48, tip=tip)


def _hits(name: str, title: str, values: list[int]) -> Column:
    tip = "Executions in all loaded waves."
    return Column(name, title, np.array(values, dtype=np.int64), grouped, True, width=76, tip=tip)


def _cycles(name: str, title: str, values: list[float] | np.ndarray, tip: str) -> Column:
    return Column(name, title, np.array(values, dtype=float), _number, True, width=84, tip=tip)


def _noise(values: list[float]) -> Column:
    def text(value: float) -> str:
        return f"{value:,.1f}" if np.isfinite(value) else "unknown"

    return Column("noise", "noise ±", np.array(values, dtype=float), text, True, width=84, tip=NOISE_TIP)


def _number(value: float) -> str:
    return f"{value:,.1f}" if value else ""


def _shares(name: str, title: str, values: list[float]) -> Column:
    tip = "Of all compared cycles of its side."
    text = "{:.1f} %".format
    return Column(name, title, 100 * np.array(values, dtype=float), text, True, width=64, tip=tip)


def _deltas(delta: np.ndarray, ratio: list[float | None]) -> tuple[Column, Column]:
    parts = np.array([np.nan if value is None else 100 * value for value in ratio], dtype=float)
    return (
        Column(
            "delta",
            "delta",
            delta,
            lambda value: f"{value:+,.1f}" if value else "",
            True,
            width=84,
            tip="Cycles a wave that the open capture takes more than the baseline; grey: within noise.",
        ),
        Column(
            "ratio",
            "delta %",
            parts,
            lambda value: f"{value:+.1f} %" if np.isfinite(value) and value else "",
            True,
            width=76,
            tip="The difference, of what the baseline takes.",
        ),
    )
