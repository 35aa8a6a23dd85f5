"""One executed instruction in words, with links."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.attribution.token import TokenCause
from rcv_py.analysis.place_text import place_text
from rcv_py.analysis.stall_reasons import StallReasons, reason_name
from rcv_py.analysis.token_details import LineTotals, TokenDetails
from rcv_py.analysis.token_waits import Awaited, ReleasedBy, TokenWaits
from rcv_py.base.text import nanoseconds, percent
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.kit.links import line_link, source_link, token_link
from rcv_py.ui.kit.state_bar import state_text

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


def token_html(trace: Trace, facts: TokenFacts, in_ns: bool = False) -> str:
    """Return the facts as rich text."""
    parts = [f'<p class="m"><b>{escape(trace.code.text[facts.line])}</b></p>', _kind(trace, facts.line)]
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
    return "".join(parts)


def _kind(trace: Trace, line: int) -> str:
    kind = int(trace.code.kind[line])
    text = KIND_TEXT[TokenKind(kind)] if kind in TokenKind._value2member_map_ else "unknown"
    return f'<p class="q">line {line} · {text}</p>'


def _token_table(trace: Trace, facts: TokenFacts, in_ns: bool) -> str:
    token = facts.token
    assert token is not None

    def cycles(value: int) -> str:
        return _duration(trace, value, in_ns)

    rows = [
        ("wave", escape(facts.wave)),
        ("at", f"{token.start:,}"),
        (
            "stall + issue",
            f"{cycles(token.stall)} + {cycles(token.busy)} = {cycles(token.stall + token.busy)}",
        ),
        ("idle before", cycles(token.idle)),
        ("state", escape(state_text(token.states)) or "not recorded"),
    ]
    return _table(rows)


def _duration(trace: Trace, cycles: int, in_ns: bool) -> str:
    ns = trace.clock.ns(cycles) if in_ns else None
    return f"{cycles:,}" if ns is None else nanoseconds(ns)


def causes_html(trace: Trace, facts: TokenFacts, in_ns: bool = False) -> str:
    """Return why the execution stalled or came late, each cause with its producer and its evidence."""
    return "".join(_cause(trace, facts, one, in_ns) for one in facts.causes)


def _cause(trace: Trace, facts: TokenFacts, one: TokenCause, in_ns: bool) -> str:
    text = CAUSE_TEXT[one.cause]
    much = f"{_duration(trace, one.cycles, in_ns)}{'' if in_ns else ' cycles'}"
    what = "idle" if one.is_idle else "stalled"
    sure = "certain" if text.is_certain else "likely"
    why = f"{sure}: {text.evidence}" if one.cause is not Cause.UNEXPLAINED else "no evidence for any cause"
    blamed = ""
    if one.line >= 0:
        name = f"{one.line}  {trace.code.text[one.line]}"
        is_own = one.wave >= 0 and str(trace.waves.id(one.wave)) == facts.wave
        link = token_link(one.row, name) if is_own else line_link(one.line, name)
        perhaps = "perhaps " if one.is_guess else ""
        blamed = f"<br>{perhaps}{link}{'' if is_own else ' · of another wave'}"
    return f"<p>{what} {much} because {text.sentence}{blamed}<br><span class='q'>{escape(why)}</span></p>"


def waits_html(trace: Trace, waits: TokenWaits, in_ns: bool = False) -> str:
    """Return what one execution waited for, or which waits released it, as links to those executions."""
    parts = []
    if waits.is_wait:
        newest_first = sorted(waits.awaited, key=lambda one: -one.row)
        items = [_awaited(trace, one, in_ns) for one in newest_first]
        parts.append(_items("Waited for", items, "Nothing that is known was outstanding."))
    if waits.is_counted:
        items = [_released(trace, one, in_ns) for one in waits.released_by]
        parts.append(_items("Released by", items, "No wait released it before the wave ended."))
    return "".join(parts)


def _awaited(trace: Trace, one: Awaited, in_ns: bool) -> str:
    ago = f"{_duration(trace, one.ago, in_ns)}{'' if in_ns else ' cycles'}"
    when = f"issued at {one.issued:,}, {ago} before the wait, by {one.counter}"
    mark = " · <b>newest, ends the wait</b>" if one.is_newest else ""
    link = token_link(one.row, f"{one.line}  {trace.code.text[one.line]}")
    return f"{link}<br><span class='q'>{when}{mark}</span>"


def _released(trace: Trace, one: ReleasedBy, in_ns: bool) -> str:
    sure = "" if one.is_exact else "at most "
    latency = f"latency {sure}{_duration(trace, one.latency, in_ns)}{'' if in_ns else ' cycles'}"
    why = "the wait ended with it" if one.is_exact else "it may have been back before"
    link = token_link(one.row, f"{one.line}  {trace.code.text[one.line]}")
    return f"{link}<br><span class='q'>{latency}, by {one.counter}: {why}</span>"


def _items(title: str, items: list[str], otherwise: str) -> str:
    if not items:
        return f"<h4>{title}: 0</h4><span class='q'>{otherwise}</span>"
    shown = items[:LISTED]
    if len(items) > LISTED:
        shown.append(f'<span class="q">and {len(items) - LISTED:,} more</span>')
    return f"<h4>{title}: {len(items):,}</h4>" + "<br>".join(shown)


def _sources(trace: Trace, line: int) -> str:
    chain = trace.code.chain(line)
    if not chain:
        return ""
    links = [source_link(file, number, place_text(trace.sources, file, number)) for file, number in chain]
    return "<h4>Source, innermost first</h4>" + "<br>".join(links)


def _lines(trace: Trace, title: str, lines: tuple[int, ...]) -> str:
    if not lines:
        return ""
    shown = [line_link(line, f"{line}  {trace.code.text[line]}") for line in lines[:LISTED]]
    if len(lines) > LISTED:
        shown.append(f'<span class="q">and {len(lines) - LISTED:,} more</span>')
    return f"<h4>{title}: {len(lines):,}</h4>" + "<br>".join(shown)


def _totals(totals: LineTotals) -> str:
    rows = [
        ("hits", f"{totals.hits:,}"),
        ("latency", f"{totals.latency:,}"),
        (
            "of it stall",
            f"{totals.stall:,} &nbsp;<span class='q'>{escape(percent(totals.stall, totals.latency))}</span>",
        ),
        ("idle before", f"{totals.idle:,}"),
        ("of all cycles", escape(percent(totals.latency + totals.idle, totals.whole)) or "–"),
    ]
    return "<h4>This line, all traced waves, cycles</h4>" + _table(rows)


def _samples(samples: StallReasons, whole: int) -> str:
    rows = [
        ("samples", _part(samples.samples, whole, "of all samples")),
        ("issued", _part(samples.issued, samples.samples)),
        ("stalled", _part(samples.stalled, samples.samples)),
    ]
    rows += [(escape(reason_name(reason)), _part(n, samples.stalled)) for reason, n in samples.ranked()]
    return "<h4>PC samples of this line; reasons are shares of the stalled</h4>" + _table(rows)


def _part(value: int, whole: int, of: str = "") -> str:
    share = escape(f"{percent(value, whole)} {of}".strip())
    return f"{value:,} &nbsp;<span class='q'>{share}</span>"


def _table(rows: list[tuple[str, str]]) -> str:
    cells = "".join(f'<tr><td class="q">{name}</td><td>{value}</td></tr>' for name, value in rows if value)
    return f"<table cellspacing='0'>{cells}</table>"
