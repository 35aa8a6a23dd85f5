"""Sections about where the time of all waves went: activity, states, kinds and classes of instruction."""

from __future__ import annotations

from rcv_py.analysis.cost.activity import SHOWN
from rcv_py.base.text import plural
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import (
    Bar,
    Bars,
    Cell,
    Heading,
    Part,
    Section,
    Share,
    Stacked,
    Table,
    number,
    share,
)
from rcv_py.export.report.result_tables import report_table
from rcv_py.results.hotspot import ranking_table

_STATE_TEXT = {"IDLE": "nothing to do", "EXEC": "executing", "WAIT": "waiting", "STALL": "stalled"}


def activity(inputs: ReportInputs) -> Section | None:
    """Idle, stall and issue of all waves; their states; samples by reason."""
    found, parts = inputs.summary, []
    if found.activity is not None:
        one = found.activity
        activity = (
            Share("issue", one.issue, "issue"),
            Share("stall", one.stall, "stall"),
            Share("idle", one.idle, "idle"),
        )
        parts += _stacked("Activity of all traced waves, by the program's counts", activity)
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
    """Costs by class of instruction, which tells waits apart, and by the kind that timelines colour."""
    trace = inputs.trace
    classes, by_class = ranking_table(trace, inputs.costs, "class", "latency")
    kinds_table, by_kind = ranking_table(trace, inputs.costs, "kind", "latency")
    if not by_kind:
        return None
    unit = "PC samples" if inputs.is_sampled else "cycles"
    stacked = Stacked(
        "Latency by kind of instruction",
        tuple(Share(row.name, row.latency, f"kind-{row.name}") for row in by_kind),
        unit,
    )
    bars = tuple(
        Bar(row.name, (Share("stall", row.stall, "stall"), Share("issue", row.latency - row.stall, "issue")))
        for row in by_class
    )
    parts = (
        stacked,
        report_table(kinds_table, trace),
        Bars("Latency by class of instruction", bars, unit),
        report_table(classes, trace, "Classes: finer than kinds, by mnemonic; waits by what they wait for"),
    )
    return Section("kinds", "Kinds and classes of instruction", parts)
