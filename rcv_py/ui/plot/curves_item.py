"""Curves as one graphics item: lines of steps or slopes, or areas on top of each other."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.plot.curve_shapes import Scale, Shape, areas, slopes, steps
from rcv_py.ui.plot.curves import Curve, CurveSet, Stack, curve_color
from rcv_py.ui.timeline.rects import Rects
from rcv_py.ui.timeline.time_overlay import soft

MOST_FILLED = 2  # curves; more fills would hide each other
FILL_ALPHA = 34
NEAR_PX = 6
BOLD_PX = 4
DIM = 0.45  # share of the background in areas that are not under the mouse


class CurvesItem(pg.GraphicsObject):
    """Paints the shown curves.  It lives in the pixels of its view box, not in data coordinates."""

    def __init__(self, box: pg.ViewBox, theme: Theme) -> None:
        super().__init__()
        self.setParentItem(box)
        self._box, self._theme = box, theme
        self.set = CurveSet()
        self.stack = Stack.LINES
        self.bold = ""  # name of the curve under the mouse
        self.shown = TimeWindow(0, 1)
        self.low, self.high = 0.0, 1.0
        self.grid_x: np.ndarray = np.zeros(0)  # pixels
        self.grid_y: list[float] = []  # values
        self._key: tuple[object, ...] = ()
        self._shapes: list[Shape | QPolygonF] = []
        self._layers: list[np.ndarray] = []
        self._rects = Rects()
        box.sigResized.connect(self._resized)

    def boundingRect(self) -> QRectF:
        """The whole view box."""
        return QRectF(0, 0, self._box.width(), self._box.height())

    def viewTransformChanged(self) -> None:
        """Data coordinates mean nothing to this item."""

    def scale_of(self, device: float = 1.0) -> Scale:
        """Where times and values are in the box."""
        width, height = max(1.0, self._box.width()), max(4.0, self._box.height())
        return Scale(self.shown, self.low, self.high, width, height, device)

    def at(self, x: float, y: float) -> Curve | None:
        """The curve at a place of the box: the nearest line, or the area that holds it."""
        scale = self.scale_of()
        begin = scale.window.begin + int(x * scale.window.width // scale.width)
        window = TimeWindow(begin, begin + int(scale.window.width // scale.width))
        if self.stack is not Stack.LINES:
            tops = scale.y(self.set.layers(window, 1, self.stack)[:, 0])
            held = zip(self.set.shown, tops[:-1], tops[1:], strict=True)
            return next((curve for curve, bottom, top in held if top <= y < bottom), None)
        best, found = float(NEAR_PX), None
        for curve in self.set.shown:
            extent = curve.extent(window)
            if extent is not None:
                bottom, top = scale.y(np.array(extent)).tolist()
                away = max(top - y, y - bottom, 0.0)
                if away < best:
                    best, found = away, curve
        return found

    # -- painting ---------------------------------------------------------------------------------------

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw grid and curves; their shapes are made anew only if they would be others."""
        rect = self.boundingRect()
        if rect.width() < 1 or rect.height() < 4:
            return
        ratio = widget.devicePixelRatioF() if widget is not None else 1.0
        scale = self.scale_of(ratio * painter.worldTransform().m11())
        key = (self.set, self.stack, self.shown, self.low, self.high, rect.size().toTuple(), scale.device)
        if key != self._key:
            self._make(scale)
            self._key = key
        painter.setClipRect(rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_grid(painter, scale)
        if self.stack is Stack.LINES:
            self._paint_lines(painter, scale)
        else:
            self._paint_areas(painter)

    def _make(self, scale: Scale) -> None:
        self._shapes, self._layers = [], []
        if self.stack is Stack.LINES:
            self._shapes = [_shape(curve, scale) for curve in self.set.shown]
            return
        self._layers = areas(self.set.layers(scale.window, scale.width_px, self.stack), scale)
        if self.stack is Stack.AREAS and self.set.shown:
            self._shapes = [steps(self.set.sum_shown, scale, 1)]

    def _paint_grid(self, painter: QPainter, scale: Scale) -> None:
        painter.setPen(QPen(self._theme.role("grid"), 1))
        for x in self.grid_x.tolist():
            painter.drawLine(QLineF(x + 0.5, 0, x + 0.5, scale.height))
        for y in scale.y(np.array(self.grid_y)).tolist():
            painter.drawLine(QLineF(0, round(y) + 0.5, scale.width, round(y) + 0.5))

    def _paint_lines(self, painter: QPainter, scale: Scale) -> None:
        drawn = list(zip(self.set.shown, self._shapes, strict=True))
        for curve, shape in drawn if len(drawn) <= MOST_FILLED else ():
            if isinstance(shape, Shape):
                self._fill(painter, shape.fill, soft(curve_color(self._theme, curve.color), FILL_ALPHA))
        for curve, shape in sorted(drawn, key=lambda one: one[0].name == self.bold):
            color, is_bold = curve_color(self._theme, curve.color), curve.name == self.bold
            if isinstance(shape, Shape):
                bold = steps(curve.steps, scale, BOLD_PX) if is_bold else shape
                self._fill(painter, bold.line, color)
            else:
                self._join(painter, shape, color, 3 if is_bold else 1)

    def _paint_areas(self, painter: QPainter) -> None:
        for curve, layer in zip(self.set.shown, self._layers, strict=True):
            color = curve_color(self._theme, curve.color)
            is_dim = self.bold not in ("", curve.name)
            self._fill(painter, layer, self._theme.soft(color, DIM) if is_dim else color)
        for shape in self._shapes:
            if isinstance(shape, Shape):
                self._fill(painter, shape.line, self._theme.role("text"))

    def _fill(self, painter: QPainter, rects: np.ndarray, color: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        self._rects.draw(painter, rects)

    @staticmethod
    def _join(painter: QPainter, points: QPolygonF, color: QColor, lines: int) -> None:
        """Draw a polyline; a thicker one is several thin ones, far faster than a broad pen."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 1))
        for line in range(lines):
            painter.drawPolyline(points.translated(0, line - lines // 2))

    def _resized(self) -> None:
        self.prepareGeometryChange()
        self.update()


def _shape(curve: Curve, scale: Scale) -> Shape | QPolygonF:
    if curve.is_step:
        return steps(curve.steps, scale)
    x, y = slopes(curve.steps, scale)
    if not len(x):
        return QPolygonF()
    return pg.functions.arrayToQPolygonF(np.ascontiguousarray(x, float), np.ascontiguousarray(y, float))
