"""Facts about a selected instruction, as text with links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.distribution import Spread
from rcv_py.analysis.cost.pc_samples import StallReasons, reason_name
from rcv_py.analysis.cost.place_text import beside, place_text
from rcv_py.analysis.timeline.token_details import LineTotals, TokenDetails
from rcv_py.base.text import Message, join_texts, percent, plural
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.core.plain_text import Rich, joined, rich
from rcv_py.ui.core.times import Times
from rcv_py.ui.widgets.legend import state_text
from rcv_py.ui.widgets.links import line_link, source_link, token_link

if TYPE_CHECKING:  # they import attribution, which the first painting does not wait for
    from rcv_py.analysis.attribution.attribute import LineCause, TokenCause
    from rcv_py.analysis.attribution.instruction_help import InstructionHelp
    from rcv_py.analysis.timeline.token_details import Meanwhile
    from rcv_py.analysis.waits.token_waits import Awaited, ReleasedBy, TokenWaits

LISTED = 12  # maximum producers and waiters shown
HIDERS = 4  # maximum kinds of instructions of other waves that are named
KINDS = frozenset(TokenKind)
CAUSES, BLAMED = 6, 2  # maximum causes over all executions, and instructions to blame for each


class TokenFacts(NamedTuple):
    """The displayed data of a selected instruction, and of its selected execution if there is one."""

    line: int
    totals: LineTotals
    token: TokenDetails | None = None
    wave: str = ""
    producers: tuple[int, ...] = ()
    waiters: tuple[int, ...] = ()
    samples: StallReasons | None = None  # of the instruction, where the capture has PC samples
    all_samples: int = 0  # of all instructions
    causes: tuple[TokenCause, ...] = ()  # of the stall of the selected execution and of the gap before it
    doubts: tuple[str, ...] = ()  # what these causes leave out
    help: InstructionHelp | None = None
    described: str = ""  # the description from an AMD file
    hidden: Meanwhile | None = None  # activity of other waves during the stall of the selected execution
    waits: TokenWaits | None = None  # of the selected execution; then the code rows above are not shown


def named(trace: Trace, row: int) -> str:
    """Return a code row with its text and its source place, in readable form."""
    return f"{row}  {trace.code.text[row]}{beside(trace, row)}"


class FactsText:
    """Formats facts about a selected instruction as text with links."""

    def __init__(self, trace: Trace, facts: TokenFacts, times: Times) -> None:
        self.trace, self.facts, self.times = trace, facts, times

    def head(self) -> Rich:
        """Return the instruction and its kind."""
        line = self.facts.line
        kind = int(self.trace.code.kind[line])
        what = KIND_TEXT[TokenKind(kind)] if kind in TokenKind._value2member_map_ else "unknown"
        text = rich('<p class="m"><b>{}</b></p>', self.trace.code.text[line])
        about = rich('<span class="q">instruction {} · {}</span>', line, what)
        if self.facts.help is not None:
            about = joined("<br>", (about, *_help(self.facts.help, self.facts.described)))
        return text + rich("<p>{}</p>", about)

    def of_all(
        self,
        spread: Spread | None,
        causes: Sequence[LineCause] | None,
        waiting: str,
        addresses: Sequence[tuple[str, str]] = (),
    ) -> Rich:
        """Return duration, causes, addresses and sums of all executions.

        `waiting` is shown if there are no causes.
        """
        parts = []
        if spread is not None:
            numbers = (("median", spread.median), ("p90", spread.p90), ("max", spread.max))
            texts = [rich("{} <b>{}</b>", name, self.times.number(value)) for name, value in numbers]
            parts.append(rich("<p>{} {}</p>", joined(" · ", texts), self.times.unit))
        if self.trace.has_thread_trace and (causes or waiting):
            parts.append(self._why(causes or (), waiting))
        if addresses:
            parts.append(rich("<h4>Addresses of its lanes, as recorded</h4>") + _table(addresses))
        if self.facts.samples is not None:
            parts.append(_samples(self.facts.samples, self.facts.all_samples))
        if self.trace.has_thread_trace:
            parts.append(self._totals(self.facts.totals))
        return joined("", parts)

    def of_this(self) -> Rich:
        """Return the facts of this execution, or of the instruction in this wave."""
        trace, facts = self.trace, self.facts
        parts: list[Rich] = []
        if facts.token is not None:
            parts += [self._token(facts.token), *map(self._cause, facts.causes)]
            parts += [rich('<p class="q">{}</p>', doubt) for doubt in facts.doubts]
            if facts.hidden is not None and facts.token.stall:
                parts.append(self._hidden(facts.hidden, facts.token.stall))
        if facts.waits is not None:
            parts.append(self._waits(facts.waits))
        else:
            for title, lines in (("Waits for", facts.producers), ("Waited on by", facts.waiters)):
                if lines:
                    parts.append(_items(title, [line_link(row, named(trace, row)) for row in lines]))
        links = [
            source_link(*place, place_text(trace.sources, *place)) for place in trace.code.chain(facts.line)
        ]
        if links:
            parts.append(rich("<h4>Source, innermost first</h4>{}", joined("<br>", links)))
        if trace.has_thread_trace and facts.totals.hits:
            parts.append(rich("<p><a href='try:0'>What if it took no time?</a></p>"))
        return joined("", parts)

    def _why(self, causes: Sequence[LineCause], waiting: str) -> Rich:
        total = sum(one.cycles for one in causes)
        if not total:
            said = waiting or "None of its executions stalled, and none had to wait before it."
            return rich("<h4>Why, over all hits</h4><span class='q'>{}</span>", said)
        rows = [self._share(one, total) for one in causes[:CAUSES] if one.cycles]
        if rest := sum(one.cycles for one in causes[CAUSES:]):
            rows.append(rich("{} {}", percent(rest, total), plural(len(causes) - CAUSES, "other cause")))
        title = Message("Why, over all hits: of {0} stalled or idle", self.times.span(total))
        return rich("<h4>{}</h4>{}", title, joined("<br>", rows))

    def _share(self, one: LineCause, total: int) -> Rich:
        text = CAUSE_TEXT[one.cause]
        is_known = one.cause is not Cause.UNEXPLAINED
        sure = "" if text.is_certain or not is_known else " · likely"
        what = " (idle)" if one.idle > one.stall else ""
        said = rich(
            "<b>{}</b> {}{}<span class='q'>{}</span>", percent(one.cycles, total), text.name, what, sure
        )
        for by in one.blamed[:BLAMED]:
            blamed = "<br>&nbsp;&nbsp;← perhaps {}" if by.is_guess else "<br>&nbsp;&nbsp;← {}"
            said += rich(blamed, line_link(by.line, named(self.trace, by.line)))
        if len(one.blamed) > BLAMED:
            said += rich(
                "<br><span class='q'>&nbsp;&nbsp;and {} more</span>", f"{len(one.blamed) - BLAMED:,}"
            )
        return said

    def _totals(self, totals: LineTotals) -> Rich:
        number = self.times.number
        rows = [
            ("hits", f"{totals.hits:,}"),
            ("latency", number(totals.latency)),
            ("of it stall", _beside(number(totals.stall), percent(totals.stall, totals.latency))),
            ("idle before", number(totals.idle) if totals.idle else ""),
            ("of all cycles", percent(totals.latency + totals.idle, totals.program_total) or "–"),
        ]
        unit = ", cycles" if self.times.unit else ""
        return rich("<h4>Sums of all traced waves{}</h4>", unit) + _table(rows)

    def _token(self, token: TokenDetails) -> Rich:
        times = (token.stall, token.busy, token.stall + token.busy)
        stall, busy, both = map(self.times.number, times)
        spent = ("stall + issue", f"{stall} + {busy} = {both}")
        if not token.busy or not token.stall:
            spent = ("stall", stall) if token.stall else ("issue", busy)
        return _table(
            [
                ("wave", self.facts.wave),
                ("at", self.times.at(token.start)),
                spent,
                ("idle before", self.times.number(token.idle) if token.idle else ""),
                ("state", state_text(token.states) or "not recorded"),
            ]
        )

    def _cause(self, cause: TokenCause) -> Rich:
        text = CAUSE_TEXT[cause.cause]
        sure = "certain" if text.is_certain and not cause.is_guess else "likely"
        is_known = cause.cause is not Cause.UNEXPLAINED
        why = Message("{0}: {1}", sure, text.evidence) if is_known else "no evidence for any cause"
        blamed = Rich()
        if cause.line >= 0:
            name = named(self.trace, cause.line)
            is_own = self._is_own(cause)
            link = token_link(cause.row, name) if is_own else line_link(cause.line, name)
            template = "<br>perhaps {}{}" if cause.is_guess else "<br>{}{}"
            blamed = rich(template, link, "" if is_own else " · of another wave")
        what = "idle" if cause.is_idle else "stalled"
        said = Message("{0} {1} because {2}", what, self.times.span(cause.cycles), text.sentence)
        return rich("<p>{}{}<br><span class='q'>{}</span></p>", said, blamed, why)

    def _hidden(self, hidden: Meanwhile, stall: int) -> Rich:
        if not hidden.covered:
            said = rich("No other wave of the SIMD issued an instruction while it stalled: nothing hides it.")
            return rich("<h4>Hidden by</h4>{}", said)
        kinds = [
            rich("{} {}", KIND_NAME.get(TokenKind(kind), "") if kind in KINDS else "other", number)
            for kind, cycles in hidden.by_kind[:HIDERS]
            for number in (self.times.span(cycles),)
        ]
        who = plural(hidden.waves, "other wave")
        share = percent(hidden.covered, stall)
        said = rich("<b>{}</b> of the stall, by {} of the SIMD: {}", share, who, joined(" · ", kinds))
        if hidden.line >= 0:
            link = line_link(hidden.line, named(self.trace, hidden.line))
            said += rich("<br><span class='q'>most of it</span> {}", link)
        return rich("<h4>Hidden by</h4>{}", said)

    def _waits(self, waits: TokenWaits) -> Rich:
        parts = []
        if waits.is_wait:
            newest_first = sorted(waits.awaited, key=lambda op: -op.row)
            items = [self._item(op.row, op.line, *self._awaited(op)) for op in newest_first]
            parts.append(_items("Waited for", items, "Nothing that is known was outstanding."))
        if waits.is_counted:
            items = [self._item(by.row, by.line, self._released(by)) for by in waits.released_by]
            parts.append(_items("Released by", items, "No wait released it before the wave ended."))
        return joined("", parts)

    def _item(self, row: int, line: int, *notes: str) -> Rich:
        link = token_link(row, named(self.trace, line))
        return rich("{}<br><span class='q'>{}</span>", link, joined(" · ", notes))

    def _awaited(self, op: Awaited) -> list[str]:
        issued, ago = self.times.at(op.issued), self.times.span(op.ago)
        when = Message("issued at {0}, {1} before the wait, by {2}", issued, ago, op.counter)
        ended = next((one for one in self.facts.causes if self._is_own(one) and one.row == op.row), None)
        if ended is None:
            return [when]
        return [when, rich("<b>perhaps ended the wait</b>" if ended.is_guess else "<b>ended the wait</b>")]

    def _is_own(self, cause: TokenCause) -> bool:
        return cause.wave >= 0 and str(self.trace.waves.id(cause.wave)) == self.facts.wave

    def _released(self, by: ReleasedBy) -> str:
        sure = "" if by.is_exact else "at most "
        why = "the wait ended with it" if by.is_exact else "it may have returned earlier"
        return Message("latency {0}{1}, by {2}: {3}", sure, self.times.span(by.latency), by.counter, why)


def _help(known: InstructionHelp, described: str) -> Iterator[Rich]:
    """Yield the instruction's effect, the cycles it occupies its unit, and the waits it requires."""
    # The counters of a wait say more than a sentence about all waits.
    is_counted = bool(known.counters) and known.mnemonic.startswith("s_wait")
    for text in filter(None, ("" if is_counted else known.what, described)):
        yield rich("{}", text)
    facts: list[str] = []
    if known.passes:
        facts.append(Message("{0} of 4 cycles", plural(known.passes, "pass", "passes")))
    elif known.cycles:
        facts.append(Message("takes {0} {1} at least", known.unit, plural(known.cycles, "cycle")))
    if known.flop:
        facts.append(Message("{0:,} FLOP per {1}", known.flop, "wave" if known.passes else "lane"))
    lines = (join_texts(" · ", (*facts, *known.counters)), *known.distances)
    yield from (rich('<span class="q">{}</span>', line) for line in lines if line)


def _items(title: str, items: list[Rich], otherwise: str = "") -> Rich:
    if not items:
        return rich("<h4>{}: 0</h4><span class='q'>{}</span>", title, otherwise)
    shown = items[:LISTED]
    if len(items) > LISTED:
        shown.append(rich('<span class="q">and {} more</span>', f"{len(items) - LISTED:,}"))
    return rich("<h4>{}: {}</h4>{}", title, f"{len(items):,}", joined("<br>", shown))


def _samples(samples: StallReasons, total: int) -> Rich:
    rows = [
        ("samples", _part(samples.samples, total, "of all samples")),
        ("issued", _part(samples.issued, samples.samples)),
        ("stalled", _part(samples.stalled, samples.samples)),
        ("not recorded", _part(samples.unsure, samples.samples) if samples.unsure else ""),
    ]
    rows += [(reason_name(reason), _part(n, samples.stalled)) for reason, n in samples.ranked()]
    return rich("<h4>PC samples of this instruction; reasons are shares of the stalled</h4>") + _table(rows)


def _part(value: int, total: int, of: str = "") -> Rich:
    return _beside(f"{value:,}", f"{percent(value, total)} {of}".strip())


def _beside(value: str, share: str) -> Rich:
    return rich("{} &nbsp;<span class='q'>{}</span>", value, share)


def _table(rows: Sequence[tuple[str, str]]) -> Rich:
    cells = [rich('<tr><td class="q">{}</td><td>{}</td></tr>', name, value) for name, value in rows if value]
    return rich("<table cellspacing='0'>{}</table>", joined("", cells))
