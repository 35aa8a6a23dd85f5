"""Lists below the findings of a page; each line links to a place of the page.

A list has a title and `rows`, one line each, or `items` shaped like findings.
"""

from typing import Any

import numpy as np

from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.health.capture_health import verdict
from rcv_py.analysis.health.note import RANK
from rcv_py.base.text import Message, count, elide_right, join_texts, percent, plural, translated, visible
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.features.registers.report import room_text
from rcv_py.features.why.report import main_producer
from rcv_py.model.notes import Anchor
from rcv_py.model.trace import Trace

MAX_LINES = 10  # instructions that cost most
MAX_CAUSES = 6
MAX_LOOPS = 6
MAX_NOTES = 200
MAX_LETTERS = 60  # of an instruction in a line


def lists_of(inputs: ReportInputs) -> list[dict[str, Any]]:
    """Return the lists that are not empty."""
    return [one for make in LISTS if (one := make(inputs)).get("rows") or one.get("items")]


def shown_text(text: str, most: int = 4_000) -> str:
    """Return text of a capture with invisible characters escaped, cut to a maximum length."""
    return visible(elide_right(text, most))


def said_text(text: str) -> str:
    """Return a text of rcv in the selected language, with names of the capture made safe."""
    return shown_text(translated(text))


def known(**parts: Any) -> dict[str, Any]:
    """Return the parts of a place that are not None."""
    return {name: value for name, value in parts.items() if value is not None}


def _row(text: str, more: str, line: int = -1) -> dict[str, Any]:
    """A line of a list; `line` is the instruction that it links to, -1 for none."""
    return {"name": said_text(text), "text": translated(more), **({"line": line} if line >= 0 else {})}


def _instruction(inputs: ReportInputs, line: int) -> str:
    text = inputs.trace.code.text[line]
    return f"{line} {elide_right(text, MAX_LETTERS)}{beside(inputs.trace, line)}"


def _costliest(inputs: ReportInputs) -> dict[str, Any]:
    """The costliest instructions, with the main cause if known."""
    why: dict[int, int] = {}
    if inputs.causes is not None:
        by_line = inputs.causes.by_line()
        why = dict(zip(by_line.line.tolist(), by_line.cause.tolist(), strict=True))
    whole = int(inputs.costs.latency.sum())
    rows = []
    for one in inputs.top_lines[:MAX_LINES]:
        cause = CAUSE_TEXT[Cause(why[one.line])].name if one.line in why else ""
        more = join_texts(" · ", filter(None, (percent(one.latency, whole), cause)))
        rows.append(_row(_instruction(inputs, one.line), more, one.line))
    what = "samples" if inputs.is_sampled else "latency"
    return {"title": translated(Message("What costs most ({0})", what)), "rows": rows}


def _causes(inputs: ReportInputs) -> dict[str, Any]:
    """Why waves stalled or idled, and the instruction to blame for most of each."""
    found, rows = inputs.causes, []
    if found is None:
        return {}
    groups, whole = found.by_cause(), int(found.cycles.sum())
    for cause, cycles in list(zip(groups.cause.tolist(), groups.cycles.tolist(), strict=True))[:MAX_CAUSES]:
        producer = main_producer(found, cause)
        blamed = Message("mostly because of {0}", _instruction(inputs, producer)) if producer >= 0 else ""
        more = join_texts(" · ", filter(None, (percent(cycles, whole), blamed)))
        rows.append(_row(CAUSE_TEXT[Cause(cause)].name, more, producer))
    return {"title": translated("Why cycles were spent"), "rows": rows}


def _loops(inputs: ReportInputs) -> dict[str, Any]:
    """Loops by the time of their iterations, with the time of an iteration."""
    if not inputs.waves:
        return {}
    table, rows = inputs.iterations.loops.table, []
    for at in np.argsort(-table.cycles, kind="stable")[:MAX_LOOPS].tolist():
        head, branch, median = int(table.head[at]), int(table.branch[at]), table.median[at]
        parts: list[str] = [Message("taken {0}", plural(int(table.taken[at]), "time"))]
        if not np.isnan(median):
            parts.append(Message("median {0} cycles per iteration", count(round(median))))
        parts += ["the main loop"] if at == table.dominant else []
        rows.append(_row(Message("instructions {0} to {1}", head, branch), join_texts(" · ", parts), head))
    return {"title": translated("Loops"), "rows": rows}


def _room(inputs: ReportInputs) -> dict[str, Any]:
    """How many waves a SIMD can hold, and what limits them."""
    text = room_text(inputs)
    return {"title": translated("Room for waves"), "rows": [_row(text, "")] if text else []}


def _notes(inputs: ReportInputs) -> dict[str, Any]:
    """Notes by people and agents, the most severe first."""
    notes = sorted(inputs.notes, key=lambda note: RANK[note.severity])[:MAX_NOTES]
    items = [
        {
            "title": shown_text(note.title),
            "gain": shown_text(", ".join(filter(None, (note.severity.value, note.author)))),
            "text": [["", shown_text(note.text)]] if note.text else [],
            "places": [_noted(inputs.trace, note.anchor.known(inputs.trace))],
        }
        for note in notes
    ]
    return {"title": translated("Notes"), "items": items}


def _noted(trace: Trace, anchor: Anchor) -> dict[str, Any]:
    """The place of a note, in the form of `place_of`."""
    span, origin = anchor.span, trace.span.begin
    return known(
        name=shown_text(str(anchor)),
        line=anchor.instructions[0] if anchor.instructions else None,
        wave=None if anchor.wave is None else trace.waves.row(anchor.wave),
        begin=None if span is None else span.begin - origin,
        end=None if span is None else span.end - origin,
        source=anchor.place_in(trace),
    )


def _health(inputs: ReportInputs) -> dict[str, Any]:
    """How far the capture can be trusted."""
    notes = inputs.health
    items = [
        {
            "title": said_text(note.title),
            "gain": translated(note.severity.value),
            "text": [
                ["", said_text(note.consequence)],
                [translated("Seen"), said_text(note.evidence_text)],
                [translated("Fix"), said_text(note.remedy)],
            ],
        }
        for note in notes
    ]
    return {"title": translated(Message("The capture: {0}", verdict(notes))), "items": items}


LISTS = (_notes, _costliest, _causes, _loops, _room, _health)
