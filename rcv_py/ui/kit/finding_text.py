"""A finding as rich text: sentence, remedy, evidence as links, and what is taken for granted."""

from __future__ import annotations

from html import escape

from rcv_py.analysis.findings.finding import Evidence, Finding
from rcv_py.analysis.place_text import place_text

EVIDENCE, ASSUMPTION = "evidence", "assumption"
SHOWN = 3  # pieces of evidence that are named below the title, where a low panel shows them


def finding_html(one: Finding, *, is_open: bool, sources: object = None) -> str:
    """Return the page of a finding; `is_open` shows what it takes for granted."""
    parts = [f"<p><b>{escape(one.title)}</b>"]
    if one.stake:
        parts.append(f"<br>{escape(one.stake)} <span class='q'>of {escape(one.unit)}</span>")
    if one.evidence:
        where = " · ".join(_link(number, place, sources) for number, place in enumerate(one.evidence[:SHOWN]))
        parts.append(f"<br>{where}")
    parts.append(f"</p><p>{escape(one.sentence)}</p>")
    parts.append(f"<p><b>What to do:</b> {escape(one.remedy)}</p>")
    if one.evidence:
        rows = "<br>".join(_row(number, place, sources) for number, place in enumerate(one.evidence))
        parts.append(f"<p>{rows}</p>")
    if one.assumption:
        arrow = "▾" if is_open else "▸"
        parts.append(f"<p><a href='{ASSUMPTION}:0'>{arrow} What this assumes</a>")
        parts.append(f"<br>{escape(one.assumption)}</p>" if is_open else "</p>")
    return "".join(parts)


def _row(number: int, place: Evidence, sources: object) -> str:
    key = f"<span class='q'>{number + 1}</span>&nbsp; " if number < 9 else ""
    text = "" if place.kind == "source" else escape(place.text)
    return f"{key}{_link(number, place, sources)} &nbsp;{text}"


def _link(number: int, place: Evidence, sources: object) -> str:
    where = place.place
    if place.kind == "source" and place.source is not None and sources is not None:
        where = place_text(sources, *place.source)  # type: ignore[arg-type]
    return f"<a href='{EVIDENCE}:{number}'>{escape(where)}</a>"
