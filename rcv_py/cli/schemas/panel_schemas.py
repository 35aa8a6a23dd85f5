"""Documents of what panels show besides tables: histogram, tree of places, two programs, two flames."""

from __future__ import annotations

from rcv_py.cli.schemas.common import OF
from rcv_py.cli.schemas.envelope import schema
from rcv_py.results import compare, hotspot
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Fields,
    choice,
    text,
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
        "rows": compare.LISTING.shape,
    },
)
FLAME = schema(
    "rcv.compare.flame",
    "compare",
    "The flamegraph of B with what each frame takes in both (--by flame).",
    {
        **_SIDES,
        "of": OF,
        "frames": compare.FRAMES.shape,
    },
)

PANEL_SCHEMAS = (BINS, PLACES, LISTING, FLAME)
