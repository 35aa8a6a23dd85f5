"""A plot of curves over the session's time: legend above, axes, read-out at the cursor."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollBar, QVBoxLayout, QWidget

from rcv_py.ui.core.context import UiContext
from rcv_py.ui.plot.curve_canvas import CurveCanvas
from rcv_py.ui.plot.curve_legend import CurveLegend
from rcv_py.ui.plot.curves import Curve, CurveSet, Stack
from rcv_py.ui.timeline.range_strip import RangeStrip
from rcv_py.ui.timeline.row_labels import WIDTH

__all__ = ["Curve", "CurvePlot", "Stack"]


class CurvePlot(QWidget):
    """Curves that follow and drive the session's view with the gestures of the timelines.

    Names that were hidden stay hidden when curves of the same names are set again.
    """

    shown_changed = Signal()
    clicked = Signal(str, object, bool)  # name of the curve or "", time in cycles, whether a double click
    pointed = Signal(str)  # name of the curve that the legend points at, "" for none

    def __init__(self, ui: UiContext, name: str) -> None:
        super().__init__()
        self.canvas = CurveCanvas(ui)
        self.canvas.setAccessibleName(name)
        self.legend = CurveLegend(ui.theme)
        self.strip = RangeStrip(ui)
        self._curves: tuple[Curve, ...] = ()
        self._hidden: set[str] = set()
        self._title = ""
        self._stack = Stack.LINES
        self._build()
        self.legend.toggled.connect(self.toggle)
        self.legend.isolated.connect(self.isolate)
        self.legend.hovered.connect(self.canvas.point_out)
        self.legend.hovered.connect(self.pointed)
        self.canvas.pressed.connect(self.clicked)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(8, 3, 8, 3)
        head.addWidget(self.legend, 1, Qt.AlignmentFlag.AlignTop)
        body = QGridLayout()
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(0)
        body.addWidget(self.canvas, 0, 0, 1, 2)
        body.addWidget(self.strip, 1, 1)
        body.setColumnMinimumWidth(0, WIDTH)
        body.setColumnStretch(1, 1)
        body.addWidget(_scroll_bar_room(), 0, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addLayout(body, 1)
        self.setFocusProxy(self.canvas)

    # -- content ----------------------------------------------------------------------------------------

    def set_curves(self, curves: Iterable[Curve], y_title: str) -> None:
        """Show these curves; the title of the axis of values names what and the unit."""
        self._curves, self._title = tuple(curves), y_title
        self._show()

    @property
    def curves(self) -> tuple[Curve, ...]:
        """All curves, hidden ones too."""
        return self._curves

    @property
    def shown(self) -> set[str]:
        """Names of the curves that are drawn."""
        return {curve.name for curve in self._curves} - self._hidden

    @shown.setter
    def shown(self, names: Iterable[str]) -> None:
        self._hidden = {curve.name for curve in self._curves} - set(names)
        self._show()
        self.shown_changed.emit()

    def toggle(self, name: str) -> None:
        """Hide a curve, or show it again."""
        self.shown = self.shown ^ {name}

    def isolate(self, name: str) -> None:
        """Show one curve alone; if it is alone already, show all."""
        alone = {name}
        self.shown = {curve.name for curve in self._curves} if self.shown == alone else alone

    def set_stack(self, stack: Stack) -> None:
        """Draw lines, areas on top of each other, or shares of their sum."""
        self._stack = stack
        self._show()

    @property
    def stack(self) -> Stack:
        """How the curves are drawn."""
        return self._stack

    def set_from_zero(self, from_zero: bool) -> None:
        """Whether the axis of values always holds 0."""
        self.canvas.from_zero = from_zero
        self._show()

    def sizeHint(self) -> QSize:
        """Legend, ruler and room for curves."""
        return QSize(640, 240)

    def _show(self) -> None:
        self.legend.show_curves(self._curves, self.shown)
        curves = CurveSet(self._curves, frozenset(self._hidden))
        self.canvas.show_set(curves, self._stack, self._title)
        stacked = self._stack is not Stack.LINES and bool(curves.shown)
        self.strip.show_curves([curves.sum_shown] if stacked else [one.steps for one in curves.shown])


def _scroll_bar_room() -> QWidget:
    """As wide as a timeline's scroll bar, so that plots and timelines keep the same scale."""
    bar = QScrollBar(Qt.Orientation.Vertical)
    policy = bar.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    bar.setSizePolicy(policy)
    bar.hide()
    return bar
