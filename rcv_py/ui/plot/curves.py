"""Curves over time as data: the input of a curve plot, and its reduced forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from PySide6.QtGui import QColor

from rcv_py.analysis.core.step_curve import StepCurve, total
from rcv_py.model.kinds import TokenKind, WaveState
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.theme import Theme


def from_zero(begin: int, steps: StepCurve) -> tuple[np.ndarray, np.ndarray]:
    """Return times and waves with a zero at the begin of the trace, so that the rise is drawn."""
    before = np.array([min(begin, int(steps.time[0]) - 1)], np.int64)
    return np.concatenate([before, steps.time]), np.concatenate([np.zeros(1, np.int32), steps.value])


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


class Stack(Enum):
    """The way that curves share the plot."""

    LINES = "lines"
    AREAS = "areas"  # stacked
    SHARES = "shares"  # stacked shares of the sum of all


def curve_color(theme: Theme, key: int | str) -> QColor:
    """Return the colour of a curve in the present theme; KeyError for an unknown name."""
    if isinstance(key, int):
        return theme.kernel(key)
    table, _, name = key.rpartition(":")
    if table == "state":
        return theme.state(WaveState[name])
    return theme.kind(TokenKind[name]) if table == "kind" else theme.role(name)


class CurveSet:
    """The curves of a plot, the shown curves, and their combinations."""

    def __init__(self, curves: Sequence[Curve] = (), hidden: frozenset[str] = frozenset()) -> None:
        self.curves = tuple(curves)
        self.shown = tuple(curve for curve in self.curves if curve.name not in hidden)

    def prepare(self) -> None:
        """Build the pixel reductions of each curve and of the sums now, in a thread."""
        for curve in self.curves:
            curve.steps.prepare()
        self.sum_all.prepare()

    def without(self, hidden: frozenset[str]) -> CurveSet:
        """Return the same curves with these names hidden; keep the reductions."""
        other = CurveSet(self.curves, hidden)
        if "sum_all" in self.__dict__:
            other.__dict__["sum_all"] = self.sum_all
        return other

    @cached_property
    def sum_shown(self) -> StepCurve:
        """Return the sum of the shown curves."""
        return self.sum_all if self.shown == self.curves else total([curve.steps for curve in self.shown])

    @cached_property
    def sum_all(self) -> StepCurve:
        """Return the sum of all curves."""
        return total([curve.steps for curve in self.curves])

    @property
    def is_whole(self) -> bool:
        """Return whether all shown values are of integer types."""
        return all(curve.value.dtype.kind in "iub" for curve in self.shown)

    def extent(self, window: TimeWindow, stack: Stack) -> tuple[float, float]:
        """Return the lowest and the highest value in view; (0, 1) if there is none."""
        if stack is Stack.SHARES:
            return 0.0, 1.0
        curves = [self.sum_shown] if stack is Stack.AREAS else self.shown
        extents = [extent for curve in curves if (extent := curve.extent(window)) is not None]
        if not extents:
            return 0.0, 1.0
        return min(low for low, _ in extents), max(high for _, high in extents)

    def layers(self, window: TimeWindow, width_px: int, stack: Stack) -> np.ndarray:
        """Return tops of the stacked areas in each pixel, float64 [shown + 1, width]; row 0 is the base."""
        means = [curve.steps.means(window, width_px) for curve in self.shown]
        tops = np.cumsum(np.array([np.zeros(width_px), *means]), axis=0)
        if stack is Stack.SHARES:
            total = self.sum_all.means(window, width_px)
            tops = np.divide(tops, total, out=np.zeros_like(tops), where=total > 0)
        return tops

    def value_at(self, curve: Curve, time: int, stack: Stack) -> tuple[float | None, float | None]:
        """Return the exact value at a time, and with shares its share of all; None for no value."""
        value = curve.steps.at(time)
        if value is None or stack is not Stack.SHARES:
            return value, None
        total = self.sum_all.at(time)
        return value, value / total if total else None
