"""Bubbles: instructions by the cycles in which waves waited in them while nothing happened on their SIMD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rcv_py.analysis.latency.bubbles import WAYS, Bubbles
from rcv_py.analysis.program.matrix_forms import MatrixUse
from rcv_py.base.text import count
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.results import json_types
from rcv_py.results.common import CAPTURE, INSTRUCTION_TEXT, LINE_OR_NONE, SOURCE_PLACE, WAVES_READ
from rcv_py.results.field import Field, record, rows
from rcv_py.results.places import sources
from rcv_py.results.table import Spec, Table
from rcv_py.results.unit import CYCLES, MEAN_CYCLES, NUMBER, SHARE, TEXT, WAVES, WHOLE, choice

NO_INSTRUCTION = "no instruction of the program"
_CHARGED = replace(MEAN_CYCLES, text=lambda cycles: count(round(cycles)), digits=3)
_PART = replace(_CHARGED, text=lambda cycles: count(round(cycles)) if cycles else "")
_WAYS = (
    Field("idle", _PART, "Charged to a line in front of which a wave was idle"),
    Field("stall", _PART, "Charged to a line in which a wave stalled"),
    Field("drain", _PART, "Charged to the last line of a wave that had nothing left to issue"),
)

BUBBLES = Spec(
    "bubbles",
    "Instructions by bubbles, the most first.",
    "instruction",
    (
        LINE_OR_NONE,
        replace(INSTRUCTION_TEXT, title="instruction"),
        Field("cycles", _CHARGED, "Bubbles that are charged to it", title="bubbles"),
        Field("share", SHARE, "Part of all bubbles"),
        *_WAYS,
        SOURCE_PLACE,
    ),
    order=("line", "cycles", "share", *WAYS),
    window=("line", "text", "cycles", "share", *WAYS),
    nothing="Every SIMD issued or computed in every cycle in which it held a wave: there are no bubbles.",
)

_SUMS = (
    Field("resident", CYCLES, "Time with a traced wave"),
    Field("issuing", CYCLES, "Time in which a wave issued"),
    Field("no_issue", CYCLES, "Time with a wave and none that issued"),
    Field("matrix", CYCLES, "Time with a wave in which the matrix unit worked; 0 with the reference's rule"),
    Field(
        "bubble", CYCLES, "Time with a wave in which nothing happened; with the reference's rule: none issued"
    ),
)
_TOTALS = (*_SUMS, Field("busy_share", SHARE, "Part of the time with a wave in which one issued"), *_WAYS)
_FROM_0 = replace(NUMBER, json=partial(json_types.number, least=0), ending=", from 0.", digits=6)
FACTS = (
    CAPTURE,
    Field("rule", choice("ours", "reference"), "Our rules, or those of the reference"),
    WAVES_READ,
    Field("of", WAVES, "Traced waves"),
    Field(
        "totals",
        record(*(replace(field, is_unknown=True) for field in _TOTALS)),
        "Sums over SIMDs; null if no wave was read",
    ),
    Field(
        "matrix",
        record(
            Field("busy", CYCLES, "Matrix instructions by the cycles each takes", is_unknown=True),
            Field("share", _FROM_0, "Part of the time with a traced wave", is_unknown=True),
            Field("assumption", TEXT, "What the number takes for granted, as a sentence"),
        ),
        "How busy matrix units were",
    ),
    Field(
        "simds",
        rows(Field("se", WHOLE, "Shader engine, a number"), Field("simd", WHOLE, "SIMD, a number"), *_SUMS),
        "One row a SIMD",
    ),
)


def bubble_table(trace: Trace, found: Bubbles) -> Table:
    """Return one row an instruction that is charged anything, most first."""
    texts = [trace.code.text[line] if line >= 0 else NO_INSTRUCTION for line in found.line.tolist()]
    return Table(
        BUBBLES,
        {
            "line": found.line,
            "text": texts,
            "cycles": found.total,
            "share": found.total / max(1, found.bubble),
            **{way: getattr(found, way) for way in WAYS},
            "source": sources(trace, found.line),
        },
    )


def facts(trace: Trace, found: Bubbles, use: MatrixUse, rule: ReferenceRule) -> dict[str, Any]:
    """Return what a document says besides the rows."""
    sums = {field.name: getattr(found, field.name) for field in _SUMS}
    totals = {
        **sums,
        "busy_share": round(found.busy_share, 6),
        **{way: round(float(getattr(found, way).sum()), 3) for way in WAYS},
    }
    matrix = {"busy": use.busy, "share": round(use.share, 6)}
    is_known = found.waves > 0
    return {
        "capture": trace.name,
        "waves": found.waves,
        "of": len(trace.waves),
        "rule": rule.value,
        "totals": totals if is_known else dict.fromkeys(totals),
        "matrix": (matrix if is_known else dict.fromkeys(matrix)) | {"assumption": use.assumption},
        "simds": _simds(found),
    }


def _simds(found: Bubbles) -> Sequence[dict[str, int]]:
    columns = {
        "se": found.place >> 8,
        "simd": found.place & 255,
        **{field.name: getattr(found, f"{field.name}_of") for field in _SUMS},
    }
    values = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]
