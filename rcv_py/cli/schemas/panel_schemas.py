"""Documents of what panels show besides tables: histogram, tree of places, two programs, two flames."""

from __future__ import annotations

from rcv_py.cli.schemas.common import OF
from rcv_py.cli.schemas.envelope import schema
from rcv_py.results import hotspot
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Fields,
    choice,
    cycles,
    flag,
    maybe,
    parts_of_cycles,
    ratio,
    rows,
    text,
    whole,
)

BINS = schema(
    "rcv.hotspot.bins",
    "hotspot",
    "A histogram of the program: cycles by range of code rows and kind (--bins).",
    {**shapes(hotspot.BINS_FACTS), "rows": hotspot.BINS.shape},
)
PLACES = schema(
    "rcv.hotspot.places",
    "hotspot",
    "Source lines, instructions, or the tree of places with what they are charged (--charge).",
    {**shapes(hotspot.PLACES_FACTS), "rows": hotspot.places_spec("line", "cycles").shape},
)

_SIDES: Fields = {
    "a": text("Name of the capture before the change."),
    "b": text("Name of the capture after the change."),
    "verdict": text("The answer in a word."),
    "sentence": text("The answer."),
    "measure": choice("Cycles of what.", "cost", "latency", "stall"),
}
LISTING = schema(
    "rcv.compare.listing",
    "compare",
    "Both programs side by side (--by listing).",
    {
        **_SIDES,
        "of": OF,
        "rows": rows(
            "One row an instruction or a pair, in the order of B.",
            {
                "line_a": whole("Row of the program of A; -1 if there is none.", least=-1),
                "line_b": whole("Row of the program of B; -1 if there is none.", least=-1),
                "status": text("What became of it: same, changed, moved, inserted or removed."),
                "text_a": text("Instruction of A; empty if there is none."),
                "text_b": text("Instruction of B; empty if there is none."),
                "cost_a": parts_of_cycles("A wave of A"),
                "cost_b": parts_of_cycles("A wave of B at the executions of A"),
                "delta": parts_of_cycles("B less A, a wave"),
                "ratio": maybe(ratio("Delta divided by the cost in A; null if that is 0")),
                "beyond_noise": flag("Whether the difference is more than noise."),
                "source_a": text("Source place of the instruction of A as file:line; empty if none."),
                "source_b": text("Source place of the instruction of B as file:line; empty if none."),
            },
        ),
    },
)
FLAME = schema(
    "rcv.compare.flame",
    "compare",
    "The flamegraph of B with what each frame takes in both (--by flame).",
    {
        **_SIDES,
        "of": OF,
        "frames": rows(
            "Frames row by row, from left to right.",
            {
                "name": text("What is written on it."),
                "full_name": text("The same in full."),
                "depth": whole("Frames around it, as a count."),
                "cost_a": cycles("A wave of A"),
                "cost_b": cycles("A wave of B at the executions of A"),
                "change": choice("What became of it.", "within noise", "more", "fewer"),
                "source": text("Place of an instruction or a source line as file:line; else empty."),
            },
        ),
    },
)

PANEL_SCHEMAS = (BINS, PLACES, LISTING, FLAME)
