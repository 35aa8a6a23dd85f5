"""Latency: what of it other waves hide, and how long memory takes to answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rcv_py.analysis.latency.hidden_latency import HiddenTable
from rcv_py.analysis.latency.memory_latency import MemoryLatency, entries, matched_lines
from rcv_py.analysis.program.matrix_forms import MatrixUse
from rcv_py.analysis.waits.wait_latency import WaitLatency
from rcv_py.model.trace import Trace
from rcv_py.results import json_types, kinds
from rcv_py.results.common import CAPTURE, INSTRUCTION_INDEX, INSTRUCTION_TEXT, SOURCE_PLACE, TOTAL_ROWS
from rcv_py.results.field import Field, record_field, unknown
from rcv_py.results.places import placed
from rcv_py.results.table import Spec, Table

_COUNT = replace(kinds.COUNT, json=json_types.number)
_MEAN = replace(kinds.MEAN_CYCLES, text="{:,.1f}".format, digits=3)
_PLACE = (INSTRUCTION_TEXT, SOURCE_PLACE)
_CYCLES = (
    kinds.CYCLES("total", "Latency and idle"),
    kinds.CYCLES("not_hidden", "Part that no other wave of the SIMD hid", key="seen"),
    kinds.CYCLES("hidden", "Part in which another wave of the SIMD was busy"),
    kinds.CYCLES("hidden_idle", "Hidden part of the gaps in front", key="idle"),
    kinds.CYCLES("hidden_stall", "Hidden part of the stall", key="stall"),
    kinds.CYCLES("hidden_issue", "Hidden part of the issue or execution", key="issue"),
)
HIDDEN = Spec.of(
    "hidden_latency",
    "Instructions by what is not hidden, the largest first.",
    "instruction",
    INSTRUCTION_INDEX,
    *_CYCLES,
    kinds.SHARE("hidden_share_of_total", "Hidden part of latency and idle", "hidden share", key="share"),
    *_PLACE,
    window="instruction text source",
)
_COUNTED = (
    _MEAN("mean", "Mean time from issue to return"),
    _MEAN("standard_error", "Standard error of the mean", "error", key="error"),
    _MEAN("standard_deviation", "Standard deviation", "std", key="std"),
    _COUNT("samples", "Returns that were matched"),
    _COUNT("in_flight", "Operations whose return was not seen", key="censored"),
    _MEAN("issue", "Mean time to issue"),
    _MEAN("stall", "Mean stall"),
)
_BY_WAITS = (
    _COUNT("exact", "Executions that a wait stalled for until the result was there", is_unknown=True),
    _MEAN("median", "Median of their latencies", is_unknown=True),
    _MEAN("p90", "Latency that nine tenths of them do not exceed", is_unknown=True),
)
BY_COUNTERS = ("counter", *(field.name for field in _COUNTED))
BY_WAITS = tuple(field.name for field in _BY_WAITS)
MEMORY = Spec.of(
    "memory_latency",
    "Instructions that read or wrote memory.",
    "instruction",
    INSTRUCTION_INDEX,
    kinds.TEXT("counter", "Counter that measured it", key="unit"),
    *_COUNTED,
    *_PLACE,
    window="instruction text source counter",
)
MEMORY_AND_WAITS = Spec.of(
    "memory_latency",
    "Instructions that counters or waits measure; null where one of them does not.",
    "instruction",
    INSTRUCTION_INDEX,
    kinds.TEXT("counter", "Counter that measured it; empty if only waits did"),
    *unknown(*_COUNTED),
    *_BY_WAITS,
    *_PLACE,
    window="instruction text source counter mean standard_error standard_deviation samples in_flight exact "
    "median p90",
)
FACTS = (
    CAPTURE,
    Field("rule", kinds.choice("ours", "reference"), "Our estimate, or the one of the reference viewer"),
    kinds.TEXT("assumption", "What the numbers take for granted, as a sentence"),
    kinds.TEXT("reason", "Why there are no rows; empty if there are"),
    TOTAL_ROWS,
)
HIDDEN_TOTALS = record_field(
    "totals",
    "Sums over all rows, and how busy matrix units were; null if no wave was read",
    *unknown(*_CYCLES),
    *unknown(
        kinds.CYCLES("mfma_busy", "Matrix instructions by the cycles each takes"),
        kinds.CYCLES("simd_cycles", "Time in which a SIMD held a traced wave, summed over SIMDs"),
    ),
)
MEMORY_TOTALS = record_field(
    "totals",
    "Sums over what counters show",
    kinds.COUNT("samples", "Returns that were matched"),
    kinds.COUNT("in_flight", "Operations whose return was not seen"),
)
VARIANTS = {  # kind of the document → its table, its totals, and what asks for it
    "hidden": (HIDDEN, HIDDEN_TOTALS, "What other waves hide."),
    "memory": (MEMORY, MEMORY_TOTALS, "How long memory takes: --by memory."),
    "memory_waits": (
        MEMORY_AND_WAITS,
        MEMORY_TOTALS,
        "How long memory takes by counters and by waits: --by memory --waits.",
    ),
}


def hidden_rows(trace: Trace, found: HiddenTable) -> Table:
    """Return one row an instruction that costs anything, the largest remainder first."""
    return Table.of(HIDDEN, found, placed(trace, found.line))


def hidden_totals(table: Table, matrix: MatrixUse) -> dict[str, int | None]:
    """Return sums over all rows and how busy matrix units were; None if no wave was read."""
    sums = {field.name: sum(table.plain(field.name)) for field in _CYCLES}
    found = sums | {"mfma_busy": matrix.busy, "simd_cycles": matrix.resident}
    return found if matrix.resident > 0 else dict.fromkeys(found)


def memory_rows(trace: Trace, found: MemoryLatency) -> Table:
    """Return one row a counter and instruction, the longest mean first."""
    return Table.of(MEMORY, found, placed(trace, found.line))


def memory_and_wait_rows(trace: Trace, found: MemoryLatency, waits: WaitLatency | None) -> Table:
    """Return one row an instruction that counters or waits know; `waits` is None until they are known."""
    line, by_counter, by_wait = matched_lines(found, waits)
    told = None if waits is None or not len(waits.line) else waits
    nothing = np.full(len(line), np.nan)
    columns: dict[str, Any] = {
        **placed(trace, line),
        "counter": np.append(found.unit, "")[by_counter],
        **{field.name: entries(field.of_analysis(found), by_counter) for field in _COUNTED},
        **{
            field.name: nothing if told is None else entries(field.of_analysis(told), by_wait)
            for field in _BY_WAITS
        },
    }
    return Table(MEMORY_AND_WAITS, columns)


def memory_totals(found: MemoryLatency) -> dict[str, int]:
    """Return sums over what counters tell."""
    return {"samples": int(found.samples.sum()), "in_flight": int(found.censored.sum())}
