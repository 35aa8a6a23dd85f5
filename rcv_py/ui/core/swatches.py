"""Which colour is which, as squares with names: the same in every panel and below every picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter

from rcv_py.base.text import translated
from rcv_py.ui.core.plain_text import draw_text

SQUARE = 10  # px
AFTER_SQUARE, AFTER_NAME = 5, 12  # px
LINE_GAP = 4  # px


class Swatch(NamedTuple):
    """A colour, what it is called and what that means; `key` is what a click on it picks out."""

    color: QColor
    name: str
    meaning: str = ""
    is_hatched: bool = False
    key: str = ""


class Spot(NamedTuple):
    """Where a swatch is drawn: its left edge and its line."""

    left: int
    line: int
    width: int  # of square and name
    swatch: Swatch


def paint_swatch(painter: QPainter, square: QRectF, swatch: Swatch, hatch: QColor) -> None:
    """Fill a square with a colour, hatched where what it stands for is."""
    painter.fillRect(square, swatch.color)
    if swatch.is_hatched:
        painter.fillRect(square, QBrush(hatch, Qt.BrushStyle.BDiagPattern))


def width_of(metrics: QFontMetrics, swatch: Swatch) -> int:
    """Return the pixels that a square and its name take."""
    return SQUARE + AFTER_SQUARE + metrics.horizontalAdvance(translated(swatch.name))


def spots(metrics: QFontMetrics, swatches: Iterable[Swatch], width: float) -> Iterator[Spot]:
    """Yield where swatches go: from the left, wrapped like words; the first of a line is always there."""
    left = line = 0
    for swatch in swatches:
        own = width_of(metrics, swatch)
        if left and left + own > width:
            left, line = 0, line + 1
        yield Spot(left, line, own, swatch)
        left += own + AFTER_NAME


def line_height(metrics: QFontMetrics) -> int:
    """Return the pixels from one line of swatches to the next."""
    return max(SQUARE, metrics.height()) + LINE_GAP


def height_of(metrics: QFontMetrics, swatches: Sequence[Swatch], width: float) -> int:
    """Return the pixels that all swatches need below each other, 0 without any."""
    lines = 1 + max((spot.line for spot in spots(metrics, swatches, width)), default=-1)
    return lines * line_height(metrics)


def paint_swatches(
    painter: QPainter, box: QRectF, swatches: Iterable[Swatch], ink: QColor, hatch: QColor
) -> None:
    """Draw swatches with their names into a box, in the painter's font, lines from its top on."""
    metrics = painter.fontMetrics()
    height = line_height(metrics)
    for spot in spots(metrics, swatches, box.width()):
        top = box.top() + spot.line * height + (height - SQUARE) / 2
        left = box.left() + spot.left
        paint_swatch(painter, QRectF(left, top, SQUARE, SQUARE), spot.swatch, hatch)
        painter.setPen(ink)
        base = top + (SQUARE + metrics.ascent() - metrics.descent()) / 2
        draw_text(painter, QPointF(left + SQUARE + AFTER_SQUARE, base), spot.swatch.name)


def unlike(swatches: Iterable[Swatch]) -> tuple[Swatch, ...]:
    """Return each swatch once: those of equal colour and name are the same."""
    return tuple({(one.color.rgba(), one.name, one.is_hatched): one for one in swatches}.values())
