"""Arrows between rows of a code view: where they run, how they are painted, what the mouse hits.

```
x:  slot 1   slot 0
      │        ┌──●  828 ds_read       the producer has a dot
      │        │     829 v_add
      └────────└──▶  830 s_waitcnt     the waiting row has the head
```
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

SLOT_PX = 5
HEAD_PX = 7  # between the first slot and the right edge
REACH_PX = 4  # how far from an arrow the mouse still hits it


@dataclass(frozen=True, eq=False)
class ArrowRows:
    """Arrows by data row, one entry an arrow."""

    source: np.ndarray  # int64, where it starts
    target: np.ndarray  # int64, where its head is
    slot: np.ndarray  # int64, how far from the code it runs; from -1 down: how far from the left edge
    color: np.ndarray  # int64, number for `theme.arrow`
    group: np.ndarray  # int64, data row that isolates it

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def none(cls) -> ArrowRows:
        """No arrows at all."""
        column = np.empty(0, dtype=np.int64)
        return cls(column, column, column, column, column)


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Which arrows stand out: of the isolated row alone, of the selected row, and the one under the mouse."""

    isolated: int | None = None
    selected: int = -1
    hovered: int = -1


@dataclass(frozen=True, eq=False)
class Placed:
    """Arrows that touch the visible rows, in viewport pixels."""

    number: np.ndarray  # int64, which arrow of `ArrowRows`
    x: np.ndarray  # float64, of the vertical part
    y_source: np.ndarray  # float64
    y_target: np.ndarray  # float64
    right: float  # where the horizontal parts end


def place(
    arrows: ArrowRows,
    view_rows: np.ndarray,
    box: QRect,
    *,
    row_height: int,
    scroll: int,
    isolated: int | None,
) -> Placed:
    """Return where the arrows that cross the viewport run; `box` is the gutter, as high as the viewport.

    `view_rows` is the row each data row is shown at.
    Arrows with a hidden end, and all but the isolated ones if there is an isolated row, are left out.
    """
    if not len(arrows):
        none = np.empty(0)
        return Placed(none.astype(np.int64), none, none, none, box.right())
    source, target = view_rows[arrows.source], view_rows[arrows.target]
    keep = (source >= 0) & (target >= 0)
    keep &= (source != target) | (arrows.source == arrows.target)  # else both ends are folded into one row
    if isolated is not None:
        keep &= arrows.group == isolated
    y_source = source * row_height - scroll + row_height / 2
    y_target = target * row_height - scroll + row_height / 2
    keep &= np.maximum(y_source, y_target) >= box.top()
    keep &= np.minimum(y_source, y_target) <= box.bottom()
    number = np.flatnonzero(keep)
    slots = max(1, (box.width() - HEAD_PX - 4) // SLOT_PX)
    x = box.right() - HEAD_PX - SLOT_PX * (arrows.slot[number] % slots) - 1.5
    return Placed(number, x, y_source[number], y_target[number], box.right() - 1.0)


def paint(
    painter: QPainter, arrows: ArrowRows, placed: Placed, colors: list[QColor], emphasis: Emphasis
) -> None:
    """Paint the placed arrows: quiet ones first, then those that stand out."""
    number = placed.number
    strong = number == emphasis.hovered
    if len(number):
        strong |= (arrows.source[number] == emphasis.selected) | (arrows.target[number] == emphasis.selected)
    quiet = 0.45 if strong.any() else 0.85
    for at in np.argsort(strong, kind="stable").tolist():
        color = colors[int(arrows.color[number[at]]) % len(colors)]
        painter.setOpacity(1.0 if strong[at] else quiet)
        painter.setPen(QPen(color, 2.4 if number[at] == emphasis.hovered else 1.3 + 0.5 * strong[at]))
        _paint_arrow(painter, placed, at, color)
    painter.setOpacity(1.0)


def _paint_arrow(painter: QPainter, placed: Placed, at: int, color: QColor) -> None:
    x, source, target = float(placed.x[at]), float(placed.y_source[at]), float(placed.y_target[at])
    right = placed.right
    painter.drawPolyline(
        [QPointF(right - 3, source), QPointF(x, source), QPointF(x, target), QPointF(right - 4, target)]
    )
    painter.setBrush(color)
    painter.drawPolygon(
        QPolygonF([QPointF(right, target), QPointF(right - 5, target - 3), QPointF(right - 5, target + 3)])
    )
    painter.drawEllipse(QPointF(right - 2.5, source), 1.6, 1.6)


def hit(placed: Placed, x: float, y: float) -> int:
    """Return the number of the arrow at a place, the nearest one; -1 if there is none."""
    if not len(placed.number):
        return -1
    top, bottom = np.minimum(placed.y_source, placed.y_target), np.maximum(placed.y_source, placed.y_target)
    beside = np.maximum(0, np.maximum(top - y, y - bottom))
    along = np.hypot(placed.x - x, beside)
    left = np.maximum(0, placed.x - x)
    ends = np.minimum(
        np.hypot(left, np.abs(placed.y_source - y)), np.hypot(left, np.abs(placed.y_target - y))
    )
    distance = np.minimum(along, ends)
    best = int(np.argmin(distance))
    return int(placed.number[best]) if distance[best] <= REACH_PX else -1


def end_at(arrows: ArrowRows, placed: Placed, number: int, y: float, row_height: int) -> int:
    """Return the data row at the other end of an arrow whose end is at `y`; -1 if `y` is between them."""
    at = int(np.flatnonzero(placed.number == number)[0])
    near = [abs(float(place) - y) <= row_height / 2 for place in (placed.y_source[at], placed.y_target[at])]
    if near == [True, False]:
        return int(arrows.target[number])
    if near == [False, True]:
        return int(arrows.source[number])
    return -1
