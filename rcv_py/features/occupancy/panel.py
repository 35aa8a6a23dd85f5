"""Waves over time: by place, by kernel, or by their state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.device.occupancy_curves import (
    KernelCurve,
    OccupancyCurve,
    dispatch_curves,
    occupancy_curves,
    occupancy_numbers,
)
from rcv_py.analysis.device.wave_states import LIVING, StateCurves, state_curves
from rcv_py.base.record import Value
from rcv_py.base.text import Message, count, demangled, join_texts, percent, plural, short_kernel
from rcv_py.model.kinds import STATE_NAME, STATE_TEXT, WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.panel import READING, UiContext
from rcv_py.ui.core.times import UNITS, Times
from rcv_py.ui.plot.curve_panel import CurvePanel
from rcv_py.ui.plot.curves import Curve, CurveSet, state_areas
from rcv_py.ui.table.command_text import CommandWords, each, only, rcv
from rcv_py.ui.table.filter_menu import FilterButton, FilterItem
from rcv_py.ui.timeline.time_overlay import event_lines

NO_TRACED = "No wave ran on the traced compute unit. Choose “All together” or “Shader engines”."
NO_STATES = "No wave with a timeline could be read, so states are unknown."
NO_LAUNCH = "dispatches not recorded"
REBUILD_MS = 500  # ms while waves arrive
UNIT, SIMD, KERNEL, STATE = "cu", "simd", "kernel", "state"
GROUPS = (
    ("Shader engines", "se", "A curve for each shader engine."),
    ("All together", "all", "One curve of all traced shader engines."),
    ("Traced compute units", UNIT, "A curve for each compute unit whose instructions were traced."),
    ("SIMDs of traced units", SIMD, "A curve for each SIMD of the traced compute units."),
    ("Kernels", KERNEL, "A curve for each kernel name: where several are above 0, they share the device."),
    ("Wave states", STATE, "Areas that add up to the traced waves: exec, wait, stall and idle."),
)


class Row(Value):
    """A curve with facts in its tip, and its name on the command line."""

    curve: Curve
    word: str


class StateSums(Value):
    """Waves in each state over time, and where they come from."""

    curves: CurveSet  # ready for pixels
    shares: np.ndarray  # float64 [5]
    read: int  # waves
    is_writers: bool = False  # from the capture's own files, whose clocks are not aligned

    @classmethod
    def of(cls, trace: Trace, sums: StateCurves, *, is_complete: bool) -> StateSums:
        """Return the sums of the waves that were read; if none could be, those in the capture's files."""
        is_writers = is_complete and not sums.waves and bool(trace.state_curves)
        states, shares = {state: (sums.time, sums.count[state]) for state in LIVING}, sums.shares
        if is_writers:
            own = {one.state: (one.time, one.waves) for one in trace.state_curves if len(one.time)}
            states = {state: own[state] for state in LIVING if state in own}
            cycles = np.zeros(len(WaveState))
            for state, (time, waves) in states.items():
                cycles[state] = (np.diff(time) * waves[:-1]).sum()
            shares = cycles / max(1.0, float(cycles.sum()))

        text = "{0}: {1}, {2} of the waves' time"
        parts = {state: percent(float(shares[state]), 1) for state in states}
        tips = {state: Message(text, STATE_NAME[state], STATE_TEXT[state], parts[state]) for state in states}
        return cls(state_areas(states, tips), shares, sums.waves, is_writers)


class OccupancyPanel(CurvePanel):
    """Waves over time, by place, by kernel, or by their state."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui, "Occupancy: waves over time", is_overview=True)
        self.rows: tuple[Row, ...] = ()
        self._answer: Any = None  # the rows are made of it, in the present unit of times
        self.add_choice("group", "What a curve is", GROUPS, self._open)
        self.filter = FilterButton("the plot")
        self._head.insertWidget(1, self.filter)
        self._states = self.request(self._count_states, REBUILD_MS)
        self.session.trace.watch(self._open)
        self.session.loaded.watch(self._more_waves)
        self.filter.changed.connect(self._draw)
        self.plot.clicked.connect(self._clicked)
        self.plot.legend.picked_changed.connect(lambda _: self._say())
        ui.settings.cell(UNITS).watch(self._show_again)
        self._open()

    def _open(self) -> None:
        trace, by = self.session.trace.value, self.chosen("group")
        self.rows, self._answer = (), None
        self.plot.canvas.moments = event_lines(trace) if trace is not None and by == KERNEL else ()
        self.plot.show_curves(CurveSet(), "")
        self.say("")
        missing = self.why_missing("waves" if by == STATE else "occupancy")
        self.page.say(missing or (READING if by == STATE else ""))
        if trace is None or missing:
            return
        if by == STATE:
            self._states.now()
        elif by == KERNEL:
            self.run_job(lambda: dispatch_curves(trace.occupancy, trace.dispatches), partial(self._take, by))
        else:
            self.run_job(lambda: occupancy_curves(trace, by), partial(self._take, by))

    def _more_waves(self) -> None:
        if self.chosen("group") == STATE:
            self._states.update()

    def _count_states(self) -> None:
        trace, store = self.session.trace.value, self.session.store
        if trace is None or store is None:
            return
        is_complete, ask = store.is_complete, self.incremental("wave_states", state_curves())
        take = partial(self._take, STATE)
        self._states.run(lambda: StateSums.of(trace, ask(None), is_complete=is_complete), take)

    def _take(self, by: str, answer: Any) -> None:
        if by == self.chosen("group"):
            self._answer = answer
            self._show_again()

    def _show_again(self) -> None:
        trace, by = self.session.trace.value, self.chosen("group")
        if trace is None or self._answer is None:
            return
        if by == STATE:
            self.rows = tuple(Row(curve, curve.name) for curve in self._answer.curves.curves)
        else:
            rows = _kernel_rows if by == KERNEL else _place_rows
            self.rows = tuple(rows(trace, self._answer, self.times))
        curves = [row.curve for row in self.rows if len(self.rows) > 1]
        self.filter.set_section("Curves", [FilterItem(one.name, one.name, tip=one.tip) for one in curves])
        self._draw()

    @property
    def shown(self) -> tuple[Row, ...]:
        """Return the rows that are not hidden."""
        return tuple(row for row in self.rows if row.curve.name not in self.filter.hidden)

    def _draw(self) -> None:
        answer, by = self._answer, self.chosen("group")
        if answer is None:
            return
        self.page.say(self._why_nothing())
        is_state, curves = by == STATE, [row.curve for row in self.shown]
        is_ready = is_state and len(curves) == len(self.rows)
        shown = answer.curves if is_ready else CurveSet(curves, stacked=is_state)
        self.plot.show_curves(shown, "traced waves" if is_state else "resident waves")
        self._say()

    def _why_nothing(self) -> str:
        store, by = self.session.store, self.chosen("group")
        if by == STATE and not any(len(row.curve.time) for row in self.rows):
            return self.reason(NO_STATES) if store is not None and store.is_complete else READING
        return NO_TRACED if not self.rows and by in (UNIT, SIMD) else ""

    def _say(self) -> None:
        """Describe the curve that the legend emphasizes, or the only one, or all."""
        rows = [row for row in self.shown if row.curve.name == self.plot.legend.picked] or self.shown
        if len(rows) == 1 and self.chosen("group") != STATE:
            self.say(rows[0].curve.tip)
        else:
            self.say(self._about_all())

    def _about_all(self) -> str:
        trace, answer, by = self.session.trace.value, self._answer, self.chosen("group")
        if not self.shown:
            return "No curve is shown."
        if by == KERNEL:
            return plural(len(self.rows), "kernel")
        if trace is not None and by == STATE:
            return _states_text(trace, answer)
        peaks = {int(row.curve.value.max()) for row in self.shown}
        said = Message("peaks between {0:,} and {1:,} waves", min(peaks), max(peaks))
        if len(peaks) == 1:
            said = Message("at most {0} at a time each", plural(peaks.pop(), "wave"))
        per_unit = {curve.slots // curve.units for curve in answer if curve.slots}
        if len(per_unit) != 1 or by == SIMD:
            return said
        return Message("{0} · {1} per compute unit", said, plural(per_unit.pop(), "wave slot"))

    def _clicked(self, name: str, time: int, is_double: bool) -> None:
        """Describe a curve; a double click shows the time of all its waves."""
        curve = next((row.curve for row in self.shown if row.curve.name == name), None)
        if curve is None:
            return
        self.say(curve.tip)
        if is_double:
            self.session.set_view(TimeWindow(*curve.time[[1, -1]].tolist()).padded(0.02))

    def command_line(self) -> CommandWords | None:
        by, shown = self.chosen("group"), [row.word for row in self.shown]
        # The command knows every unit of the device, the panel those that were traced: it has to name them.
        names = each("only", shown) if by in (UNIT, SIMD) else only([row.word for row in self.rows], shown)
        return rcv(self.session, "occupancy", f"--by={by}", *names)


def _place_rows(trace: Trace, curves: Sequence[OccupancyCurve], times: Times) -> Iterable[Row]:
    for number, curve in enumerate(curves):
        units, about = plural(curve.units, "compute unit"), numbers_text(curve.steps, times)
        if curve.slots:
            about = Message("{0} · {1} can hold {2}", about, units, count(curve.slots))
        yield Row(_curve(trace, curve.name, curve.steps, number, about), curve.name)


def numbers_text(steps: StepCurve, times: Times) -> str:
    """Return mean, peak and tail of a step function of waves as text."""
    found = occupancy_numbers(steps)
    peak, tail, ramp = plural(found.peak, "wave"), percent(found.tail, 1), times.span(found.ramp)
    text = (
        "mean {0:,.1f} of at most {1} · at most half of that for the last {2} of the time · launch took {3}"
    )
    return Message(text, found.mean, peak, tail, ramp)


def _kernel_rows(trace: Trace, kernels: Sequence[KernelCurve], times: Times) -> Iterable[Row]:
    """Yield kernels under short names, with ids where two would share a name."""
    short = [short_kernel(kernel.name) or "kernel without a name" for kernel in kernels]
    often = Counter(short)
    for number, (kernel, name) in enumerate(zip(kernels, short, strict=True)):
        own = name if often[name] == 1 else f"{name} #{kernel.ids[0]}"
        word = demangled(kernel.name) or Message("kernel {0} (no name)", kernel.ids[0])
        yield Row(_curve(trace, own, kernel.steps, number, about_kernel(own, kernel, times)), word)


def about_kernel(name: str, kernel: KernelCurve, times: Times) -> str:
    """Return a line of facts about a kernel."""
    ids = Message("ids {0}" if len(kernel.ids) > 1 else "id {0}", ", ".join(map(str, kernel.ids)))
    numbers = occupancy_numbers(kernel.steps)
    launches = plural(kernel.launches, "dispatch", "dispatches") if kernel.launches else NO_LAUNCH
    waves = Message("mean {0:,.1f}, at most {1:,} at a time", numbers.mean, numbers.peak)
    unit = f"{times.unit} " if times.unit else ""
    span = f"{unit}{times.at(numbers.begin)} … {times.at(numbers.end)}"
    cut = () if kernel.is_whole else ("some waves began before or ended after the trace",)
    return join_texts(" · ", (name, ids, launches, plural(kernel.waves, "wave"), waves, span, *cut))


def _states_text(trace: Trace, sums: StateSums) -> str:
    named = (Message("{0} {1}", STATE_NAME[state], percent(sums.shares[state], 1)) for state in LIVING)
    shares, rows = join_texts(", ", named), len(trace.waves)
    if sums.is_writers:
        return Message("{0} · as the writer of the capture counted; clocks are not aligned", shares)
    read = Message("{0} of {1} waves read", count(sums.read), count(rows))
    return Message("{0} · {1}", shares, plural(rows, "wave") if sums.read >= rows else read)


def _curve(trace: Trace, name: str, steps: StepCurve, color: int, about: str) -> Curve:
    """Return a curve of waves, from a zero at the begin of the trace, so that the rise is drawn."""
    time = np.append(min(trace.span.begin, int(steps.time[0]) - 1), steps.time)
    waves = np.append(np.zeros(1, np.int32), steps.value)
    return Curve(name=name, time=time, value=waves, color=color, unit="waves", tip=about)
