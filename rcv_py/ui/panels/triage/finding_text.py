"""A finding as rich text: sentence, remedy, evidence as links, and what is taken for granted."""

from __future__ import annotations

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.findings.finding import Evidence, Finding, Findings
from rcv_py.ui.core.plain_text import Rich, joined, rich

EVIDENCE, ASSUMPTION = "evidence", "assumption"
SHOWN = 3  # pieces of evidence that are named below the title, where a low panel shows them


def finding_html(one: Finding, *, is_open: bool, sources: object = None) -> Rich:
    """Return the page of a finding; `is_open` shows what it takes for granted."""
    parts = [rich("<p><b>{}</b>", one.title)]
    if one.evidence:
        where = [_link(number, place, sources) for number, place in enumerate(one.evidence[:SHOWN])]
        parts.append(rich("<br>{}", joined(" · ", where)))
    parts.append(rich("</p>"))
    for label, sentence in one.parts:
        parts.append(rich("<p><b>{}:</b> {}</p>" if label else "<p>{1}</p>", label, sentence))
    if one.effort:
        parts.append(rich("<p class='q'>{} effort</p>", one.effort.capitalize()))
    if one.evidence:
        rows = [_row(number, place, sources) for number, place in enumerate(one.evidence)]
        parts.append(rich("<p>{}</p>", joined("<br>", rows)))
    if one.assumption:
        arrow = "▾" if is_open else "▸"
        parts.append(rich("<p><a href='{}:0'>{} What this assumes</a>", ASSUMPTION, arrow))
        parts.append(rich("<br>{}</p>", one.assumption) if is_open else rich("</p>"))
    return joined("", parts)


def small_html(found: Findings) -> Rich:
    """Return the page of the findings that are told in one line."""
    rows = [
        rich("<p><b>{}</b> <span class='q'>{}</span><br>{}</p>", one.title, one.gain_text, one.sentence)
        for one in found.small
    ]
    return rich("<p><b>Below 2 % of the kernel's duration</b></p>{}", joined("", rows)) if rows else Rich()


def _row(number: int, place: Evidence, sources: object) -> Rich:
    key = rich("<span class='q'>{}</span>&nbsp; ", number + 1) if number < 9 else ""
    text = "" if place.kind == "source" else place.text
    return rich("{}{} &nbsp;{}", key, _link(number, place, sources), text)


def _link(number: int, place: Evidence, sources: object) -> Rich:
    where = place.place
    if place.kind == "source" and place.source is not None and sources is not None:
        where = place_text(sources, *place.source)  # type: ignore[arg-type]
    return rich("<a href='{}:{}'>{}</a>", EVIDENCE, number, where)
