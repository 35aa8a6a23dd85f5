"""A step function of time, reduced to pixels: exact extremes and exact means.

```
value   ┌──┐     ┌┐
      ──┘  │  ┌──┘└────     value[i] holds from time[i] until time[i + 1], the last one for ever
           └──┘
pixel |  first, lowest, highest, last  |
```

A mean over a pixel would hide a peak that is narrower than the pixel; so a pixel keeps its extremes.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from rcv_py.base.record import Value
from rcv_py.base.runs import ascending
from rcv_py.model.window import TimeWindow


class PixelCurve(Value):
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
        low, high = first.copy(), first.copy()
        chosen = np.flatnonzero(before[1:] > before[:-1])  # pixels in which a row begins
        if len(chosen):
            part, begin = self.value[before[0] : before[-1]], before[:-1][chosen] - before[0]
            low[chosen] = np.fmin(low[chosen], np.minimum.reduceat(part, begin))  # the first may be NaN
            high[chosen] = np.fmax(high[chosen], np.maximum.reduceat(part, begin))
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
