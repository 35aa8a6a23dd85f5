"""One executed instruction in words, with links."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from rcv_py.analysis.stall_reasons import StallReasons, reason_name
from rcv_py.analysis.token_details import LineTotals, TokenDetails
from rcv_py.base.text import nanoseconds, percent
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.trace import Trace
from rcv_py.ui.kit.links import line_link, source_link
from rcv_py.ui.kit.places import place_text
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


def token_html(trace: Trace, facts: TokenFacts, in_ns: bool = False) -> str:
    """Return the facts as rich text."""
    parts = [f'<p class="m"><b>{escape(trace.code.text[facts.line])}</b></p>', _kind(trace, facts.line)]
    if facts.token is not None:
        parts.append(_token_table(trace, facts, in_ns))
    parts.append(_sources(trace, facts.line))
    parts.append(_lines(trace, "Waits for", facts.producers))
    parts.append(_lines(trace, "Waited on by", facts.waiters))
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
        ns = trace.clock.ns(value) if in_ns else None
        return f"{value:,}" if ns is None else nanoseconds(ns)

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
