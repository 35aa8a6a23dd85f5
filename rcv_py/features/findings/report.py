"""Sections that come first: the verdict in a few lines, then each finding with evidence and a remedy."""

from rcv_py.analysis.findings.finding import (
    CAUTION,
    CONTEXT,
    LEGEND,
    RANKED,
    SAMPLES,
    WITHOUT_GAIN,
    Evidence,
    Finding,
)
from rcv_py.analysis.health.capture_health import HEALTHY, headline, verdict
from rcv_py.base.text import Message, count
from rcv_py.export.report import cells, model
from rcv_py.export.report.inputs import ReportInputs

MAX_BARS = 10
_OTHERS = "Findings that give context or warn follow the ranked findings."
_BOUND = "At most: changing this alone cannot save more."
_RANKS = {CONTEXT: "outside the ranking", CAUTION: "caution"}


def the_verdict(inputs: ReportInputs) -> model.ReportSection:
    """The first finding, its context numbers, and how far the capture can be trusted."""
    found, notes = inputs.findings, inputs.health
    parts: list[model.Part] = [model.Prose(found.sentence, is_lead=True)]
    if found.detail:
        parts.append(model.Prose(found.detail))
    if found.sentence != found.headline:
        parts.append(model.Prose(found.headline, "First finding"))
    if found.numbers:
        rows = ((number.name, number.text, number.of) for number in found.numbers)
        parts.append(cells.text_table(("what", "value", "of"), rows))
    trust = verdict(notes)
    if trust != HEALTHY and headline(notes) != HEALTHY:
        trust = f"{trust}. {headline(notes)}."
    trust = trust if trust.endswith(".") else Message("{0}.", trust)
    weight = notes[0].severity.value if notes else "info"
    parts.append(model.ReportNote(Message("Capture: {0}", trust), weight))
    if found.findings and found.why and not found.alarm:
        parts.append(model.ReportNote(found.why))
    if found.selection:
        said = Message("Explained: {0}. Totals of instructions cover all waves.", found.selection)
        parts.append(model.ReportNote(said))
    return model.ReportSection("verdict", "Verdict", parts)


def ranked(inputs: ReportInputs) -> model.ReportSection | None:
    """Every finding: amount at stake, evidence, remedy, places."""
    found = inputs.findings
    if not found.findings:
        return None
    parts: list[model.Part] = [*_bars(found.in_full), _overview(found.in_full)]
    for ordinal, finding in enumerate(found.in_full, 1):
        parts += _finding(inputs, ordinal, finding)
    if found.small:
        parts.append(model.Prose(found.small_text, is_quiet=True))
    parts += [model.Prose(text, is_quiet=True) for text in (found.legend, found.predictions) if text]
    return model.ReportSection("findings", "What to look at first", parts, found.assumption)


def finding_anchor(ordinal: int) -> str:
    """The name of the n-th finding inside a report, counted from 1."""
    return f"finding-{ordinal}"


def _bars(findings: tuple[Finding, ...]) -> list[model.Part]:
    """Possible gain of the kernel's duration by each ranked finding, or samples."""
    shown = {n: one for n, one in enumerate(findings, 1) if one.rank == RANKED and one.cycles}
    shown = dict(list(shown.items())[:MAX_BARS])
    if not shown:
        return []
    what, unit = "Gain, at most", "thousandths of the kernel's duration"
    values = [round(1000 * finding.gain) for finding in shown.values()]
    if (of := next(iter(shown.values())).unit) in WITHOUT_GAIN:
        unit = "samples" if of == SAMPLES else "wave cycles"
        what, values = "At most", [finding.cycles for finding in shown.values()]
    names = [Message("{0} {1}", n, finding.title) for n, finding in shown.items()]
    title = Message("{0}, in {1}; parts of different findings may overlap", what, unit)
    series = (model.Series(what.lower(), values, "accent"),)
    return [model.ReportBars(title, names, series, unit, [*map(finding_anchor, shown)])]


def _overview(findings: tuple[Finding, ...]) -> model.ReportTable:
    bounds = {True: "at most", False: "about"}
    titles = (model.ReportCell(one.title, link=finding_anchor(n)) for n, one in enumerate(findings, 1))
    return cells.table(
        cells.numbers("rank", range(1, len(findings) + 1)),
        cells.column("finding", titles),
        cells.texts("", (_RANKS.get(one.rank, "") for one in findings), _OTHERS),
        cells.texts("bound", (bounds[one.is_upper_bound] if one.cycles else "" for one in findings), _BOUND),
        cells.numbers("at stake", (one.cycles or None for one in findings)),
        cells.shares("share", (one.share if one.cycles else None for one in findings), 1),
        cells.texts("of", (one.unit if one.cycles else "" for one in findings)),
        cells.texts("gain", (one.gain_row for one in findings), LEGEND),
    )


def _finding(inputs: ReportInputs, ordinal: int, finding: Finding) -> list[model.Part]:
    title = Message("{0}. {1}", ordinal, finding.title)
    parts: list[model.Part] = [model.Subheading(title, finding_anchor(ordinal))]
    parts += [model.Prose(sentence, label) for label, sentence in finding.parts]
    if finding.evidence:
        places, seen = zip(*(_evidence(inputs, evidence) for evidence in finding.evidence), strict=True)
        parts.append(cells.table(cells.column("place", places), cells.column("what is seen", seen)))
    if finding.assumption:
        parts.append(model.Prose(finding.assumption, is_quiet=True))
    return parts


def _evidence(inputs: ReportInputs, one: Evidence) -> tuple[model.ReportCell, ...]:
    """A row: the place, as `rcv view --goto` accepts it, and what is seen there."""
    seen = model.ReportCell(one.text)
    if one.kind == "instruction":
        return cells.code(one.place, cells.line_anchor(one.line)), seen
    if one.kind == "wave" and one.wave is not None:
        return cells.code(cells.place_text(one.wave), cells.wave_anchor(one.wave)), seen
    if one.kind == "token" and one.wave is not None:
        place = cells.place_text(one.wave, one.line if one.line >= 0 else None, _hit(inputs, one), one.begin)
        return cells.code(place, cells.wave_anchor(one.wave), cells.cycle_anchor(one.begin, one.wave)), seen
    if one.kind == "window":
        where = cells.code(cells.place_text(cycle=one.begin), anchor=cells.cycle_anchor(one.begin))
        return where, model.ReportCell(Message("{0}, to cycle {1}", one.text, count(one.end)))
    return cells.code(one.text), cells.NOTHING


def _hit(inputs: ReportInputs, one: Evidence) -> int | None:
    """The ordinal of the execution of its line in its wave, from 0; None if the wave was not read."""
    if one.wave is None or one.token < 0 or one.line < 0:
        return None
    wave = inputs.wave(one.wave)
    return None if wave is None else wave.executions(one.line).before(one.token)
