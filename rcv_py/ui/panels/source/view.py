"""One source file: coloured text with what each line costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QPainter

from rcv_py.base.text import percent
from rcv_py.model.kinds import KIND_COUNT, KIND_TEXT, TokenKind
from rcv_py.ui.core.plain_text import draw_text, joined, rich
from rcv_py.ui.core.settings_store import Settings
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.panels.source.highlight import Span
from rcv_py.ui.table.column_widths import PAD, Elastic
from rcv_py.ui.table.cost_bars import draw_bar, mix
from rcv_py.ui.table.rows_view import Look, RowsView
from rcv_py.ui.table.table_model import Column, grouped

BAR_INSET = 5


@dataclass(frozen=True, eq=False)
class SourceRows:
    """What the view draws: one entry a shown line, which is every line of the file, or those with costs."""

    number: np.ndarray  # int64, 1-based line numbers, ascending
    text: tuple[str, ...]
    cost: np.ndarray  # int64, cycles or samples
    by_kind: np.ndarray  # int64 [n, KIND_COUNT]
    has_code: np.ndarray  # bool, whether instructions came from the line
    total: int  # of the whole program
    unit: str
    is_copy: bool  # whether the text is the file's; else only places are known

    def row_of(self, line: int) -> int:
        """The row that shows a line, -1 if none does."""
        at = int(np.searchsorted(self.number, line))
        return at if at < len(self.number) and self.number[at] == line else -1


def _blank_zero(value: int) -> str:
    return grouped(value) if value else ""


def _share(value: float) -> str:
    return "" if value <= 0 else "<0.1" if value < 0.05 else f"{value:.1f}"


def source_columns(rows: SourceRows, bar_scale: str) -> tuple[Column, ...]:
    """Return the columns of the view."""
    share = 100.0 * rows.cost / max(1, rows.total)
    bar = f"Bar of {rows.unit} by kind of instruction, {bar_scale} scale."
    whole = f"Share of all {grouped(rows.total)} {rows.unit}."
    return (
        Column("line", "line", rows.number, str, True, width=46, tip="Line number."),
        Column("bar", "cost", rows.cost, _blank_zero, True, is_left=True, width=64, tip=bar),
        Column("share", "%", share, _share, True, width=46, tip=whole),
        Column("cost", rows.unit, rows.cost, _blank_zero, True, width=58, tip=f"Sum of {rows.unit}."),
        Column("text", "source", rows.text, width=600, tip="The line."),
    )


class SourceView(RowsView):
    """Lines of a file.  Data rows are places in `SourceRows`, not line numbers."""

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__(theme, settings)
        self.lines: SourceRows | None = None
        self._seen: object = None  # the file whose hottest line was brought into view
        self.spans: Sequence[tuple[Span, ...]] = ()
        self.tinted: frozenset[int] = frozenset()  # rows of the inline chain under the mouse
        self.chain: frozenset[int] = frozenset()  # rows of the selected instruction's chain
        self._found: frozenset[int] = frozenset()
        self.cell_painters = {"text": self._paint_text, "bar": self._paint_bar}
        self.widths.elastic = Elastic("text", "text", 200, 4000, yields=("cost", "bar"))
        self.header.fixed = frozenset({"text", "line"})
        self.setAccessibleName("Source lines")
        self.setSelectionMode(self.SelectionMode.ContiguousSelection)

    def show_lines(self, rows: SourceRows) -> None:
        """Show a file, or the same one with other costs."""
        self.lines = rows
        self.show_columns(source_columns(rows, self.settings["isa.bar_scale"]))

    def show_hottest(self, file: object) -> None:
        """Bring the hottest line into view, once for each file shown, unless a line of it is selected."""
        if self.lines is None or file == self._seen or not self.lines.cost.any():
            return
        self._seen = file
        if self.current < 0:
            self.reveal(int(self.lines.cost.argmax()))

    def set_found(self, rows: np.ndarray) -> None:
        """Mark the lines that a search found."""
        self._found = frozenset(rows.tolist())
        self.viewport().update()

    def look(self, row: int) -> Look:
        """Lines without code are muted; those of a chain are tinted."""
        assert self.lines is not None
        role = self.theme.role
        band = None
        if row in self.tinted:
            band = role("hover")
        elif row in self._found:
            band = mix(role("base"), role("search"), 0.22)
        elif row in self.chain:
            band = mix(role("base"), role("accent"), 0.09)
        return Look(role("text"), band)

    def tip(self, row: int, column: str) -> str:
        """What a line costs, by kind."""
        rows = self.lines
        if rows is None or not rows.cost[row]:
            return ""
        head = rich("<tt>{}</tt>", rows.text[row].strip()[:160])
        cost = f"{grouped(rows.cost[row])} {rows.unit}, {percent(int(rows.cost[row]), rows.total)} of all"
        order = np.argsort(-rows.by_kind[row])
        kinds = [
            f"{KIND_TEXT[TokenKind(kind)]}: {grouped(rows.by_kind[row, kind])}"
            for kind in order.tolist()
            if rows.by_kind[row, kind]
        ]
        return joined("<br>", [head, cost, *kinds])

    def _paint_bar(self, painter: QPainter, cell: QRect, row: int) -> None:
        rows = self.lines
        if rows is None or not rows.cost[row]:
            return
        parts = [(int(rows.by_kind[row, kind]), self.theme.kind(kind)) for kind in range(KIND_COUNT)]
        box = QRectF(cell).adjusted(PAD, BAR_INSET, -PAD, -BAR_INSET)
        draw_bar(painter, box, parts, int(rows.cost.max()), self.settings["isa.bar_scale"])

    def _paint_text(self, painter: QPainter, cell: QRect, row: int) -> None:
        assert self.lines is not None
        text, base, left = self.lines.text[row], cell.top() + self.baseline, cell.left() + PAD
        room = self.chars_in(cell.width() - PAD) + 1
        at = 0
        ink = self.theme.syntax("name")
        for start, stop, name in self.spans[row] if row < len(self.spans) else ():
            self._paint_piece(painter, text[at : min(start, room)], left + at * self.char_px, base, ink)
            color = self.theme.syntax(name)
            self._paint_piece(
                painter, text[start : min(stop, room)], left + start * self.char_px, base, color
            )
            at = stop
        self._paint_piece(painter, text[at:room], left + at * self.char_px, base, ink)

    @staticmethod
    def _paint_piece(painter: QPainter, text: str, left: float, base: int, color: QColor) -> None:
        if text and not text.isspace():
            painter.setPen(color)
            draw_text(painter, QPointF(left, base), text)
