"""`rcv latency`: latency that other waves hide, memory latency, or how long accesses hold their units."""

import sys
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import LINES
from rcv_py.analysis.iterations.loop_summary import LOOP_TOTALS
from rcv_py.analysis.latency.access_holds import HOLDS
from rcv_py.analysis.latency.address_access import ADDRESSES, has_addresses
from rcv_py.analysis.latency.code_fetches import FETCHES
from rcv_py.analysis.latency.hidden_latency import HIDDEN, hidden_table, why_not_hidden
from rcv_py.analysis.latency.memory_latency import MEMORY
from rcv_py.analysis.program.matrix_forms import MATRIX
from rcv_py.analysis.waits.wait_latency import LATENCIES
from rcv_py.base.text import Message, count, percent, plural, translated
from rcv_py.cli.answer import CommandAnswer, listing
from rcv_py.cli.opening import ChosenWaves, choose_waves
from rcv_py.features.latency import address_result as addresses
from rcv_py.features.latency import result as results
from rcv_py.features.latency.options import LatencyOptions
from rcv_py.model.modes import ReferenceRule
from rcv_py.results.common import known
from rcv_py.results.table import ResultTable

# A table with totals, footer, assumption, and why there is none.
_Listed = tuple[ResultTable, Mapping[str, Any], str, str, str]


def run(options: LatencyOptions) -> CommandAnswer:
    """List instructions with hidden cycles, memory latency, or how long accesses hold their unit."""
    rule, is_memory = ReferenceRule(options.rule), options.by == "memory"
    is_of_all = is_memory or options.by == "address"  # counters and markers count all waves
    explaining, wanted, find = {
        "hidden": ((LINES, HIDDEN[rule]), (MATRIX,), _hidden),
        "memory": ((), (MEMORY[rule], *((LATENCIES,) if options.waits else ())), _memory),
        "access": ((HOLDS,), (), _access),
        "fetch": ((FETCHES, LOOP_TOTALS), (), _fetch),
        "address": ((), (ADDRESSES,), _address),
    }[options.by]
    waves = choose_waves(options, explaining, wanted)
    table, totals, footer, assumption, reason = find(waves, rule, options)
    if reason and options.csv:
        print(translated(reason), file=sys.stderr)
    return listing(
        options,
        replace(waves, choice=None) if is_of_all else waves,
        table,
        results.SCHEMA,
        lambda: {
            "kind": "memory_waits" if is_memory and options.waits else options.by,
            "rule": options.rule,
            "assumption": assumption,
            "reason": reason,
            "totals": known({**totals}, is_of_all or (waves.read > 0 and len(waves.trace.code) > 0)),
            "total_rows": len(table),
        },
        footer=lambda shown: (
            Message("\n{0:,} of {1}. {2}", len(shown), plural(len(table), table.spec.noun), footer),
            assumption,
        ),
        why_none=reason,
    )


def _hidden(waves: ChosenWaves, rule: ReferenceRule, options: LatencyOptions) -> _Listed:
    trace, found, matrix = waves.trace, waves.of(HIDDEN[rule]), waves.of_all(MATRIX)
    table = results.hidden_rows(trace, hidden_table(waves.code, found, not options.no_idle))
    total, hidden = sum(table.plain("total")), sum(table.plain("hidden"))
    footer = Message("Hidden: {0} of {1} cycles ({2}). ", count(hidden), count(total), percent(hidden, total))
    footer += "Shares: hidden, of total."
    if matrix.executions:
        text = " MFMA units busy: {0} of the time with a wave, by the cycles of their instructions."
        footer += Message(text, percent(matrix.busy, matrix.resident))
    reason = why_not_hidden(trace)
    if not reason and not len(table):
        reason = waves.missing or "No instruction was executed while the trace was recorded."
    return table, results.hidden_totals(table, matrix), footer, found.assumption, reason


def _access(waves: ChosenWaves, _rule: ReferenceRule, _options: LatencyOptions) -> _Listed:
    trace, found = waves.trace, waves.of(HOLDS)
    known = waves.of_all(ADDRESSES) if has_addresses(trace) else None
    table, totals = results.access_rows(trace, found, known), results.access_totals(trace, found)
    reason = waves.why_none("accesses") or ("" if len(table) else waves.missing or table.spec.nothing)
    return table, totals, results.access_text(totals), results.access_assumption(found), reason


def _fetch(waves: ChosenWaves, _rule: ReferenceRule, _options: LatencyOptions) -> _Listed:
    found = waves.of(FETCHES)
    table = results.fetch_rows(waves.trace, found)
    totals = results.fetch_totals(waves.trace, found, waves.of(LOOP_TOTALS).loops.table)
    reason = waves.why_none("fetches") or (waves.missing if not len(table) else "")
    return table, totals, results.fetch_text(totals), results.FETCH_NOTE, reason


def _address(waves: ChosenWaves, _rule: ReferenceRule, _options: LatencyOptions) -> _Listed:
    found = waves.of_all(ADDRESSES)
    table, totals = addresses.address_rows(waves.trace, found), addresses.address_totals(found)
    reason = "" if len(table) else addresses.NO_ADDRESSES
    return table, totals, addresses.address_text(totals), addresses.address_note(found), reason


def _memory(waves: ChosenWaves, rule: ReferenceRule, options: LatencyOptions) -> _Listed:
    trace, found = waves.trace, waves.of_all(MEMORY[rule])
    totals = {"samples": int(found.samples.sum()), "in_flight": int(found.censored.sum())}
    if options.waits:
        table = results.memory_and_wait_rows(trace, found, waves.of_all(LATENCIES))
        footer = "By counters and, next to it, by waits: exact latencies, their median and 90th percentile."
        reason = "" if len(table) else found.reason
    else:
        table, reason = results.memory_rows(trace, found), found.reason
        returns = plural(totals["samples"], "return")
        footer = Message("{0} in cycles; a sample every {1} cycles.", returns, found.interval)
    return table, totals, footer, found.assumption, reason
