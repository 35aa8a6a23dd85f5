"""One instruction: how long its hits took, its PC samples; and facts about instructions, waves and hits."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.attribution.attribute import TokenCause, token_causes
from rcv_py.analysis.attribution.causes import CAUSE_TEXT
from rcv_py.analysis.cost import distribution
from rcv_py.analysis.cost.distribution import DistributionChoice, LineHits, Spread
from rcv_py.analysis.cost.pc_samples import StallReasons, reason_name, stall_reasons
from rcv_py.analysis.cost.place_text import source_of
from rcv_py.analysis.timeline.token_details import line_totals, token_details
from rcv_py.analysis.waits.wait_latency import ReleasedBy, token_waits
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import MEASURES
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from rcv_py.results import common, kinds
from rcv_py.results.field import Field, of_analysis, record_field, rows_field, unknown
from rcv_py.results.places import placed_facts, waves
from rcv_py.results.table import Form, ResultTable, Schema, Spec

_MEASURES = unknown(
    kinds.CYCLES_OR_NEVER("latency", "Stall and issue or execution of the hit"),
    kinds.CYCLES_OR_NEVER("stall", "Time until it could issue"),
    kinds.CYCLES_OR_NEVER("idle", "Gap before it"),
    kinds.CYCLES_OR_NEVER("since", "Time since the wave last ran it; null for the first execution"),
)
_HIT = kinds.HIT("hit", "Which execution of the instruction by the wave, counted from 0; people count from 1")
HITS = Spec(
    "line",
    "The hits with the largest value, the largest first.",
    "hit",
    common.WAVE_NAME,
    _HIT,
    *common.TOKEN[:2],
    *_MEASURES,
)
_SPREAD = (
    kinds.COUNT("hits", "Executions"),
    kinds.SIGNED_CYCLES("min", "Smallest value"),
    kinds.RANK_CYCLES("median", "Median; for an even count, the mean of the middle two"),
    kinds.SIGNED_CYCLES("p95", "95th percentile of the hits"),
    kinds.SIGNED_CYCLES("max", "Largest value"),
    Field("mean", replace(kinds.MEAN_CYCLES, text="{:,.1f}".format, digits=None), "Mean"),
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
_HEAD = (common.CAPTURE, common.INSTRUCTION_INDEX, common.INSTRUCTION_TEXT, common.SOURCE_PLACE)
FACTS = (
    *_HEAD,
    Field("by", kinds.choice(*MEASURES), "What is measured for bins and ranking"),
    kinds.COUNT.maybe("hits", "Executions by traced waves; null: not known, waves are missing"),
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
    kinds.NUMBER.maybe("lanes", "Mean number of active lanes (EXEC)", digits=2),
    kinds.NUMBER.maybe("waves", "Mean number of waves on the sampled unit", digits=2),
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
    return ResultTable.of(HITS, hits.at(rows), columns)


def spreads(hits: LineHits) -> dict[str, Spread | None]:
    """Return each measure in numbers, None if it has no value."""
    view = distribution.distribution_view
    return {name: view(hits, DistributionChoice(name, 2)).spread for name in MEASURES}


def spread_table(found: Mapping[str, Spread | None]) -> ResultTable:
    """Return one row per measure; a measure without a value has only zero hits."""
    nothing = {field.name: np.nan for field in _SPREAD} | {"hits": 0}
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

    def mean(column: np.ndarray | None) -> float | None:
        return None if column is None or np.isnan(column[line]) else round(float(column[line]), 2)

    return {
        **{name: getattr(found, name) for name in ("issued", "stalled", "unsure")},
        "reasons": _reasons(found),
        "lanes": mean(code.sample_lanes),
        "waves": mean(code.sample_waves),
    }


def _reasons(found: StallReasons) -> dict[str, int]:
    return {reason_name(reason): samples for reason, samples in found.ranked()}


_TOTALS = (
    kinds.COUNT("hits", "Executions"),
    kinds.CYCLES("latency", "Latency"),
    kinds.CYCLES("stall", "Stall"),
    kinds.CYCLES("idle", "Gaps before it"),
    kinds.CYCLES("program_total", "Latency and gaps of the whole program"),
)
_WAITED_FOR = (*common.PLACE, kinds.SIGNED_CYCLES("cycles_before", "From its issue to the start of the wait"))
_RELEASED_BY = (
    *common.PLACE,
    kinds.SIGNED_CYCLES("latency", "From issue to the end of the wait"),
    kinds.FLAG("is_exact", "Whether that is the latency of memory; else it is an upper bound"),
)
_CAUSES = (
    kinds.TEXT("cause", "Stable name of the cause"),
    kinds.TEXT("because", 'Reason; completes the phrase "late because"'),
    kinds.CYCLES("cycles", "Part of the stall, or of the gap before it"),
    kinds.FLAG("is_idle", "Whether it is part of the gap before the execution, not of the stall"),
    replace(common.INSTRUCTION_INDEX, name="producer", is_unknown=True),
    kinds.INSTRUCTION("producer_text", "Text of the producer; empty if there is none"),
    replace(common.SOURCE_PLACE, name="producer_source"),
    kinds.FLAG("is_guess", "Whether the producer is a guess among several that fit"),
)
_GIVEN = (
    kinds.TEXT("argument", "The place as it was given"),
    *unknown(common.WAVE_NAME, common.INSTRUCTION_INDEX, _HIT),
)
_OF_LINE = (
    common.INSTRUCTION_TEXT,
    common.SOURCE_PLACE,
    record_field("totals", "The instruction over all traced waves", *_TOTALS),
    replace(PC_SAMPLES, meaning="PC samples of the instruction; only of captures that have some"),
)
_OF_WAVE = (replace(common.WAVE_START, name="wave_start"), replace(common.WAVE_END, name="wave_end"))
_ORDER = "Operations that a wait waited for, counter by counter, the oldest first"
_OF_EXECUTION = (
    kinds.COUNT("hits_of_wave", "Executions of the instruction by the wave"),
    *common.TOKEN,
    rows_field("waited_for", _ORDER, *_WAITED_FOR),
    rows_field("released_by", "Waits that waited for the operation", *_RELEASED_BY),
    rows_field("causes", "Why it was late", *_CAUSES),
)
_PLACES = rows_field(
    "places",
    "One row per place, in the order given; an instruction, a wave and a hit each add fields",
    *_GIVEN,
    *(replace(field, is_optional=True) for field in (*_OF_LINE, *_OF_WAVE, *_OF_EXECUTION)),
)
PLACE_SCHEMA = Schema(
    "place",
    "Facts about places: an instruction, a wave, one execution of an instruction by a wave.",
    (common.CAPTURE, _PLACES),
    command="line",
)


def line_facts(trace: Trace, line: int) -> dict[str, Any]:
    """Return the facts about an instruction: its text, and its cost in all waves."""
    totals = of_analysis(_TOTALS, line_totals(trace.code, line))
    samples = {"samples": sample_facts(trace.code, line)} if trace.has_pc_samples else {}
    return {"text": trace.code.text[line], "source": source_of(trace, line), "totals": totals, **samples}


def wave_facts(wave: TracedWave) -> dict[str, Any]:
    """Return the facts about a wave: its name, start and end."""
    return {"wave": str(wave.id), "wave_start": wave.begin, "wave_end": wave.end}


def execution_facts(
    trace: Trace, wave: TracedWave, line: int, hit: int | None, beside: Iterable[WaveBatch]
) -> dict[str, Any]:
    """Return facts about the n-th execution of an instruction by a wave; without n, how many there are.

    `beside` are the other waves of its unit, which compete with it.
    """
    executions = wave.executions(line)
    token = executions.token(hit)
    if token is None:
        return {"hits_of_wave": len(executions)}
    one = token_details(wave, token)
    waits = token_waits(wave, token, trace.code, trace.architecture)

    def waiter(by: ReleasedBy) -> dict[str, Any]:
        return {**placed_facts(trace, by.line), "latency": by.latency, "is_exact": by.is_exact}

    def cause(by: TokenCause) -> dict[str, Any]:
        return {
            "cause": by.cause.name.lower(),
            "because": CAUSE_TEXT[by.cause].sentence,
            "cycles": by.cycles,
            "is_idle": by.is_idle,
            "producer": by.line if by.line >= 0 else None,
            "producer_text": trace.code.text[by.line] if by.line >= 0 else "",
            "producer_source": source_of(trace, by.line),
            "is_guess": by.is_guess,
        }

    return {
        "hits_of_wave": one.hits,
        "token": token,
        **of_analysis(common.TOKEN[1:], one),
        "waited_for": [{**placed_facts(trace, by.line), "cycles_before": by.ago} for by in waits.awaited],
        "released_by": [*map(waiter, waits.released_by)],
        "causes": [*map(cause, token_causes(trace, beside, wave, token))],
    }
