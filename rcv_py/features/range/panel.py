"""The contents of a measured range, and the time from one instruction to another."""

from __future__ import annotations

from dataclasses import dataclass

from rcv_py.analysis.attribution.survey import SURVEY, Survey
from rcv_py.analysis.iterations.between import PairDistance as Distances
from rcv_py.analysis.iterations.between import between_of
from rcv_py.analysis.overview.range_costs import RangeCosts, range_costs_by
from rcv_py.base.text import Message
from rcv_py.features.range.panel_text import COMPUTING, head_html, pair_html, tables_html
from rcv_py.features.range.result import between_facts, range_table
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import Snapshot
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import boxed, row
from rcv_py.ui.core.panel import COPY_AS_COMMAND, Panel, Sheet
from rcv_py.ui.core.plain_text import copy_text, joined, push_button, rich
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page
from rcv_py.ui.widgets.links import LinkText

NOTHING = (
    "Nothing is measured. Drag with Shift over a time view to measure a range; or choose “Measure from here” "
    "in the menu of an instruction there, and then click another one."
)
MEASURE_MS = 200  # minimum interval between answers while a range is dragged


@dataclass(frozen=True, eq=False)
class Answered:
    """The answer to a question."""

    window: TimeWindow | None
    costs: RangeCosts | None
    ends: tuple[int, int] | None
    steps: Distances | None


class ClockRangePanel(Panel):
    """What waves did in the measured range, and how long it takes from one instruction to another."""

    panel_id = "clock_range"

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.answered: Answered | None = None
        self._survey: tuple[Snapshot, Survey] | None = None  # of the waves that were read
        self.text = LinkText(ui.session, ui.theme, "What lies in the measured range")
        tip = "Copy the table, to paste into a spreadsheet or a text."
        self.copy = push_button("Copy", tip, self._copy)
        tip = "Copy the command that prints the same numbers."
        self.as_command = push_button(COPY_AS_COMMAND, tip, self.copy_asked)
        buttons = boxed(row(self.copy, self.as_command, margins=(8, 4, 8, 4), spacing=6))
        self.empty = page(self, buttons, (self.text, 1))
        self._soon = self.request(self._compute, MEASURE_MS)
        session = ui.session
        for cell in (session.trace, session.measure, session.between, session.waves, session.populations):
            cell.watch(self._soon.update)
        session.busy.watch(self._at_the_end)
        ui.settings.cell("timeline.units").watch(self._show)
        self._compute()

    # -- computing ----------------------------------------------------------------------------------

    def _at_the_end(self) -> None:
        """Count the waves that arrived since the last answer."""
        if not self.session.is_streaming and self._question() != (None, None):
            self._soon.update()

    def _question(self) -> tuple[TimeWindow | None, tuple[int, int] | None]:
        """Return the measured range and the two instructions."""
        asked = self.session.between.value
        ends = None if asked is None or asked.last is None else (asked.first, asked.last)
        return self.session.measure.value, ends

    def _compute(self) -> None:
        flag = self._soon.new_flag()
        trace, store = self.session.trace.value, self.session.store
        window, ends = self._question()
        if trace is None or store is None or (window is None and ends is None):
            self._take(None)
            return
        read, wanted = self.session.snapshot(), self.session.waves.value
        choose, survey = self.ui.results.populations.of(read), self._survey

        def job() -> tuple[Answered, tuple[Snapshot, Survey] | None]:
            rows, known, costs = choose(wanted).rows, survey, None
            if window is not None:
                if known is None or not known[0].is_like(read):
                    known = read, read.of_all(SURVEY, None, flag)
                costs = read.of_all(range_costs_by(window, known[1]), rows, flag)
            steps = None if ends is None else read.of_all(between_of(*ends), rows, flag)
            return Answered(window, costs, ends, steps), known

        if self.answered is None or self.answered.window != window:
            self.text.show_html(rich("<p class='q'>{}</p>", COMPUTING))
            self.empty.say("")
        self._soon.run(job, lambda made: self._keep(*made))

    def _keep(self, found: Answered, survey: tuple[Snapshot, Survey] | None) -> None:
        self._survey = survey
        self._take(found)

    def _take(self, found: Answered | None) -> None:
        self.answered = found
        self._show()

    # -- showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        trace, found, asked = self.session.trace.value, self.answered, self.session.between.value
        if trace is None or (found is None and asked is None):
            self._survey = None if trace is None else self._survey
            self.empty.say(self.reason(NOTHING))
            return
        self.empty.say("")
        times = self.times
        parts = []
        if asked is not None:
            is_known = found is not None and found.ends == (asked.first, asked.last)
            parts.append(pair_html(trace, times, asked, found.steps if found and is_known else None))
        if found is not None and found.costs is not None:
            parts += [head_html(trace, times, found.costs), *tables_html(trace, found.costs)]
        note = waves_note(self.session)
        parts += [rich("<p class='q'>{}</p>", note)] if note else []
        self.text.show_html(joined("", parts))

    # -- called by the shell ------------------------------------------------------------------------

    def _copy(self) -> None:
        if (sheet := self.sheet()) is not None:
            copy_text(sheet.csv("\t"))

    def sheet(self) -> Sheet | None:
        """Return the rows of the range; without a range, the time between the instructions."""
        trace, found = self.session.trace.value, self.answered
        if trace is None or found is None:
            return None
        if found.costs is not None:
            return Sheet.of("Range", range_table(trace, found.costs))
        if found.ends is None or found.steps is None:
            return None
        facts = between_facts(found.ends, found.steps)
        return Sheet("Between", tuple(facts), [tuple(facts.values())])

    def command_line(self) -> command_text.CommandWords | None:
        window, ends = self._question()
        if window is None and ends is None:
            return None
        at = () if window is None else (f"--from={window.begin}", f"--to={window.end}")
        pair = () if ends is None else (f"--between={ends[0]}:{ends[1]}",)
        return command_text.rcv(self.session, "range", *at, *pair)

    def caption(self) -> str:
        window, _ = self._question()
        return "" if window is None else Message("measured {0}", window)
