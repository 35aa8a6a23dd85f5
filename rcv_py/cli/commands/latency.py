"""`rcv latency`: what of the latency other waves hide, or how long memory takes to answer."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from rcv_py.analysis.latency.hidden_latency import hidden_latency, hidden_table, why_not_hidden
from rcv_py.analysis.latency.memory_latency import memory_latency
from rcv_py.analysis.program.matrix_forms import matrix_use
from rcv_py.analysis.waits.wait_latency import wait_summary
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.options.wait_options import LatencyOptions
from rcv_py.cli.report import json_text
from rcv_py.cli.results import ordered, print_csv, print_result
from rcv_py.cli.wave_choice import ChosenWaves, choose_waves, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.modes import ReferenceRule
from rcv_py.results.latency import (
    hidden_rows,
    hidden_totals,
    memory_and_wait_rows,
    memory_rows,
    memory_totals,
)
from rcv_py.results.table import Table


@dataclass(frozen=True)
class _Report:
    """A table with what has to be said about it."""

    table: Table
    totals: dict[str, Any]
    footer: str
    assumption: str
    reason: str = ""


def run(arguments: LatencyOptions) -> int:
    """Print the table as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    alarm = warn(trace)
    rule = ReferenceRule(arguments.rule)
    chosen = choose_waves(trace, arguments)
    is_hidden = arguments.kind == "hidden"
    report = _hidden(chosen, rule, arguments) if is_hidden else _memory(chosen, rule, arguments)
    table = ordered(report.table, arguments).head(arguments.top)
    if arguments.csv:
        print_csv(table)
        if report.reason:
            print(report.reason, file=sys.stderr)
    elif arguments.json:
        document = {
            "capture": trace.name,
            "kind": "memory_waits" if not is_hidden and arguments.waits else arguments.kind,
            "rule": arguments.rule,
            "assumption": report.assumption,
            "reason": report.reason,
            "totals": report.totals,
            "of": len(report.table),
            "rows": table.rows(),
        }
        waves = chosen.about() if is_hidden else None
        print(json_text("rcv.latency/1", document, about(arguments, trace, waves=waves, alarm=alarm)))
    elif report.reason:
        print(report.reason)
    else:
        if is_hidden:
            print_heading(chosen)
        print_result(table, trace)
        print(f"\n{len(table):,} of {plural(len(report.table), 'instruction')}. {report.footer}")
        print(report.assumption)
    return 0


def _hidden(chosen: ChosenWaves, rule: ReferenceRule, arguments: LatencyOptions) -> _Report:
    trace, waves = chosen.trace, chosen.batches
    found, matrix = hidden_latency(trace, waves, rule, chosen.rows), matrix_use(trace, waves)
    table = hidden_rows(trace, hidden_table(chosen.code, found, not arguments.no_idle))
    whole, hidden = sum(table.plain("total")), sum(table.plain("hidden"))
    footer = f"Hidden: {count(hidden)} of {count(whole)} cycles ({percent(hidden, whole)}). "
    footer += "Shares: hidden, of total."
    if matrix.executions:
        share = percent(matrix.busy, matrix.resident)
        footer += f" Matrix units busy: {share} of the time with a wave, by the cycles of their instructions."
    reason = why_not_hidden(trace)
    if not reason and not len(table):
        reason = chosen.missing or "No instruction was executed while the trace was recorded."
    return _Report(table, hidden_totals(table, matrix), footer, found.assumption, reason)


def _memory(chosen: ChosenWaves, rule: ReferenceRule, arguments: LatencyOptions) -> _Report:
    trace, read = chosen.trace, chosen.batches
    found = memory_latency(trace, read, rule)
    totals = memory_totals(found)
    if arguments.waits:
        table = memory_and_wait_rows(trace, found, wait_summary(trace, read).latency)
        footer = "By counters, and beside that by waits: exact latencies, their median and 90th percentile."
        return _Report(table, totals, footer, found.assumption, "" if len(table) else found.reason)
    footer = f"{plural(totals['samples'], 'return')} in cycles; a sample every {found.interval} cycles."
    return _Report(memory_rows(trace, found), totals, footer, found.assumption, found.reason)
