"""The column between arrows and rows: triangles that fold, brackets of loops, lines between blocks."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QPainter, QPen, QPolygonF

from rcv_py.ui.core.theme import Theme
from rcv_py.ui.panels.isa.folds import IsaFolds
from rcv_py.ui.panels.isa.program import Program

TRIANGLE_PX = 16  # room for a triangle at the left
BRACKET_PX = 5  # room for each loop that is inside another one
MOST_BRACKETS = 4


def width_of(program: Program | None) -> int:
    """How wide the column has to be."""
    deepest = 0 if program is None or not len(program.loops) else int(program.loops.depth.max())
    return max(24, TRIANGLE_PX + 4 + BRACKET_PX * min(deepest, MOST_BRACKETS))


class MarginInk:
    """Paints the column for one program."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme

    def paint_triangle(self, painter: QPainter, cell: QRect, is_folded: bool) -> None:
        """Paint the triangle that folds or unfolds a section."""
        x, y = cell.left() + TRIANGLE_PX / 2, cell.center().y() + 0.5
        points = [(-2, -4), (3, 0), (-2, 4)] if is_folded else [(-4, -2), (4, -2), (0, 3)]
        painter.setPen(QPen(self._theme.role("muted"), 1))
        painter.setBrush(self._theme.role("muted"))
        painter.drawPolygon(QPolygonF([QPointF(x + dx, y + dy) for dx, dy in points]))

    def paint_lines(
        self, painter: QPainter, folds: IsaFolds, rows: list[int], tops: list[int], width: int
    ) -> None:
        """Paint a thin line above every row that begins a section."""
        painter.setPen(self._theme.role("line"))
        for row, top in zip(rows, tops, strict=True):
            if row and folds.begins(row) >= 0:
                painter.drawLine(0, top, width, top)

    def brackets(self, program: Program, box: QRect) -> list[tuple[int, int, int, float]]:
        """(loop, first row, last row, x) of every loop; the inner ones are nearer to the code."""
        table = program.loops
        columns = (table.first.tolist(), (table.stop - 1).tolist(), table.depth.tolist())
        return [
            (loop, first, last, _x(box, depth, int(table.depth.max())))
            for loop, (first, last, depth) in enumerate(zip(*columns, strict=True))
        ]

    def paint_bracket(
        self, painter: QPainter, x: float, span: tuple[float, float], ran: bool, is_hot: bool
    ) -> None:
        """Paint one bracket, quietly if the loop never `ran`; `is_hot` while the mouse is over it."""
        role = "measure" if ran else "muted"
        painter.setPen(QPen(self._theme.role(role), 2.2 if is_hot else 1.3 if ran else 1.0))
        top, bottom = span
        painter.drawPolyline(
            [QPointF(x + 3, top), QPointF(x, top), QPointF(x, bottom), QPointF(x + 3, bottom)]
        )


def _x(box: QRect, depth: int, deepest: int) -> float:
    place = min(deepest, MOST_BRACKETS) - min(depth, MOST_BRACKETS)
    return box.right() - 4.5 - BRACKET_PX * place
