"""Colour legends as squares with names: the same in every panel and below every picture."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter

from rcv_py.base.record import Value
from rcv_py.base.text import translated
from rcv_py.ui.core.plain_text import draw_text

SQUARE = 10  # px
AFTER_SQUARE, AFTER_NAME = 5, 12  # px
LINE_GAP = 4  # px


class Swatch(Value):
    """A colour, its name and its meaning; a click on it selects `key`."""

    color: QColor
    name: str
    meaning: str = ""
    is_hatched: bool = False
    key: str = ""


class Spot(NamedTuple):
    """The position of a swatch: left edge and line."""

    left: int
    line: int
    width: int  # of square and name
    swatch: Swatch


def paint_swatch(painter: QPainter, square: QRectF, swatch: Swatch, hatch: QColor) -> None:
    """Fill a square with a colour, hatched if the swatch is hatched."""
    painter.fillRect(square, swatch.color)
    if swatch.is_hatched:
        painter.fillRect(square, QBrush(hatch, Qt.BrushStyle.BDiagPattern))


def width_of(metrics: QFontMetrics, swatch: Swatch) -> int:
    """Return the width of a square and its name, in px."""
    return SQUARE + AFTER_SQUARE + metrics.horizontalAdvance(translated(swatch.name))


def spots(metrics: QFontMetrics, swatches: Iterable[Swatch], width: float) -> Iterator[Spot]:
    """Yield the positions of swatches: from the left, wrapped like words; a line's first is never dropped."""
    left = line = 0
    for swatch in swatches:
        own = width_of(metrics, swatch)
        if left and left + own > width:
            left, line = 0, line + 1
        yield Spot(left, line, own, swatch)
        left += own + AFTER_NAME


def line_height(metrics: QFontMetrics) -> int:
    """Return the height of a line of swatches, in px."""
    return max(SQUARE, metrics.height()) + LINE_GAP


def height_of(metrics: QFontMetrics, swatches: Sequence[Swatch], width: float) -> int:
    """Return the height that all swatches need in a given width, in px; 0 without any."""
    lines = 1 + max((spot.line for spot in spots(metrics, swatches, width)), default=-1)
    return lines * line_height(metrics)


def paint_swatches(
    painter: QPainter, box: QRectF, swatches: Iterable[Swatch], ink: QColor, hatch: QColor
) -> None:
    """Draw swatches with names into a box, in the painter's font, from its top line."""
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
    """Return each swatch once: swatches of equal colour and name are equal."""
    return tuple({(one.color.rgba(), one.name, one.is_hatched): one for one in swatches}.values())
