"""What everything drawn over time shares: items and axes in pixels, many boxes at once, names in boxes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyqtgraph as pg
from pyqtgraph.Qt.internals import PrimitiveArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter

from rcv_py.base import colors
from rcv_py.base.text import elide_right
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme

TEXT_PX = 11  # of rulers, names of rows and read-outs
MAX_NAMES = 500  # in boxes of a picture


class BoxItem(pg.GraphicsObject):
    """An item as large as its view box, in whose pixels it paints: data coordinates mean nothing to it."""

    def __init__(self, box: pg.ViewBox, theme: Theme) -> None:
        super().__init__()
        self.setParentItem(box)
        self._box, self._theme = box, theme
        self.shown = TimeWindow(0, 1)
        box.sigResized.connect(self._resized)

    def boundingRect(self) -> QRectF:
        """The whole view box."""
        return QRectF(0, 0, self._box.width(), self._box.height())

    def forget(self) -> None:
        """Make what is kept anew at the next paint: the colours or the source are others."""
        self.update()

    def viewTransformChanged(self) -> None:
        """Stay: there are no data coordinates."""

    def _resized(self) -> None:
        self.prepareGeometryChange()
        self.update()


class PlainAxis(pg.AxisItem):
    """An axis that its subclass paints."""

    def __init__(self, side: str, theme: Theme) -> None:
        super().__init__(side)
        self._theme = theme
        self.setStyle(showValues=False, tickLength=0)

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw it, with a font of the size of rulers."""
        self.draw(painter, small_text(painter), self.size().width(), self.size().height())

    def draw(self, painter: QPainter, metrics: QFontMetricsF, width: float, height: float) -> None:
        """Draw the axis into its width and height in px."""
        raise NotImplementedError


def small_text(painter: QPainter) -> QFontMetricsF:
    """Let a painter write in the size of rulers; return the metrics."""
    font = painter.font()
    font.setPixelSize(TEXT_PX)
    painter.setFont(font)
    return QFontMetricsF(font)


class Rects:
    """A buffer of rectangles that Qt reads without a Python object for each."""

    def __init__(self) -> None:
        self._array = PrimitiveArray(QRectF, 4)

    def draw(self, painter: QPainter, columns: np.ndarray) -> None:
        """Draw float [n, 4] rows of left, top, width and height with the painter's brush and pen."""
        if not len(columns):
            return
        self._array.resize(len(columns))
        self._array.ndarray()[:] = columns
        painter.drawRects(*self._array.drawargs())

    def draw_by_code(
        self,
        painter: QPainter,
        columns: np.ndarray,
        code: np.ndarray,
        color: Callable[[int], QColor | QBrush],
    ) -> None:
        """Draw rectangles without outline, a call for every code that occurs; thin ones last, on top."""
        painter.setPen(Qt.PenStyle.NoPen)
        is_thin = columns[:, 2] < 2
        for chosen in (~is_thin, is_thin):
            for value in np.unique(code[chosen]).tolist():
                painter.setBrush(color(value))
                self.draw(painter, columns[chosen & (code == value)])


def fill(strips: np.ndarray, row: np.ndarray, left: np.ndarray, right: np.ndarray, code: np.ndarray) -> None:
    """Set the pixels [left, right) of rows of `strips` (uint8 [rows, width]) to codes; later boxes win."""
    length = right - left
    first = row.astype(np.int64) * strips.shape[1] + left
    at = np.repeat(first - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
    strips.reshape(-1)[at] = np.repeat(code, length)


def name_font(theme: Theme, height_px: float) -> QFont:
    """The font of names in boxes that leave such a height for text, in device pixels."""
    font = QFont(theme.mono_family)
    font.setPixelSize(max(7, round(height_px)))
    return font


def paint_names(
    painter: QPainter,
    font: QFont,
    room_px: np.ndarray,
    name_of: Callable[[int], tuple[str, QColor, float, float]],
    fewest: int = 2,
) -> None:
    """Write names into the boxes that have room for some characters, the widest first.

    `room_px` is float64 [boxes]; `name_of` gives the text of a box, its colour, its left edge and its middle.
    """
    metrics = QFontMetricsF(font)
    room = room_px // metrics.horizontalAdvance("0")
    chosen = np.flatnonzero(room >= fewest)
    chosen = chosen[np.argsort(-room[chosen], kind="stable")][:MAX_NAMES]
    down = (metrics.ascent() - metrics.descent()) / 2
    painter.setFont(font)
    for box in chosen.tolist():
        text, color, left, middle = name_of(box)
        painter.setPen(color)
        draw_text(painter, QPointF(left, middle + down), elide_right(text, int(room[box])))


def readable_on(theme: Theme, ground: QColor) -> QColor:
    """The darker or lighter of text and canvas, whichever is easier to read on a colour."""
    roles = theme.role("text"), theme.role("canvas")
    return max(roles, key=lambda role: colors.contrast(role.name(), ground.name()))
