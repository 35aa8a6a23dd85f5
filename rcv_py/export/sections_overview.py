"""Sections about the capture as a whole: what it is, how far to trust it, where its time went."""

from __future__ import annotations

from rcv_py.analysis.ranking import ranking
from rcv_py.analysis.state_shares import SHOWN
from rcv_py.base.text import count, nanoseconds, plural
from rcv_py.export.report_inputs import ReportInputs
from rcv_py.export.report_model import (
    Cell,
    Heading,
    Note,
    Part,
    Section,
    Share,
    Stacked,
    Table,
    code,
    number,
    share,
)

_STATE_TEXT = {"IDLE": "nothing to do", "EXEC": "executing", "WAIT": "waiting", "STALL": "stalled"}


def configuration(inputs: ReportInputs) -> Section:
    """What was recorded: kernel, device, dispatch, size of the capture."""
    trace = inputs.trace
    rows = [("Capture", trace.name), ("Kernel", trace.kernel_name), ("Device", trace.target)]
    rows.append(("Format", trace.version))
    rows += [
        (fact.name, " · ".join(filter(None, (fact.text, fact.of))))
        for fact in inputs.summary.facts
        if fact.id != "kernel"
    ]
    if trace.clock.shader_hz:
        rows.append(
            ("Shader clock", f"{trace.clock.shader_hz / 1e9:.3f} GHz, by the clock samples of the capture")
        )
    if trace.has_times:
        rows.append(("Time span", _span(inputs)))
    for dispatch in trace.dispatches[:1]:
        size = " × ".join(map(str, dispatch.workgroup_size))
        rows.append(
            (
                "Dispatch",
                f"workgroup {size}, {dispatch.vgprs} VGPR, {dispatch.sgprs} SGPR, LDS {dispatch.lds_size}",
            )
        )
    tokens = sum(len(batch.line) for batch in inputs.batches)
    if tokens:
        rows.append(
            (
                "Instructions executed",
                f"{count(tokens)} in {plural(len(inputs.waves), 'wave')} that were read",
            )
        )
    table = Table(
        (Heading("what"), Heading("value")),
        tuple((Cell(name), Cell(value)) for name, value in rows if value),
    )
    return Section("configuration", "Configuration", (table,))


def _span(inputs: ReportInputs) -> str:
    span = inputs.trace.span
    ns = inputs.ns(span.width)
    return f"cycles {span}, {count(span.width)} cycles" + (f", {nanoseconds(ns)}" if ns is not None else "")


def health(inputs: ReportInputs) -> Section | None:
    """What was wrong with the capture, and what could not be read."""
    parts: list[Part] = [Note(str(problem), problem.severity.value) for problem in inputs.trace.problems]
    missing = [text for batch in inputs.batches for _, text in batch.missing]
    if missing:
        parts.append(Note(f"{plural(len(missing), 'wave')} could not be read. {missing[0]}", "warning"))
    if not parts:
        return None
    return Section("health", "How far to trust it", tuple(parts))


def activity(inputs: ReportInputs) -> Section | None:
    """Idle, stall and issue of all waves; their states; samples by reason."""
    found, parts = inputs.summary, []
    if found.activity is not None:
        one = found.activity
        shares = (
            Share("issue", one.issue, "issue"),
            Share("stall", one.stall, "stall"),
            Share("idle", one.idle, "idle"),
        )
        parts += _stacked("Activity of all traced waves, by the program's counts", shares)
    if found.states is not None:
        shares = tuple(
            Share(
                f"{state.name}, {_STATE_TEXT[state.name]}",
                int(found.states.cycles[state]),
                f"state-{state.name}",
            )
            for state in SHOWN
        )
        parts += _stacked(f"States of {plural(found.states.waves, 'wave')}, by their timelines", shares)
    if not parts:
        return None
    intro = "Cycles are summed over waves that ran at once: shares of them are not shares of elapsed time."
    return Section("activity", "Where the waves' time went", tuple(parts), intro)


def _stacked(title: str, shares: tuple[Share, ...]) -> list[Part]:
    whole = sum(part.value for part in shares)
    rows = tuple((Cell(part.name), number(int(part.value)), share(part.value, whole)) for part in shares)
    table = Table(
        (Heading("part"), Heading("cycles", True), Heading("share", True)),
        rows,
        is_folded=True,
        caption="Numbers",
    )
    return [Stacked(title, shares), table]


def kinds(inputs: ReportInputs) -> Section | None:
    """Costs by kind of instruction."""
    trace = inputs.trace
    rows = ranking(trace.code, trace.sources, inputs.costs, "kind")
    if not rows:
        return None
    unit = "PC samples" if inputs.is_sampled else "cycles"
    whole = int(inputs.costs.latency.sum())
    stacked = Stacked(
        "Latency by kind of instruction",
        tuple(Share(row.name, row.latency, f"kind-{row.name}") for row in rows),
        unit,
    )
    table = Table(
        (
            Heading("kind"),
            Heading("meaning"),
            *(Heading(name, True) for name in ("hits", "latency", "stall", "idle", "share")),
        ),
        tuple(
            (
                code(row.name),
                Cell(row.text),
                *(number(value) for value in (row.hits, row.latency, row.stall, row.idle)),
                share(row.latency, whole),
            )
            for row in rows
        ),
    )
    return Section("kinds", "Kinds of instruction", (stacked, table))
