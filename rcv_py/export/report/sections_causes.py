"""Sections about why cycles were spent: causes, waits, and what other waves hid."""

from __future__ import annotations

from math import isnan

import numpy as np

from rcv_py.analysis.attribution.attribute import Attribution
from rcv_py.analysis.attribution.causes import CAUSE_TEXT, GUESSED, Cause
from rcv_py.analysis.cost.place_text import beside
from rcv_py.analysis.latency.bubbles import bubbles
from rcv_py.analysis.latency.hidden_latency import hidden_latency, why_not_hidden
from rcv_py.base.text import known_percent
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import (
    Bar,
    Bars,
    Cell,
    Heading,
    Note,
    Section,
    Share,
    Stacked,
    Table,
    code,
    number,
    share,
)
from rcv_py.export.report.places import line_anchor
from rcv_py.export.report.result_tables import report_table
from rcv_py.model.kinds import TokenKind
from rcv_py.results.bubbles import bubble_table

TOP = 15
PRODUCERS = 3  # of a wait that are named


def line_cell(inputs: ReportInputs, line: int) -> Cell:
    """A link to a code line; nothing for -1."""
    return number(line, line_anchor(line)) if 0 <= line < len(inputs.trace.code) else Cell("")


def text_cell(inputs: ReportInputs, line: int) -> Cell:
    """The instruction of a line."""
    trace = inputs.trace
    return code(trace.code.text[line] + beside(trace, line)) if 0 <= line < len(trace.code) else Cell("")


def _role(cause: Cause) -> str:
    kind, value = CAUSE_TEXT[cause].colour
    return f"kind-{TokenKind(int(value)).name}" if kind == "kind" else str(value)


def causes(inputs: ReportInputs) -> Section | None:
    """Stalled and idle cycles by cause, and the largest of them with who is to blame."""
    found = inputs.causes
    if found is None or not len(found):
        return None
    table, whole = found.by_cause(), int(found.cycles.sum())
    columns = (table.cause, table.stall, table.idle, _blamed_most(found, table))
    bars = tuple(
        Bar(CAUSE_TEXT[Cause(cause)].name, (Share("stall", stall, "stall"), Share("idle", idle, "idle")))
        for cause, stall, idle in zip(
            table.cause.tolist(), table.stall.tolist(), table.idle.tolist(), strict=True
        )
    )
    rows = tuple(
        (
            Cell(CAUSE_TEXT[Cause(cause)].name),
            number(stall),
            number(idle),
            share(stall + idle, whole),
            line_cell(inputs, producer),
            _blamed_cell(inputs, producer, is_guess=cause in GUESSED),
        )
        for cause, stall, idle, producer in zip(*(column.tolist() for column in columns), strict=True)
    )
    heads = (
        Heading("cause"),
        Heading("stall", True),
        Heading("idle", True),
        Heading("share", True),
        Heading("mostly because of", True, "The instruction that most cycles of this cause are charged to."),
        Heading("instruction"),
    )
    told = found.assumption or "It is attribution, not elapsed time: waves stall at once."
    shares = known_percent(found.explained), known_percent(found.explained_idle)
    intro = f"{shares[0]} of the stalled and {shares[1]} of the idle cycles have a cause. {told}"
    parts = (
        Bars("Stalled and idle cycles by cause", bars),
        Table(heads, rows, "All causes, with the instruction to blame for most of each"),
        _evidence(table),
        _blamed(inputs),
    )
    return Section("causes", "Why cycles were spent", parts, intro)


def _evidence(table: Attribution) -> Table:
    """What a cycle has to show before it is given a cause."""
    texts = [CAUSE_TEXT[Cause(cause)] for cause in table.cause.tolist()]
    rows = tuple(
        (Cell(text.name), Cell("certain" if text.is_certain else "by evidence"), Cell(text.evidence))
        for text in texts
    )
    heads = (Heading("cause"), Heading("how sure"), Heading("asks for"))
    return Table(heads, rows, "What each cause asks for", is_folded=True)


def _blamed_cell(inputs: ReportInputs, line: int, *, is_guess: bool) -> Cell:
    """The instruction to blame; a guess says so."""
    if not is_guess or not 0 <= line < len(inputs.trace.code):
        return text_cell(inputs, line)
    text = f"perhaps {inputs.trace.code.text[line]}{beside(inputs.trace, line)}"
    return code(text, tip="A guess: one of several that fit.")


def _blamed_most(found: Attribution, table: Attribution) -> np.ndarray:
    """The producer with most cycles of each cause of `table`, -1 where none is known; int64."""
    most = np.full(len(table), -1, dtype=np.int64)
    for at, cause in enumerate(table.cause.tolist()):
        own = np.flatnonzero((found.cause == cause) & (found.producer >= 0))
        if len(own):
            producer, place = np.unique(found.producer[own], return_inverse=True)
            most[at] = producer[np.bincount(place.reshape(-1), found.cycles[own]).argmax()]
    return most


def _blamed(inputs: ReportInputs) -> Table:
    found = inputs.causes
    assert found is not None
    whole = int(found.cycles.sum())
    rows = tuple(
        (
            line_cell(inputs, int(found.line[row])),
            text_cell(inputs, int(found.line[row])),
            Cell(CAUSE_TEXT[Cause(int(found.cause[row]))].name),
            number(int(found.stall[row])),
            number(int(found.idle[row])),
            share(int(found.cycles[row]), whole),
            line_cell(inputs, int(found.producer[row])),
            _blamed_cell(inputs, int(found.producer[row]), is_guess=bool(found.is_guess[row])),
        )
        for row in np.argsort(-found.cycles, kind="stable")[:TOP].tolist()
    )
    heads = (
        Heading("line", True),
        Heading("late instruction"),
        Heading("cause"),
        Heading("stall", True),
        Heading("idle", True),
        Heading("share", True),
        Heading("because of", True),
        Heading("instruction"),
    )
    return Table(
        heads, rows, f"The {len(rows)} largest: where cycles were paid, and which instruction caused them"
    )


def waits(inputs: ReportInputs) -> Section | None:
    """Each wait with the instructions it waited for."""
    summary = inputs.waits
    table, latency = summary.blocking, summary.latency
    if not len(table):
        return None
    median = dict(zip(latency.line.tolist(), latency.median.tolist(), strict=True))
    whole, rows = int(table.stall.sum()), []
    for row in range(min(TOP, len(table))):
        producers = table.producer[table.producers(row)][:PRODUCERS].tolist()
        first = producers[0] if producers else -1
        known = median.get(first)
        rows.append(
            (
                line_cell(inputs, int(table.line[row])),
                text_cell(inputs, int(table.line[row])),
                number(int(table.hits[row])),
                number(int(table.stall[row])),
                share(int(table.stall[row]), whole),
                line_cell(inputs, first),
                text_cell(inputs, first),
                Cell(f"{known:,.0f}", value=float(known))
                if known is not None and not isnan(known)
                else Cell(""),
                Cell(", ".join(f"{line:,}" for line in producers[1:])),
            )
        )
    heads = (
        Heading("line", True),
        Heading("wait"),
        Heading("times", True),
        Heading("stall", True),
        Heading("share", True),
        Heading("waited for", True),
        Heading("instruction"),
        Heading("its latency, median", True, "Only where a wait told it exactly."),
        Heading("others"),
    )
    intro = (
        "Counters are replayed by the rules of the generation; the stall of a wait is charged to the newest "
        "instruction it waited for. A wait is no stopwatch for that instruction."
    )
    return Section("waits", "Waits, and what they waited for", (Table(heads, tuple(rows)),), intro)


def idle_simds(inputs: ReportInputs) -> Section | None:
    """Cycles in which a SIMD held waves and nothing happened, by the instructions they waited in."""
    if not inputs.waves:
        return None
    found = bubbles(inputs.trace, inputs.batches, inputs.rows)
    if not found.bubble:
        return None
    computed = found.no_issue - found.bubble
    shares = (
        Share("a wave issued", found.resident - found.no_issue, "issue"),
        *((Share("only the matrix unit worked", computed, "hidden"),) if computed else ()),
        Share("nothing happened", found.bubble, "stall"),
    )
    intro = (
        "In these cycles no wave of the SIMD issued, and its matrix unit did not work. Each is split among "
        "the waves that were there. Only recorded waves count, and an issue is no proof of useful work."
    )
    table = report_table(bubble_table(inputs.trace, found).head(TOP), inputs.trace)
    parts = (Stacked("Cycles of SIMDs that held a recorded wave", shares), table)
    return Section("bubbles", "When nothing happened on a SIMD", parts, intro)


def hidden(inputs: ReportInputs) -> Section | None:
    """Which lines remain when what other waves covered is taken away."""
    trace = inputs.trace
    if not inputs.waves or why_not_hidden(trace):
        return None
    found = hidden_latency(trace, inputs.batches, rows=inputs.rows)
    left, cost = found.nonhidden(inputs.code), inputs.code.latency + inputs.code.idle
    whole, remaining = int(cost.sum()), int(left.sum())
    if not whole:
        return None
    rows = tuple(
        (
            line_cell(inputs, line),
            text_cell(inputs, line),
            number(int(cost[line])),
            number(int(left[line])),
            share(int(left[line]), remaining),
        )
        for line in np.argsort(-left, kind="stable")[:TOP].tolist()
        if left[line] > 0
    )
    heads = (
        Heading("line", True),
        Heading("instruction"),
        Heading("latency and idle", True),
        Heading("not hidden", True),
        Heading("share", True),
    )
    bar = Bars(
        "Latency and idle of all lines",
        (
            Bar(
                "all lines",
                (
                    Share("not hidden", remaining, "accent"),
                    Share("hidden by other waves", whole - remaining, "hidden"),
                ),
            ),
        ),
    )
    return Section("hidden", "What no other wave hid", (bar, Table(heads, rows), Note(found.assumption)))
