"""A finding as rich text: sentence, remedy, evidence as links, and what is taken for granted."""

from __future__ import annotations

from html import escape

from rcv_py.analysis.findings.finding import Evidence, Finding, Findings
from rcv_py.analysis.place_text import place_text

EVIDENCE, ASSUMPTION = "evidence", "assumption"
SHOWN = 3  # pieces of evidence that are named below the title, where a low panel shows them


def finding_html(one: Finding, *, is_open: bool, sources: object = None) -> str:
    """Return the page of a finding; `is_open` shows what it takes for granted."""
    parts = [f"<p><b>{escape(one.title)}</b>"]
    if one.gain_text:
        parts.append(f"<br>Gain: {escape(one.gain_text)}")
    if one.stake:
        parts.append(f"<br>{escape(one.stake)} <span class='q'>of {escape(one.unit)}</span>")
    if one.evidence:
        where = " · ".join(_link(number, place, sources) for number, place in enumerate(one.evidence[:SHOWN]))
        parts.append(f"<br>{where}")
    parts.append(f"</p><p>{escape(one.sentence)}</p>")
    effort = f" <span class='q'>({escape(one.effort)} effort)</span>" if one.effort else ""
    parts.append(f"<p><b>What to do:</b> {escape(one.remedy)}{effort}</p>")
    if one.evidence:
        rows = "<br>".join(_row(number, place, sources) for number, place in enumerate(one.evidence))
        parts.append(f"<p>{rows}</p>")
    if one.assumption:
        arrow = "▾" if is_open else "▸"
        parts.append(f"<p><a href='{ASSUMPTION}:0'>{arrow} What this assumes</a>")
        parts.append(f"<br>{escape(one.assumption)}</p>" if is_open else "</p>")
    return "".join(parts)


def small_html(found: Findings) -> str:
    """Return the page of the findings that are told in one line."""
    rows = "".join(
        f"<p><b>{escape(one.title)}</b> <span class='q'>{escape(one.gain_text)}</span>"
        f"<br>{escape(one.sentence)}</p>"
        for one in found.small
    )
    return f"<p><b>Below 2 % of the kernel's duration</b></p>{rows}" if rows else ""


def _row(number: int, place: Evidence, sources: object) -> str:
    key = f"<span class='q'>{number + 1}</span>&nbsp; " if number < 9 else ""
    text = "" if place.kind == "source" else escape(place.text)
    return f"{key}{_link(number, place, sources)} &nbsp;{text}"


def _link(number: int, place: Evidence, sources: object) -> str:
    where = place.place
    if place.kind == "source" and place.source is not None and sources is not None:
        where = place_text(sources, *place.source)  # type: ignore[arg-type]
    return f"<a href='{EVIDENCE}:{number}'>{escape(where)}</a>"
