"""Documents of what instructions cost: hotspot, isa, line."""

from __future__ import annotations

from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import hotspot, hotspot_like, isa, line
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    fixed,
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
        **shapes(hotspot_like.FACTS),
        "sources": hotspot_like.SOURCES.shape,
        "rows": hotspot_like.ROWS.shape,
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
