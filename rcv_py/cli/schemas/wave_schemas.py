"""Documents about waves, places and texts."""

from __future__ import annotations

from rcv_py.cli.schemas.common import CAPTURE, WAVE_NAME
from rcv_py.cli.schemas.envelope import schema
from rcv_py.results import search, units, waves
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Shape,
    cycles,
    listed,
    maybe,
    record,
    text,
    times,
    whole,
)
from rcv_py.results.json_types import waves as wave_count
from rcv_py.results.place import PLACES

_BEGIN = cycles("When the wave began", least=None)
_END = cycles("When it ended", least=None)
_LIVED = cycles("From begin to end")
_KERNEL = text("Name of the kernel; empty if it is not known.")
_STATES = {
    "exec": "Part of the life in which it executed",
    "wait": "Part in which it waited",
    "stall": "Part in which it stalled",
    "idle": "Part in which it was idle",
}


def range_of(meaning: str) -> Shape:
    """Begin and end of a range of cycles."""
    pair = listed(f"{meaning}: begin and end, in cycles.", cycles("Begin, then end", least=None))
    return {**pair, "minItems": 2, "maxItems": 2}


ASKED_RANGE = maybe(range_of("The range that was asked for; null for all"))

WAVES = schema(
    "rcv.waves",
    "waves",
    "Traced waves: where and when they lived, and what they did.",
    {**shapes(waves.HEAD), "rows": waves.WAVES.shape},
)
RESIDENT = schema(
    "rcv.waves.resident",
    "waves",
    "Every wave that was on the device, traced or not (--resident).",
    {**shapes(waves.HEAD), "rows": waves.RESIDENT.shape},
)
POPULATIONS = schema(
    "rcv.waves.populations",
    "waves",
    "Ways that waves took through the code, and which of them work (--populations).",
    {**shapes(waves.POPULATION_FACTS), "rows": waves.POPULATIONS.shape},
)

WAVE = schema(
    "rcv.wave",
    "waves",
    "What one wave did; with --tokens also its instructions.",
    {
        **CAPTURE,
        "wave": WAVE_NAME,
        "cu": whole("Compute unit, a number; -1 if it is not known.", least=-1),
        "begin": _BEGIN,
        "end": _END,
        "cycles": _LIVED,
        "within": range_of("The range that states and instructions are of; the life if none was asked for"),
        "states": record(
            "What it did in that range.",
            {name: maybe(cycles(f"{meaning}; null without a timeline")) for name, meaning in _STATES.items()},
        ),
        "tokens": times("Instructions of its whole life"),
        "latency": cycles("Latency of all of them"),
        "stall": cycles("Stall of all of them"),
        "idle": cycles("Gaps in front of all of them"),
        "counted": wave_count("Traced waves that touch the range of --clock; without it all"),
        "of": wave_count("Traced waves"),
        "instructions": waves.TOKENS.shape,
    },
    optional=("instructions",),
)

UNITS = schema(
    "rcv.units",
    "summary",
    "For how long each unit of a compute unit was busy with traced waves.",
    {**shapes(units.FACTS), "rows": units.UNITS.shape},
)

PLACE = schema(
    "rcv.place",
    "line",
    "What is known of places: a line, a wave, one execution of a line by a wave.",
    {**CAPTURE, "places": PLACES.shape},
)

SEARCH = schema(
    "rcv.search",
    "search",
    "Where a text occurs: instructions and labels, then source lines, then markers.",
    {**shapes(search.FACTS), "rows": search.HITS.shape},
)

WAVE_SCHEMAS = (WAVES, RESIDENT, POPULATIONS, WAVE, UNITS, PLACE, SEARCH)
