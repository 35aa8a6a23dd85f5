"""A comparison for machines that build: Markdown for the page of a job, JUnit for its list of tests."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from rcv_py.analysis.compare.changes import Change, numbers, sides
from rcv_py.analysis.compare.compare import Comparison
from rcv_py.analysis.compare.verdict import Verdict
from rcv_py.base.markdown import md_code, md_table, md_text
from rcv_py.base.text import count
from rcv_py.results.compare import CHANGES, NUMBERS, UNITS

NOTHING = "No {} is beyond noise."
MOST = 10  # rows beyond noise in a JUnit message


def markdown(found: Comparison, rows: Sequence[Change], by: str, top: int) -> str:
    """Return the verdict, the numbers, and the rows beyond noise (`top`, 0: all) as Markdown."""
    parts = [f"**{md_text(found.judgement.sentence)}**"]
    parts += [f"> {md_text(note)}" for note in found.notes]
    facts = [f"- {md_text(name)}: {md_text(value)}" for name, value in (*sides(found), *numbers(found))]
    parts.append("\n".join(facts))
    if found.kernel is not None:
        parts.append(_table([row for row in rows if row.is_real], by, top))
    return "\n\n".join(parts)


def _table(real: Sequence[Change], by: str, top: int) -> str:
    if not real:
        return NOTHING.format(UNITS[by])
    shown = real[:top] if top else real
    lines = md_table(
        ((UNITS[by], False), *((CHANGES[by][name].title, True) for name in NUMBERS)), map(_cells, shown)
    )
    lines.append(
        f"\n{len(shown):,} of {len(real):,} beyond noise; cycles a wave, both at the executions of A."
    )
    return "\n".join(lines)


def _cells(row: Change) -> list[str]:
    name = f"{md_text(row.name)} {md_code(row.text)}" if row.text else md_text(row.name)
    ratio = "" if row.ratio is None else f"{100 * row.ratio:+.1f} %"
    cycles = (f"{row.cost_a:,.1f}", f"{row.cost_b:,.1f}", f"{row.delta:+,.1f}")
    noise = f"{row.noise:,.1f}" if row.is_noise_known else "unknown"
    return [name, count(row.hits_a), count(row.hits_b), *cycles, ratio, noise]


def junit(found: Comparison, rows: Sequence[Change], *, is_failed: bool) -> str:
    """Return one test case: failed if the gate trips, skipped if nothing can be said, passed otherwise."""
    is_open = found.verdict is Verdict.NOT_COMPARABLE
    name = f"{found.a.name} to {found.b.name}"
    text = "\n".join([found.judgement.sentence, *found.notes, *_told(rows)])
    sentence = quoteattr(found.judgement.sentence)
    inside = f"<system-out>{escape(text)}</system-out>"
    if is_open:
        inside = f"<skipped message={sentence}/>{inside}"
    elif is_failed:
        inside = f'<failure type="regression" message={sentence}>{escape(text)}</failure>'
    counts = f'tests="1" failures="{int(is_failed and not is_open)}" errors="0" skipped="{int(is_open)}"'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="rcv compare" {counts}>\n'
        f'<testcase classname="rcv.compare" name={quoteattr(name)}>{inside}</testcase>\n</testsuite>'
    )


def _told(rows: Sequence[Change]) -> list[str]:
    return [
        f"{row.name} {row.text}: {row.cost_a:,.1f} to {row.cost_b:,.1f} cycles a wave (±{row.noise:,.1f})"
        for row in rows
        if row.is_real
    ][:MOST]
