"""Bars of the latency table: cycles split into parts, or a length with a whisker."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter

from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.panels.latency.columns import LatencyRows
from rcv_py.ui.table.cost_bars import bar_length, draw_bar

WHISKER = 2  # px up and down at its ends
ROLE_TEXT = {
    "stall": "stall that nothing hides",
    "issue": "issue that nothing hides",
    "idle": "idle time that nothing hides",
    "hidden": "covered by other waves of the SIMD",
}


def legend_items(theme: Theme, rows: LatencyRows) -> list[tuple[QColor, str, str]]:
    """Return colour, name and meaning of what the bars are made of."""
    if rows.kinds is None:
        return [(theme.role(role), role, ROLE_TEXT[role]) for role in rows.roles]
    kinds = [kind for kind in TokenKind if kind in rows.kinds]
    return [(theme.kind(kind), kind.name, KIND_TEXT[kind]) for kind in kinds]


def draw_latency(
    painter: QPainter, box: QRectF, theme: Theme, rows: LatencyRows, row: int, *, scale: str
) -> None:
    """Draw the bar of one row; lengths with whiskers compare, so they are always to a linear scale."""
    if rows.kinds is None:
        colors = [theme.role(role) for role in rows.roles]
    else:
        colors = [theme.kind(int(rows.kinds[row]))]
    parts = list(zip(rows.bars[:, row].tolist(), colors, strict=True))
    if rows.spread is None:
        draw_bar(painter, box, parts, rows.longest, scale)
        return
    draw_bar(painter, box, parts, rows.longest, "linear")
    mean, spread = float(rows.bars[0, row]), float(rows.spread[row])
    if spread <= 0:
        return
    left, right = (
        box.left() + bar_length(max(0.0, end), rows.longest, box.width(), "linear")
        for end in (mean - spread, mean + spread)
    )
    middle = box.center().y()
    painter.setPen(theme.role("text"))
    painter.drawLine(QPointF(left, middle), QPointF(right, middle))
    for end in (left, right):
        painter.drawLine(QPointF(end, middle - WHISKER), QPointF(end, middle + WHISKER))
