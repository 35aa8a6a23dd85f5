"""Facts about a place: an instruction, a wave, or one execution of the instruction by the wave."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rcv_py.analysis.attribution.attribute import token_causes
from rcv_py.analysis.attribution.causes import CAUSE_TEXT
from rcv_py.analysis.cost.place_text import source_of
from rcv_py.analysis.timeline.token_details import line_totals, token_details
from rcv_py.analysis.waits.token_waits import token_waits
from rcv_py.features.line.result import PC_SAMPLES, sample_facts
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from rcv_py.results import common, kinds
from rcv_py.results.field import of_analysis, record_field, rows_field
from rcv_py.results.places import placed_facts
from rcv_py.results.schema import Schema

TOTALS = (
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
    replace(common.WAVE_NAME, is_unknown=True),
    replace(common.INSTRUCTION_INDEX, is_unknown=True),
    kinds.HIT(
        "hit",
        "Which execution of the instruction by the wave, counted from 0; people count from 1",
        is_unknown=True,
    ),
)
_OF_LINE = (
    common.INSTRUCTION_TEXT,
    common.SOURCE_PLACE,
    record_field("totals", "The instruction over all traced waves", *TOTALS),
    replace(PC_SAMPLES, meaning="PC samples of the instruction; only of captures that have some"),
)
_OF_EXECUTION = (
    kinds.COUNT("hits_of_wave", "Executions of the instruction by the wave"),
    *common.TOKEN,
    rows_field(
        "waited_for", "Operations that a wait waited for, counter by counter, the oldest first", *_WAITED_FOR
    ),
    rows_field("released_by", "Waits that waited for the operation", *_RELEASED_BY),
    rows_field("causes", "Why it was late", *_CAUSES),
)
PLACES = rows_field(
    "places",
    "One row per place, in the order given; an instruction, a wave and a hit each add fields",
    *_GIVEN,
    *(
        replace(field, is_optional=True)
        for field in (
            *_OF_LINE,
            replace(common.WAVE_START, name="wave_start"),
            replace(common.WAVE_END, name="wave_end"),
            *_OF_EXECUTION,
        )
    ),
)
PLACE_SCHEMA = Schema(
    "place",
    "Facts about places: an instruction, a wave, one execution of an instruction by a wave.",
    (common.CAPTURE, PLACES),
    command="line",
)


def line_facts(trace: Trace, line: int) -> dict[str, Any]:
    """Return the facts about an instruction: its text, and its cost in all waves."""
    found: dict[str, Any] = {"text": trace.code.text[line], "source": source_of(trace, line)}
    found["totals"] = of_analysis(TOTALS, line_totals(trace.code, line))
    if trace.has_pc_samples:
        found["samples"] = sample_facts(trace.code, line)
    return found


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
    return {
        "hits_of_wave": one.hits,
        "token": token,
        **of_analysis(common.TOKEN[1:], one),
        "waited_for": [{**placed_facts(trace, by.line), "cycles_before": by.ago} for by in waits.awaited],
        "released_by": [
            {**placed_facts(trace, by.line), "latency": by.latency, "is_exact": by.is_exact}
            for by in waits.released_by
        ],
        "causes": [
            {
                "cause": by.cause.name.lower(),
                "because": CAUSE_TEXT[by.cause].sentence,
                "cycles": by.cycles,
                "is_idle": by.is_idle,
                "producer": by.line if by.line >= 0 else None,
                "producer_text": trace.code.text[by.line] if by.line >= 0 else "",
                "producer_source": source_of(trace, by.line),
                "is_guess": by.is_guess,
            }
            for by in token_causes(trace, beside, wave, token)
        ],
    }
