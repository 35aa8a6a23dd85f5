"""Sections about latency that no wave hides, busy units, and the instruction cache."""

import numpy as np

from rcv_py.analysis.latency.hidden_latency import why_not_hidden
from rcv_py.export.report import cells
from rcv_py.export.report.inputs import ReportInputs
from rcv_py.export.report.model import ReportBars, ReportNote, ReportSection, Series
from rcv_py.features.latency import result as results
from rcv_py.features.latency.address_result import address_note, address_rows, address_text, address_totals

TOP = 10
TOP_HIDDEN = 15
LEAST_SHARE = 0.01  # of latency and idle time of all instructions, from which slow fetches are reported


def accesses(inputs: ReportInputs) -> ReportSection | None:
    """LDS and vector memory instructions that hold their unit longer than their width explains."""
    if not inputs.waves or not inputs.accesses.is_longer.any():
        return None
    found = inputs.accesses
    table = results.access_rows(inputs.trace, found, inputs.addresses)[found.is_longer].head(TOP)
    text = results.access_text(results.access_totals(inputs.trace, found))
    parts = (cells.report_table(table, inputs.trace), ReportNote(results.access_assumption(found)))
    return ReportSection("accesses", "Accesses that hold their unit", parts, text)


def addresses(inputs: ReportInputs) -> ReportSection | None:
    """What memory instructions touch, by the addresses that the kernel wrote."""
    found = inputs.addresses
    if not len(found):
        return None
    table = address_rows(inputs.trace, found).head(TOP)
    parts = (cells.report_table(table, inputs.trace), ReportNote(address_note(found)))
    return ReportSection("addresses", "Addresses of lanes", parts, address_text(address_totals(found)))


def fetches(inputs: ReportInputs) -> ReportSection | None:
    """Code that was not in the instruction cache, if waits for it take a notable part of all time."""
    if not inputs.waves:
        return None
    found, all_ = inputs.fetches, int(inputs.code.latency.sum() + inputs.code.idle.sum())
    if not len(found) or found.cycles.sum() < LEAST_SHARE * all_:
        return None
    table = results.fetch_rows(inputs.trace, found).head(TOP)
    text = results.fetch_text(results.fetch_totals(inputs.trace, found, inputs.iterations.loops.table))
    parts = (cells.report_table(table, inputs.trace), ReportNote(results.FETCH_NOTE))
    return ReportSection("fetches", "Waits for code", parts, text)


def hidden(inputs: ReportInputs) -> ReportSection | None:
    """Instructions by the cycles that other waves did not hide."""
    if not inputs.waves or why_not_hidden(inputs.trace):
        return None
    found = inputs.hidden
    left, cost = found.nonhidden(inputs.code), inputs.code.latency + inputs.code.idle
    total, remaining = int(cost.sum()), int(left.sum())
    if not total:
        return None
    top = np.argsort(-left, kind="stable")[:TOP_HIDDEN]
    top = top[left[top] > 0]
    shown = cells.table(
        *cells.instructions(inputs, top.tolist()),
        cells.numbers("latency and idle", cost[top]),
        cells.numbers("not hidden", left[top]),
        cells.shares("share", left[top], remaining),
    )
    series = (
        Series("not hidden", (remaining,), "accent"),
        Series("hidden by other waves", (total - remaining,), "hidden"),
    )
    plot = ReportBars("Latency and idle of all instructions", ("all instructions",), series)
    return ReportSection("hidden", "What no other wave hid", (plot, shown, ReportNote(found.assumption)))
