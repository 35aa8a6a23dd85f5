"""The shapes of curves in pixels: rectangles for steps, columns for envelopes and areas, points for slopes.

Rectangles, because Qt fills thousands of them in a millisecond and strokes a long zigzag in a hundred.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.model.window import TimeWindow

LINE_PX = 2  # device pixels at a scale of 1


@dataclass(frozen=True, eq=False)
class Scale:
    """From times and values to logical pixels of a box; `device` is device pixels a logical one."""

    window: TimeWindow
    low: float
    high: float
    width: float
    height: float
    device: float = 1.0

    @property
    def width_px(self) -> int:
        """Device pixels of the box's width."""
        return max(1, round(self.width * self.device))

    def x(self, time: np.ndarray) -> np.ndarray:
        """Positions of times, those far outside brought near."""
        x = (time - self.window.begin) / self.window.width * self.width
        return np.clip(x, -4.0, self.width + 4.0)

    def y(self, value: np.ndarray) -> np.ndarray:
        """Positions of values; the ground is a pixel inside, so that a line along it is seen."""
        return self.height - 1 - (value - self.low) / (self.high - self.low) * (self.height - 2)

    def snapped(self, position: np.ndarray) -> np.ndarray:
        """Positions at the nearest edges of device pixels."""
        return np.round(position * self.device) / self.device

    @property
    def ground(self) -> float:
        """Where areas end: at 0, or at the end of the box that is nearest to it."""
        return float(self.y(np.array(min(max(self.low, 0.0), self.high)))) + 1


@dataclass(frozen=True, eq=False)
class Shape:
    """What to draw of a curve, float64 [n, 4] rows of left, top, width, height."""

    line: np.ndarray
    fill: np.ndarray


def steps(curve: StepCurve, scale: Scale, line_px: int = LINE_PX) -> Shape:
    """The true steps while a pixel holds hardly any, else the span of each pixel's values."""
    rows = curve.rows_in(scale.window)
    thick = max(1, round(line_px * scale.device)) / scale.device
    if rows.stop - rows.start > scale.width_px:
        return _columns(curve, scale, thick)
    first = max(0, rows.start - 1)
    time, value = curve.time[first : rows.stop], curve.value[first : rows.stop]
    if not len(time):
        return Shape(np.zeros((0, 4)), np.zeros((0, 4)))
    x = scale.snapped(scale.x(np.append(time, scale.window.end)))
    y = scale.snapped(scale.y(value.astype(np.float64)) - thick / 2)
    level = np.stack([x[:-1], y, np.diff(x) + thick, np.full(len(y), thick)], axis=1)
    rise = np.stack(
        [x[1:-1], np.minimum(y[1:], y[:-1]), np.full(len(y) - 1, thick), np.abs(np.diff(y))], axis=1
    )
    return Shape(np.concatenate([level, rise]), _down(x[:-1], np.diff(x), y, scale.ground))


def _columns(curve: StepCurve, scale: Scale, thick: float) -> Shape:
    """One column a device pixel, from its lowest to its highest value, joined to the column before."""
    held = curve.columns(scale.window, scale.width_px)
    before = np.append(np.nan, held.last[:-1])
    low, high = np.fmin(held.low, before), np.fmax(held.high, before)
    known = np.flatnonzero(~np.isnan(low))
    top, bottom = (scale.snapped(scale.y(edge[known]) - thick / 2) for edge in (high, low))
    left = known / scale.device
    one = np.full(len(known), 1 / scale.device)
    line = _merged(np.stack([left, top, one, bottom - top + thick], axis=1))
    return Shape(line, _merged(_down(left, one, bottom, scale.ground)))


def areas(tops: np.ndarray, scale: Scale) -> list[np.ndarray]:
    """Rectangles of each layer between neighbouring rows of `tops`, values float64 [layers + 1, width_px]."""
    y = scale.y(tops)
    left = np.arange(scale.width_px) / scale.device
    one = np.full(scale.width_px, 1 / scale.device)
    found = [_merged(np.stack([left, y[i + 1], one, y[i] - y[i + 1]], axis=1)) for i in range(len(y) - 1)]
    return [layer[layer[:, 3] > 0] for layer in found]


def slopes(curve: StepCurve, scale: Scale) -> tuple[np.ndarray, np.ndarray]:
    """Positions x and y of samples joined by lines; of many in a pixel its lowest and highest."""
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
    """Rectangles between levels and the ground, on whichever side of it the level is."""
    return np.stack([left, np.minimum(top, ground), width, np.abs(ground - top)], axis=1)


def _merged(rects: np.ndarray) -> np.ndarray:
    """Make one of neighbours with the same top and height; they touch, from left to right."""
    if not len(rects):
        return rects
    touches = np.abs(rects[1:, 0] - rects[:-1, 0] - rects[:-1, 2]) < 1e-6
    starts = np.append(True, (np.abs(rects[1:, 1::2] - rects[:-1, 1::2]) > 1e-9).any(axis=1) | ~touches)
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(rects)) - 1
    merged = rects[first].copy()
    merged[:, 2] = rects[last, 0] + rects[last, 2] - merged[:, 0]
    return merged
