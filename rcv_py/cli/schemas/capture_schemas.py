"""Documents about a capture as a whole: summary, occupancy, counters, events."""

from __future__ import annotations

from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import counters, events, occupancy, summary
from rcv_py.results.field import optional, shapes
from rcv_py.results.json_types import (
    fixed,
)

SUMMARY = schema(
    "rcv.summary",
    "summary",
    "The capture on one page.",
    shapes(summary.DOCUMENT),
    optional=optional(summary.DOCUMENT),
)


def _curves(by: str, *, has_ids: bool = False) -> Variant:
    fields = {
        **shapes(occupancy.FACTS),
        "by": fixed("What a row is.", by),
        "rows": occupancy.curves(by, has_ids=has_ids).shape,
    }
    return Variant(fields, words=f"By {occupancy.BY[by][1].lower()}: --by {by}.")


OCCUPANCY = Schema(
    "rcv.occupancy",
    1,
    "occupancy",
    "How many waves were resident, and for how long.",
    (_curves("se"), _curves("kernel", has_ids=True), _curves("state")),
)
LIMITS = schema(
    "rcv.occupancy_limits",
    "occupancy",
    "What limits the waves of a SIMD, and what the next step takes (--limits).",
    shapes(occupancy.LIMITS_DOCUMENT),
)

COUNTERS = schema(
    "rcv.counters", "counters", "Hardware counters and formulas over them.", shapes(counters.FACTS)
)
COUNTER_LIST = schema(
    "rcv.counters.list", "counters", "Which counters were recorded (--list).", shapes(counters.RECORDED_FACTS)
)

EVENTS = schema(
    "rcv.events",
    "events",
    "Dispatches, hardware events, markers and shader data by time.",
    {**shapes(events.FACTS), "rows": events.EVENTS.shape},
)

CAPTURE_SCHEMAS = (
    SUMMARY,
    OCCUPANCY,
    LIMITS,
    COUNTERS,
    COUNTER_LIST,
    EVENTS,
)
