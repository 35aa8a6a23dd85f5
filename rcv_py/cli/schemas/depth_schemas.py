"""Documents of what is hidden, how long memory takes, and of costs inside of costs: latency, flame."""

from __future__ import annotations

from rcv_py.cli.schemas.common import CAPTURE
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import flame, latency
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    fixed,
)

LATENCY = Schema(
    "rcv.latency",
    1,
    "latency",
    "What of the latency other waves hide, or how long memory takes by counters.",
    tuple(
        Variant(
            {
                **shapes([*latency.FACTS, totals]),
                "kind": fixed("Which of the tables.", kind),
                "rows": spec.shape,
            },
            words=words,
        )
        for kind, (spec, totals, words) in latency.VARIANTS.items()
    ),
)

FLAME = schema(
    "rcv.flame",
    "flame",
    "A flamegraph: frames in frames, parents before children.",
    {**shapes(flame.FACTS), "frames": flame.FRAMES.shape},
)
SANDWICH = schema(
    "rcv.flame.sandwich",
    "flame",
    "A place with what leads to it above and what it leads to below (--content sandwich --around).",
    {
        **CAPTURE,
        "content": fixed("What frames are.", "sandwich"),
        **shapes(flame.SANDWICH_FACTS),
        "frames": flame.SANDWICH.shape,
    },
)

DEPTH_SCHEMAS = (LATENCY, FLAME, SANDWICH)
