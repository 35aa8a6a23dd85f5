"""The capture on one page: key numbers, where the time went, how busy the SIMDs and compute units were."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QWidget

from rcv_py.analysis.cost.activity import MEANING, SHOWN, Activity, StateShares
from rcv_py.analysis.cost.pc_samples import StallReasons, reason_meaning, reason_name
from rcv_py.analysis.counters.counter_shares import CounterBar, CounterShares
from rcv_py.analysis.counters.pmc.decision import decision
from rcv_py.analysis.counters.pmc.traffic import traffic, traffic_facts
from rcv_py.analysis.device.pipe_use import PIPE_KIND, PIPE_TEXT
from rcv_py.analysis.overview.device_summary import DeviceSummary, Fact, summary_by
from rcv_py.analysis.program.live_registers import live_registers
from rcv_py.base.text import Message, capitalized, join_texts, percent, plural, short_kernel
from rcv_py.features.registers.result import file_table
from rcv_py.features.summary.result import pipe_rows
from rcv_py.features.summary.widgets import Card, CardPage, Color, FactList, Meter, Meters, share_meters
from rcv_py.formats.pmc_files import beside
from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import STATE_NAME, STATE_TEXT, TokenKind, WaveState
from rcv_py.model.trace import Trace
from rcv_py.ui.core.computing import Computing
from rcv_py.ui.core.layout import scrolled
from rcv_py.ui.core.panel import Panel, Sheet, UiContext
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page
from rcv_py.work.occupancy import limits_of

MEAN = "Of the busy time of all sampled compute units, over all samples. Above 100 %: two issues a step."
PEAK = "At the moment of its largest value, of what was busy then, over all sampled compute units."
PMC_MEANING = "Mean of a dispatch, counted in runs of their own by rocprofv3 --pmc; rcv pmc shows more."
PIPE_HEADING = {  # of gfx9, and of later generations
    True: "On this generation a trace records the cycles of issue, not how long a pipe goes on working; "
    "the forms of MFMA instructions say how long the MFMA unit works.",
    False: "On this generation a trace records how long an instruction executes.",
}
OF_RESIDENT = "of the cycles in which the SIMD had a traced wave"
HELD = "Registers that must be held at a time, at most, by live ranges over the control-flow graph"
LISTED = 16  # maximum SIMDs that a tooltip lists one by one
SIMD_FACTS = {  # key numbers of SIMDs: column of each, short name, and colour
    "simd_busy": ("issuing", "issuing", "accent"),
    "simd_working": ("working", "working", "accent"),
    "matrix_busy": ("mfma_busy", "MFMA unit", "good"),
    "no_issue": ("no_issue", "no issue", "idle"),
    "nothing_happens": ("bubbles", "nothing", "stall"),
}


def role(name: str) -> Color:
    """Return a function that gets a colour from a theme by its role."""
    return partial(Theme.role, name=name)


def activity_meters(activity: Activity | None) -> tuple[Meter, ...]:
    """Return the shares of issue, stall and idle."""
    if activity is None:
        return ()
    cycles = {"issue": activity.issue, "stall": activity.stall, "idle": activity.idle}
    return share_meters([(name, cycles[name], role(name), MEANING[name]) for name in cycles], "cycles")


def state_meters(states: StateShares | None) -> tuple[Meter, ...]:
    """Return the shares of wave states, executing first."""
    if states is None:
        return ()
    parts = [
        (STATE_NAME[state], int(states.cycles[state]), partial(Theme.state, kind=state), STATE_TEXT[state])
        for state in sorted(SHOWN, key=lambda state: state is not WaveState.EXEC)
    ]
    return share_meters(parts, "cycles")


def reason_parts(reasons: StallReasons | None) -> list[tuple[str, int, Color, str]]:
    """Return issued samples, followed by stalled samples by reason, the most frequent first."""
    if reasons is None or not reasons.samples:
        return []
    ranked = [
        (reason_name(reason), samples, partial(Theme.reason, kind=reason), reason_meaning(reason))
        for reason, samples in reasons.ranked()
    ]
    rest = [
        ("not recorded", reasons.unsure, role("muted"), "host traps do not record whether it issued"),
        ("no reason given", reasons.unknown, role("muted"), "the file names none"),
    ]
    issued = ("issued", reasons.issued, role("line"), "the instruction issued in the sample")
    return [issued, *ranked, *(part for part in rest if part[1])]


def pipe_meters(summary: DeviceSummary, is_gfx9: bool) -> tuple[Meter, ...]:
    """Return meters for all SIMDs and each: issue, work of the MFMA unit, and issue of each pipe."""
    pipes = summary.pipes
    if pipes is None or summary.work is None:
        return ()
    rows = [own | {"issuing": resident - own["no_issue"]} for _, resident, own in pipe_rows(summary)]
    of = {name: np.array([row[name] for row in rows], dtype=np.int64) for name in rows[0]}

    def meter(name: str, value: float, color: Color, meaning: str, cycles: np.ndarray) -> Meter:
        each = (100 * cycles / np.maximum(pipes.resident, 1)).tolist()
        simds = zip(pipes.se.tolist(), pipes.cu.tolist(), pipes.simd.tolist(), each, strict=True)
        lines = [f"{place_name(se, cu=cu, simd=simd)}: {percent(part, 100)}" for se, cu, simd, part in simds]
        more = [Message("and {0} more", len(lines) - LISTED)] if len(lines) > LISTED else []
        return Meter(name, value, color, "\n".join([meaning, *lines[:LISTED], *more]), tuple(each))

    meters = []
    for fact in summary.facts:
        if fact.id in SIMD_FACTS:
            source, name, ink = SIMD_FACTS[fact.id]
            meaning = Message("{0} {1}. {2}", fact.name, fact.of, fact.meaning)
            meters.append(meter(name, 100 * float(fact.value), role(ink), meaning, of[source]))
    heading = PIPE_HEADING[is_gfx9]
    meters.append(Meter("issue by pipe, a mark per SIMD", 0.0, role("muted"), heading, is_heading=True))
    for name in pipes.used:
        color = partial(Theme.kind, kind=PIPE_KIND[name])
        meaning = Message("{0}, {1}.", capitalized(PIPE_TEXT[name]), OF_RESIDENT)
        meters.append(meter(name, 100 * pipes.share(name), color, meaning, pipes.column(name)))
    return tuple(meters)


def counter_meters(shares: CounterShares | None) -> tuple[Meter, ...]:
    """Return meters of hardware counters; pipes that may issue twice can exceed 100 %."""

    def meter(bar: CounterBar) -> Meter:
        color = partial(Theme.kind, kind=TokenKind[bar.kind])
        return Meter(bar.name, bar.value, color, PEAK if bar.name.endswith("Peak") else MEAN)

    return () if shares is None else tuple(map(meter, shares.bars))


def pmc_facts(trace: Trace) -> tuple[Fact, ...]:
    """Return numbers of L2 and memory and the branch they lead to; nothing if none belong to this kernel.

    It reads files: do not call it on the UI thread.
    """
    table = beside(trace.path)
    name = short_kernel(trace.kernel_name)
    if table is None or not name:
        return ()
    mine = [one for one in traffic(table) if short_kernel(one.name) == name]
    facts = list(traffic_facts(mine[0])) if mine else []
    if not facts:
        return ()
    found = decision(mine[0]).branch
    many = plural(mine[0].dispatches, "dispatch", "dispatches")
    return (
        *(Fact(f"pmc {name}", name, text, text, "", f"{PMC_MEANING} ({many})") for name, text in facts),
        Fact("pmc branch", "branch", found.name, found.name, found.sentence, found.remedy),
    )


def held_facts(trace: Trace, given: Sequence[Path] = ()) -> tuple[Fact, ...]:
    """Return the maximum of held registers per file, its place, and the next step of occupancy.

    It reads files (`given`: tables of the run): do not call it on the UI thread.
    """
    if not len(trace.code):
        return ()
    limits = limits_of(trace, facts_about(trace, given))
    table = file_table(trace, live_registers(trace.code), limits)
    facts = []
    for row in table.rows():
        peak, allocated = row["peak"], row["allocated"]
        of = Message("{0:,} are named", row["named"])
        if allocated is not None:
            of = Message("of {0:,} allocated", allocated)
        where = "" if row["instruction"] is None else Message(", at {0}", row["instruction"])
        source = f"  {row['source']}" if row["source"] else ""
        meaning = join_texts(". ", (HELD, f"{row['text']}{source}"))
        said = Message("{0}{1}", of, where)
        facts.append(Fact(f"held {row['file']}", row["file"], peak, f"{peak:,}", said, meaning))
    if limits.next_step:
        facts.append(Fact("next step", "next step", limits.next_step, limits.next_step, "", limits.next_step))
    return tuple(facts)


NOTHING = (
    "There is nothing to sum up: no instruction ran, no wave was seen, and there are no PC samples. "
    "Record the kernel again with a target compute unit that gets work."
)
NO_TIMES = "PC samples have no times: there is no duration, no occupancy and no utilization to show."
STREAM_MS = 800


class SummaryPanel(Panel):
    """The capture in numbers, on one page."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self._computing = Computing(self, self._say_waiting)
        self.summary: DeviceSummary | None = None
        theme = ui.theme
        self.facts = FactList()
        self.activity = Meters(theme, "Activity of the traced waves")
        self.states = Meters(theme, "States of the traced waves")
        self.pipes = Meters(theme, "Share of SIMD cycles: issue, MFMA unit, pipes")
        self.counters = Meters(theme, "Hardware counters: busy share of pipes")
        self.reasons = Meters(theme, "PC samples by stall reason")
        self.memory = FactList("L2 and memory, by counters of the profiler")
        self.held = FactList("Registers that must be held at a time")
        self.note = self.captioned = PlainLabel(role="muted")
        self._request = self.request(self._compute, STREAM_MS)
        times = (("instructions", self.activity), ("states", self.states))
        self.card_of: dict[QWidget, Card] = {  # by its first part
            self.facts: Card("Key numbers", ("", self.facts), width=390, grows=1),
            self.activity: Card("Time of the traced waves", *times, width=220),
            self.pipes: Card("Traced compute units", ("", self.pipes), width=250, grows=1),
            self.counters: Card("Hardware counters", ("", self.counters), width=240, grows=1),
            self.reasons: Card("Stall reasons, all samples", ("", self.reasons), width=260, grows=1),
            self.memory: Card("L2 and memory, by rocprofv3 --pmc", ("", self.memory), width=390, grows=1),
            self.held: Card("Registers", ("", self.held), width=300, grows=1),
        }
        self.cards = CardPage(list(self.card_of.values()))
        self.note.setContentsMargins(18, 6, 8, 0)
        self.empty = page(self, self.note, (scrolled(self.cards), 1))
        ui.session.trace.watch(self._open)
        self._request.follow_doublings()
        ui.session.waves.watch(self._request.ask)
        self._open()

    def _open(self) -> None:
        trace = self.session.trace.value
        self.summary = None
        self._say_waiting()
        for card in self.card_of.values():
            card.setVisible(False)
        if trace is not None:
            self._request.ask()
            given, take = self.session.run_files, self._take_facts
            self.run_job(lambda: pmc_facts(trace), partial(take, self.memory), "pmc")
            self.run_job(lambda: held_facts(trace, given), partial(take, self.held), "registers")

    def _say_waiting(self) -> None:
        trace = self.session.trace.value
        if self.summary is not None or trace is None or not len(trace.waves):
            self._computing.stop()
            self.empty.say("" if trace is not None else self.reason(NOTHING))
            return
        self.empty.say(self._computing.begin("the summary", stage=lambda: self._request.flag.stage))

    def _compute(self) -> None:
        trace, store = self.session.trace.value, self.session.store
        if trace is None or store is None:
            return
        read, chosen, flag = self.session.snapshot(), self.chosen_rows(), self._request.new_flag()

        def job() -> DeviceSummary:
            rows = chosen()
            return read.of_all(summary_by(rows), rows, flag)

        self._request.run(job, self._take)

    def _take(self, summary: DeviceSummary) -> None:
        trace = self.session.trace.value
        assert trace is not None
        self.summary = summary
        self._computing.stop()
        self.empty.say(self.reason(NOTHING) if summary.is_empty and not trace.is_static else "")
        self._say(summary)
        is_metered = SIMD_FACTS if summary.pipes is not None and summary.work is not None else {}
        self.facts.set_facts([fact for fact in summary.facts if fact.id not in is_metered])
        self.activity.set_meters(activity_meters(summary.activity))
        self.states.set_meters(state_meters(summary.states))
        self.pipes.set_meters(pipe_meters(summary, trace.architecture.busy_is_issue))
        self.reasons.set_meters(share_meters(reason_parts(summary.reasons), "samples"))
        self.counters.set_meters(counter_meters(summary.counters))
        self.card_of[self.facts].setVisible(bool(summary.facts))
        times = self.card_of[self.activity]
        for bar in (self.activity, self.states):
            times.show_part(bar, bool(bar.meters))
        times.setVisible(bool(self.activity.meters or self.states.meters))
        for bar in (self.pipes, self.counters, self.reasons):
            self.card_of[bar].setVisible(bool(bar.meters))

    def _take_facts(self, shown: FactList, facts: tuple[Fact, ...]) -> None:
        shown.set_facts(facts)
        self.card_of[shown].setVisible(bool(facts))

    def _say(self, summary: DeviceSummary) -> None:
        note, chosen = "", waves_note(self.session)
        if summary.reasons is not None and summary.occupancy is None and not summary.waves:
            note = NO_TIMES
        elif summary.read < summary.waves:
            waves = plural(summary.waves, "wave")
            note = Message("partial: states and pipes of {0:,} of {1}", summary.read, waves)
        elif chosen:
            note = Message("Lives, activity and states of {0}; SIMDs are busy with all waves.", chosen)
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def command_line(self) -> command_text.CommandWords | None:
        return command_text.rcv(self.session, "summary")

    def sheet(self) -> Sheet | None:
        if self.summary is None:
            return None
        rows = [(fact.name, fact.value, fact.of) for fact in self.summary.facts]
        samples = reason_parts(self.summary.reasons)
        rows += [(f"samples: {name}", value, "of all samples") for name, value, _, _ in samples]
        return Sheet("Summary", ("number", "value", "of"), rows)
