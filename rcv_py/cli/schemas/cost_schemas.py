"""Documents of what instructions cost: hotspot, isa, line."""

from __future__ import annotations

from rcv_py.cli.schemas.common import (
    CAPTURE,
    INSTRUCTION,
    LINE,
    SOURCE,
)
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import hotspot, isa, line
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    choice,
    cycles,
    fixed,
    maybe,
    named,
    number,
    record,
    rows,
    text,
    times,
    waves,
    whole,
)

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

LINE_HITS = Schema(
    "rcv.line",
    1,
    "line",
    "How long the hits of one instruction took.",
    (
        Variant({**shapes(line.FACTS), "slowest": line.HITS.shape}, words="Thread traces."),
        Variant(shapes(line.SAMPLE_FACTS), words="PC samples, which have no times."),
    ),
)

COST_SCHEMAS = (HOTSPOT, LIKE, ISA, LINE_HITS)
