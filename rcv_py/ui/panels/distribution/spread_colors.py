"""The colours of the bars of a distribution: one, or one a group."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QColor

from rcv_py.analysis.cost.distribution import DistributionView
from rcv_py.ui.core.theme import Theme

BarColor = Callable[[Theme], QColor]


def bar_colors(view: DistributionView) -> tuple[BarColor, ...]:
    """Return what asks a theme for the colour of each group: engines have those of kernels."""
    if view.wanted.group == "engine":
        return tuple(_kernel_color(number) for number in range(len(view.groups)))
    return (_role("accent"), _role("idle"))[: len(view.groups)]


def _role(name: str) -> BarColor:
    return lambda theme: theme.role(name)


def _kernel_color(number: int) -> BarColor:
    return lambda theme: theme.kernel(number)
