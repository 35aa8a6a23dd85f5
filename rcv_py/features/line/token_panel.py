"""The selected instruction: durations and causes of all executions, and the waits of the selected one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QLineEdit, QToolButton

from rcv_py.analysis.cost.distribution import DistributionChoice, DistributionView, distribution_view
from rcv_py.base.manifest import panel_for
from rcv_py.base.text import Message, plural
from rcv_py.model.modes import Which
from rcv_py.ui.core.computing import Computing
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.layout import boxed, column, row, scrolled
from rcv_py.ui.core.panel import Panel, UiContext
from rcv_py.ui.core.plain_text import PlainLabel, allow, named, push_button, tooltip, with_tip
from rcv_py.ui.core.scheduler import LateVisibility
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.core.times import UNITS
from rcv_py.ui.plot.distribution_chart import DistributionChart
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page
from rcv_py.ui.widgets.links import GrowingText

if TYPE_CHECKING:  # they import attribution
    from rcv_py.analysis.attribution.attribute import LineCause
    from rcv_py.features.line.token_facts import TokenFacts

TRIAL = "try:0"  # the link to an experiment
NEVER = "Never executed by the waves that count."
NOTHING = "No instruction is selected. Click one in the timeline or in the ISA."
HIT_TIP = "Which time the wave runs this instruction, from 1. Type a number and press Return."
SPEEDS = {  # choice of executions: which, keys
    "fastest": (Which.FASTEST, "Alt+Home"),
    "median": (Which.MEDIAN, "Alt+\\"),
    "slowest": (Which.SLOWEST, "Alt+End"),
}
ADDRESS = "address"  # the result of recorded addresses
DISTRIBUTION = "distribution"  # the panel that shows a larger view


class TokenDetailsPanel(Panel):
    """The selected instruction: all its executions, and what this one waited for."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.facts: TokenFacts | None = None
        self.view: DistributionView | None = None  # of all executions
        self.causes: tuple[LineCause, ...] | None = None  # over all executions; None while unknown
        self._is_never = False  # whether no wave that was read and counts executed it
        self._all_of: tuple[int, int] | None = None  # code row of the two fields above, and number of waves
        names = ("Selected instruction", "All executions of the instruction", "This execution")
        texts = (GrowingText(ui.session, ui.theme, name) for name in names)
        self.head, self.all, self.text = texts
        self.chart = DistributionChart(ui.theme, is_small=True)
        self.hits = PlainLabel(role="heading")
        self.note = PlainLabel(role="muted", wordWrap=True, visible=False)
        self.hit = named(QLineEdit(), "Hit: which time the wave runs this instruction, from 1")
        self.of = PlainLabel()
        self.before, self.after = QToolButton(), QToolButton()
        tip = "Show the distribution larger, by other measures, with its slowest hits."
        self.larger = push_button("Larger", tip, partial(self.wants.emit, DISTRIBUTION), link=True)
        tip = "Select the {} execution of this instruction, of all waves that count  ({})"
        self.speeds = {}
        for name, (which, keys) in SPEEDS.items():
            select = partial(ui.session.select_execution, which)
            button = push_button(name.capitalize(), Message(tip, name, keys), select, small=True)
            self.speeds[name] = named(button, Message("{0} execution", name.capitalize()))
        self._lay_out()
        last = LateVisibility(self.visibility, lambda: ui.results.is_finding)
        self._soon = self.request(self._compute, visibility=self.late)
        self._whole_soon = self.request(self._compute, visibility=last)
        self._all_soon = self.request(self._compute_all, visibility=self.late)
        self._causes_soon = self.request(self._compute_causes)
        self._last = last
        ui.session.trace.watch(self._forget)
        for cell in (ui.session.trace, ui.session.selection):
            cell.watch(self._soon.ask)
            cell.watch(self._all_soon.ask)
        ui.session.executions.sought.watch(self._show_hit)
        ui.session.waves.watch(self._forget_all)
        ui.session.loaded.watch(self._more_waves)
        ui.results.cell("attribution").watch(self._causes_soon.ask)
        ui.results.cell(ADDRESS).watch(self._show)
        for request in (self._soon, self._all_soon):  # new waves may contain what covered a stall
            request.follow_doublings()
        self._computing = Computing(self, self._show)
        ui.settings.cell(UNITS).watch(self._show)
        ui.settings.cell("isa.description").watch(self._soon.ask)
        ui.theme.changed.connect(self._restyle)
        self.text.anchorClicked.connect(self._try)
        self.chart.bars_changed.connect(self._forget_all)
        self.chart.chosen.connect(self._go_to_bar)
        self._restyle()
        self._soon.now()
        self._all_soon.ask()

    def _lay_out(self) -> None:
        with_tip(self.hit, HIT_TIP)
        self._hits = QIntValidator(1, 1, self.hit)
        self.hit.setValidator(self._hits)
        self.hit.setFixedWidth(64)
        self.hit.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.hit.editingFinished.connect(self._typed)
        for button, tip, step in ((self.before, "Previous hit  ([)", -1), (self.after, "Next hit  (])", 1)):
            with_tip(named(button, tip.split("  ")[0]), tip)
            button.clicked.connect(partial(self.session.step_hit, step))
        head = row(self.hits, None, named(self.larger, "Open the distribution"), margins=(8, 0, 8, 0))
        self.every = boxed(column(head, self.chart, spacing=2))
        spinner = (PlainLabel("THIS hit", role="heading"), self.before, self.hit, self.after, (self.of, 1))
        speeds = row(*self.speeds.values(), margins=(8, 2, 8, 2), spacing=4)
        self.this = boxed(column(row(*spinner, margins=(8, 6, 8, 0), spacing=4), speeds))
        self.note.setContentsMargins(8, 2, 8, 2)
        parts = (self.head, self.every, self.all, self.this, self.note, self.text)
        self.empty = page(self, scrolled(boxed(column(*parts, None)), is_wide=False))

    def _restyle(self) -> None:
        self.before.setIcon(icon(self.ui.theme, "back"))
        self.after.setIcon(icon(self.ui.theme, "forward"))

    def _more_waves(self) -> None:
        """Update once the selected wave is there."""
        if (self.facts is None or not self.facts.wave) and self.session.wave() is not None:
            self._soon.ask()

    def _compute(self) -> None:
        if self.session.line is None:
            self._take(None)
            return
        # Imported when an instruction is selected: the first painting does not wait for attribution.
        from rcv_py.features.line.token_facts import facts_job  # noqa: PLC0415 - as said above

        if self._last.is_asleep:  # causes take all waves of the shader engine
            self._whole_soon.ask()
        self._soon.run(facts_job(self.ui, has_causes=not self._last.is_asleep), self._take)

    def _take(self, facts: TokenFacts | None) -> None:
        self.facts = facts
        self._show()

    def _forget_all(self) -> None:
        self._all_of = None
        self._all_soon.ask()

    def _compute_all(self) -> None:
        """Compute all executions, unless that was done for this instruction."""
        trace, store, line = self.session.trace.value, self.session.store, self.session.line
        if trace is None or store is None or line is None or not store.batches:
            self._all_of = self.view = self.causes = None
            return
        known, self._all_of = self._all_of, (line, self._all_soon.waves)
        if self._all_of == known:
            self._mark()
            return
        self.view, self.causes, self._is_never = None, None, False
        self.ui.results.want("attribution", self._last)
        self._causes_soon.ask()
        wanted, step = DistributionChoice(bins=self.chart.bars_wanted), trace.architecture.base_clock
        ask = self.session.executions.of_line(line)

        def take(view: DistributionView) -> None:
            if line == self.session.line:
                self.view = view if view.spread is not None else None
                self._is_never = view.spread is None and not self.session.is_streaming
                self._show()

        self._all_soon.run(lambda: distribution_view(ask(), wanted, step), take)

    def _compute_causes(self) -> None:
        table, line = self.ui.results.cell("attribution").value, self.session.line
        if table is None or line is None:
            self.causes = None
            return
        from rcv_py.analysis.attribution.attribute import causes_of  # noqa: PLC0415 - as above

        def take(causes: tuple[LineCause, ...]) -> None:
            if line == self.session.line:
                self.causes = causes
                self._show()

        self._causes_soon.run(lambda: causes_of(table, line), take)

    def _forget(self) -> None:
        self.facts = self.view = self.causes = None

    def _try(self, link: QUrl) -> None:
        """Replay the recording as if the instruction took no time."""
        if link.toString() == TRIAL and self.facts is not None:
            from rcv_py.analysis.whatif.asked import ChangeRequest  # noqa: PLC0415 - it imports other analyses

            self.session.add_experiment(ChangeRequest(free=(self.facts.line,)))
            self.wants.emit(panel_for("prediction"))

    def _show(self) -> None:
        trace, facts = self.session.trace.value, self.facts
        if trace is None or facts is None:
            self._computing.stop()
            self.empty.say(self.reason(NOTHING))
            return
        self.empty.say("")
        from rcv_py.features.line.token_facts import FactsText  # noqa: PLC0415 - as above

        self.chart.times = self.times
        text = FactsText(trace, facts, self.chart.times)
        view = self.view if self._all_of is not None and self._all_of[0] == facts.line else None
        causes = self.causes if view is not None else None
        self.head.show_html(text.head())
        spread, waiting = None if view is None else view.spread, ""
        if causes is None and self._all_of is not None and not self._is_never:
            waiting = self._computing.begin("causes", "attribution")
        else:
            self._computing.stop()
            waiting = NEVER if self._is_never and self._all_of is not None else ""
        table, found = (self.ui.results.cell(name).value for name in ("attribution", "findings"))
        sample = "" if found is None or found.attribution is not table else found.partial
        self.all.show_html(text.of_all(spread, causes, waiting, self._addresses(), sample))
        self.text.show_html(text.of_this())
        self.every.setVisible(view is not None)
        self.chart.show_view(view)
        self.hits.setText("" if spread is None else Message("ALL {0}", plural(spread.hits, "hit")))
        self.hits.setToolTip(tooltip(waves_note(self.session) or "The executions by all waves that count."))
        self._mark()
        self._show_hit()

    def _addresses(self) -> list[tuple[str, str]]:
        """Return what recorded addresses say about the selected instruction; they are computed if needed."""
        from rcv_py.analysis.latency.address_access import has_addresses  # noqa: PLC0415 - as above

        trace, line = self.session.trace.value, self.session.line
        if trace is None or line is None or not has_addresses(trace):
            return []
        from rcv_py.features.latency.address_result import address_facts  # noqa: PLC0415 - of few captures

        self.want_result(ADDRESS)
        found = self.ui.results.cell(ADDRESS).value
        return [] if found is None else address_facts(trace, found, line)

    def _show_hit(self) -> None:
        """Show which execution is selected, or that it is being searched."""
        sought = self.session.executions.sought.value
        token = None if self.facts is None else self.facts.token
        note = "" if sought is None else Message("Finding the {0} execution …", sought.which.value)
        self.note.setText(note)
        self.note.setVisible(sought is not None)
        self.this.setVisible(token is not None or (self.view is not None and sought is None))
        for widget in (self.before, self.hit, self.after):
            allow(widget, "" if token is not None else "The wave did not run this instruction.")
        if token is None:
            self.hit.clear()
            self.of.setText("none in this wave")
            return
        self.hit.setText(f"{token.hit + 1}")
        self._hits.setTop(max(1, token.hits))
        self.of.setText(Message("of {0:,}", token.hits))
        allow(self.before, "" if token.hit > 0 else "This is the first.")
        allow(self.after, "" if token.hit + 1 < token.hits else "This is the last.")

    def _mark(self) -> None:
        token = None if self.facts is None else self.facts.token
        self.chart.mark_token(None if token is None else token.stall + token.busy)

    def _go_to_bar(self, bar: int) -> None:
        """Select the execution in the middle of a bar."""
        trace, view = self.session.trace.value, self.view
        if trace is not None and view is not None and len(rows := view.in_bin(bar)):
            at = int(rows[len(rows) // 2])
            wave, hit = trace.waves.id(int(view.hits.wave[at])), int(view.hits.hit[at])
            self.session.select(replace(self.session.selection.value, wave=wave, hit=hit))

    def _typed(self) -> None:
        token, text = None if self.facts is None else self.facts.token, self.hit.text()
        if token is not None and text.isdigit():
            hit = min(max(int(text), 1), token.hits) - 1
            if hit != token.hit:
                self.session.select_hit(hit)

    def command_line(self) -> command_text.CommandWords | None:
        place, facts = self.session.selection.value, self.facts
        place = place if facts is not None and facts.token is not None else replace(place, hit=None)
        return None if facts is None else command_text.rcv(self.session, "place", str(place))
