"""Bars that show a cost: parts by kind of instruction, length and drawing."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter

from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table.table_model import grouped

MIN_PX = 2.0  # non-zero values must be visible
WHISKER_PX = 2  # up and down at the ends of a whisker


def kind_parts(theme: Theme, by_kind: np.ndarray) -> list[tuple[float, QColor]]:
    """Return the parts of a bar from the cycles by kind, int64 [KIND_COUNT]."""
    return [(cycles, theme.kind(kind)) for kind, cycles in enumerate(by_kind.tolist())]


def kind_lines(by_kind: np.ndarray) -> list[str]:
    """Return the cycles of each kind that has any, the most first, as lines of a tooltip."""
    order = np.argsort(-by_kind, kind="stable").tolist()
    return [f"{KIND_TEXT[TokenKind(kind)]}: {grouped(by_kind[kind])}" for kind in order if by_kind[kind]]


def bar_length(value: float, largest: float, width: float) -> float:
    """Return the length in px of a bar: 0 for zero, else at least `MIN_PX`, at most `width`."""
    if value <= 0 or largest <= 0:
        return 0.0
    return max(MIN_PX, min(1.0, value / largest) * width)


def draw_bar(painter: QPainter, box: QRectF, parts: Sequence[tuple[float, QColor]], largest: float) -> None:
    """Draw a bar split into parts from the left."""
    total = sum(value for value, _ in parts)
    length = bar_length(total, largest, box.width())
    if length <= 0:
        return
    left = box.left()
    for value, color in parts:
        if value > 0:
            part = length * value / total
            painter.fillRect(QRectF(left, box.top(), part, box.height()), color)
            left += part


def heat(cost: np.ndarray, height: int) -> np.ndarray:
    """Return the largest cost in each of `height` px of a strip over all rows, as shares of the maximum.

    Float64 [height].  Fewer rows than pixels make bands, more rows than pixels share one.
    """
    largest = float(cost.max()) if len(cost) else 0.0
    if height <= 0 or largest <= 0:
        return np.zeros(max(0, height), dtype=np.float64)
    edge = np.arange(height) * len(cost) // height
    return (cost[edge] if len(cost) <= height else np.maximum.reduceat(cost, edge)) / largest


def draw_whisker(painter: QPainter, box: QRectF, ends: tuple[float, float], largest: float) -> None:
    """Draw a line between two values in the middle of a box."""
    left, right = (box.left() + bar_length(max(0.0, end), largest, box.width()) for end in ends)
    middle = box.center().y()
    painter.drawLine(QPointF(left, middle), QPointF(right, middle))
    for x in (left, right):
        painter.drawLine(QPointF(x, middle - WHISKER_PX), QPointF(x, middle + WHISKER_PX))
