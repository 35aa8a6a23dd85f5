"""A step function of time, reduced to pixels: exact extremes, exact means, cost proportional to pixels.

```
value   ┌──┐     ┌┐
      ──┘  │  ┌──┘└────     value[i] holds from time[i] until time[i + 1], the last one for ever
           └──┘
pixel |  first, lowest, highest, last  |
```

A mean over a pixel would hide a peak that is narrower than the pixel; so a pixel keeps its extremes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rcv_py.base.runs import ascending
from rcv_py.model.window import TimeWindow

DIRECT = 1 << 16  # rows in a window up to which all of them are read
FAN = 16  # rows of a pyramid level that form a row of the next level


class PixelCurve(NamedTuple):
    """A curve reduced to pixels, float64 [width]; NaN before the curve's first time."""

    first: np.ndarray  # value at the first cycle of the pixel
    low: np.ndarray
    high: np.ndarray
    last: np.ndarray  # value at the last cycle of the pixel


class StepCurve:
    """A step function: `time` int64, not decreasing, and `value` of any number type, of the same length.

    Of rows with the same time all but the last have no duration: they count as extremes, not in a mean.
    """

    def __init__(self, time: np.ndarray, value: np.ndarray) -> None:
        self.time = np.asarray(time, np.int64)
        self.value = np.asarray(value)

    def __len__(self) -> int:
        return len(self.time)

    def at(self, time: int) -> float | None:
        """The value at a time, unchanged from the column; None before the first time."""
        rows = int(self.time.searchsorted(np.int64(time), "right"))
        return self.value[rows - 1].item() if rows else None

    @property
    def area(self) -> float:
        """Value times cycles between the first and the last time; a whole number if all values are whole."""
        return (np.diff(self.time) * self.value[:-1]).sum().item()

    def prepare(self) -> None:
        """Build the pyramid now, in a thread: afterwards the cost of a query depends on the pixels only."""
        if len(self):
            _ = self._area, self._pyramids

    def rows_in(self, window: TimeWindow) -> slice:
        """The rows whose time lies in the window."""
        first, stop = self.time.searchsorted(np.array([window.begin, window.end]), "left").tolist()
        return slice(first, stop)

    def columns(self, window: TimeWindow, width_px: int) -> PixelCurve:
        """Reduce the window to pixels and keep all extremes."""
        edges = pixel_edges(window, width_px)
        before = self.time.searchsorted(edges, "left")
        first = self._values(self.time.searchsorted(edges[:-1], "right") - 1)
        last = self._values(before[1:] - 1)
        low, high = self._extremes(before)
        # fmin ignores the NaN of a pixel in which no row begins.
        low, high = np.fmin(first, low), np.fmax(first, high)
        return PixelCurve(first, low, high, np.where(edges[1:] > edges[:-1], last, first))

    def extent(self, window: TimeWindow) -> tuple[float, float] | None:
        """The lowest and the highest value in a window, None if there is none."""
        pixel = self.columns(window, 1)
        return None if np.isnan(pixel.low[0]) else (float(pixel.low[0]), float(pixel.high[0]))

    def integral(self, times: np.ndarray) -> np.ndarray:
        """Value times cycles from the curve's begin up to each time; whole numbers stay exact."""
        row = self.time.searchsorted(times, "right") - 1
        safe = np.maximum(row, 0)
        if not len(self):
            return np.zeros(len(times))
        return np.where(row >= 0, self._area[safe] + self._wide[safe] * (times - self.time[safe]), 0)

    def means(self, window: TimeWindow, width_px: int) -> np.ndarray:
        """The mean over the cycles of each pixel, 0 where there is no curve yet; float64 [width]."""
        edges = pixel_edges(window, width_px)
        length = np.diff(edges)
        mean = np.diff(self.integral(edges)) / np.maximum(length, 1)
        here = np.nan_to_num(self._values(self.time.searchsorted(edges[:-1], "right") - 1))
        return np.where(length > 0, mean, here)

    # -- parts ------------------------------------------------------------------------------------------

    def _values(self, rows: np.ndarray) -> np.ndarray:
        if not len(self):
            return np.full(len(rows), np.nan)
        return np.where(rows >= 0, self.value[np.maximum(rows, 0)].astype(np.float64), np.nan)

    @cached_property
    def _wide(self) -> np.ndarray:
        return self.value.astype(np.float64 if self.value.dtype.kind == "f" else np.int64)

    @cached_property
    def _area(self) -> np.ndarray:
        """Value times cycles before each row."""
        return np.concatenate([[0], np.cumsum(self._wide[:-1] * np.diff(self.time))])

    def _extremes(self, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest value of the rows before[k] up to before[k + 1], NaN where there are none."""
        width = len(before) - 1
        low, high = np.full(width, np.nan), np.full(width, np.nan)
        chosen = np.flatnonzero(before[1:] > before[:-1])
        if not len(chosen):
            return low, high
        begin, stop = before[:-1][chosen], before[1:][chosen]
        if stop[-1] - begin[0] <= DIRECT:
            part = self.value[begin[0] : stop[-1]]
            low[chosen] = np.minimum.reduceat(part, begin - begin[0])
            high[chosen] = np.maximum.reduceat(part, begin - begin[0])
        else:
            low[chosen] = _in_ranges(self._pyramids[0], begin, stop, np.min, np.inf)
            high[chosen] = _in_ranges(self._pyramids[1], begin, stop, np.max, -np.inf)
        return low, high

    @cached_property
    def _pyramids(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        return _pyramid(self.value, np.minimum), _pyramid(self.value, np.maximum)


def total(curves: Sequence[StepCurve]) -> StepCurve:
    """Return the sum of step functions, with a row at every time of each; a curve is 0 before its first."""
    if not curves:
        return StepCurve(np.zeros(0, np.int64), np.zeros(0, np.int64))
    if all(curve.time is curves[0].time for curve in curves):
        return StepCurve(curves[0].time, np.sum([curve.value for curve in curves], axis=0))
    time = ascending(np.concatenate([curve.time for curve in curves]))
    value = np.zeros(len(time), np.result_type(*(curve.value for curve in curves), np.int64))
    for curve in curves:
        row = curve.time.searchsorted(time, "right") - 1
        if len(curve):
            value += np.where(row >= 0, curve.value[np.maximum(row, 0)], 0)
    return StepCurve(time, value)


def pixel_edges(window: TimeWindow, width_px: int) -> np.ndarray:
    """Pixel k covers the cycles edges[k] up to edges[k + 1]; int64 [width + 1]."""
    return np.arange(width_px + 1, dtype=np.int64) * window.width // width_px + window.begin


def _pyramid(value: np.ndarray, reduce: np.ufunc) -> list[np.ndarray]:
    levels = [value]
    while len(levels[-1]) > FAN:
        levels.append(reduce.reduceat(levels[-1], np.arange(0, len(levels[-1]), FAN)))
    return levels


def _in_ranges(
    levels: list[np.ndarray], begin: np.ndarray, stop: np.ndarray, reduce: Callable[..., Any], nothing: float
) -> np.ndarray:
    """Reduce rows [begin, stop) of each range: level by level the rows that do not fill whole blocks."""
    reduced = np.full(len(begin), nothing)
    reach = np.arange(FAN)
    for level in levels:
        inner_begin, inner_stop = -(-begin // FAN), stop // FAN
        left_stop = np.minimum(stop, inner_begin * FAN)
        for first, last in ((begin, left_stop), (np.maximum(left_stop, inner_stop * FAN), stop)):
            rows = first[:, None] + reach
            held = level[np.minimum(rows, len(level) - 1)]
            edge = np.where(rows < last[:, None], held, nothing)
            reduced = reduce(np.stack([reduced, reduce(edge, axis=1)]), axis=0)
        begin, stop = inner_begin, np.maximum(inner_begin, inner_stop)
        if not (stop > begin).any():
            break
    return reduced
