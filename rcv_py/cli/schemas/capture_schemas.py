"""Documents about a capture as a whole: summary, occupancy, counters, events."""

from __future__ import annotations

from rcv_py.cli.schemas.common import CAPTURE
from rcv_py.cli.schemas.cost_schemas import LIMIT
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import events
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Fields,
    choice,
    cycles,
    either,
    fixed,
    listed,
    maybe,
    named,
    number,
    record,
    rows,
    share,
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

_CURVE: Fields = {
    "begin": cycles("First change", least=None),
    "end": cycles("Last change", least=None),
    "area": whole("Waves times cycles, in wave-cycles."),
    "mean": number("Mean over time, in waves.", least=0),
    "peak": waves("Most at a time"),
    "tail": share("Part of the time behind the last moment with more than half of the peak"),
    "ramp": cycles("From the first wave until nine tenths of the peak"),
    "drain": cycles("From the last moment with nine tenths of the peak to the end"),
    "share": share("Part of the wave-cycles of all"),
}
_RATE = maybe(number("Length of a cycle in nanoseconds; null if it is not known."))


def _curves(by: str, what: str, more: Fields) -> Variant:
    row = {by: text(f"{what}, or `all`."), **more, **_CURVE}
    fields = {
        **CAPTURE,
        "by": fixed("What a row is.", by),
        "ns_per_cycle": _RATE,
        "rows": rows("The first row is all of them.", row, tuple(more)),
    }
    return Variant(fields, words=f"By {what.lower()}: --by {by}.")


OCCUPANCY = Schema(
    "rcv.occupancy",
    1,
    "occupancy",
    "How many waves were resident, and for how long.",
    (
        _curves("se", "Shader engine", {}),
        _curves(
            "kernel",
            "Kernel",
            {"ids": listed("Numbers of the kernel in the capture.", whole("A number.", least=None))},
        ),
        _curves("state", "State of traced waves", {}),
    ),
)

LIMITS = schema(
    "rcv.occupancy_limits",
    "occupancy",
    "What limits the waves of a SIMD, and what the next step takes (--limits).",
    {
        **CAPTURE,
        "target": text("Name of the GPU."),
        "device": text("The device whose numbers were taken."),
        "waves_per_simd": waves("Waves of this kernel that fit on a SIMD"),
        "most_waves_per_simd": waves("Waves that a SIMD has room for"),
        "binding": maybe(text("Name of the resource that binds; null if none does.")),
        "limits": rows(
            "One row a resource that is known.",
            {
                **LIMIT,
                "unit": text("Unit of the resource."),
                "waves": waves("Waves of a SIMD that it has room for"),
                "most": whole(
                    "What may be used for the next step, in the unit; -1: nothing helps.", least=-1
                ),
                "excess": whole("What is too much for the next step, in the unit."),
            },
        ),
        "next_step": text("What the next step takes; empty if nothing binds."),
        "goal": maybe(waves("Waves of a SIMD after that step")),
        "resident": record(
            "Traced waves of a SIMD at a time.",
            {
                "peak": waves("Most"),
                "mean": number("Mean over time, in waves.", least=0),
                "simds": times("SIMDs that were looked at"),
            },
        ),
        "notes": listed("What is doubtful or missing.", text("A sentence.")),
    },
)

COUNTERS = schema(
    "rcv.counters",
    "counters",
    "Hardware counters and formulas over them.",
    {
        **CAPTURE,
        "notes": listed("What is doubtful or missing.", text("A sentence.")),
        "engines": listed("Shader engines that counted.", whole("A number.")),
        "units": listed("Compute units that counted.", whole("A number.")),
        "counters": rows(
            "One row a counter or formula.",
            {
                "name": text("Its name."),
                "kind": choice("Counted by the hardware, or a formula.", "raw", "derived"),
                "from": text("Where it is from."),
                "unit": text("Unit of min, mean and max."),
                "min": maybe(number("Smallest value, in the unit.")),
                "mean": maybe(number("Mean, in the unit.")),
                "max": maybe(number("Largest value, in the unit.")),
                "total": maybe(number("Sum; null if a sum means nothing.")),
                "points": times("Steps of its curve"),
            },
        ),
        "errors": rows(
            "Formulas that do not work; the exit code is then 2.",
            {
                "file": text("Where the formula is from."),
                "kind": text("Kind of the mistake."),
                "text": text("A sentence."),
            },
        ),
    },
)
COUNTER_LIST = schema(
    "rcv.counters.list",
    "counters",
    "Which counters were recorded (--list).",
    {
        **CAPTURE,
        "counters": rows(
            "One row a counter.",
            {
                "name": text("Its name."),
                "interval": cycles("Time between samples"),
                "samples": times("Samples"),
                "engines": text("Shader engines, joined by commas."),
                "units": text("Compute units, joined by commas."),
                "simds": text("SIMDs, joined by commas."),
            },
        ),
    },
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
