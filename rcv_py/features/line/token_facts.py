"""Facts about a selected instruction: collected in a thread, and as text with links."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.attribute import LineCause, TokenCause, token_causes, uncounted_beside
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.attribution.instruction_help import InstructionHelp, instruction_help
from rcv_py.analysis.cost.distribution import Spread
from rcv_py.analysis.cost.pc_samples import StallReasons, reason_name, stall_reasons
from rcv_py.analysis.cost.place_text import numbered_text, place_text
from rcv_py.analysis.timeline import token_details as details
from rcv_py.analysis.timeline.token_details import NO_OTHER_WAVES, Meanwhile, meanwhile
from rcv_py.analysis.waits.wait_latency import Awaited, ReleasedBy, TokenWaits, token_waits
from rcv_py.analysis.waits.waitcnt.replay import waits_of
from rcv_py.base.errors import RcvError
from rcv_py.base.record import Value
from rcv_py.base.text import Message, join_texts, percent, plural
from rcv_py.formats.isa.described import read_description, words_of
from rcv_py.model.kinds import KIND_NAME, KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave
from rcv_py.model.window import TimeWindow
from rcv_py.state.wave_store import WaveStore
from rcv_py.ui.core.panel import UiContext
from rcv_py.ui.core.plain_text import Rich, joined, rich
from rcv_py.ui.core.times import Times
from rcv_py.ui.widgets.legend import state_text
from rcv_py.ui.widgets.links import facts_table, line_link, source_link, token_link

LISTED = 12  # maximum producers and waiters shown
HIDERS = 4  # maximum kinds of instructions of other waves that are named
KINDS = frozenset(TokenKind)
LATER = "Its causes follow the findings."
CAUSES, BLAMED = 6, 2  # maximum causes over all executions, and instructions to blame for each


class TokenFacts(Value):
    """The displayed data of a selected instruction, and of its selected execution if there is one."""

    line: int
    totals: details.LineTotals
    token: details.TokenDetails | None = None
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


def facts_job(ui: UiContext, *, has_causes: bool = True) -> Callable[[], TokenFacts]:
    """Return a function that collects the facts of the selected instruction; it touches no mutable state."""
    session = ui.session
    trace, line, hit, store = session.trace.value, session.line, session.selection.value.hit, session.store
    assert trace is not None
    assert line is not None
    wave, token = session.wave(), session.token()
    batches = () if store is None else store.batches
    file = str(ui.settings["isa.description"])

    def job() -> TokenFacts:
        facts = TokenFacts(line, details.line_totals(trace.code, line))
        if not trace.code.is_label[line]:
            known = instruction_help(trace.code.text[line], trace.architecture, trace.code.text)
            facts = replace(facts, help=known, described=described(file, trace.target, known.mnemonic))
        if trace.has_pc_samples:
            samples = stall_reasons(trace.code, slice(line, line + 1))
            facts = replace(facts, samples=samples, all_samples=stall_reasons(trace.code).samples)
        if wave is None:
            return facts
        facts = replace(facts, wave=str(wave.id))
        if token is not None:
            exact = token_waits(*token, trace.code, trace.architecture)
            hidden = hidden_by(store, *token)
            facts = replace(facts, token=details.token_details(*token), waits=exact, hidden=hidden)
            if not has_causes:
                return replace(facts, doubts=(LATER,))
            causes, left_out = token_causes(trace, batches, *token), uncounted_beside(trace, batches, wave)
            doubt = Message("partial: {0} beside it not in memory", plural(left_out, "wave"))
            return replace(facts, causes=causes, doubts=(doubt,) if causes and left_out else ())
        waits = waits_of(wave, trace.code, trace.architecture)
        late = details.producers(waits, line, hit, len(wave.executions(line)))
        return replace(facts, producers=late, waiters=details.waiters(waits, line))

    return job


def hidden_by(store: WaveStore | None, wave: TracedWave, row: int) -> Meanwhile:
    """Return what other waves on the SIMD issued during a stall, as far as they are in memory."""
    begin = wave.tokens.base + int(wave.tokens.offset[row])
    span = TimeWindow(begin, begin + int(wave.tokens.stall[row]))
    if store is None or not span.width:
        return NO_OTHER_WAVES
    index = store.trace.waves
    is_here = (index.se == wave.id.se) & (index.simd == wave.id.simd)
    is_here &= (index.begin < span.end) & (index.end > span.begin)
    found = (store.wave(one) for one in np.flatnonzero(is_here).tolist())
    return meanwhile(wave, [one for one in found if one is not None], span)


def described(file: str, target: str, mnemonic: str) -> str:
    """Return a machine-readable ISA file's description of a mnemonic, or why it is unreadable; "" for none.

    Without a file it uses the file that `rcv isa-docs add` stored for the family of a target.  The file is
    read once: do not call it on the UI thread.
    """
    try:
        words = _description(Path(file)) if file else words_of(target)
    except RcvError as error:
        return str(error)
    found = None if words is None else words.of(mnemonic)
    return "" if found is None else found.description


_description = lru_cache(maxsize=1)(read_description)


class FactsText:
    """Formats facts about a selected instruction as text with links."""

    def __init__(self, trace: Trace, facts: TokenFacts, times: Times) -> None:
        self.trace, self.facts, self.times = trace, facts, times

    def head(self) -> Rich:
        """Return the instruction and its kind."""
        line = self.facts.line
        kind = int(self.trace.code.kind[line])
        what = KIND_TEXT[TokenKind(kind)] if kind in KINDS else "unknown"
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
        sample: str = "",
    ) -> Rich:
        """Return duration, causes, addresses and sums of all executions.

        `waiting` is shown if there are no causes.  `sample`: which waves have the causes; "" for all.
        """
        parts = []
        if spread is not None:
            numbers = ((name, getattr(spread, name)) for name in ("median", "p90", "max"))
            texts = [rich("{} <b>{}</b>", name, self.times.number(value)) for name, value in numbers]
            parts.append(rich("<p>{} {}</p>", joined(" · ", texts), self.times.unit))
        if self.trace.has_thread_trace and (causes or waiting):
            parts.append(self._why(causes or (), waiting, sample))
        if addresses:
            parts.append(rich("<h4>Addresses of its lanes, as recorded</h4>") + facts_table(addresses))
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
                    parts.append(_items(title, [line_link(row, numbered_text(trace, row)) for row in lines]))
        if chain := trace.code.chain(facts.line):
            links = (source_link(*place, place_text(trace.sources, *place)) for place in chain)
            parts.append(rich("<h4>Source, innermost first</h4>{}", joined("<br>", links)))
        if trace.has_thread_trace and facts.totals.hits:
            parts.append(rich("<p><a href='try:0'>What if it took no time?</a></p>"))
        return joined("", parts)

    def _why(self, causes: Sequence[LineCause], waiting: str, sample: str) -> Rich:
        total = sum(one.cycles for one in causes)
        if not total:
            said = waiting or "None of its executions stalled, and none had to wait before it."
            return rich("<h4>Why, over all hits</h4><span class='q'>{}</span>", said)
        rows = [self._share(one, total) for one in causes[:CAUSES] if one.cycles]
        if rest := sum(one.cycles for one in causes[CAUSES:]):
            rows.append(rich("{} {}", percent(rest, total), plural(len(causes) - CAUSES, "other cause")))
        cycles = self.times.span(total)
        title = Message("Why, over all hits: of {0} stalled or idle", cycles)
        if sample:
            title = Message("Why, over the hits of {0}: of {1} stalled or idle", sample, cycles)
        return rich("<h4>{}</h4>{}", title, joined("<br>", rows))

    def _share(self, one: LineCause, total: int) -> Rich:
        text = CAUSE_TEXT[one.cause]
        is_known = one.cause is not Cause.UNEXPLAINED
        sure = "" if text.is_certain or not is_known else " · likely"
        what, share = " (idle)" if one.idle > one.stall else "", percent(one.cycles, total)
        said = rich("<b>{}</b> {}{}<span class='q'>{}</span>", share, text.name, what, sure)
        for by in one.blamed[:BLAMED]:
            blamed = "<br>&nbsp;&nbsp;← perhaps {}" if by.is_guess else "<br>&nbsp;&nbsp;← {}"
            said += rich(blamed, line_link(by.line, numbered_text(self.trace, by.line)))
        if (more := len(one.blamed) - BLAMED) > 0:
            said += rich("<br><span class='q'>&nbsp;&nbsp;and {} more</span>", f"{more:,}")
        return said

    def _totals(self, totals: details.LineTotals) -> Rich:
        number = self.times.number
        rows = [
            ("hits", f"{totals.hits:,}"),
            ("latency", number(totals.latency)),
            ("of it stall", _beside(number(totals.stall), percent(totals.stall, totals.latency))),
            ("idle before", number(totals.idle) if totals.idle else ""),
            ("of all cycles", percent(totals.latency + totals.idle, totals.program_total) or "–"),
        ]
        unit = ", cycles" if self.times.unit else ""
        return rich("<h4>Sums of all traced waves{}</h4>", unit) + facts_table(rows)

    def _token(self, token: details.TokenDetails) -> Rich:
        stall, busy, both = map(self.times.number, (token.stall, token.busy, token.stall + token.busy))
        spent = ("stall + issue", f"{stall} + {busy} = {both}")
        if not token.busy or not token.stall:
            spent = ("stall", stall) if token.stall else ("issue", busy)
        idle = ("idle before", self.times.number(token.idle) if token.idle else "")
        state = ("state", state_text(token.states) or "not recorded")
        wave, at = ("wave", self.facts.wave), ("at", self.times.at(token.start))
        return facts_table((wave, at, spent, idle, state))

    def _cause(self, cause: TokenCause) -> Rich:
        text = CAUSE_TEXT[cause.cause]
        sure = "certain" if text.is_certain and not cause.is_guess else "likely"
        is_known = cause.cause is not Cause.UNEXPLAINED
        why = Message("{0}: {1}", sure, text.evidence) if is_known else "no evidence for any cause"
        blamed = Rich()
        if cause.line >= 0:
            name = numbered_text(self.trace, cause.line)
            is_own = self._is_own(cause)
            link = token_link(cause.row, name) if is_own else line_link(cause.line, name)
            template = "<br>perhaps {}{}" if cause.is_guess else "<br>{}{}"
            blamed = rich(template, link, "" if is_own else " · of another wave")
        what, span = "idle" if cause.is_idle else "stalled", self.times.span(cause.cycles)
        said = Message("{0} {1} because {2}", what, span, text.sentence)
        return rich("<p>{}{}<br><span class='q'>{}</span></p>", said, blamed, why)

    def _hidden(self, hidden: Meanwhile, stall: int) -> Rich:
        if not hidden.covered:
            said = rich("No other wave of the SIMD issued an instruction while it stalled: nothing hides it.")
            return rich("<h4>Hidden by</h4>{}", said)
        kinds = []
        for kind, cycles in hidden.by_kind[:HIDERS]:
            name = KIND_NAME.get(TokenKind(kind), "") if kind in KINDS else "other"
            kinds.append(rich("{} {}", name, self.times.span(cycles)))
        who, share = plural(hidden.waves, "other wave"), percent(hidden.covered, stall)
        said = rich("<b>{}</b> of the stall, by {} of the SIMD: {}", share, who, joined(" · ", kinds))
        if hidden.line >= 0:
            link = line_link(hidden.line, numbered_text(self.trace, hidden.line))
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
        link = token_link(row, numbered_text(self.trace, line))
        return rich("{}<br><span class='q'>{}</span>", link, joined(" · ", notes))

    def _awaited(self, op: Awaited) -> list[str]:
        issued, ago = self.times.at(op.issued), self.times.span(op.ago)
        when = Message("issued at {0}, {1} before the wait, by {2}", issued, ago, op.counter)
        ended = [one for one in self.facts.causes if self._is_own(one) and one.row == op.row][:1]
        words = ("<b>ended the wait</b>", "<b>perhaps ended the wait</b>")
        return [when, *(rich(words[bool(one.is_guess)]) for one in ended)]

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
    title = rich("<h4>PC samples of this instruction; reasons are shares of the stalled</h4>")
    return title + facts_table(rows)


def _part(value: int, total: int, of: str = "") -> Rich:
    return _beside(f"{value:,}", f"{percent(value, total)} {of}".strip())


def _beside(value: str, share: str) -> Rich:
    return rich("{} &nbsp;<span class='q'>{}</span>", value, share)
