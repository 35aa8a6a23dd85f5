"""The page of a finding: what, where, fix and gain, with links to its evidence."""

from collections.abc import Sequence

from rcv_py.analysis.cost.place_text import place_text
from rcv_py.analysis.findings.finding import Evidence, Finding, Findings
from rcv_py.model.code import SourceFile
from rcv_py.ui.core.plain_text import Rich, joined, rich

EVIDENCE, MORE, TRIAL = "evidence", "more", "trial"  # kinds of links
SHOWN = 2  # maximum pieces of evidence of a finding that is not opened


def finding_html(
    finding: Finding,
    *,
    is_open: bool,
    sources: Sequence[SourceFile] = (),
    first: str = "",
    predictions: str = "",
    most: str = "",
) -> Rich:
    """Return the page of a finding: what, where, fix and gain; `is_open` shows all that is known of it.

    `first` is the title of the earlier finding with the same bound, if there is one; `predictions` is what
    predictions assume, `most` is the gain as a time.
    """
    parts = [rich("<p><b>{}</b></p>", finding.title)]
    if first:
        parts.append(rich("<p class='q'>The same bound as “{}”: these are the same cycles.</p>", first))
    shown = len(finding.evidence) if is_open else SHOWN
    rows = [_row(number, place, sources) for number, place in enumerate(finding.evidence[:shown])]
    effort = rich(" <span class='q'>{} effort</span>", finding.effort.capitalize()) if finding.effort else ""
    time = rich(" · {}", most) if most else ""
    trial = rich(" · <a href='{}:0'>Try it in What if</a>", TRIAL) if finding.trial is not None else ""
    gain = rich("{}{}{}", finding.gain_row or finding.cycles_at_stake_text, time, trial)
    texts = dict(finding.parts)
    lines = (
        ("What", finding.sentence if is_open else finding.key_sentence),
        ("Where", joined("<br>", rows)),
        ("Fix", rich("{}{}", finding.remedy, effort)),
        ("Gain" if finding.gain_text else "At stake", gain),
    )
    parts += [rich("<p><b>{}:</b> {}</p>", label, line) for label, line in lines if line]
    parts.append(rich("<p><a href='{}:0'>{}</a></p>", MORE, "▾ Less" if is_open else "▸ More"))
    if is_open:
        taken = (texts.get("Gain", ""), finding.assumption, predictions if finding.predicted else "")
        parts += [rich("<p>{}</p>", text) for text in taken if text]
    return joined("", parts)


def small_html(findings: Findings) -> Rich:
    """Return the page of the findings that have one line each."""
    row = "<p><b>{}</b> <span class='q'>{}</span><br>{}</p>"
    rows = [rich(row, small.title, small.gain_row, small.sentence) for small in findings.small]
    return rich("<p><b>Below 2 % of the kernel's duration</b></p>{}", joined("", rows)) if rows else Rich()


def _row(number: int, place: Evidence, sources: Sequence[SourceFile]) -> Rich:
    key = rich("<span class='q'>{}</span>&nbsp; ", number + 1) if number < 9 else ""
    text = "" if place.kind == "source" else place.text
    where = place.place
    if place.kind == "source" and place.source is not None and sources:
        where = place_text(sources, *place.source)
    link = rich("<a href='{}:{}'>{}</a>", EVIDENCE, number, where)
    return rich("{}{} &nbsp;{}", key, link, text)
