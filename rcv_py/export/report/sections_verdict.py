"""Sections that come first: the verdict in a few lines, then each finding with evidence and a remedy."""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.findings.finding import CAUTION, CONTEXT, RANKED, SAMPLES, Evidence, Finding
from rcv_py.analysis.health.capture_health import HEALTHY, headline, verdict
from rcv_py.base.text import count
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import (
    Bar,
    Bars,
    Cell,
    Heading,
    Heads,
    Note,
    Part,
    Prose,
    Section,
    Share,
    Table,
    code,
    number,
    share,
)
from rcv_py.export.report.places import cycle_anchor, line_anchor, place_text, wave_anchor

MOST_BARS = 10
_RANKS = {CONTEXT: "beside the ranking", CAUTION: "caution"}


def the_verdict(inputs: ReportInputs) -> Section:
    """The first finding, the numbers that frame it, and how far the capture can be trusted."""
    found, notes = inputs.findings, inputs.health
    parts: list[Part] = [Prose(found.sentence, is_lead=True)]
    if found.sentence != found.headline:
        parts.append(Prose(found.headline, "First finding"))
    if found.numbers:
        rows = tuple((Cell(one.name), Cell(one.text), Cell(one.of)) for one in found.numbers)
        parts.append(Table((Heading("what"), Heading("value"), Heading("of")), rows))
    trust = verdict(notes)
    if trust != HEALTHY and headline(notes) != HEALTHY:
        trust = f"{trust}. {headline(notes)}."
    weight = notes[0].severity.value if notes else "info"
    parts.append(Note(f"Capture: {trust if trust.endswith('.') else f'{trust}.'}", weight))
    if found.findings and found.why and not found.alarm:
        parts.append(Note(found.why))
    if found.selection:
        parts.append(Note(f"Explained: {found.selection}. Totals of instructions are those of all waves."))
    return Section("verdict", "Verdict", tuple(parts))


def ranked(inputs: ReportInputs) -> Section | None:
    """Every finding: what is at stake, what is seen, what to do, where."""
    found = inputs.findings
    if not found.findings:
        return None
    parts: list[Part] = [*_bars(found.in_full), _overview(found.in_full)]
    for at, one in enumerate(found.in_full, 1):
        parts += _finding(inputs, at, one)
    if found.small:
        parts.append(Prose(found.small_text, is_quiet=True))
    return Section("findings", "What to look at first", tuple(parts), found.assumption)


def finding_anchor(at: int) -> str:
    """The name of the n-th finding inside a report, counted from 1."""
    return f"finding-{at}"


def _bars(found: tuple[Finding, ...]) -> list[Part]:
    """What the kernel's duration can gain by each of the ranked findings, or samples."""
    shown = [(at, one) for at, one in enumerate(found, 1) if one.rank == RANKED and one.cycles][:MOST_BARS]
    if not shown:
        return []
    if shown[0][1].unit == SAMPLES:
        return [_bars_of([(at, one.title, one.cycles) for at, one in shown], "At most", "samples")]
    gains = [(at, one.title, round(1000 * one.gain)) for at, one in shown]
    return [_bars_of(gains, "Gain, at most", "thousandths of the kernel's duration")]


def _bars_of(rows: list[tuple[int, str, int]], what: str, unit: str) -> Bars:
    bars = tuple(
        Bar(f"{at} {title}", (Share(what.lower(), value, "accent"),), finding_anchor(at))
        for at, title, value in rows
    )
    return Bars(f"{what}, in {unit}; parts of different findings may overlap", bars, unit)


def _overview(found: tuple[Finding, ...]) -> Table:
    rows = tuple(
        (
            number(at),
            Cell(one.title, link=finding_anchor(at)),
            Cell(_RANKS.get(one.rank, "")),
            Cell(("at most" if one.is_upper_bound else "about") if one.cycles else ""),
            number(one.cycles) if one.cycles else Cell(""),
            share(one.share, 1) if one.cycles else Cell(""),
            Cell(one.unit if one.cycles else ""),
            share(one.gain, 1) if one.gain_text else Cell(""),
        )
        for at, one in enumerate(found, 1)
    )
    heads = (
        Heading("rank", True),
        Heading("finding"),
        Heading("", tip="Findings that frame the others, or warn, stand behind those that are ranked."),
        Heading("bound", tip="At most: no change of this alone can win more."),
        Heading("at stake", True),
        Heading("share", True),
        Heading("of"),
        Heading("gain", True, tip="At most this part of the kernel's duration."),
    )
    return Table(heads, rows)


def _finding(inputs: ReportInputs, at: int, one: Finding) -> list[Part]:
    parts: list[Part] = [Heads(f"{at}. {one.title}", finding_anchor(at))]
    if one.gain_text:
        parts.append(Prose(f"{one.gain_text}; {one.stake} of {one.unit}.", "Gain"))
    elif one.stake:
        parts.append(Prose(f"{one.stake} of {one.unit}.", "At stake"))
    parts += [Prose(one.sentence), Prose(one.remedy, "What to do")]
    if one.evidence:
        rows = tuple(_evidence(inputs, place) for place in one.evidence)
        parts.append(Table((Heading("place"), Heading("what is seen")), rows))
    if one.assumption:
        parts.append(Prose(one.assumption, is_quiet=True))
    return parts


def _evidence(inputs: ReportInputs, one: Evidence) -> tuple[Cell, ...]:
    """A row: the place, as `rcv view --goto` takes it, and what is seen there."""
    seen = Cell(one.text)
    if one.kind == "line":
        return code(one.place, line_anchor(one.line)), seen
    if one.kind == "wave" and one.wave is not None:
        return code(place_text(one.wave), wave_anchor(one.wave)), seen
    if one.kind == "token" and one.wave is not None:
        line = one.line if one.line >= 0 else None
        place = place_text(one.wave, line, _hit(inputs, one), one.begin)
        return code(place, wave_anchor(one.wave), cycle_anchor(one.begin, one.wave)), seen
    if one.kind == "window":
        where = code(place_text(cycle=one.begin), anchor=cycle_anchor(one.begin))
        return where, Cell(f"{one.text}, to cycle {count(one.end)}")
    return code(one.text), Cell("")


def _hit(inputs: ReportInputs, one: Evidence) -> int | None:
    """The how-manieth execution of its line in its wave it is, from 0; None if the wave was not read."""
    wave = next((wave for wave in inputs.waves if wave.id == one.wave), None)
    if wave is None or one.token < 0 or one.line < 0:
        return None
    return int(np.count_nonzero(wave.tokens.line[: one.token] == one.line))
