"""Sections about delays outside the waves' own code: barriers, busy units, the instruction cache."""

from __future__ import annotations

from rcv_py.analysis.iterations.segments import OUTSIDE
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import ReportBars, ReportNote, ReportSection, Series
from rcv_py.features.latency.result import (
    FETCH_NOTE,
    access_assumption,
    access_rows,
    access_text,
    access_totals,
    fetch_rows,
    fetch_text,
    fetch_totals,
)
from rcv_py.features.loops.result import SEGMENTS, segment_table

TOP = 10
LEAST_SHARE = 0.01  # of latency and idle time of all instructions, from which slow fetches are reported


def segments(inputs: ReportInputs) -> ReportSection | None:
    """What waves do from one barrier to the next, where there are barriers."""
    if not inputs.waves:
        return None
    found = inputs.segments
    if not len(found):
        return None
    table = segment_table(inputs.trace, found).head(TOP)
    cycles, waiting = found.cycles[:TOP], found.waiting[:TOP]
    ends = zip(found.first[:TOP].tolist(), found.last[:TOP].tolist(), strict=True)
    names = [
        f"{'begin' if first == OUTSIDE else first} → {'end' if last == OUTSIDE else last}"
        for first, last in ends
    ]
    series = (
        Series("before the barrier", (cycles - waiting).tolist(), "accent"),
        Series("in the barrier", waiting.tolist(), "stall"),
    )
    parts = (ReportBars("Cycles of all executions", names, series), cells.report_table(table, inputs.trace))
    return ReportSection("segments", "Between barriers", parts, SEGMENTS.note)


def accesses(inputs: ReportInputs) -> ReportSection | None:
    """LDS and vector memory instructions that hold their unit longer than their width explains."""
    if not inputs.waves or not inputs.accesses.is_longer.any():
        return None
    found = inputs.accesses
    table = access_rows(inputs.trace, found)[found.is_longer].head(TOP)
    text = access_text(access_totals(inputs.trace, found))
    parts = (cells.report_table(table, inputs.trace), ReportNote(access_assumption(found)))
    return ReportSection("accesses", "Accesses that hold their unit", parts, text)


def fetches(inputs: ReportInputs) -> ReportSection | None:
    """Code that was not in the instruction cache, if waits for it take a notable part of all time."""
    if not inputs.waves:
        return None
    found, all_ = inputs.fetches, int(inputs.code.latency.sum() + inputs.code.idle.sum())
    if not len(found) or found.cycles.sum() < LEAST_SHARE * all_:
        return None
    table = fetch_rows(inputs.trace, found).head(TOP)
    text = fetch_text(fetch_totals(inputs.trace, found, inputs.iterations.found.table))
    parts = (cells.report_table(table, inputs.trace), ReportNote(FETCH_NOTE))
    return ReportSection("fetches", "Waits for code", parts, text)
