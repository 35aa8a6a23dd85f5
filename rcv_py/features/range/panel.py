"""The contents of a measured range, and the time from one instruction to another."""

from rcv_py.analysis.attribution.survey import SURVEY, Survey
from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.iterations.segments import PairDistance as Distances
from rcv_py.analysis.iterations.segments import between_of
from rcv_py.analysis.overview.range_costs import RangeCosts, range_costs_by
from rcv_py.base.record import Record
from rcv_py.base.text import Message, count, elide_left, elide_right, percent
from rcv_py.features.range import result
from rcv_py.model.trace import Trace
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import MeasuredPair
from rcv_py.state.wave_store import Snapshot
from rcv_py.ui.core.panel import Panel, Sheet, UiContext
from rcv_py.ui.core.plain_text import Rich, joined, rich
from rcv_py.ui.core.shared_results import waves_note
from rcv_py.ui.core.times import Times
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.empty_state import page
from rcv_py.ui.widgets.links import LinkText, facts_table, line_link, source_link

NOTHING = (
    "Nothing is measured. Drag with Shift over a time view to measure a range; or choose “Measure from here” "
    "in the menu of an instruction there, and then click another instruction."
)
WAITING = "Click the instruction at which to end."
COMPUTING = "computing …"
NAME_LETTERS = 24
MEASURE_MS = 200  # minimum interval between answers while a range is dragged


class Answered(Record):
    """The answer to a question."""

    window: TimeWindow | None
    costs: RangeCosts | None
    ends: tuple[int, int] | None
    steps: Distances | None


class ClockRangePanel(Panel):
    """What waves did in the measured range, and how long it takes from one instruction to another."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__(ui)
        self.answered: Answered | None = None
        self._survey: tuple[Snapshot, Survey] | None = None  # of the waves that were read
        self.text = LinkText(ui.session, ui.theme, "What lies in the measured range")
        self.empty = page(self, self.text)
        self._soon = self.request(self._compute, MEASURE_MS)
        session = ui.session
        for cell in (session.trace, session.measure, session.between, session.waves, session.populations):
            cell.watch(self._soon.update)
        session.busy.watch(self._at_the_end)
        ui.settings.cell("timeline.units").watch(self._show)
        self._compute()

    def _at_the_end(self) -> None:
        """Count the waves that arrived since the last answer."""
        if not self.session.is_streaming and self._question() != (None, None):
            self._soon.update()

    def _question(self) -> tuple[TimeWindow | None, tuple[int, int] | None]:
        session = self.session
        asked, trace, window = session.between.value, session.trace.value, session.measure.value
        ends = None if asked is None or asked.last is None else (asked.first, asked.last)
        cut = None if trace is None or window is None else trace.within((window.begin, window.end))
        return cut, ends  # a drag may end beside the capture, where nothing is known

    def _compute(self) -> None:
        flag = self._soon.new_flag()
        trace, store = self.session.trace.value, self.session.store
        window, ends = self._question()
        if trace is None or store is None or (window is None and ends is None):
            self.answered = None
            self._show()
            return
        read, chosen, survey = self.session.snapshot(), self.chosen_rows(), self._survey

        def job() -> tuple[Answered, tuple[Snapshot, Survey] | None]:
            rows, known, costs = chosen(), survey, None
            if window is not None:
                if known is None or not known[0].is_like(read):
                    known = read, read.of_all(SURVEY, None, flag)
                costs = read.of_all(range_costs_by(window, known[1]), rows, flag)
            steps = None if ends is None else read.of_all(between_of(*ends), rows, flag)
            return Answered(window, costs, ends, steps), known

        if self.answered is None or self.answered.window != window:
            self.text.show_html(rich("<p class='q'>{}</p>", COMPUTING))
            self.empty.say("")

        def take(made: tuple[Answered, tuple[Snapshot, Survey] | None]) -> None:
            self.answered, self._survey = made
            self._show()

        self._soon.run(job, take)

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

    def sheet(self) -> Sheet | None:
        trace, found = self.session.trace.value, self.answered
        if trace is None or found is None:
            return None
        if found.costs is not None:
            return Sheet.of("Range", result.range_table(trace, found.costs))
        if found.ends is None or found.steps is None:
            return None
        facts = result.between_facts(found.ends, found.steps)
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


def head_html(trace: Trace, times: Times, costs: RangeCosts) -> Rich:
    """Return the range in numbers."""
    window = costs.window
    ends = f"{times.at(window.begin)} … {times.at(window.end)}"
    facts = [("range", ends), ("length", times.both(window.width))]
    facts += [("waves", count(costs.waves)), ("their cycles", count(costs.wave_cycles))]
    facts += [("executions", count(int(costs.hits.sum())))]
    for name, amount, speed in result.flop_facts(trace, costs):
        facts += [(name, amount), *([("", speed)] if speed else [])]
    return facts_table(facts)


def pair_html(trace: Trace, times: Times, asked: MeasuredPair, steps: Distances | None) -> Rich:
    """Return the two instructions, and the time between them over all iterations."""

    def name(line: int) -> Rich:
        return line_link(line, f"{line}  {elide_right(trace.code.text[line], NAME_LETTERS)}")

    if asked.last is None:
        return rich("<h4>Measure from</h4>{}<p>{}</p>", name(asked.first), WAITING)
    head = rich("<h4>From the start of</h4>{}<h4>to the end of</h4>{}", name(asked.first), name(asked.last))
    if steps is None:
        return head + rich("<p class='q'>{}</p>", COMPUTING)
    if not steps.count:
        return head + rich("<p>{}</p>", "The second never follows the first in a wave.")
    rows = [("iterations", count(steps.count)), ("median", times.both(steps.median))]
    rows += [("shortest", times.both(steps.least)), ("longest", times.both(steps.most))]
    return head + facts_table([*rows, ("mean", times.both(steps.total / steps.count))])


def tables_html(trace: Trace, costs: RangeCosts) -> list[Rich]:
    """Return one small table per part, with links in its rows."""
    rows, made = result.range_rows(trace, costs), []
    for part, title in result.TITLES.items():
        cells = [_cells(trace, one) for one in rows if one.part == part]
        if cells:
            of = "busy cycles, share of their time" if part == result.UNIT else "cycles, share of wave cycles"
            head = rich("<h4>{}</h4><span class='q'>{}</span>", title, of)
            made.append(head + rich("<table cellspacing='0'>{}</table>", joined("", cells)))
    return made


def _cells(trace: Trace, one: result.RangeRow) -> Rich:
    name: str = one.name
    if one.instruction >= 0:
        name = line_link(one.instruction, f"{one.instruction}  {elide_right(name, NAME_LETTERS)}")
    elif one.place is not None:
        name = source_link(*one.place, elide_left(place_text(trace.sources, *one.place), NAME_LETTERS))
    row = "<tr><td align='right'>{}</td><td align='right'>{}</td><td>{}</td></tr>"
    return rich(row, count(one.cycles), percent(one.share, 1), name)
