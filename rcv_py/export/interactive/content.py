"""The contents of an interactive page: one document and columns of numbers.

Everything is bounded, so that a page of any capture is a few megabytes: instructions without cost are dropped
first, then waves, steps of occupancy and sources.  The document says what was left out.

Lists below the findings have a title and `rows`, one line each, or `items` shaped like findings; each line
links to a place of the page.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rcv_py import __version__
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, Cause
from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.device.occupancy_curves import occupancy_curves
from rcv_py.analysis.findings.finding import Evidence
from rcv_py.analysis.health.capture_health import verdict
from rcv_py.analysis.health.note import RANK
from rcv_py.analysis.program.branches import BRANCHES, branch_table, flow
from rcv_py.base import text as words
from rcv_py.base.progress import Report as Progress
from rcv_py.base.progress import Stage, checkpoint, silent
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, ends_run
from rcv_py.base.text import Message, plural, translated
from rcv_py.export.interactive.packed import PackedColumns
from rcv_py.export.interactive.waves import PageWaves, put_waves, shown_waves
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.features.registers.report import room_text
from rcv_py.features.why.report import main_producer
from rcv_py.model.ids import place_name
from rcv_py.model.kinds import KIND_TEXT, TokenKind
from rcv_py.model.notes import Anchor
from rcv_py.model.trace import Trace
from rcv_py.results.common import COSTS

OF_PAGE = (BRANCHES,)  # of all waves, in addition to the analyses of every report
MAX_CODE = 20_000  # instructions
MAX_ARROWS = 4_000
MAX_STEPS = 250_000  # of waves that begin and end, over all compute units
MAX_ROWS = 600  # compute units of the whole device
MAX_SOURCE = 1_500_000  # letters of source text
MAX_TEXT = 300  # letters of an instruction or a source line
MAX_LINES, MAX_CAUSES, MAX_LOOPS, MAX_NOTES = 10, 6, 6, 200  # of lists, the first are the costliest
MAX_LETTERS = 60  # of an instruction in a line


class Making(Value):
    """The inputs of the parts of a page, and the target of their columns."""

    inputs: ReportInputs
    shown: PageWaves
    code: np.ndarray  # int64, code rows that the page has, ascending
    columns: PackedColumns

    @property
    def trace(self) -> Trace:
        """The capture that the page is about."""
        return self.inputs.trace


def content(
    inputs: ReportInputs, tokens: int, *, report: Progress = silent
) -> tuple[dict[str, Any], PackedColumns]:
    """Return the document of a page with at most `tokens` instructions of waves, and its columns."""
    trace = inputs.trace
    waves = (one.wave for finding in inputs.findings.in_full for one in finding.evidence)
    wanted = [row for wave in waves if wave is not None and (row := trace.waves.row(wave)) is not None]
    slowest = (one.slowest.wave for one in inputs.spreads.values()) if len(trace.waves) else ()
    shown = shown_waves(trace, [*wanted, *slowest], tokens)
    # All rows of the program, or the costliest rows and labels, in its order.
    cost = inputs.costs.cost + trace.code.is_label
    made = Making(inputs, shown, np.sort(np.argsort(-cost, kind="stable")[:MAX_CODE]), PackedColumns())
    document = {}
    for done, (name, part) in enumerate(PARTS.items()):
        checkpoint()
        report(Stage("Writing the page", done, len(PARTS)))
        document[name] = part(made)
    return document, made.columns


def _about(made: Making) -> dict[str, Any]:
    trace, shown = made.trace, made.shown
    name = trace.kernel_name
    return {
        "title": shown_text(words.short_kernel(name) if name else "no kernel"),
        "kernel": shown_text(name),
        "capture": shown_text(trace.name),
        "target": shown_text(trace.target),
        "by": Message("rcv {0}", __version__),
        "origin": trace.span.begin,
        "cycles": max(1, trace.span.end - trace.span.begin),
        "unit": made.inputs.unit,
        "traced": shown.traced,
        "left_out": list(map(translated, _left_out(made))),
        "verdict": said_text(made.inputs.findings.sentence),
        "numbers": [
            [said_text(text) for text in (number.name, number.text, number.of)]
            for number in made.inputs.findings.numbers
        ],
        "kinds": [[kind.name, translated(KIND_TEXT[kind])] for kind in TokenKind],
    }


def _left_out(made: Making) -> list[str]:
    """What the page leaves out of the capture, as sentences."""
    shown, code = made.shown, made.trace.code
    said: list[str] = []
    if len(shown.detailed) < shown.traced:
        is_more = len(shown.rows) > len(shown.detailed)
        drawn = Message(", and the lives of {0:,}", len(shown.rows)) if is_more else ""
        text = Message(
            "This page has the instructions of {0:,} of {1}{2}: waves that findings name, and waves "
            "of the compute units with most.",
            *(len(shown.detailed), plural(shown.traced, "wave"), drawn),
        )
        said.append(text)
    if len(made.code) < len(code):
        every = plural(len(code), "instruction")
        said.append(Message("The listing has {0:,} of {1}: the most expensive.", len(made.code), every))
    return said


def _waves(made: Making) -> dict[str, Any]:
    trace, rows = made.trace, made.shown.rows
    put_waves(made.shown, trace, made.columns)
    index = trace.waves
    units = zip(index.se[rows].tolist(), index.sa[rows].tolist(), index.cu[rows].tolist(), strict=True)
    title = trace.architecture.unit_name
    names: dict[str, int] = {}
    of_wave = [names.setdefault(place_name(*unit, unit=title), len(names)) for unit in units]
    made.columns.put("wave.unit", of_wave)
    return {"units": list(names)}


def _code(made: Making) -> dict[str, Any]:
    trace, rows, costs = made.trace, made.code, made.inputs.costs
    code, columns = trace.code, made.columns
    columns.put_steps("code.row", rows)
    for field in COSTS:
        columns.put(f"code.{field.name}", getattr(costs, field.name)[rows])
    columns.put("code.label", code.is_label[rows])
    leaf = code.leaf[rows]
    has = leaf >= 0
    for name, values in (("file", code.chain_file), ("line", code.chain_line)):
        own = np.where(has, values[leaf], -1) if len(values) else np.full(len(rows), -1)
        columns.put_steps(f"code.{name}", own)
    return {"text": [shown_text(code.text[row], MAX_TEXT) for row in rows.tolist()]}


def _arrows(made: Making) -> dict[str, Any]:
    """Branches with source and target, the most taken first; waits with producers, the longest first."""
    trace, columns = made.trace, made.columns
    jumps = branch_table(made.inputs.answers.of(BRANCHES), flow(trace.code))
    chosen = np.flatnonzero(jumps.target >= 0)
    chosen = chosen[np.argsort(-jumps.taken[chosen], kind="stable")][:MAX_ARROWS]
    columns.put("branch.from", jumps.row[chosen])
    columns.put("branch.to", jumps.target[chosen])
    found = made.inputs.waits.blocking
    wait = np.repeat(found.line, np.diff(found.first))
    most = np.argsort(-found.charged, kind="stable")[:MAX_ARROWS]
    columns.put("wait.from", found.producer[most])
    columns.put("wait.to", wait[most])
    return {}


def _sources(made: Making) -> list[dict[str, Any]]:
    """Every file with instructions; the costliest ones with their text, while there is room."""
    trace, costs = made.trace, made.inputs.costs
    code, leaf = trace.code, trace.code.leaf
    has = np.flatnonzero(leaf >= 0)
    file = code.chain_file[leaf[has]] if len(has) else np.zeros(0, dtype=np.int64)
    cost = np.bincount(file, costs.cost[has], len(trace.sources))
    used, room = set(ascending(file).tolist()), MAX_SOURCE
    names = words.short_paths(source.path for source in trace.sources)
    shown: list[dict[str, Any]] = [{} for _ in trace.sources]
    for at in np.argsort(-cost, kind="stable").tolist():
        source = trace.sources[at]
        one = {"name": shown_text(names[source.path]), "path": shown_text(source.path)}
        lines = source.lines if at in used else None
        if lines is not None and (size := sum(min(len(line), MAX_TEXT) for line in lines)) <= room:
            room -= size
            one["text"] = "\n".join(shown_text(line.expandtabs(8), MAX_TEXT) for line in lines)
        elif at in used:
            why = "There was no room for its text." if lines else "The capture has no copy of this file."
            one["note"] = said_text(source.note) or translated(why)
        shown[at] = one
    return shown


def _findings(made: Making) -> list[dict[str, Any]]:
    return [
        {
            "title": said_text(one.title),
            "gain": said_text(one.gain_row or one.cycles_at_stake_text),
            "text": [[translated(label), said_text(sentence)] for label, sentence in one.parts],
            "assumption": said_text(one.assumption),
            "places": [place_of(made.trace, evidence) for evidence in one.evidence],
        }
        for one in made.inputs.findings.in_full
    ]


def place_of(trace: Trace, one: Evidence) -> dict[str, Any]:
    """Return a place in the page's form: `wave` is a row of the index, times count from the origin.

    Absent parts of a place are omitted.
    """
    row = None if one.wave is None else trace.waves.row(one.wave)
    has_times = one.kind in ("token", "window")
    return known(
        name=said_text(one.place),
        text=said_text(one.text),
        line=one.line if one.line >= 0 else None,
        wave=row,
        begin=one.begin - trace.span.begin if has_times else None,
        end=one.end - trace.span.begin if has_times else None,
        source=one.source,
    )


def _device(made: Making) -> dict[str, Any]:
    """Resident waves of every compute unit over time; steps close to each other are merged."""
    trace, columns = made.trace, made.columns
    curves = [curve for curve in occupancy_curves(trace, "cu", is_all=True) if len(curve.steps)]
    curves = curves[:MAX_ROWS]
    steps = [curve.steps for curve in curves]
    most = MAX_STEPS // max(1, len(steps))
    if sum(map(len, steps)) > MAX_STEPS:  # the last step of each of so many equal parts of the capture
        begin, length = trace.span.begin, max(1, trace.span.end - trace.span.begin)
        last = [ends_run((one.time - begin) * most // length) for one in steps]
        steps = [StepCurve(one.time[at], one.value[at]) for one, at in zip(steps, last, strict=True)]
    columns.put("device.steps", [len(one) for one in steps])
    time = [np.diff(one.time, prepend=trace.span.begin) for one in steps]
    value = [np.diff(one.value.astype(np.int64), prepend=0) for one in steps]
    none = np.zeros(0, dtype=np.int64)
    columns.put("device.time", np.concatenate([none, *time]))
    columns.put("device.waves", np.concatenate([none, *value]))
    return {"rows": [curve.name.replace("CU", trace.architecture.unit_name) for curve in curves]}


def shown_text(text: str, most: int = 4_000) -> str:
    """Return text of a capture with invisible characters escaped, cut to a maximum length."""
    return words.visible(words.elide_right(text, most))


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
    return f"{line} {words.elide_right(text, MAX_LETTERS)}{beside(inputs.trace, line)}"


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
        more = words.join_texts(" · ", filter(None, (words.percent(one.latency, whole), cause)))
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
        more = words.join_texts(" · ", filter(None, (words.percent(cycles, whole), blamed)))
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
            parts.append(Message("median {0} cycles per iteration", words.count(round(median))))
        parts += ["the main loop"] if at == table.dominant else []
        name = Message("instructions {0} to {1}", head, branch)
        rows.append(_row(name, words.join_texts(" · ", parts), head))
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
PARTS: Mapping[str, Callable[[Making], dict[str, Any] | Sequence[dict[str, Any]]]] = {
    "about": _about,
    "waves": _waves,
    "code": _code,
    "arrows": _arrows,
    "sources": _sources,
    "findings": _findings,
    "lists": lambda made: [one for of in LISTS if (one := of(made.inputs)).get("rows") or one.get("items")],
    "device": _device,
}
"""Parts of the document by name; each of `lists` is shown under its own heading."""
