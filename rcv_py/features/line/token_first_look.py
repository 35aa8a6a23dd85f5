"""The page before an instruction is selected: links to the most expensive instructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from rcv_py.analysis.cost.hotspot import Hottest, hottest
from rcv_py.analysis.cost.place_text import known_place
from rcv_py.analysis.findings.finding import RANKED, Findings
from rcv_py.base.text import Message, count, percent, plural
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.trace import NOT_RUN, Trace
from rcv_py.ui.core.costs import CostUpdates, charged_job, unit_of
from rcv_py.ui.core.panel import NO_COST, Panel, Sheet
from rcv_py.ui.core.plain_text import Rich, joined, rich
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.core.times import UNITS, Times
from rcv_py.ui.table import command_text
from rcv_py.ui.widgets.links import GrowingText, line_link

FINDINGS = "findings"  # name of the shared result
MAX_INSTRUCTIONS = 16  # maximum instructions
STREAM_MS = 500
SQUARE = "■"
WHAT_TO_DO = "Click one for all its executions, and why they waited."


class FirstLook(GrowingText):
    """The most expensive instructions, their cycles and the finding that names each; kinds of instruction.

    It is computed for a panel while no instruction is selected, and follows the clock range.
    """

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel.session, panel.ui.theme, "Hottest instructions")
        self.hottest: Hottest | None = None
        self._of: Trace | None = None  # the capture they belong to
        self._panel, self._ui = panel, panel.ui
        self._is_wanted = False
        self._costs = CostUpdates(panel, self._compute, STREAM_MS)
        panel.session.trace.watch(self._forget)
        panel.ui.results.cell(FINDINGS).watch(self._show)
        panel.ui.settings.cell(UNITS).watch(self._show)
        panel.ui.theme.changed.connect(self._show)

    def want(self, is_wanted: bool) -> None:
        """Switch the page on or off."""
        self._is_wanted = is_wanted
        self.setVisible(is_wanted)
        if is_wanted and self.hottest is None:
            self._costs.ask()

    def _forget(self) -> None:
        self.hottest = self._of = None

    def _compute(self) -> None:
        trace, cost = self._panel.session.trace.value, charged_job(self._ui)
        if trace is not None and cost is not None and self._is_wanted:
            take = partial(self._take, trace)
            self._costs.run(lambda: hottest(trace.code, cost(), MAX_INSTRUCTIONS), take)

    def _take(self, trace: Trace, found: Hottest) -> None:
        self.hottest, self._of = found, trace
        self._show()

    def _show(self) -> None:
        trace = self._panel.session.trace.value
        if trace is None or trace is not self._of or self.hottest is None or not self._is_wanted:
            return
        findings = self._ui.results.cell(FINDINGS).value
        self.show_html(page_of(trace, self.hottest, named_by(findings), self._panel.times, self._ui.theme))

    def command_line(self) -> command_text.CommandWords | None:
        """Return the command for the instructions."""
        words = (
            "--by=instruction",
            *command_text.charge(self._ui),
            "--sort=cost",
            f"--top={MAX_INSTRUCTIONS}",
        )
        return command_text.rcv(self._panel.session, "hotspot", *words)

    def sheet(self) -> Sheet | None:
        """Return the instructions with their costs."""
        trace, found = self._panel.session.trace.value, self.hottest
        if trace is None or found is None:
            return None
        rows = (
            (line, trace.code.text[line], cost, 100.0 * cost / max(1, found.total))
            for line, cost in zip(found.line.tolist(), found.cost.tolist(), strict=True)
        )
        return Sheet("Hottest instructions", ("#", "instruction", unit_of(trace), "%"), rows)


def named_by(findings: Findings | None) -> dict[int, str]:
    """Return by instruction the title of the first ranked finding with that instruction as evidence.

    The number is not used: predictions change the order of findings.
    """
    named: dict[int, str] = {}
    for finding in () if findings is None else findings.in_full:
        for place in finding.evidence if finding.rank == RANKED else ():
            if place.line >= 0:
                named.setdefault(place.line, finding.title)
    return named


def page_of(trace: Trace, found: Hottest, named: Mapping[int, str], times: Times, theme: Theme) -> Rich:
    """Return the page as text with links."""
    if not found.total:
        return rich("<p class='q'>{}</p>", NOT_RUN if trace.is_static else NO_COST)
    unit = unit_of(trace)
    total = times.span(found.total) if trace.has_thread_trace else f"{count(found.total)} {unit}"
    rows = [_instruction(trace, found, at, named) for at in range(len(found.line))]
    kinds = [
        rich(
            "<tr><td style='color:{}'>{}</td><td>{}</td><td>{}</td></tr>",
            theme.kind(TokenKind(kind)).name(),
            SQUARE,
            KIND_TEXT[TokenKind(kind)],
            percent(cost, found.total),
        )
        for kind, cost in zip(found.kind.tolist(), found.kind_cost.tolist(), strict=True)
    ]
    return joined(
        "",
        (
            rich("<p><b>Hottest instructions</b>, of {}<br>", total),
            rich("<span class='q'>{}</span></p>", WHAT_TO_DO),
            *rows,
            rich("<h4>By kind of instruction</h4><table cellspacing='0'>{}</table>", joined("", kinds)),
        ),
    )


def _instruction(trace: Trace, found: Hottest, at: int, named: Mapping[int, str]) -> Rich:
    line, cost = int(found.line[at]), int(found.cost[at])
    share, link = percent(cost, found.total), line_link(line, f"{line}  {trace.code.text[line]}")
    notes = joined(" · ", _notes(trace, line))
    said = rich("<p><b>{}</b> {}<br><span class='q'>{}", share, link, notes)
    if line in named:
        said += rich("<br>finding: {}", named[line])
    return said + rich("</span></p>")


def _notes(trace: Trace, line: int) -> Iterator[str]:
    """Yield hits, stall and similar facts of an instruction in a few words, and its source place."""
    code = trace.code
    if trace.has_thread_trace:
        yield plural(int(code.hits[line]), "hit")
        if code.latency[line]:
            yield Message("stall {0}", percent(int(code.stall[line]), int(code.latency[line])))
    elif code.samples_stalled is not None and code.samples_issued is not None:
        stalled = int(code.samples_stalled[line])
        yield Message("stalled {0}", percent(stalled, stalled + int(code.samples_issued[line])))
    if place := known_place(trace, line):
        yield place
