"""Findings as text to paste: Markdown for tickets, plain for one finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rcv_py.analysis.findings.finding import Finding, Findings
from rcv_py.base.markdown import md_code, md_text


def markdown(name: str, found: Findings, shown: Sequence[Finding] | None = None) -> str:
    """Return findings as a Markdown page: key numbers, then a section a finding."""
    return "".join(f"{line}\n" for line in _page(name, found, found.in_full if shown is None else shown))


def one_as_markdown(number: int, one: Finding) -> str:
    """Return one finding as a Markdown section."""
    return "".join(f"{line}\n" for line in _section(number, one))


def _page(name: str, found: Findings, shown: Sequence[Finding]) -> Iterator[str]:
    yield f"# Triage of {md_text(name)}"
    yield ""
    if found.alarm or found.bound_class is not None:
        yield from (f"**{md_text(found.sentence)}**", "")
    for number in found.numbers:
        yield f"- {md_text(number.name)}: **{md_text(number.text)}** {md_text(number.of)}".rstrip()
    if found.partial:
        yield f"- Partial: {md_text(found.partial)}"
    if found.why and not found.alarm:
        yield from ("", md_text(found.why))
    for place, one in enumerate(shown, 1):
        yield ""
        yield from _section(place, one)
    if found.small_text and not any(one.is_small for one in shown):
        yield from ("", md_text(found.small_text))
    if found.assumption:
        yield from ("", f"*{md_text(found.assumption)}*")


def _section(number: int, one: Finding) -> Iterator[str]:
    yield f"## {number}. {md_text(one.title)}"
    yield ""
    for label, sentence in one.parts:
        yield from (f"**{label}**: {md_text(sentence)}" if label else md_text(sentence), "")
    for place in one.evidence:
        yield f"- {md_text(place.place)}" + (
            f": {md_code(place.text, in_table=False)}" if place.kind == "line" else f": {md_text(place.text)}"
        )
    if one.assumption:
        yield from ("", f"*{md_text(one.assumption)}*")
