"""Documents of what instructions cost: hotspot, isa, line."""

from __future__ import annotations

from rcv_py.cli.schemas.common import (
    CAPTURE,
    INSTRUCTION,
    LINE,
    SOURCE,
    WAVE_NAME,
)
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import hotspot, isa
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Fields,
    choice,
    cycles,
    fixed,
    listed,
    maybe,
    named,
    number,
    parts_of_cycles,
    record,
    rows,
    text,
    times,
    waves,
    whole,
)

LIMIT: Fields = shapes(hotspot.LIMIT)
HOTSPOT = schema(
    "rcv.hotspot",
    "hotspot",
    "Instructions, source lines, kinds or classes, ranked by what they cost.",
    {**shapes(hotspot.RANKING_FACTS), "rows": hotspot.ranking_spec("line", "").shape},
)

LIKE = schema(
    "rcv.hotspot_like",
    "hotspot",
    "The tables of hotspot_analyzer.py by the rules of one of its generations, mistakes included (--like).",
    {
        **CAPTURE,
        "like": choice("The generation of the rules.", "old", "new"),
        "instructions": times("Instructions that the rules count"),
        "latency": cycles("Latency of all of them"),
        "stall": cycles("Stall of all of them"),
        "target": text("Name of the GPU that the rules guess."),
        "occupancy": record(
            "Registers and waves as the rules count them.",
            {
                "arch": whole("Architectural vector registers of a wave."),
                "accum": whole("Accumulation registers of a wave."),
                "given": whole("Vector registers given to a wave, rounded up."),
                "pool": whole("Vector registers that the rules divide."),
                "limits": rows(
                    "One row a resource.",
                    {
                        "name": text("Name of the resource."),
                        "used": {
                            "type": ["integer", "string"],
                            "description": "What is used, in units of the resource, or as text.",
                        },
                        "waves": waves("Waves a SIMD that fit"),
                    },
                ),
                "waves": waves("Waves a SIMD by all of them"),
                "bound": text("Name of the resource that binds."),
                "next_registers": maybe(whole("Vector registers that one wave more takes at most.")),
            },
        ),
        "warning": text("What is doubtful about the launch that was found; empty if nothing is."),
        "mix": named("Instructions of the program by what they are.", times("Instructions")),
        "classes": named("Stall by class.", cycles("Stall")),
        "sources": rows(
            "Source lines by stall.",
            {
                "source": SOURCE,
                "stall": cycles("Stall"),
                "latency": cycles("Latency"),
                "rate": number("Stall in percent of the line's latency."),
                "dominant": text("Class with most stall."),
            },
        ),
        "rows": rows(
            "Instructions by stall.",
            {
                "line": LINE,
                "text": INSTRUCTION,
                "class": text("Class by the rules."),
                "stall": cycles("Stall"),
                "latency": cycles("Latency"),
                "source": SOURCE,
            },
        ),
    },
)

ISA = Schema(
    "rcv.isa",
    1,
    "isa",
    "The program: instructions, basic blocks, branches or labels.",
    tuple(
        Variant({**shapes(isa.FACTS), "kind": fixed("What a row is.", kind), "rows": spec.shape}, words=words)
        for kind, (spec, words) in isa.VARIANTS.items()
    ),
)

SPREAD: Fields = {
    "count": times("Hits"),
    "least": cycles("Smallest value", least=None),
    "median": parts_of_cycles("Median: of an even count the mean of the two in the middle"),
    "p95": cycles("Value that 95 percent of the hits do not exceed", least=None),
    "most": cycles("Largest value", least=None),
    "mean": parts_of_cycles("Mean"),
    "total": cycles("Sum", least=None),
}
_MEASURED: Fields = {
    "latency": maybe(cycles("Stall and issue or execution of the hit")),
    "stall": maybe(cycles("Time until it could issue")),
    "idle": maybe(cycles("Gap in front of it")),
    "since": maybe(cycles("Time since the wave ran it before; null the first time")),
}
_LINE: Fields = {**CAPTURE, "line": LINE, "instruction": INSTRUCTION, "source": SOURCE}
LINE_HITS = Schema(
    "rcv.line",
    1,
    "line",
    "How long the hits of one instruction took.",
    (
        Variant(
            {
                **_LINE,
                "by": choice("What is measured for bins and ranking.", "latency", "stall", "idle", "since"),
                "hits": maybe(times("Executions by traced waves; null: not known, waves are missing")),
                "missing": text("Which waves could not be read, a sentence; empty if all could."),
                "measures": record(
                    "Each measure in numbers; null if it has no value.",
                    {name: maybe(record(shape["description"], SPREAD)) for name, shape in _MEASURED.items()},
                ),
                "bins": record(
                    "Histogram of the measure: bin i holds edges[i] <= value < edges[i + 1].",
                    {
                        "edges": listed(
                            "Limits of the bins, one more than bins.", cycles("Limit", least=None)
                        ),
                        "counts": listed("Hits in each bin.", times("Hits")),
                    },
                ),
                "slowest": rows(
                    "The hits with the largest value, the largest first.",
                    {
                        "wave": WAVE_NAME,
                        "hit": whole("Which execution of the line by the wave, counted from 0."),
                        "token": whole("Row among the wave's instructions, counted from 0."),
                        "start": cycles("When it was first tried", least=None),
                        **_MEASURED,
                    },
                ),
            },
            words="Thread traces.",
        ),
        Variant(
            {
                **_LINE,
                "samples": record(
                    "PC samples of the instruction.",
                    {
                        "issued": times("Samples in which it issued"),
                        "stalled": times("Samples in which it stalled"),
                        "reasons": named("Stalled samples by reason.", times("Samples")),
                    },
                ),
            },
            words="PC samples, which have no times.",
        ),
    ),
)

COST_SCHEMAS = (HOTSPOT, LIKE, ISA, LINE_HITS)
