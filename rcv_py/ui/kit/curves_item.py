"""Curves as one graphics item: steps where they are wide, envelopes where a pixel holds many."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from rcv_py.analysis.step_curve import StepCurve
from rcv_py.model.window import TimeWindow
from rcv_py.ui.kit.curves import Curve, CurveSet, Stack, curve_color
from rcv_py.ui.kit.theme import Theme
from rcv_py.ui.kit.time_overlay import soft

MOST_FILLED = 2  # curves; more fills would hide each other
FILL_ALPHA = 34
NEAR_PX = 6
LINE_PX = 1.6


@dataclass(frozen=True, eq=False)
class Scale:
    """From values to pixels of the box."""

    window: TimeWindow
    low: float
    high: float
    width: float
    height: float

    def x(self, time: np.ndarray) -> np.ndarray:
        """Positions of times, those far outside brought near."""
        x = (time - self.window.begin) / self.window.width * self.width
        return np.clip(x, -4.0, self.width + 4.0)

    def y(self, value: np.ndarray) -> np.ndarray:
        """Positions of values; the ground is half a pixel inside, so that a line along it is seen."""
        return self.height - 0.5 - (value - self.low) / (self.high - self.low) * (self.height - 1)


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
        self._shapes: list[QPolygonF] = []
        box.sigResized.connect(self._resized)

    def boundingRect(self) -> QRectF:
        """The whole view box."""
        return QRectF(0, 0, self._box.width(), self._box.height())

    def viewTransformChanged(self) -> None:
        """Data coordinates mean nothing to this item."""

    @property
    def scale_now(self) -> Scale:
        """Where values are in the box."""
        return Scale(
            self.shown, self.low, self.high, max(1.0, self._box.width()), max(2.0, self._box.height())
        )

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw grid and curves; their shapes are made anew only if they would be others."""
        rect = self.boundingRect()
        if rect.width() < 1 or rect.height() < 2:
            return
        scale = self.scale_now
        painter.setClipRect(rect)
        self._paint_grid(painter, scale)
        pixels = (widget.devicePixelRatioF() if widget is not None else 1.0) * painter.worldTransform().m11()
        width_px = max(1, round(rect.width() * pixels))
        key = (self.set, self.stack, self.shown, self.low, self.high, rect.size().toTuple(), width_px)
        if key != self._key:
            self._shapes = self._made(scale, width_px)
            self._key = key
        if self.stack is Stack.LINES:
            self._paint_lines(painter, scale)
        else:
            self._paint_areas(painter)

    def at(self, x: float, y: float) -> Curve | None:
        """The curve at a place of the box: the nearest line, or the area that holds it."""
        scale, width = self.scale_now, max(1, round(self._box.width()))
        pixel = min(max(int(x), 0), width - 1)
        window = _pixel(scale.window, width, pixel)
        if self.stack is not Stack.LINES:
            tops = scale.y(self.set.layers(window, 1, self.stack)[:, 0])
            for curve, bottom, top in zip(self.set.shown, tops[:-1], tops[1:], strict=True):
                if top <= y < bottom:
                    return curve
            return None
        best, found = float(NEAR_PX), None
        for curve in self.set.shown:
            extent = curve.extent(window)
            if extent is not None:
                bottom, top = scale.y(np.array(extent)).tolist()
                away = max(top - y, y - bottom, 0.0)
                if away < best:
                    best, found = away, curve
        return found

    # -- shapes -----------------------------------------------------------------------------------------

    def _made(self, scale: Scale, width_px: int) -> list[QPolygonF]:
        if self.stack is Stack.LINES:
            return [_line(curve, scale, width_px) for curve in self.set.shown]
        tops = scale.y(self.set.layers(scale.window, width_px, self.stack))
        x = np.repeat(np.arange(width_px + 1) * (scale.width / width_px), 2)[1:-1]
        shapes = [
            _polygon(np.append(x, x[::-1]), np.append(np.repeat(above, 2), np.repeat(below, 2)[::-1]))
            for below, above in pairwise(tops)
        ]
        if self.stack is Stack.AREAS:
            shapes.append(_steps(self.set.sum_shown, scale, width_px))
        return shapes

    # -- painting ---------------------------------------------------------------------------------------

    def _paint_grid(self, painter: QPainter, scale: Scale) -> None:
        painter.setPen(QPen(self._theme.role("grid"), 1))
        for x in self.grid_x.tolist():
            painter.drawLine(QLineF(x + 0.5, 0, x + 0.5, scale.height))
        for y in scale.y(np.array(self.grid_y)).tolist():
            painter.drawLine(QLineF(0, round(y) + 0.5, scale.width, round(y) + 0.5))

    def _paint_lines(self, painter: QPainter, scale: Scale) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        drawn = list(zip(self.set.shown, self._shapes, strict=True))
        if len(drawn) <= MOST_FILLED:
            ground = float(scale.y(np.array(max(self.low, min(0.0, self.high)))))
            for curve, shape in drawn:
                if shape.size():
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(soft(curve_color(self._theme, curve.color), FILL_ALPHA))
                    painter.drawPolygon(_closed(shape, ground))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for curve, shape in sorted(drawn, key=lambda one: one[0].name == self.bold):
            width = 3.0 if curve.name == self.bold else LINE_PX
            pen = QPen(curve_color(self._theme, curve.color), width)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            painter.drawPolyline(shape)

    def _paint_areas(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        for curve, shape in zip(self.set.shown, self._shapes, strict=False):
            color = curve_color(self._theme, curve.color)
            painter.setBrush(color if self.bold in ("", curve.name) else self._theme.soft(color, 0.45))
            painter.drawPolygon(shape)
        if self.stack is Stack.AREAS and self.set.shown:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.role("text"), 1))
            painter.drawPolyline(self._shapes[-1])

    def _resized(self) -> None:
        self.prepareGeometryChange()
        self.update()


def _pixel(window: TimeWindow, width: int, pixel: int) -> TimeWindow:
    begin = window.begin + pixel * window.width // width
    return TimeWindow(begin, window.begin + (pixel + 1) * window.width // width)


def _line(curve: Curve, scale: Scale, width_px: int) -> QPolygonF:
    return (_steps if curve.is_step else _slopes)(curve.steps, scale, width_px)


def _steps(curve: StepCurve, scale: Scale, width_px: int) -> QPolygonF:
    """The true steps where they fit, else what each pixel column holds: first, lowest, highest, last."""
    rows = curve.rows_in(scale.window)
    if rows.stop - rows.start > 2 * width_px:
        columns = curve.columns(scale.window, width_px)
        y = np.stack([columns.first, columns.low, columns.high, columns.last], axis=1).ravel()
        x = np.repeat((np.arange(width_px) + 0.5) * (scale.width / width_px), 4)
        known = ~np.isnan(y)
        return _polygon(x[known], scale.y(y[known]))
    first = max(0, rows.start - 1)
    time, value = curve.time[first : rows.stop], curve.value[first : rows.stop]
    if not len(time):
        return QPolygonF()
    # A segment a row: along its value until the next one begins.
    x = np.repeat(scale.x(np.append(time, scale.window.end)), 2)[1:-1]
    return _polygon(x, np.repeat(scale.y(value.astype(np.float64)), 2))


def _slopes(curve: StepCurve, scale: Scale, width_px: int) -> QPolygonF:
    """Samples joined by lines, with the extremes of each pixel where there are many."""
    rows = curve.rows_in(scale.window)
    first, stop = max(0, rows.start - 1), min(len(curve), rows.stop + 1)
    if rows.stop - rows.start > 4 * width_px:
        columns = curve.columns(scale.window, width_px)
        y = np.stack([columns.low, columns.high], axis=1).ravel()
        x = np.repeat((np.arange(width_px) + 0.5) * (scale.width / width_px), 2)
        known = ~np.isnan(y)
        return _polygon(x[known], scale.y(y[known]))
    time, value = curve.time[first:stop], curve.value[first:stop].astype(np.float64)
    if len(time) and len(value) > 1:
        edges = np.clip(time, scale.window.begin, scale.window.end)  # cut the outermost lines at the window
        value = np.interp(edges, time, value)
        time = edges
    return _polygon(scale.x(time), scale.y(value))


def _polygon(x: np.ndarray, y: np.ndarray) -> QPolygonF:
    if not len(x):
        return QPolygonF()
    return pg.functions.arrayToQPolygonF(np.ascontiguousarray(x, float), np.ascontiguousarray(y, float))


def _closed(shape: QPolygonF, ground: float) -> QPolygonF:
    closed = QPolygonF(shape)
    for end in (shape.at(shape.size() - 1), shape.at(0)):
        end.setY(ground)
        closed.append(end)
    return closed
