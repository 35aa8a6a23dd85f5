"""Resident waves over time: on the device, by shader engine, on the traced compute units."""

from __future__ import annotations

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.device.occupancy_curves import OccupancyCurve, occupancy_curves, occupancy_numbers
from rcv_py.base.text import Message, count, percent, plural
from rcv_py.model.trace import Trace
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.times import UNITS, Times
from rcv_py.ui.plot.curve_panel import Curve, CurvePanel, Stack
from rcv_py.ui.plot.curves import from_zero
from rcv_py.ui.table.command_text import CommandWords, each, only, rcv

NO_TRACED = "No wave ran on the traced compute unit. Choose “All together” or “Shader engines”."
NO_LIMIT = "How many waves a SIMD of this target can hold is not known, so there are no shares. Choose waves."
GROUPS = (
    ("Shader engines", "se", "A curve for each shader engine."),
    ("All together", "all", "One curve of all traced shader engines."),
    ("Traced compute units", "cu", "A curve for each compute unit whose instructions were traced."),
    ("SIMDs of traced units", "simd", "A curve for each SIMD of the traced compute units."),
)
SCALES = (
    ("waves", "waves", "Resident waves."),
    ("% of wave slots", "share", "Share of the waves that the compute units in use can hold."),
)
STACKS = (
    ("lines", Stack.LINES.value, "A line for each curve."),
    ("stacked", Stack.AREAS.value, "Areas on top of each other; the outline is their sum."),
)


class OccupancyPanel(CurvePanel):
    """Resident waves over time, by shader engine or place."""

    panel_id = "occupancy"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui, "Occupancy: resident waves over time", is_overview=True)
        self.curves: tuple[OccupancyCurve, ...] = ()
        self.add_choice("group", "What a curve is", GROUPS, self._rebuild)
        self.add_choice("unit", "Unit of the curves", SCALES, self._draw)
        self.add_choice("stack", "How curves share the plot", STACKS, self._draw)
        self.session.trace.watch(self._rebuild)
        self.plot.shown_changed.connect(self._show_text)
        ui.settings.cell(UNITS).watch(self._draw)
        self._rebuild()

    def _rebuild(self) -> None:
        trace, by = self.session.trace.value, self.chosen("group")
        self.curves = ()
        empty = self.why_missing("occupancy")
        self.page.say(empty)
        self.plot.set_curves((), "resident waves")
        self.say("")
        if trace is not None and not empty:
            self.run_job(lambda: occupancy_curves(trace, by), self._show)

    def _show(self, curves: tuple[OccupancyCurve, ...]) -> None:
        self.curves = curves
        self._draw()

    def _draw(self) -> None:
        trace = self.session.trace.value
        if trace is None or not len(trace.occupancy):
            return
        is_share = self.chosen("unit") == "share"
        has_limit = bool(self.curves) and all(curve.slots for curve in self.curves)
        if not self.curves:
            self.page.say(NO_TRACED if self.chosen("group") in ("cu", "simd") else "")
        else:
            self.page.say(NO_LIMIT if is_share and not has_limit else "")
        times = self.times
        curves = [_curve(trace, times, curve, number, is_share) for number, curve in enumerate(self.curves)]
        self.plot.set_stack(Stack.LINES if is_share else Stack(self.chosen("stack")))
        self.plot.set_curves(curves, "waves, % of slots" if is_share else "resident waves")
        self._show_text()

    def command_line(self) -> CommandWords | None:
        # The command knows every unit of the device, the panel those that were traced: it has to name them.
        is_some = self.chosen("group") in ("cu", "simd")
        mine = [curve.name for curve in self.curves]
        names = each("only", self.plot.shown & set(mine)) if is_some else only(mine, self.plot.shown)
        return rcv(self.session, "occupancy", f"--by={self.chosen('group')}", *names)

    def _show_text(self) -> None:
        shown = [curve for curve in self.curves if curve.name in self.plot.shown]
        if len(shown) == 1:
            self.say(numbers_text(shown[0].steps, self.times))
            return
        per_unit = {curve.slots // curve.units for curve in shown if curve.slots}
        has_limit = len(per_unit) == 1 and self.chosen("group") != "simd"
        limit = Message(" · {0} per compute unit", plural(per_unit.pop(), "wave slot")) if has_limit else ""
        self.say(_peaks_text(shown) + limit)


def _peaks_text(shown: list[OccupancyCurve]) -> str:
    if not shown:
        return "No curve is shown."
    peaks = {int(curve.steps.value.max()) for curve in shown}
    if len(peaks) == 1:
        return Message("at most {0} at a time each", plural(peaks.pop(), "wave"))
    return Message("peaks between {0:,} and {1:,} waves", min(peaks), max(peaks))


def numbers_text(steps: StepCurve, times: Times) -> str:
    """Return mean, peak and tail of a step function of waves as text."""
    numbers = occupancy_numbers(steps)
    return Message(
        "mean {0:,.1f} of at most {1} · at most half of that for the last {2} of the time · launch took {3}",
        numbers.mean,
        plural(numbers.peak, "wave"),
        percent(numbers.tail, 1),
        times.span(numbers.ramp),
    )


def _curve(trace: Trace, times: Times, curve: OccupancyCurve, number: int, is_share: bool) -> Curve:
    time, waves = from_zero(trace.span.begin, curve.steps)
    units = plural(curve.units, "compute unit")
    slots = Message("; its {0} can hold {1}", units, count(curve.slots)) if curve.slots else ""
    tip = f"{curve.name}: {numbers_text(curve.steps, times)}{slots}"
    value = 100.0 * waves / max(1, curve.slots) if is_share else waves
    return Curve(
        name=curve.name, time=time, value=value, color=number, unit="%" if is_share else "waves", tip=tip
    )
