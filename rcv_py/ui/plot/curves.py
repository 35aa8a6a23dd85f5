"""Curves over time as data: the input of a curve plot, and its reduced forms."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from PySide6.QtGui import QColor

from rcv_py.analysis.core.step_curve import StepCurve, total
from rcv_py.model.kinds import TokenKind, WaveState
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.theme import Theme


@dataclass(frozen=True, eq=False)
class Curve:
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

    def prepare(self) -> None:
        """Sum the curves now, in a thread."""
        _ = self.total

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
