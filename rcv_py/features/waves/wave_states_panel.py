"""States of all waves over time: how many execute, wait, stall and idle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.device.wave_states import LIVING, StateCurves, state_curves
from rcv_py.base.text import Message, count, join_texts, percent, plural
from rcv_py.model.kinds import STATE_NAME, STATE_TEXT, WaveState
from rcv_py.model.trace import Trace
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import READING
from rcv_py.ui.plot.curve_panel import CurvePanel, Stack
from rcv_py.ui.plot.curves import Curve, CurveSet
from rcv_py.ui.table.command_text import CommandWords, only, rcv

NO_STATES = "No wave with a timeline could be read, so states are unknown."
REBUILD_MS = 500  # ms while waves arrive
STACKS = (
    ("stacked", Stack.AREAS.value, "Areas on top of each other; the outline is all resident waves."),
    ("shares", Stack.SHARES.value, "Each state's share of the resident waves."),
    ("lines", Stack.LINES.value, "A line for each state."),
)
WAVES = (
    ("All traced waves", "all", "The waves of all traced compute units."),
    ("Selected wave's engine", "se", "The waves of the shader engine of the selected wave."),
)


@dataclass(frozen=True, eq=False)
class SourcedCurves:
    """Curves of states with their source."""

    states: tuple[tuple[WaveState, np.ndarray, np.ndarray], ...]  # state, time, waves
    shares: np.ndarray  # float64 [5]
    read: int  # waves
    is_writers: bool = False  # from the capture's own files, whose clocks are not aligned


def counted(trace: Trace, sums: StateCurves, *, may_take_writers: bool) -> SourcedCurves:
    """Return the curves of the waves that were read; without waves, the curves in the capture's files."""
    if not sums.waves and may_take_writers and trace.state_curves:
        return _writers(trace)
    curves = tuple((state, sums.time, sums.count[state]) for state in LIVING)
    return SourcedCurves(curves, sums.shares, sums.waves)


def _writers(trace: Trace) -> SourcedCurves:
    of = {curve.state: curve for curve in trace.state_curves if len(curve.time)}
    curves = tuple((state, of[state].time, of[state].waves) for state in LIVING if state in of)
    cycles = np.zeros(len(WaveState))
    for state, time, waves in curves:
        cycles[state] = (np.diff(time) * waves[:-1]).sum()
    return SourcedCurves(curves, cycles / max(1.0, float(cycles.sum())), 0, is_writers=True)


def curves_of(sums: SourcedCurves) -> tuple[Curve, ...]:
    """Return the curves to draw, exec at the bottom."""
    tips = {
        state: Message(
            "{0}: {1}, {2} of the waves' time",
            STATE_NAME[state],
            STATE_TEXT[state],
            percent(float(sums.shares[state]), 1),
        )
        for state in LIVING
    }
    return tuple(
        Curve(
            name=STATE_NAME[state],
            time=time,
            value=waves,
            color=f"state:{state.name}",
            unit="waves",
            tip=tips[state],
        )
        for state, time, waves in sums.states
    )


class WaveStatesPanel(CurvePanel):
    """How many traced waves execute, wait, stall or idle over time."""

    panel_id = "wave_states"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui, "Wave states: traced waves in each state over time")
        self.made: SourcedCurves | None = None
        self._se: int | None = None
        self.add_choice("waves", "Which waves count", WAVES, self._now)
        self.add_choice("stack", "How curves share the plot", STACKS, self._restack)
        self._restack()
        self._rebuild = self.request(self._start, REBUILD_MS)
        self.session.trace.watch(self._trace_changed)
        self.session.loaded.watch(self._rebuild.update)
        self.session.selection.watch(self._selection_changed)
        self._trace_changed()

    def _trace_changed(self) -> None:
        self.made = None
        self.plot.set_curves((), "traced waves")
        self.say("")
        empty = self.why_missing("waves")
        self.page.say(empty or READING)
        if not empty:
            self._rebuild.ask()

    def _selection_changed(self) -> None:
        if self.chosen("waves") == "se" and self._engine() != self._se:
            self._now()

    def _engine(self) -> int | None:
        wave = self.session.selection.value.wave
        return wave.se if wave is not None and self.chosen("waves") == "se" else None

    def _now(self) -> None:
        if self.session.trace.value is not None:
            self._rebuild.now()

    def command_line(self) -> CommandWords | None:
        se = self._engine()
        engine = () if se is None else (f"--se={se}",)
        shown = only([STATE_NAME[state] for state in LIVING], self.plot.shown)
        return rcv(self.session, "occupancy", "--by=state", *engine, *shown)

    def _restack(self) -> None:
        self.plot.set_stack(Stack(self.chosen("stack")))

    def _start(self) -> None:
        trace, store = self.session.trace.value, self.session.store
        if trace is None or store is None:
            return
        se, is_all = self._engine(), store.is_complete
        self._se, ask = se, self.incremental("wave_states", state_curves(se), se)

        def job() -> tuple[SourcedCurves, CurveSet]:
            sums = counted(trace, ask(None), may_take_writers=is_all and se is None)
            curves = CurveSet(curves_of(sums))
            curves.prepare()
            return sums, curves

        self._rebuild.run(job, lambda made: self._show(*made))

    def _show(self, sums: SourcedCurves, curves: CurveSet) -> None:
        trace, store = self.session.trace.value, self.session.store
        if trace is None or store is None:
            return
        self.made = sums
        if not any(len(time) for _, time, _ in sums.states):
            self.page.say(self.reason(NO_STATES) if store.is_complete else READING)
            return
        self.page.say("")
        self.plot.set_curves(curves, "traced waves")
        self.say(self._text(trace, sums))

    def _text(self, trace: Trace, sums: SourcedCurves) -> str:
        named = (Message("{0} {1}", STATE_NAME[state], percent(sums.shares[state], 1)) for state in LIVING)
        shares = join_texts(", ", named)
        if sums.is_writers:
            return Message("{0} · as the writer of the capture counted; clocks are not aligned", shares)
        rows = len(trace.waves) if self._se is None else int(np.count_nonzero(trace.waves.se == self._se))
        whose = "" if self._se is None else Message(" of SE{0}", self._se)
        read = Message("{0} of {1} waves read", count(sums.read), count(rows))
        return Message("{0} · {1}{2}", shares, plural(rows, "wave") if sums.read >= rows else read, whose)
