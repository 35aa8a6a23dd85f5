"""Counters: raw values and formulas, and which counters were recorded."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.counters.counter_tensor import simd_names
from rcv_py.analysis.counters.counters import Counters
from rcv_py.analysis.counters.derived_counters import CounterRow
from rcv_py.base.text import DASH, count
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import DATA, TEXT, Field, rows_field
from rcv_py.results.table import Columns, ResultTable, Schema, Spec


def facts(found: Counters) -> dict[str, Any]:
    """Return what is doubtful, and where counters were counted."""
    return {"notes": list(found.notes), "engines": [*found.engines()], "units": [*found.units()]}


def number_text(value: float) -> str:
    """Return a number with four digits, grouped by thousands; a dash if it is not finite."""
    if not math.isfinite(value):
        return DASH
    return count(round(value)) if abs(value) >= 1000 or value == round(value) else f"{value:.4g}"


_VALUE = replace(kinds.NUMBER, ending=", in the unit.", digits=None, text=number_text)
_SUM = replace(kinds.NUMBER, digits=None, text=number_text)
COUNTERS = Spec(
    "counter_numbers",
    "One row per counter or formula.",
    "counter",
    kinds.TEXT("name", "Its name", title="counter"),
    Field("kind", kinds.choice("raw", "derived"), "Counted by the hardware, or a formula", at=DATA),
    kinds.NOTE("from", "Where it comes from", key="group"),
    kinds.TEXT("unit", "Unit of min, mean and max"),
    _VALUE.maybe("min", "Smallest value"),
    _VALUE.maybe("mean", "Mean"),
    _VALUE.maybe("max", "Largest value"),
    _SUM.maybe("total", "Sum; null if a sum is meaningless", at=DATA),
    replace(kinds.TEXT, is_number=True)(
        "sum",
        "Sum",
        "total",
        at=TEXT,
        of=lambda row: _SUM.text(row["total"]) if row["total"] is not None else "",
    ),
    kinds.COUNT("points", "Steps of its curve", at=DATA),
    kinds.TEXT("why_unknown", "Why a formula has no value, a sentence; empty if it has", at=DATA),
    order="name min mean max sum unit from",
)
_NUMBERS = kinds.listed(kinds.WHOLE, "A number")
FACTS = (
    CAPTURE,
    Field("notes", kinds.texts("A sentence."), "What is doubtful or missing"),
    _NUMBERS("engines", "Shader engines that counted"),
    _NUMBERS("units", "Compute units that counted"),
    rows_field("counters", COUNTERS.row[:-1], *COUNTERS.at(DATA)),
    rows_field(
        "errors",
        "Formulas with errors; the exit code is then 2",
        kinds.TEXT("file", "Where the formula comes from"),
        kinds.TEXT("kind", "Kind of error"),
        kinds.TEXT("text", "A sentence"),
    ),
)
RECORDED = Spec(
    "counters list",
    "One row per counter.",
    "counter",
    kinds.TEXT("name", "Its name", title="counter"),
    kinds.CYCLES("interval", "Time between samples", title="every"),
    kinds.COUNT("samples", "Samples"),
    kinds.TEXT("engines", "Shader engines, joined by commas", title="SE"),
    kinds.TEXT("units", "Compute units, joined by commas", title="CU"),
    kinds.TEXT("simds", "SIMDs, joined by commas", title="SIMD"),
)
RECORDED_FACTS = (CAPTURE, rows_field("counters", RECORDED.row[:-1], *RECORDED.fields))
SCHEMA = Schema("counters", "Hardware counters and formulas over them.", FACTS)
LIST_SCHEMA = Schema("counters.list", "The recorded counters (--list).", RECORDED_FACTS)


def counter_table(found: Sequence[CounterRow]) -> ResultTable:
    """Return one row per counter or formula."""
    extents = np.array([row.extent for row in found]).reshape(-1, 3)
    columns: Columns = {
        "kind": ["raw" if row.is_raw else "derived" for row in found],
        **dict(zip(("min", "mean", "max"), extents.T, strict=True)),
        "points": [len(row.curve.time) for row in found],
    }
    return ResultTable.of(COUNTERS, found, columns)


def recorded(found: Counters) -> ResultTable:
    """Return one row per counter that was recorded."""
    columns: Columns = {
        "samples": [len(counter.samples) for counter in found.raw],
        "engines": [_listed(counter.samples.se.tolist()) for counter in found.raw],
        "units": [_listed(counter.samples.cu.tolist()) for counter in found.raw],
        "simds": [simd_names(counter.simds).removeprefix("SIMD ") for counter in found.raw],
    }
    return ResultTable.of(RECORDED, found.raw, columns)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(set(numbers))))
