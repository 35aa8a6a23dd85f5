"""One instruction: how long its hits took, or its PC samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rcv_py.analysis.cost.distribution import (
    MEASURES,
    DistributionChoice,
    LineHits,
    Spread,
    distribution_view,
)
from rcv_py.analysis.cost.pc_samples import StallReasons, reason_name, stall_reasons
from rcv_py.model.code import CodeTable
from rcv_py.model.columns import of_rows
from rcv_py.model.trace import Trace
from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE, INSTRUCTION_INDEX, INSTRUCTION_TEXT, SOURCE_PLACE, TOKEN, WAVE_NAME
from rcv_py.results.field import Field, of_analysis, record_field, unknown
from rcv_py.results.places import waves
from rcv_py.results.schema import Form, Schema
from rcv_py.results.table import ResultTable, Spec

_MEASURES = (
    kinds.CYCLES_OR_NEVER("latency", "Stall and issue or execution of the hit", is_unknown=True),
    kinds.CYCLES_OR_NEVER("stall", "Time until it could issue", is_unknown=True),
    kinds.CYCLES_OR_NEVER("idle", "Gap before it", is_unknown=True),
    kinds.CYCLES_OR_NEVER(
        "since", "Time since the wave last ran it; null for the first execution", is_unknown=True
    ),
)
HITS = Spec(
    "line",
    "The hits with the largest value, the largest first.",
    "hit",
    WAVE_NAME,
    kinds.HIT("hit", "Which execution of the instruction by the wave, counted from 0; people count from 1"),
    *TOKEN[:2],
    *_MEASURES,
)
_SPREAD = (
    kinds.COUNT("hits", "Executions"),
    kinds.SIGNED_CYCLES("min", "Smallest value"),
    kinds.RANK_CYCLES("median", "Median; for an even count, the mean of the middle two"),
    kinds.SIGNED_CYCLES("p95", "95th percentile of the hits"),
    kinds.SIGNED_CYCLES("max", "Largest value"),
    Field("mean", kinds.MEAN_CYCLES._replace(text="{:,.1f}".format, digits=None), "Mean"),
    kinds.SIGNED_CYCLES("total", "Sum", title="sum"),
)
SPREADS = Spec(
    "line measures",
    "One row per measure.",
    "measure",
    kinds.TEXT("measure", "What is measured"),
    _SPREAD[0],
    *unknown(*_SPREAD[1:]),
)
SAMPLES = Spec(
    "samples",
    "One row per reason, after the issued samples.",
    "reason",
    kinds.TEXT("reason", "Why it did not issue"),
    kinds.COUNT("samples", "Number of samples"),
)
_HEAD = (CAPTURE, INSTRUCTION_INDEX, INSTRUCTION_TEXT, SOURCE_PLACE)
FACTS = (
    *_HEAD,
    Field("by", kinds.choice(*MEASURES), "What is measured for bins and ranking"),
    kinds.COUNT("hits", "Executions by traced waves; null: not known, waves are missing", is_unknown=True),
    kinds.TEXT("missing", "Which waves could not be read, a sentence; empty if all could"),
    record_field(
        "measures",
        "Each measure in numbers; null if it has no value",
        *(record_field(field.name, field.meaning, *_SPREAD, is_unknown=True) for field in _MEASURES),
    ),
    record_field(
        "bins",
        "Histogram of the measure: bin i holds edges[i] <= value < edges[i + 1]",
        Field("edges", kinds.listed(kinds.SIGNED_CYCLES, "Limit"), "Limits of the bins, one more than bins"),
        Field("hits", kinds.listed(kinds.COUNT, "Hits"), "Hits in each bin"),
    ),
)
PC_SAMPLES = record_field(
    "samples",
    "PC samples of the instruction",
    kinds.COUNT("issued", "Samples in which it issued"),
    kinds.COUNT("stalled", "Samples in which it stalled"),
    kinds.COUNT("unsure", "Samples that do not record whether it issued: host traps"),
    Field("reasons", kinds.mapping(kinds.COUNT, (), "Samples"), "Stalled samples by reason"),
    kinds.NUMBER("lanes", "Mean number of active lanes (EXEC)", is_unknown=True, digits=2),
    kinds.NUMBER("waves", "Mean number of waves on the sampled unit", is_unknown=True, digits=2),
)
SAMPLE_FACTS = (*_HEAD, PC_SAMPLES)
SCHEMA = Schema(
    "line",
    "How long the executions of one instruction took.",
    forms=(
        Form("Thread traces.", (*FACTS, HITS.field("slowest"))),
        Form("PC samples, which have no times.", SAMPLE_FACTS),
    ),
)


def hit_table(trace: Trace, hits: LineHits, rows: np.ndarray | slice = slice(None)) -> ResultTable:
    """Return these rows of the hits."""
    columns = {"wave": waves(trace, hits.wave[rows])} | {name: hits.measure(name)[rows] for name in MEASURES}
    return ResultTable.of(HITS, of_rows(hits, rows), columns)


def spreads(hits: LineHits) -> dict[str, Spread | None]:
    """Return each measure in numbers, None if it has no value."""
    return {name: distribution_view(hits, DistributionChoice(name, 2)).spread for name in MEASURES}


def spread_table(found: Mapping[str, Spread | None]) -> ResultTable:
    """Return one row per measure; a measure without a value has only zero hits."""
    nothing = dict.fromkeys((field.name for field in _SPREAD), np.nan) | {"hits": 0}
    rows = [nothing if spread is None else of_analysis(_SPREAD, spread) for spread in found.values()]
    columns = {field.name: [row[field.name] for row in rows] for field in _SPREAD}
    return ResultTable(SPREADS, {"measure": list(found), **columns})


def spread_facts(found: Mapping[str, Spread | None]) -> dict[str, dict[str, Any] | None]:
    """Return the same for documents."""
    return {name: None if spread is None else of_analysis(_SPREAD, spread) for name, spread in found.items()}


def sample_table(found: StallReasons) -> ResultTable:
    """Return PC samples by outcome: issued, then reasons, the most frequent first."""
    rows = [("issued", found.issued), *_reasons(found).items()]
    rows += [("not recorded", found.unsure)] if found.unsure else []
    return ResultTable(SAMPLES, {"reason": [name for name, _ in rows], "samples": [n for _, n in rows]})


def sample_facts(code: CodeTable, line: int) -> dict[str, Any]:
    """Return the samples of an instruction for documents."""
    found = stall_reasons(code, slice(line, line + 1))
    means = (
        None if column is None or np.isnan(column[line]) else round(float(column[line]), 2)
        for column in (code.sample_lanes, code.sample_waves)
    )
    outcomes = {"issued": found.issued, "stalled": found.stalled, "unsure": found.unsure}
    return outcomes | {"reasons": _reasons(found)} | dict(zip(("lanes", "waves"), means, strict=True))


def _reasons(found: StallReasons) -> dict[str, int]:
    return {reason_name(reason): samples for reason, samples in found.ranked()}
