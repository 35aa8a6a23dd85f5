"""The capture on one page: key numbers, where the time went, how busy the SIMDs and compute units were."""

from functools import partial

from rcv_py.analysis.overview.device_summary import DeviceSummary, Fact, summary_by
from rcv_py.base.text import Message, plural
from rcv_py.features.summary.parts import (
    SIMD_FACTS,
    activity_meters,
    counter_meters,
    held_facts,
    pipe_meters,
    pmc_facts,
    reason_parts,
    state_meters,
)
from rcv_py.features.summary.widgets import Card, CardPage, FactList, Meters, share_meters
from rcv_py.ui.core.computing import Computing
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import scrolled
from rcv_py.ui.core.panel import Panel, Sheet
from rcv_py.ui.core.plain_text import PlainLabel
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page

NOTHING = (
    "There is nothing to sum up: no instruction ran, no wave was seen, and there are no PC samples. "
    "Record the kernel again with a target compute unit that gets work."
)
NO_TIMES = "PC samples have no times: there is no duration, no occupancy and no utilization to show."
STREAM_MS = 800


class SummaryPanel(Panel):
    """The capture in numbers, on one page."""

    panel_id = "summary"

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
        self.note = PlainLabel(role="muted")
        self._request = self.request(self._compute, STREAM_MS)
        self.fact_card = Card("Key numbers", ("", self.facts), width=390, grows=1)
        parts = (("instructions", self.activity), ("states", self.states))
        self.time_card = Card("Time of the traced waves", *parts, width=220)
        self.pipe_card = Card("Traced compute units", ("", self.pipes), width=250, grows=1)
        self.counter_card = Card("Hardware counters", ("", self.counters), width=240, grows=1)
        self.reason_card = Card("Stall reasons, all samples", ("", self.reasons), width=260, grows=1)
        self.memory_card = Card("L2 and memory, by rocprofv3 --pmc", ("", self.memory), width=390, grows=1)
        self.held_card = Card("Registers", ("", self.held), width=300, grows=1)
        self._all_cards = (
            *(self.fact_card, self.time_card, self.pipe_card, self.counter_card),
            *(self.reason_card, self.memory_card, self.held_card),
        )
        self.cards = CardPage(self._all_cards)
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
        for card in self._all_cards:
            card.setVisible(False)
        if trace is not None:
            self._request.ask()
            given, take = self.session.run_files, self._take_facts
            self.run_job(lambda: pmc_facts(trace), partial(take, self.memory, self.memory_card), "pmc")
            held = partial(take, self.held, self.held_card)
            self.run_job(lambda: held_facts(trace, given), held, "registers")

    def _say_waiting(self) -> None:
        """Show the progress of the summary until it is there."""
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
        for bar in (self.activity, self.states):
            self.time_card.show_part(bar, bool(bar.meters))
        for card, is_known in (
            (self.fact_card, summary.facts),
            (self.time_card, self.activity.meters or self.states.meters),
            (self.pipe_card, self.pipes.meters),
            (self.counter_card, self.counters.meters),
            (self.reason_card, self.reasons.meters),
        ):
            card.setVisible(bool(is_known))

    def _take_facts(self, shown: FactList, card: Card, facts: tuple[Fact, ...]) -> None:
        shown.set_facts(facts)
        card.setVisible(bool(facts))

    def _say(self, summary: DeviceSummary) -> None:
        note = ""
        if summary.reasons is not None and summary.occupancy is None and not summary.waves:
            note = NO_TIMES
        elif summary.read < summary.waves:
            note = Message(
                "partial: states and pipes of {0:,} of {1}", summary.read, plural(summary.waves, "wave")
            )
        elif waves_note(self.session):
            note = Message(
                "Lives, activity and states of {0}; SIMDs are busy with all waves.", waves_note(self.session)
            )
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def caption(self) -> str:
        return self.note.text()

    def command_line(self) -> command_text.CommandWords | None:
        return command_text.rcv(self.session, "summary")

    def sheet(self) -> Sheet | None:
        if self.summary is None:
            return None
        rows = [(fact.name, fact.value, fact.of) for fact in self.summary.facts]
        samples = reason_parts(self.summary.reasons)
        rows += [(f"samples: {name}", value, "of all samples") for name, value, _, _ in samples]
        return Sheet("Summary", ("number", "value", "of"), rows)
