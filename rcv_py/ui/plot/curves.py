"""Curves over time: as data, reduced to pixels, and as one graphics item of rectangles."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from PySide6.QtCore import QLineF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from rcv_py.analysis.core.step_curve import StepCurve, total
from rcv_py.base.record import Record
from rcv_py.model.kinds import STATE_NAME, TokenKind, WaveState
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.shapes import pyqtgraph
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.items import BoxItem, PlotBox, Rects
from rcv_py.ui.timeline.time_overlay import soft


class Curve(Record):
    """A named series over time; names are unique in a plot.

    `color` is a number of the kernels' palette, or the name of a role, or `state:EXEC`, `kind:VALU`.  With
    `is_step`, value[i] holds from time[i] until time[i + 1]; else neighbours are joined by lines.
    """

    name: str
    time: np.ndarray  # int64, cycles, not decreasing
    value: np.ndarray  # any number type
    color: int | str = 0
    unit: str = ""
    tip: str = ""
    is_step: bool = True

    @cached_property
    def steps(self) -> StepCurve:
        """Return the curve reduced to pixels; computed once."""
        return StepCurve(self.time, self.value)

    def extent(self, window: TimeWindow) -> tuple[float, float] | None:
        """Return the lowest and the highest value drawn in a window, None if there is none."""
        own = self.steps.extent(window)
        if self.is_step or len(self.time) < 2:
            return own
        inside = [edge for edge in (window.begin, window.end) if self.time[0] <= edge <= self.time[-1]]
        edges = np.interp(inside, self.time, self.value).tolist()  # where lines cross the window's edges
        both = [*edges, *(() if own is None else own)]
        return (min(both), max(both)) if both else None


def curve_color(theme: Theme, key: int | str) -> QColor:
    """Return the colour of a curve in the present theme; KeyError for an unknown name."""
    if isinstance(key, int):
        return theme.kernel(key)
    table, _, name = key.rpartition(":")
    if table == "state":
        return theme.state(WaveState[name])
    return theme.kind(TokenKind[name]) if table == "kind" else theme.role(name)


class CurveSet:
    """The curves of a plot, side by side or, if they are `stacked`, as areas on top of each other."""

    def __init__(self, curves: Sequence[Curve] = (), *, stacked: bool = False) -> None:
        self.curves, self.stacked = tuple(curves), stacked

    @cached_property
    def total(self) -> StepCurve:
        """Return the sum of the curves."""
        return total([curve.steps for curve in self.curves])

    @property
    def is_whole(self) -> bool:
        """Return whether all values are of integer types."""
        return all(curve.value.dtype.kind in "iub" for curve in self.curves)

    def extent(self, window: TimeWindow) -> tuple[float, float]:
        """Return the lowest and the highest value in view; (0, 1) if there is none."""
        curves = [self.total] if self.stacked else self.curves
        extents = [extent for curve in curves if (extent := curve.extent(window)) is not None]
        if not extents:
            return 0.0, 1.0
        return min(low for low, _ in extents), max(high for _, high in extents)

    def layers(self, window: TimeWindow, width_px: int) -> np.ndarray:
        """Return tops of the stacked areas in each pixel, float64 [curves + 1, width]; row 0 is the base."""
        means = [curve.steps.means(window, width_px) for curve in self.curves]
        return np.cumsum(np.array([np.zeros(width_px), *means]), axis=0)


def state_areas(
    states: Mapping[WaveState, tuple[np.ndarray, np.ndarray]], tips: Mapping[WaveState, str]
) -> CurveSet:
    """Return times and waves in each state as areas on top of each other; for a job, which sums them."""
    curves = [
        Curve(STATE_NAME[state], time, waves, f"state:{state.name}", "waves", tips[state])
        for state, (time, waves) in states.items()
    ]
    areas = CurveSet(curves, stacked=True)
    _ = areas.total
    return areas


LINE_PX = 2  # device pixels at a scale of 1


class PlotScale(Record):
    """Maps times and values to logical pixels of a box; `device` is device pixels per logical pixel."""

    window: TimeWindow
    low: float
    high: float
    width: float
    height: float
    device: float = 1.0

    @property
    def width_px(self) -> int:
        """Return device pixels of the box's width."""
        return max(1, round(self.width * self.device))

    def x(self, time: np.ndarray) -> np.ndarray:
        """Return positions of times, clamped far outside."""
        x = (time - self.window.begin) / self.window.width * self.width
        return np.clip(x, -4.0, self.width + 4.0)

    def y(self, value: np.ndarray) -> np.ndarray:
        """Return positions of values; the base is a pixel inside, so that a line along it is visible."""
        return self.height - 1 - (value - self.low) / (self.high - self.low) * (self.height - 2)

    def snapped(self, position: np.ndarray) -> np.ndarray:
        """Return positions at the nearest edges of device pixels."""
        return np.round(position * self.device) / self.device

    @property
    def ground(self) -> float:
        """Return the end of areas: 0, or the nearest edge of the box."""
        return float(self.y(np.array(min(max(self.low, 0.0), self.high)))) + 1


class CurveRects(Record):
    """The rectangles of a curve, float64 [n, 4] rows of left, top, width, height."""

    line: np.ndarray
    fill: np.ndarray


def steps(curve: StepCurve, scale: PlotScale, line_px: int = LINE_PX) -> CurveRects:
    """Return the exact steps while a pixel holds few of them, else the span of each pixel's values."""
    rows = curve.rows_in(scale.window)
    thick = max(1, round(line_px * scale.device)) / scale.device
    if rows.stop - rows.start > scale.width_px:
        return _columns(curve, scale, thick)
    first = max(0, rows.start - 1)
    time, value = curve.time[first : rows.stop], curve.value[first : rows.stop]
    if not len(time):
        return CurveRects(np.zeros((0, 4)), np.zeros((0, 4)))
    x = scale.snapped(scale.x(np.append(time, scale.window.end)))
    y = scale.snapped(scale.y(value.astype(np.float64)) - thick / 2)
    level = np.stack([x[:-1], y, np.diff(x) + thick, np.full(len(y), thick)], axis=1)
    upper, wide = np.minimum(y[1:], y[:-1]), np.full(len(y) - 1, thick)
    rise = np.stack([x[1:-1], upper, wide, np.abs(np.diff(y))], axis=1)
    return CurveRects(np.concatenate([level, rise]), _down(x[:-1], np.diff(x), y, scale.ground))


def _columns(curve: StepCurve, scale: PlotScale, thick: float) -> CurveRects:
    """Return one column per device pixel, from its lowest to its highest value, joined to the last column."""
    held = curve.columns(scale.window, scale.width_px)
    before = np.append(np.nan, held.last[:-1])
    low, high = np.fmin(held.low, before), np.fmax(held.high, before)
    known = np.flatnonzero(~np.isnan(low))
    top, bottom = (scale.snapped(scale.y(edge[known]) - thick / 2) for edge in (high, low))
    left = known / scale.device
    unit = np.full(len(known), 1 / scale.device)
    line = _merged(np.stack([left, top, unit, bottom - top + thick], axis=1))
    return CurveRects(line, _merged(_down(left, unit, bottom, scale.ground)))


def areas(tops: np.ndarray, scale: PlotScale) -> list[np.ndarray]:
    """Return rectangles of each layer between adjacent rows of `tops`, float64 [layers + 1, width_px]."""
    y = scale.y(tops)
    left = np.arange(scale.width_px) / scale.device
    unit = np.full(scale.width_px, 1 / scale.device)
    layers = [_merged(np.stack([left, y[i + 1], unit, y[i] - y[i + 1]], axis=1)) for i in range(len(y) - 1)]
    return [layer[layer[:, 3] > 0] for layer in layers]


def slopes(curve: StepCurve, scale: PlotScale) -> tuple[np.ndarray, np.ndarray]:
    """Return positions x and y of samples joined by lines; of many in a pixel, the lowest and highest."""
    rows = curve.rows_in(scale.window)
    if rows.stop - rows.start > 4 * scale.width_px:
        held = curve.columns(scale.window, scale.width_px)
        y = np.stack([held.low, held.high], axis=1).ravel()
        x = np.repeat((np.arange(scale.width_px) + 0.5) / scale.device, 2)
        known = ~np.isnan(y)
        return x[known], scale.y(y[known])
    part = slice(max(0, rows.start - 1), min(len(curve), rows.stop + 1))
    time, value = curve.time[part], curve.value[part].astype(np.float64)
    inside = np.clip(time, scale.window.begin, scale.window.end)  # cut the outermost lines at the window
    return scale.x(inside), scale.y(np.interp(inside, time, value) if len(time) else value)


def _down(left: np.ndarray, width: np.ndarray, top: np.ndarray, ground: float) -> np.ndarray:
    """Return rectangles between levels and the base, on either side."""
    return np.stack([left, np.minimum(top, ground), width, np.abs(ground - top)], axis=1)


def _merged(rects: np.ndarray) -> np.ndarray:
    """Merge touching neighbours with equal top and height, from left to right."""
    if not len(rects):
        return rects
    touches = np.abs(rects[1:, 0] - rects[:-1, 0] - rects[:-1, 2]) < 1e-6
    starts = np.append(True, (np.abs(rects[1:, 1::2] - rects[:-1, 1::2]) > 1e-9).any(axis=1) | ~touches)
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(rects)) - 1
    merged = rects[first].copy()
    merged[:, 2] = rects[last, 0] + rects[last, 2] - merged[:, 0]
    return merged


MAX_FILLED = 2  # curves; more fills would hide each other
FILL_ALPHA = 34
NEAR_PX = 6
BOLD_PX = 4
DIM = 0.45  # share of the background in areas other than the hovered area


class CurvesItem(BoxItem):
    """Paints the shown curves."""

    def __init__(self, box: PlotBox, theme: Theme) -> None:
        super().__init__(box, theme)
        self.set = CurveSet()
        self.bold = ""  # name of the curve under the mouse
        self.low, self.high = 0.0, 1.0
        self.grid_x: np.ndarray = np.zeros(0)  # pixels
        self.grid_y: list[float] = []  # values
        self._key: tuple[object, ...] = ()
        self._shapes: list[CurveRects | QPolygonF] = []
        self._layers: list[np.ndarray] = []
        self._rects = Rects()

    def scale_of(self, device: float = 1.0) -> PlotScale:
        """Return the mapping of times and values in the box."""
        width, height = max(1.0, self._box.width()), max(4.0, self._box.height())
        return PlotScale(self.shown, self.low, self.high, width, height, device)

    def at(self, x: float, y: float) -> Curve | None:
        """Return the curve at a point of the box: the nearest line, or the area that holds the point."""
        scale = self.scale_of()
        begin = scale.window.begin + int(x * scale.window.width // scale.width)
        window = TimeWindow(begin, begin + int(scale.window.width // scale.width))
        if self.set.stacked:
            tops = scale.y(self.set.layers(window, 1)[:, 0])
            held = zip(self.set.curves, tops[:-1], tops[1:], strict=True)
            return next((curve for curve, bottom, top in held if top <= y < bottom), None)
        best, nearest = float(NEAR_PX), None
        for curve in self.set.curves:
            extent = curve.extent(window)
            if extent is not None:
                bottom, top = scale.y(np.array(extent)).tolist()
                away = max(top - y, y - bottom, 0.0)
                if away < best:
                    best, nearest = away, curve
        return nearest

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw grid and curves; remake shapes only if they would differ."""
        rect = self.boundingRect()
        if rect.width() < 1 or rect.height() < 4:
            return
        scale = self.scale_of(painter.deviceTransform().m11())
        key = (self.set, self.shown, self.low, self.high, rect.size().toTuple(), scale.device)
        if key != self._key:
            self._make(scale)
            self._key = key
        painter.setClipRect(rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_grid(painter, scale)
        if not self.set.stacked:
            self._paint_lines(painter, scale)
            return
        for curve, layer in zip(self.set.curves, self._layers, strict=True):
            color = curve_color(self._theme, curve.color)
            is_dim = self.bold not in ("", curve.name)
            self._fill(painter, layer, self._theme.soft(color, DIM) if is_dim else color)
        for shape in self._shapes:
            if isinstance(shape, CurveRects):
                self._fill(painter, shape.line, self._theme.role("text"))

    def _make(self, scale: PlotScale) -> None:
        if not self.set.stacked:
            self._shapes, self._layers = [_shape(curve, scale) for curve in self.set.curves], []
            return
        self._layers = areas(self.set.layers(scale.window, scale.width_px), scale)
        self._shapes = [steps(self.set.total, scale, 1)] if self.set.curves else []

    def _paint_grid(self, painter: QPainter, scale: PlotScale) -> None:
        painter.setPen(QPen(self._theme.role("grid"), 1))
        for x in self.grid_x.tolist():
            painter.drawLine(QLineF(x + 0.5, 0, x + 0.5, scale.height))
        for y in scale.y(np.array(self.grid_y)).tolist():
            painter.drawLine(QLineF(0, round(y) + 0.5, scale.width, round(y) + 0.5))

    def _paint_lines(self, painter: QPainter, scale: PlotScale) -> None:
        drawn = list(zip(self.set.curves, self._shapes, strict=True))
        for curve, shape in drawn if len(drawn) <= MAX_FILLED else ():
            if isinstance(shape, CurveRects):
                self._fill(painter, shape.fill, soft(curve_color(self._theme, curve.color), FILL_ALPHA))
        for curve, shape in sorted(drawn, key=lambda pair: pair[0].name == self.bold):
            color, is_bold = curve_color(self._theme, curve.color), curve.name == self.bold
            if isinstance(shape, CurveRects):
                bold = steps(curve.steps, scale, BOLD_PX) if is_bold else shape
                self._fill(painter, bold.line, color)
            else:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(color, 1))
                for down in (-1, 0, 1) if is_bold else (0,):  # far faster than a wide pen
                    painter.drawPolyline(shape.translated(0, down))

    def _fill(self, painter: QPainter, rects: np.ndarray, color: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        self._rects.draw(painter, rects)


def _shape(curve: Curve, scale: PlotScale) -> CurveRects | QPolygonF:
    if curve.is_step:
        return steps(curve.steps, scale)
    x, y = (np.ascontiguousarray(places, float) for places in slopes(curve.steps, scale))
    return pyqtgraph().functions.arrayToQPolygonF(x, y) if len(x) else QPolygonF()
