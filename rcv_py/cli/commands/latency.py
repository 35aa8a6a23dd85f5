"""`rcv latency`: what of the latency other waves hide, or how long memory takes to answer."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rcv_py.analysis.latency.hidden_latency import hidden_latency, why_not_hidden
from rcv_py.analysis.latency.latency_tables import hidden_table
from rcv_py.analysis.latency.memory_and_waits import entries, matched_lines
from rcv_py.analysis.latency.memory_latency import memory_latency
from rcv_py.analysis.program.matrix_passes import matrix_use
from rcv_py.analysis.waits.wait_summary import wait_summary
from rcv_py.base.paths import short_place
from rcv_py.base.text import count, percent, plural
from rcv_py.cli.about import about
from rcv_py.cli.chosen import if_known, tuples_in_order
from rcv_py.cli.options.wait_options import LatencyOptions
from rcv_py.cli.places import short_sources, source_of
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.cli.wave_choice import ChosenWaves, choose_waves, print_heading
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace

_HIDDEN = (
    "line",
    "total",
    "not_hidden",
    "hidden",
    "hidden_idle",
    "hidden_stall",
    "hidden_issue",
    "share",
    "text",
    "source",
)
_MEMORY = (
    "line",
    "counter",
    "mean",
    "error",
    "std",
    "samples",
    "in_flight",
    "issue",
    "stall",
    "text",
    "source",
)
_WORDS = ("counter", "text", "source")
_ELASTIC = {"text": "right", "source": "left"}
_FIELDS = ("mean", "error", "std", "samples", "censored", "issue", "stall")  # of memory latency, as _MEMORY
_BY_WAITS = ("exact", "median", "p90")


@dataclass(frozen=True)
class _Report:
    """A table with what has to be said about it."""

    head: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    totals: dict[str, Any]
    footer: str
    assumption: str
    reason: str = ""


def run(arguments: LatencyOptions) -> int:
    """Print the table as text, CSV or JSON."""
    trace = open_trace(arguments.folder)
    alarm = warn(trace)
    rule = ReferenceRule(arguments.rule)
    chosen = choose_waves(trace, arguments)
    report = (_hidden if arguments.kind == "hidden" else _memory)(chosen, rule, arguments)
    shown = tuples_in_order(report.head, report.rows, arguments)[: arguments.top or None]
    if arguments.csv:
        sys.stdout.write(csv_text(report.head, shown))
        if report.reason:
            print(report.reason, file=sys.stderr)
    elif arguments.json:
        arguments = replace(arguments, waves=chosen.choice.name)
        waves = chosen.about() if arguments.kind == "hidden" else None
        document = _document(arguments, trace, report, shown)
        print(json_text("rcv.latency/1", document, about(arguments, trace, waves=waves, alarm=alarm)))
    elif report.reason:
        print(report.reason)
    else:
        if arguments.kind == "hidden":
            print_heading(chosen)
        columns = [
            Column(name.replace("_", " "), name not in _WORDS, _ELASTIC.get(name, "")) for name in report.head
        ]
        short = short_sources(trace)
        print_table(columns, [_cells(report.head, (*row[:-1], short_place(row[-1], short))) for row in shown])
        print(f"\n{len(shown):,} of {plural(len(report.rows), 'instruction')}. {report.footer}")
        print(report.assumption)
    return 0


def _hidden(chosen: ChosenWaves, rule: ReferenceRule, arguments: LatencyOptions) -> _Report:
    trace, waves = chosen.trace, chosen.batches
    found, matrix = hidden_latency(trace, waves, rule, chosen.rows), matrix_use(trace, waves)
    table = hidden_table(chosen.code, found, not arguments.no_idle)
    columns = (table.line, table.total, table.seen, table.hidden, table.idle, table.stall, table.issue)
    numbers = (*(column.tolist() for column in columns), table.share.round(6).tolist())
    rows = list(zip(*numbers, *_names(trace, table.line), strict=True))
    names = ("total", "not_hidden", "hidden", "hidden_idle", "hidden_stall", "hidden_issue")
    totals = {name: int(column.sum()) for name, column in zip(names, columns[1:], strict=True)}
    totals |= {"matrix_busy": matrix.busy, "simd_resident": matrix.resident}
    whole, hidden = totals["total"], totals["hidden"]
    footer = f"Hidden: {count(hidden)} of {count(whole)} cycles ({percent(hidden, whole)}). "
    footer += "Shares: hidden, of total."
    if matrix.executions:
        share = percent(matrix.busy, matrix.resident)
        footer += f" Matrix units busy: {share} of the time with a wave, by the cycles of their instructions."
    reason = why_not_hidden(trace)
    if not reason and not rows:
        reason = chosen.missing or "No instruction was executed while the trace was recorded."
    known = if_known(totals, matrix.resident > 0)
    return _Report(_HIDDEN, rows, known, footer, found.assumption, reason)


def _memory(chosen: ChosenWaves, rule: ReferenceRule, arguments: LatencyOptions) -> _Report:
    trace = chosen.trace
    if arguments.waits:
        return _memory_and_waits(chosen, rule)
    found = memory_latency(trace, chosen.batches, rule)
    numbers = (found.mean, found.error, found.std)
    more = (found.samples, found.censored, found.issue, found.stall)
    rows = list(
        zip(
            found.line.tolist(),
            found.unit,
            *(np.round(column, 3).tolist() for column in (*numbers, *more)),
            *_names(trace, found.line),
            strict=True,
        )
    )
    totals = {"samples": int(found.samples.sum()), "in_flight": int(found.censored.sum())}
    footer = f"{plural(totals['samples'], 'return')} in cycles; a sample every {found.interval} cycles."
    return _Report(_MEMORY, rows, totals, footer, found.assumption, found.reason)


def _memory_and_waits(chosen: ChosenWaves, rule: ReferenceRule) -> _Report:
    trace, read = chosen.trace, chosen.batches
    found, waits = memory_latency(trace, read, rule), wait_summary(trace, read).latency
    line, by_counter, by_wait = matched_lines(found, waits)
    columns = [entries(getattr(found, name), by_counter) for name in _FIELDS]
    columns += [entries(getattr(waits, name), by_wait) for name in _BY_WAITS]
    units = [found.unit[at] if at >= 0 else "" for at in by_counter.tolist()]
    plain = [[None if np.isnan(one) else round(one, 3) for one in column.tolist()] for column in columns]
    rows = list(zip(line.tolist(), units, *plain, *_names(trace, line), strict=True))
    totals = {"samples": int(found.samples.sum()), "in_flight": int(found.censored.sum())}
    footer = "By counters, and beside that by waits: exact latencies, their median and 90th percentile."
    head = (*_MEMORY[:-2], *_BY_WAITS, *_MEMORY[-2:])
    return _Report(head, rows, totals, footer, found.assumption, "" if rows else found.reason)


def _names(trace: Trace, lines: np.ndarray) -> tuple[list[str], list[str]]:
    """Texts and source places of code rows."""
    rows = lines.tolist()
    return [trace.code.text[row] for row in rows], [source_of(trace, row) for row in rows]


def _cells(head: tuple[str, ...], row: tuple[Any, ...]) -> list[str]:
    return [_cell(name, value) for name, value in zip(head, row, strict=True)]


def _cell(name: str, value: Any) -> str:
    if name == "share":
        return percent(value, 1)
    if value is None:
        return ""
    if isinstance(value, str) or name == "line":
        return str(value)
    return f"{value:,.1f}" if isinstance(value, float) else count(value)


def _document(
    arguments: LatencyOptions, trace: Trace, report: _Report, shown: list[tuple[Any, ...]]
) -> dict[str, Any]:
    return {
        "capture": trace.name,
        "kind": "memory_waits" if arguments.kind == "memory" and arguments.waits else arguments.kind,
        "rule": arguments.rule,
        "assumption": report.assumption,
        "reason": report.reason,
        "totals": report.totals,
        "of": len(report.rows),
        "rows": [dict(zip(report.head, row, strict=True)) for row in shown],
    }
