"""The plot itself of a `CurvePlot`: axes, curves, marks, and what the mouse means in it."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QSize, Signal
from PySide6.QtGui import QResizeEvent

from rcv_py.base.text import percent
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Hover, Selection
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.plot.curve_overlay import CurveOverlay, Reading
from rcv_py.ui.plot.curves import Curve, CurveSet, Stack, curve_color
from rcv_py.ui.plot.curves_item import CurvesItem
from rcv_py.ui.plot.value_axis import ValueAxis, bounds, exact_text
from rcv_py.ui.timeline.time_axis import UNITS_NS
from rcv_py.ui.timeline.time_overlay import Line, Marks
from rcv_py.ui.timeline.time_plot import TimePlot

FEW_MEANS = 2  # curves whose means a measure tells


class CurveCanvas(TimePlot):
    """Draws a `CurveSet` over the session's view; tells clicks on curves."""

    pressed = Signal(str, object, bool)  # name of the curve or "", time, whether it was a double click

    def __init__(self, ui: UiContext) -> None:
        self.values = ValueAxis(ui.theme)
        super().__init__(ui, self.values)
        self.curves = CurvesItem(self.box, ui.theme)
        self.overlay = CurveOverlay(self.box, ui.session, ui.theme, lambda: self.axis.shown)
        self.overlay.marks = self._marks
        self.overlay.read = self.readings
        self.from_zero = True
        self.moments: tuple[Line, ...] = ()  # marked through the plot, e.g. dispatches
        self.start()

    # -- content ----------------------------------------------------------------------------------------

    def show_set(self, curves: CurveSet, stack: Stack, title: str) -> None:
        """Show other curves, or the same ones in another way."""
        self.curves.set, self.curves.stack = curves, stack
        self.values.title = title
        self._fit_values()
        self._repaint()

    def _fit_values(self) -> None:
        """Let the axis of values hold what is in view."""
        curves, stack = self.curves.set, self.curves.stack
        low, high = curves.extent(self.axis.shown, stack)
        from_zero = self.from_zero or stack is not Stack.LINES
        low, high = (0.0, 1.0) if stack is Stack.SHARES else bounds(low, high, from_zero)
        self.curves.low, self.curves.high = low, high
        scale = 100.0 if stack is Stack.SHARES else 1.0
        self.values.low, self.values.high = low * scale, high * scale
        self.values.is_whole = curves.is_whole
        ticks = self.values.ticks(self.box.height())
        self.curves.grid_y = [value / scale for value in ticks]
        self.curves.grid_x = self.axis.grid_px(self.axis.shown, max(1, round(self.box.width())))

    def readings(self, time: int) -> tuple[str, list[Reading]]:
        """The time as text and the exact value of every shown curve; the uppermost layer first."""
        curves, stack = self.curves.set, self.curves.stack
        found = [self._reading(curve, time) for curve in curves.shown]
        if stack is not Stack.LINES:
            found.reverse()
            units = {curve.unit for curve in curves.shown if curve.unit}
            if stack is Stack.AREAS and len(found) > 1 and (whole := curves.sum_shown.at(time)) is not None:
                found.insert(0, Reading("together", " ".join((exact_text(whole), *units))))
        return self._time_text(time), found

    def _reading(self, curve: Curve, time: int) -> Reading:
        stack = self.curves.stack
        value, share = self.curves.set.value_at(curve, time, stack)
        text = "–" if value is None else " ".join(part for part in (exact_text(value), curve.unit) if part)
        if share is not None:
            text += f" · {percent(share, 1)}"
        y = None
        if value is not None and stack is Stack.LINES:
            y = float(self.curves.scale_of().y(np.array(float(value))))
        color = curve_color(self.ui.theme, curve.color)
        return Reading(curve.name, text, color, y, curve.name == self.curves.bold)

    def _time_text(self, time: int) -> str:
        scale = self.axis.scale_of_time
        ns = scale.ns_per_cycle
        if not ns:
            return f"cycle {time:,}"
        return time_text((time - scale.origin) * ns, self.axis.shown.width * ns)

    def _marks(self) -> Marks:
        session = self.session
        token = session.token()
        lines = self.moments
        if token is not None:
            lines = (*lines, Line(token[0].tokens.span(token[1]).begin, "accent"))
        times = (self._time_of(mark) for mark in session.bookmarks.value)
        return Marks(lines=lines, bookmarks=tuple(time for time in times if time is not None))

    def _time_of(self, mark: Selection) -> int | None:
        """Begin of a bookmarked token or wave, if it is loaded."""
        store, trace = self.session.store, self.session.trace.value
        wave = None if store is None else store.wave_by_id(mark.wave)
        if wave is None:
            row = None if trace is None or mark.wave is None else trace.waves.row(mark.wave)
            return None if row is None or trace is None else int(trace.waves.begin[row])
        if mark.line is None or mark.hit is None:
            return wave.begin
        rows = np.flatnonzero(wave.tokens.line == mark.line)
        return wave.tokens.span(int(rows[mark.hit])).begin if mark.hit < len(rows) else wave.begin

    # -- what a plot over time asks ---------------------------------------------------------------------

    def show_window(self, window: TimeWindow) -> None:
        """Draw another window."""
        self.curves.shown = window
        self._fit_values()

    def repaint_all(self) -> None:
        """Paint the curves, too."""
        self.curves.update()

    def hover_at(self, at: QPointF, on_screen: QPointF) -> None:
        """Tell the session where the cursor is, and thicken the curve under the mouse."""
        self.point_out(getattr(self.curve_at(at), "name", ""))
        self.session.hover.set(Hover(time=self.time_at(at.x())))

    def hover_ended(self) -> None:
        """No curve is under the mouse."""
        self.point_out("")
        self.session.hover.set(None)

    def point_out(self, name: str) -> None:
        """Draw one curve stronger, "" for none."""
        if name != self.curves.bold:
            self.curves.bold = name
            self.curves.update()
            self.overlay.update()

    def curve_at(self, at: QPointF) -> Curve | None:
        """The curve at a place of the widget."""
        inside = at - self.box.scenePos()
        return self.curves.at(inside.x(), inside.y())

    def clicked(self, at: QPointF, is_double: bool) -> None:
        """Tell which curve was clicked."""
        self.pressed.emit(getattr(self.curve_at(at), "name", ""), self.time_at(at.x()), is_double)

    def measured(self, window: TimeWindow) -> str:
        """The mean of a curve or two over the measured time."""
        curves = self.curves.set.shown
        if not 0 < len(curves) <= FEW_MEANS:
            return ""
        means = [float(curve.steps.means(window, 1)[0]) for curve in curves if curve.is_step]
        return " · ".join(
            f"{curve.name}: mean {mean:,.4g}" for curve, mean in zip(curves, means, strict=False)
        )

    def y_of(self, value: float) -> float:
        """Position of a value in the widget."""
        return self.box.scenePos().y() + float(self.curves.scale_of().y(np.array(value)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place ticks for the new size."""
        super().resizeEvent(event)
        if getattr(self, "plotItem", None) is not None and hasattr(self, "curves"):
            self._fit_values()

    def minimumSizeHint(self) -> QSize:
        """Ruler and a few ticks."""
        return QSize(200, 80)


def time_text(ns: float, width_ns: float) -> str:
    """A moment in the unit of the window it is read in, as fine as a pixel of it."""
    name, scale = next((unit for unit in UNITS_NS if width_ns >= unit[1]), UNITS_NS[-1])
    digits = max(0, min(6, math.ceil(math.log10(scale * 1000 / max(width_ns, 1e-9)))))
    return f"{ns / scale:,.{digits}f} {name}"
