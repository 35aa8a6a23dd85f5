"""Documents of what is hidden, how long memory takes, and of costs inside of costs: latency, flame."""

from __future__ import annotations

from rcv_py.cli.schemas.common import CAPTURE, LINE
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import latency
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Fields,
    choice,
    fixed,
    maybe,
    rows,
    text,
    whole,
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

_MEASURED: Fields = {
    "metric": choice("What is measured.", "total", "nonhidden", "stall", "hits"),
    "order": choice("Order of siblings.", "heavy", "execution", "name"),
    "unit": choice("What numbers count.", "cycles", "samples", "executions"),
}
_FRAME: Fields = {
    "what": text("Kind of the frame, such as file, source or instruction."),
    "name": text("What is written on it."),
    "full_name": text("The same in full."),
    "line": maybe(LINE),
    "source": text("Place of an instruction or a source line as file:line; empty for other frames."),
}
_BEGIN = whole("Left edge, in the unit.", least=None)
FLAME = schema(
    "rcv.flame",
    "flame",
    "A flamegraph: frames in frames, parents before children.",
    {
        **CAPTURE,
        "content": choice("What frames are.", "source", "kernel", "markers", "both"),
        **_MEASURED,
        "total": whole("All frames without a parent, in the unit."),
        "frames": rows(
            "Frames row by row, from left to right.",
            {
                **_FRAME,
                "parent": maybe(whole("Index of the parent in this list; null for the outermost.")),
                "depth": whole("Frames around it, as a count."),
                "begin": _BEGIN,
                "self": whole("What the frame has besides its children, in the unit."),
                "total": whole("The frame with its children, in the unit."),
            },
        ),
    },
)
SANDWICH = schema(
    "rcv.flame.sandwich",
    "flame",
    "A place with what leads to it above and what it leads to below (--content sandwich --around).",
    {
        **CAPTURE,
        "content": fixed("What frames are.", "sandwich"),
        **_MEASURED,
        "total": whole("All that leads through the place, in the unit."),
        "frames": rows(
            "Frames row by row, those furthest above first, from left to right.",
            {
                **_FRAME,
                "parent": maybe(
                    whole("Index of the frame next to it on the side of the place; null for the place.")
                ),
                "depth": whole("Rows below the place; less than 0 for what leads to it.", least=None),
                "begin": _BEGIN,
                "self": whole(
                    "What the frame has besides the frames below it; above the place what has no frame "
                    "further away, in the unit."
                ),
                "total": whole("What goes through the frame and the place, in the unit."),
            },
        ),
    },
)

DEPTH_SCHEMAS = (LATENCY, FLAME, SANDWICH)
