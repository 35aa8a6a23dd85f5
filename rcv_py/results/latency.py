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
from rcv_py.results.field import Field, record, unknown
from rcv_py.results.places import placed
from rcv_py.results.table import Spec, Table

_COUNT = replace(kinds.COUNT, json=json_types.number)
_MEAN = replace(kinds.MEAN_CYCLES, text="{:,.1f}".format, digits=3)
_PLACE = (INSTRUCTION_TEXT, SOURCE_PLACE)
_FIRST = ("instruction", "text", "source")  # in the window
_CYCLES = (
    kinds.CYCLES("total", "Latency and idle"),
    kinds.CYCLES("not_hidden", "Part that no other wave of the SIMD hid"),
    kinds.CYCLES("hidden", "Part in which another wave of the SIMD was busy"),
    kinds.CYCLES("hidden_idle", "Hidden part of the gaps in front"),
    kinds.CYCLES("hidden_stall", "Hidden part of the stall"),
    kinds.CYCLES("hidden_issue", "Hidden part of the issue or execution"),
)
HIDDEN = Spec.of(
    "hidden_latency",
    "Instructions by what is not hidden, the largest first.",
    "instruction",
    INSTRUCTION_INDEX,
    *_CYCLES,
    kinds.SHARE("hidden_share_of_total", "Hidden part of latency and idle", "hidden share"),
    *_PLACE,
    window=_FIRST,
)
_COUNTED = (
    _MEAN("mean", "Mean time from issue to return"),
    _MEAN("standard_error", "Standard error of the mean", "error"),
    _MEAN("standard_deviation", "Standard deviation", "std"),
    _COUNT("samples", "Returns that were matched"),
    _COUNT("in_flight", "Operations whose return was not seen"),
    _MEAN("issue", "Mean time to issue"),
    _MEAN("stall", "Mean stall"),
)
_BY_WAITS = (
    _COUNT("exact", "Executions that a wait stalled for until the result was there", is_unknown=True),
    _MEAN("median", "Median of their latencies", is_unknown=True),
    _MEAN("p90", "Latency that nine tenths of them do not exceed", is_unknown=True),
)
MEMORY = Spec.of(
    "memory_latency",
    "Instructions that read or wrote memory.",
    "instruction",
    INSTRUCTION_INDEX,
    kinds.TEXT("counter", "Counter that measured it"),
    *_COUNTED,
    *_PLACE,
    window=(*_FIRST, "counter"),
)
MEMORY_AND_WAITS = Spec.of(
    "memory_latency",
    "Instructions that counters or waits measure; null where one of them does not.",
    "instruction",
    INSTRUCTION_INDEX,
    kinds.TEXT("counter", "Counter that measured it; empty if only waits did"),
    *(replace(field, is_unknown=True) for field in _COUNTED),
    *_BY_WAITS,
    *_PLACE,
    window=(
        *_FIRST,
        "counter",
        "mean",
        "standard_error",
        "standard_deviation",
        "samples",
        "in_flight",
        "exact",
        "median",
        "p90",
    ),
)
FACTS = (
    CAPTURE,
    Field("rule", kinds.choice("ours", "reference"), "Our estimate, or the one of the reference viewer"),
    kinds.TEXT("assumption", "What the numbers take for granted, as a sentence"),
    kinds.TEXT("reason", "Why there are no rows; empty if there are"),
    TOTAL_ROWS,
)
HIDDEN_TOTALS = Field(
    "totals",
    record(
        *(replace(field, is_unknown=True) for field in _CYCLES),
        *unknown(
            kinds.CYCLES("mfma_busy", "Matrix instructions by the cycles each takes"),
            kinds.CYCLES("simd_cycles", "Time in which a SIMD held a traced wave, summed over SIMDs"),
        ),
    ),
    "Sums over all rows, and how busy matrix units were; null if no wave was read",
)
MEMORY_TOTALS = Field(
    "totals",
    record(
        kinds.COUNT("samples", "Returns that were matched"),
        kinds.COUNT("in_flight", "Operations whose return was not seen"),
    ),
    "Sums over what counters show",
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
    return Table(
        HIDDEN,
        {
            **placed(trace, found.line),
            "total": found.total,
            "not_hidden": found.seen,
            "hidden": found.hidden,
            "hidden_idle": found.idle,
            "hidden_stall": found.stall,
            "hidden_issue": found.issue,
            "hidden_share_of_total": found.share,
        },
    )


def hidden_totals(table: Table, matrix: MatrixUse) -> dict[str, int | None]:
    """Return sums over all rows and how busy matrix units were; None if no wave was read."""
    sums = {field.name: sum(table.plain(field.name)) for field in _CYCLES}
    found = sums | {"mfma_busy": matrix.busy, "simd_cycles": matrix.resident}
    return found if matrix.resident > 0 else dict.fromkeys(found)


def memory_rows(trace: Trace, found: MemoryLatency) -> Table:
    """Return one row a counter and line, the longest mean first."""
    columns = {
        **placed(trace, found.line),
        "counter": found.unit,
        **{name: getattr(found, _name(name)) for name in _names(_COUNTED)},
    }
    return Table(MEMORY, columns)


def memory_and_wait_rows(trace: Trace, found: MemoryLatency, waits: WaitLatency | None) -> Table:
    """Return one row an instruction that counters or waits know; `waits` is None until they are known."""
    line, by_counter, by_wait = matched_lines(found, waits)
    told = None if waits is None or not len(waits.line) else waits
    nothing = np.full(len(line), np.nan)
    columns: dict[str, Any] = {
        **placed(trace, line),
        "counter": [found.unit[at] if at >= 0 else "" for at in by_counter.tolist()],
        **{name: entries(getattr(found, _name(name)), by_counter) for name in _names(_COUNTED)},
        **{
            name: nothing if told is None else entries(getattr(told, name), by_wait)
            for name in _names(_BY_WAITS)
        },
    }
    return Table(MEMORY_AND_WAITS, columns)


def memory_totals(found: MemoryLatency) -> dict[str, int]:
    """Return sums over what counters tell."""
    return {"samples": int(found.samples.sum()), "in_flight": int(found.censored.sum())}


_ATTRIBUTES = {"in_flight": "censored", "standard_error": "error", "standard_deviation": "std"}


def _names(fields: tuple[Field, ...]) -> list[str]:
    return [field.name for field in fields]


def _name(field: str) -> str:
    """The attribute of the analysis that holds a field."""
    return _ATTRIBUTES.get(field, field)
