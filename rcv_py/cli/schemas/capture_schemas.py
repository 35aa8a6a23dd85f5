"""Documents about a capture as a whole: summary, occupancy, counters, events."""

from __future__ import annotations

from rcv_py.cli.schemas.common import CAPTURE
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import counters, events, occupancy
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    cycles,
    either,
    fixed,
    listed,
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

SUMMARY = schema(
    "rcv.summary",
    "summary",
    "The capture on one page.",
    {
        **CAPTURE,
        "facts": rows(
            "Single numbers.",
            {
                "id": text("Stable name."),
                "name": text("What it is called."),
                "value": either(
                    "The value, in the unit that `of` or the name tells; a name is a text.",
                    "integer",
                    "number",
                    "string",
                ),
                "of": text("Unit, or what it is a part of."),
            },
        ),
        "waves": record("Waves.", {"traced": waves("Recorded"), "read": waves("That could be read")}),
        "activity": named(
            "Where the time of all waves went, by activity; in samples for PC samples.",
            cycles("Time of all waves", least=None),
        ),
        "states": named("Time of the traced waves by state.", cycles("Time of all waves")),
        "stall_reasons": named("PC samples by reason.", times("Samples")),
        "simds": listed(
            "One row a SIMD with traced waves; besides these fields one for each pipe that was used.",
            {
                **record(
                    "One SIMD.",
                    {
                        "place": text("Where it is, such as SE0 CU1 SIMD2."),
                        "resident": cycles("Time with a traced wave"),
                        "busy": cycles("Time in which any instruction issued or executed"),
                        "working": cycles("The same without waits, branches, barriers and messages"),
                        "matrix_busy": cycles("Time in which the matrix unit worked, by its passes"),
                        "no_issue": cycles("Time in which no traced wave issued"),
                        "nothing": cycles("Part of that in which the matrix unit did not work either"),
                    },
                ),
                "additionalProperties": cycles("Time in which the pipe of that name issued"),
            },
        ),
        "counters": named("Busy shares by hardware counters.", number("In percent of the busy time.")),
        "units": listed(
            "One row a compute unit; besides these fields one for each counter.",
            {
                **record(
                    "One compute unit.",
                    {
                        "se": whole("Shader engine, a number."),
                        "sa": whole("Shader array, a number."),
                        "cu": whole("Compute unit, a number."),
                        "waves": maybe(number("Waves that lived on it, a count.")),
                        "traced": maybe(number("Waves whose instructions were recorded, a count.")),
                        "mean": maybe(number("Mean over the duration of all, in waves.")),
                        "peak": maybe(number("Most at a time, in waves.")),
                        "cycles": maybe(number("Sum of the lives of its waves, in cycles.")),
                        "begin": maybe(number("First start, in cycles after the first start of all.")),
                        "end": maybe(number("Last end, in cycles after the first start of all.")),
                    },
                    optional=("sa", "waves", "traced", "mean", "peak", "cycles", "begin", "end"),
                ),
                "additionalProperties": maybe(
                    number("A counter: its sum, or a busy share in percent if the name begins with share_.")
                ),
            },
        ),
    },
    optional=("activity", "states", "stall_reasons", "simds", "counters", "units"),
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
