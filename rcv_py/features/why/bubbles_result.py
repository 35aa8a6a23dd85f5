"""Bubbles: instructions by the cycles in which waves waited in them while nothing happened on their SIMD."""

from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.latency.bubbles import Bubbles
from rcv_py.analysis.program.matrix_forms import MatrixUse
from rcv_py.base.text import count
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, INDEX_OR_NONE, INSTRUCTION_TEXT, SOURCE_PLACE, WAVES_READ, known
from rcv_py.results.field import Field, of_analysis, record_field, unknown
from rcv_py.results.places import sources
from rcv_py.results.table import Columns, ResultTable, Schema, Spec

NO_INSTRUCTION = "no instruction of the program"
_CHARGED = replace(kinds.MEAN_CYCLES, text=lambda cycles: count(round(cycles)), digits=3)
_PART = replace(_CHARGED, text=lambda cycles: count(round(cycles)) if cycles else "")
_WAYS = (
    _PART("idle", "Charged to an instruction before which a wave was idle"),
    _PART("stall", "Charged to an instruction that stalled"),
    _PART("drain", "Charged to the last instruction of a wave that had nothing left to issue"),
)
BUBBLES = Spec(
    "bubbles",
    "Instructions by bubbles, the largest first.",
    "instruction",
    INDEX_OR_NONE,
    INSTRUCTION_TEXT,
    _CHARGED("bubbles", "Bubbles charged to the instruction", key="total"),
    kinds.SHARE("share_of_bubbles", "Part of all bubbles", "of bubbles"),
    *_WAYS,
    SOURCE_PLACE,
    order="instruction bubbles share_of_bubbles idle stall drain",
    window="instruction text bubbles share_of_bubbles idle stall drain",
    nothing="Every SIMD issued or computed in every cycle in which it held a wave: there are no bubbles.",
)
_SUMS = (
    kinds.CYCLES("simd_cycles", "Time with a traced wave", key="resident"),
    kinds.CYCLES("issuing", "Time in which a wave issued"),
    kinds.CYCLES("no_issue", "Time with a wave while no wave issued"),
    kinds.CYCLES.maybe(
        "mfma", "Time with a wave in which the MFMA unit worked; 0 under the reference's rule", key="matrix"
    ),
    kinds.CYCLES(
        "bubbles",
        "Time with a wave in which nothing happened; under the reference's rule, in which no wave issued",
        key="bubble",
    ),
)
_ISSUING_SHARE = kinds.SHARE(
    "issuing_share_of_simd_cycles", "Part of the time with a wave in which a wave issued", key="busy_share"
)
_TOTALS = (*_SUMS, _ISSUING_SHARE, *_WAYS)
SIMDS = Spec(
    "bubbles simds",
    "One row per SIMD.",
    "SIMD",
    kinds.WHOLE("se", "Number of the shader engine"),
    kinds.WHOLE("simd", "Number of the SIMD"),
    *_SUMS,
)
_FROM_0 = replace(kinds.FROM_0, ending=", from 0.", digits=6)
FACTS = (
    CAPTURE,
    Field("rule", kinds.choice("ours", "reference"), "Which rules: ours or the reference viewer's"),
    WAVES_READ,
    kinds.WAVES("traced", "Traced waves"),
    record_field("totals", "Sums over SIMDs; null if no wave was read", *unknown(*_TOTALS)),
    record_field(
        "mfma_use",
        "How busy MFMA units were",
        kinds.CYCLES.maybe("mfma_busy", "MFMA instructions by the cycles each takes"),
        _FROM_0.maybe("share_of_simd_cycles", "Part of the time with a traced wave"),
        kinds.TEXT("assumption", "What the number assumes, as a sentence"),
    ),
    SIMDS.field("simds"),
)
SCHEMA = Schema(
    "bubbles",
    "Instructions by the cycles in which waves waited in them while nothing happened on their SIMD.",
    (*FACTS, BUBBLES.field()),
)


def bubble_table(trace: Trace, found: Bubbles) -> ResultTable:
    """Return one row per instruction with a charge, the largest first."""
    texts = [trace.code.text[line] if line >= 0 else NO_INSTRUCTION for line in found.line.tolist()]
    share, places = found.total / max(1, found.bubble), sources(trace, found.line)
    columns: Columns = {"text": texts, "share_of_bubbles": share, "source": places}
    return ResultTable.of(BUBBLES, found, columns)


def sums(found: Bubbles) -> dict[str, Any]:
    """Return cycles summed over SIMDs, and the part of them in which a wave issued, exact."""
    return of_analysis((*_SUMS, _ISSUING_SHARE), found)


def facts(trace: Trace, found: Bubbles, use: MatrixUse, rule: ReferenceRule) -> dict[str, Any]:
    """Return the fields of a document besides the rows."""
    totals = {
        **sums(found),
        _ISSUING_SHARE.name: round(found.busy_share, 6),
        **{way: round(float(column.sum()), 3) for way, column in of_analysis(_WAYS, found).items()},
    }
    matrix = {"mfma_busy": use.busy, "share_of_simd_cycles": round(use.share, 6)}
    simds = {field.name: found.of_simd[field.key or field.name] for field in _SUMS}
    lost = () if len(trace.code) else ("mfma", *(way.name for way in _WAYS))
    simds |= {"mfma": np.full(len(found.place), np.nan)} if lost else {}
    return {
        "capture": trace.name,
        "waves": found.waves,
        "traced": len(trace.waves),
        "rule": rule.value,
        "totals": known(totals, found.waves > 0) | dict.fromkeys(lost),
        "mfma_use": known(matrix, found.waves > 0 and not lost) | {"assumption": use.assumption},
        "simds": ResultTable(SIMDS, {"se": found.place >> 8, "simd": found.place & 255, **simds}).rows(),
    }
