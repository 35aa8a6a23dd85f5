"""Kernels on the device: resident waves over time, one curve per kernel name."""

from __future__ import annotations

from collections import Counter

from rcv_py.analysis.device.occupancy_curves import KernelCurve, dispatch_curves, occupancy_numbers
from rcv_py.base.text import Message, demangled, join_texts, plural, short_kernel
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.times import UNITS, Times
from rcv_py.ui.plot.curve_panel import Curve, CurvePanel, Stack
from rcv_py.ui.plot.curves import from_zero
from rcv_py.ui.table.command_text import CommandWords, only, rcv
from rcv_py.ui.timeline.time_overlay import event_lines

STACKS = (
    ("lines", Stack.LINES.value, "A line for each kernel."),
    ("stacked", Stack.AREAS.value, "Areas on top of each other; the outline is their sum."),
    ("shares", Stack.SHARES.value, "Each kernel's share of the resident waves."),
)
NO_LAUNCH = "dispatches not recorded"
HINT = "Click a curve to read about its kernel."


class DispatchesPanel(CurvePanel):
    """Resident waves of each kernel over time."""

    panel_id = "dispatches"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui, "Kernels: resident waves of each kernel over time", is_overview=True)
        self.kernels: dict[str, KernelCurve] = {}  # by the name of the curve
        self.add_choice("stack", "How curves share the plot", STACKS, self._restack)
        self.session.trace.watch(self._rebuild)
        self.plot.clicked.connect(self._clicked)
        self.plot.pointed.connect(lambda name: self._clicked(name, 0, False))
        ui.settings.cell(UNITS).watch(self._rebuild)
        self._rebuild()

    def _rebuild(self) -> None:
        trace = self.session.trace.value
        self.kernels = {}
        empty = self.why_missing("occupancy")
        self.page.say(empty)
        self.plot.set_curves((), "resident waves")
        self.plot.canvas.moments = () if trace is None else event_lines(trace)
        self.say("")
        if trace is not None and not empty:
            self.run_job(lambda: dispatch_curves(trace.occupancy, trace.dispatches), self._show)

    def _show(self, kernels: tuple[KernelCurve, ...]) -> None:
        trace = self.session.trace.value
        if trace is None:
            return
        names = _names(kernels)
        self.kernels = dict(zip(names, kernels, strict=True))
        curves = []
        for number, (name, kernel) in enumerate(self.kernels.items()):
            tip = f"{demangled(kernel.name) or name}\n{self._about(name)}"
            time, value = from_zero(trace.span.begin, kernel.steps)
            curves.append(Curve(name, time, value, color=number, unit="waves", tip=tip))
        self.plot.set_curves(curves, "resident waves")
        several = Message("{0} · {1}", plural(len(kernels), "kernel"), HINT)
        self.say(self._about(names[0]) if len(kernels) == 1 else several)

    def _about(self, name: str) -> str:
        return about(name, self.kernels[name], self.times)

    def command_line(self) -> CommandWords | None:
        of = {name: kernel_name(kernel) for name, kernel in self.kernels.items()}
        return rcv(self.session, "occupancy", "--by=kernel", *only(of, self.plot.shown, of))

    def _restack(self) -> None:
        self.plot.set_stack(Stack(self.chosen("stack")))

    def _clicked(self, name: str, time: int, is_double: bool) -> None:
        kernel = self.kernels.get(name)
        if kernel is None:
            return
        self.say(self._about(name))
        if is_double:
            span = TimeWindow(int(kernel.steps.time[0]), int(kernel.steps.time[-1]))
            self.session.set_view(span.padded(0.02))


def about(name: str, kernel: KernelCurve, times: Times) -> str:
    """Return a line of facts about a kernel."""
    ids = (
        Message("id {0}", kernel.ids[0])
        if len(kernel.ids) == 1
        else Message("ids {0}", ", ".join(map(str, kernel.ids)))
    )
    numbers = occupancy_numbers(kernel.steps)
    launches = plural(kernel.launches, "dispatch", "dispatches") if kernel.launches else NO_LAUNCH
    waves = Message("mean {0:,.1f}, at most {1:,} at a time", numbers.mean, numbers.peak)
    unit = f"{times.unit} " if times.unit else ""
    span = f"{unit}{times.at(numbers.begin)} … {times.at(numbers.end)}"
    cut = () if kernel.is_whole else ("some waves began before or ended after the trace",)
    return join_texts(" · ", (name, ids, launches, plural(kernel.waves, "wave"), waves, span, *cut))


def kernel_name(kernel: KernelCurve) -> str:
    """Return the name of a kernel on the command line."""
    return demangled(kernel.name) or Message("kernel {0} (no name)", kernel.ids[0])


def _names(kernels: tuple[KernelCurve, ...]) -> list[str]:
    """Return short names, with ids where two kernels would share a name."""
    short = [short_kernel(kernel.name) or "kernel without a name" for kernel in kernels]
    often = Counter(short)
    named = zip(short, kernels, strict=True)
    return [name if often[name] == 1 else f"{name} #{kernel.ids[0]}" for name, kernel in named]
