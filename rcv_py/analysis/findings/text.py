"""Findings as text to paste: Markdown for tickets, plain for one finding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rcv_py.analysis.findings.finding import Finding, Findings

_SPECIAL = re.compile(r"([\\`*_\[\]<>|])")


def markdown(name: str, found: Findings, shown: Sequence[Finding] | None = None) -> str:
    """Return findings as a Markdown page: key numbers, then a section a finding."""
    return "".join(f"{line}\n" for line in _page(name, found, found.told if shown is None else shown))


def one_as_markdown(number: int, one: Finding) -> str:
    """Return one finding as a Markdown section."""
    return "".join(f"{line}\n" for line in _section(number, one))


def _page(name: str, found: Findings, shown: Sequence[Finding]) -> Iterator[str]:
    yield f"# Triage of {_safe(name)}"
    yield ""
    if found.alarm or found.bound_class is not None:
        yield from (f"**{_safe(found.sentence)}**", "")
    for number in found.numbers:
        yield f"- {number.name}: **{_safe(number.text)}** {_safe(number.of)}".rstrip()
    if found.partial:
        yield f"- Partial: {found.partial}"
    if found.why and not found.alarm:
        yield from ("", found.why)
    for place, one in enumerate(shown, 1):
        yield ""
        yield from _section(place, one)
    if found.small_text and not any(one.is_small for one in shown):
        yield from ("", _safe(found.small_text))
    if found.assumption:
        yield from ("", f"*{found.assumption}*")


def _section(number: int, one: Finding) -> Iterator[str]:
    yield f"## {number}. {_safe(one.title)}"
    yield ""
    if one.gain_text:
        yield f"Gain: **{one.gain_text}**; {one.stake} of {one.unit}."
    elif one.stake:
        yield f"**{one.stake}** of {one.unit}."
    yield _safe(one.sentence)
    yield ""
    yield f"What to do: {_safe(one.remedy)}"
    if one.evidence:
        yield ""
    for place in one.evidence:
        yield f"- {_safe(place.place)}" + (
            f": `{place.text.replace('`', chr(39))}`" if place.kind == "line" else f": {_safe(place.text)}"
        )
    if one.assumption:
        yield from ("", f"*{_safe(one.assumption)}*")


def _safe(text: str) -> str:
    """Without what Markdown would take for marks."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
