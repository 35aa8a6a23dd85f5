"""One executed instruction in words, with links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rcv_py.analysis.attribution.attribute import TokenCause
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import beside, place_text
from rcv_py.analysis.cost.stall_reasons import StallReasons, reason_name
from rcv_py.analysis.timeline.token_details import LineTotals, TokenDetails
from rcv_py.analysis.waits.token_waits import Awaited, ReleasedBy, TokenWaits
from rcv_py.base.text import nanoseconds, percent
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.core.plain_text import Rich, joined, rich
from rcv_py.ui.widgets.links import line_link, source_link, token_link
from rcv_py.ui.widgets.state_bar import state_text

LISTED = 12  # producers and waiters that are shown


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What is shown of a selected line, and of the selected execution of it if there is one."""

    line: int
    totals: LineTotals
    token: TokenDetails | None = None
    wave: str = ""
    producers: tuple[int, ...] = ()
    waiters: tuple[int, ...] = ()
    samples: StallReasons | None = None  # of the line, where the capture has PC samples
    all_samples: int = 0  # of all lines
    causes: tuple[TokenCause, ...] = ()  # of the stall of the very execution and of the gap in front of it
    waits: TokenWaits | None = None  # of the very execution; then the code rows above are not shown


def token_html(trace: Trace, facts: TokenFacts, in_ns: bool = False) -> Rich:
    """Return the facts as rich text."""
    parts = [rich('<p class="m"><b>{}</b></p>', trace.code.text[facts.line]), _kind(trace, facts.line)]
    if facts.token is not None:
        parts.append(_token_table(trace, facts, in_ns))
        parts.append(causes_html(trace, facts, in_ns))
    parts.append(_sources(trace, facts.line))
    if facts.waits is None:
        parts.append(_lines(trace, "Waits for", facts.producers))
        parts.append(_lines(trace, "Waited on by", facts.waiters))
    else:
        parts.append(waits_html(trace, facts.waits, in_ns))
    if facts.samples is not None:
        parts.append(_samples(facts.samples, facts.all_samples))
    if trace.has_thread_trace:
        parts.append(_totals(facts.totals))
    return joined("", parts)


def _kind(trace: Trace, line: int) -> Rich:
    kind = int(trace.code.kind[line])
    text = KIND_TEXT[TokenKind(kind)] if kind in TokenKind._value2member_map_ else "unknown"
    return rich('<p class="q">line {} · {}</p>', line, text)


def _token_table(trace: Trace, facts: TokenFacts, in_ns: bool) -> Rich:
    token = facts.token
    assert token is not None

    def cycles(value: int) -> str:
        return _duration(trace, value, in_ns)

    rows = [
        ("wave", facts.wave),
        ("at", f"{token.start:,}"),
        (
            "stall + issue",
            f"{cycles(token.stall)} + {cycles(token.busy)} = {cycles(token.stall + token.busy)}",
        ),
        ("idle before", cycles(token.idle)),
        ("state", state_text(token.states) or "not recorded"),
    ]
    return _table(rows)


def _duration(trace: Trace, cycles: int, in_ns: bool) -> str:
    ns = trace.clock.ns(cycles) if in_ns else None
    return f"{cycles:,}" if ns is None else nanoseconds(ns)


def causes_html(trace: Trace, facts: TokenFacts, in_ns: bool = False) -> Rich:
    """Return why the execution stalled or came late, each cause with its producer and its evidence."""
    return joined("", (_cause(trace, facts, one, in_ns) for one in facts.causes))


def _cause(trace: Trace, facts: TokenFacts, one: TokenCause, in_ns: bool) -> Rich:
    text = CAUSE_TEXT[one.cause]
    much = f"{_duration(trace, one.cycles, in_ns)}{'' if in_ns else ' cycles'}"
    what = "idle" if one.is_idle else "stalled"
    sure = "certain" if text.is_certain and not one.is_guess else "likely"
    why = f"{sure}: {text.evidence}" if one.cause is not Cause.UNEXPLAINED else "no evidence for any cause"
    blamed = Rich()
    if one.line >= 0:
        name = f"{one.line}  {trace.code.text[one.line]}{beside(trace, one.line)}"
        is_own = one.wave >= 0 and str(trace.waves.id(one.wave)) == facts.wave
        link = token_link(one.row, name) if is_own else line_link(one.line, name)
        blamed = rich(
            "<br>{}{}{}", "perhaps " if one.is_guess else "", link, "" if is_own else " · of another wave"
        )
    said = f"{what} {much} because {text.sentence}"
    return rich("<p>{}{}<br><span class='q'>{}</span></p>", said, blamed, why)


def waits_html(trace: Trace, waits: TokenWaits, in_ns: bool = False) -> Rich:
    """Return what one execution waited for, or which waits released it, as links to those executions."""
    parts = []
    if waits.is_wait:
        newest_first = sorted(waits.awaited, key=lambda one: -one.row)
        items = [_awaited(trace, one, in_ns) for one in newest_first]
        parts.append(_items("Waited for", items, "Nothing that is known was outstanding."))
    if waits.is_counted:
        items = [_released(trace, one, in_ns) for one in waits.released_by]
        parts.append(_items("Released by", items, "No wait released it before the wave ended."))
    return joined("", parts)


def _awaited(trace: Trace, one: Awaited, in_ns: bool) -> Rich:
    ago = f"{_duration(trace, one.ago, in_ns)}{'' if in_ns else ' cycles'}"
    when = f"issued at {one.issued:,}, {ago} before the wait, by {one.counter}"
    mark = rich(" · <b>newest, ends the wait</b>") if one.is_newest else ""
    link = token_link(one.row, f"{one.line}  {trace.code.text[one.line]}{beside(trace, one.line)}")
    return rich("{}<br><span class='q'>{}{}</span>", link, when, mark)


def _released(trace: Trace, one: ReleasedBy, in_ns: bool) -> Rich:
    sure = "" if one.is_exact else "at most "
    latency = f"latency {sure}{_duration(trace, one.latency, in_ns)}{'' if in_ns else ' cycles'}"
    why = "the wait ended with it" if one.is_exact else "it may have been back before"
    link = token_link(one.row, f"{one.line}  {trace.code.text[one.line]}{beside(trace, one.line)}")
    return rich("{}<br><span class='q'>{}, by {}: {}</span>", link, latency, one.counter, why)


def _items(title: str, items: list[Rich], otherwise: str) -> Rich:
    if not items:
        return rich("<h4>{}: 0</h4><span class='q'>{}</span>", title, otherwise)
    shown = items[:LISTED]
    if len(items) > LISTED:
        shown.append(rich('<span class="q">and {} more</span>', f"{len(items) - LISTED:,}"))
    return rich("<h4>{}: {}</h4>{}", title, f"{len(items):,}", joined("<br>", shown))


def _sources(trace: Trace, line: int) -> Rich:
    chain = trace.code.chain(line)
    if not chain:
        return Rich()
    links = [source_link(file, number, place_text(trace.sources, file, number)) for file, number in chain]
    return rich("<h4>Source, innermost first</h4>{}", joined("<br>", links))


def _lines(trace: Trace, title: str, lines: tuple[int, ...]) -> Rich:
    if not lines:
        return Rich()
    named = ((line, f"{line}  {trace.code.text[line]}{beside(trace, line)}") for line in lines[:LISTED])
    shown = [line_link(*one) for one in named]
    if len(lines) > LISTED:
        shown.append(rich('<span class="q">and {} more</span>', f"{len(lines) - LISTED:,}"))
    return rich("<h4>{}: {}</h4>{}", title, f"{len(lines):,}", joined("<br>", shown))


def _totals(totals: LineTotals) -> Rich:
    rows = [
        ("hits", f"{totals.hits:,}"),
        ("latency", f"{totals.latency:,}"),
        ("of it stall", _part(totals.stall, totals.latency)),
        ("idle before", f"{totals.idle:,}"),
        ("of all cycles", percent(totals.latency + totals.idle, totals.whole) or "–"),
    ]
    return rich("<h4>This line, all traced waves, cycles</h4>") + _table(rows)


def _samples(samples: StallReasons, whole: int) -> Rich:
    rows = [
        ("samples", _part(samples.samples, whole, "of all samples")),
        ("issued", _part(samples.issued, samples.samples)),
        ("stalled", _part(samples.stalled, samples.samples)),
    ]
    rows += [(reason_name(reason), _part(n, samples.stalled)) for reason, n in samples.ranked()]
    return rich("<h4>PC samples of this line; reasons are shares of the stalled</h4>") + _table(rows)


def _part(value: int, whole: int, of: str = "") -> Rich:
    share = f"{percent(value, whole)} {of}".strip()
    return rich("{} &nbsp;<span class='q'>{}</span>", f"{value:,}", share)


def _table(rows: Sequence[tuple[str, str]]) -> Rich:
    cells = [rich('<tr><td class="q">{}</td><td>{}</td></tr>', name, value) for name, value in rows if value]
    return rich("<table cellspacing='0'>{}</table>", joined("", cells))
