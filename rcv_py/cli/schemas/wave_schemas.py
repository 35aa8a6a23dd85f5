"""Documents about waves, places and texts: waves, wave, units, place, search."""

from __future__ import annotations

from rcv_py.cli.schemas.common import CAPTURE, INSTRUCTION, LINE, OF, SOURCE, WAVE_NAME
from rcv_py.cli.schemas.envelope import schema
from rcv_py.results.json_types import (
    Fields,
    Shape,
    cycles,
    flag,
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
    {
        **CAPTURE,
        "within": ASKED_RANGE,
        "of": OF,
        "rows": rows(
            "One row a wave, by place and begin; of a range those that touch it.",
            {
                "wave": WAVE_NAME,
                "cu": whole("Compute unit, a number; -1 if it is not known.", least=-1),
                "kernel": _KERNEL,
                "begin": _BEGIN,
                "end": _END,
                "cycles": _LIVED,
                "tokens": maybe(times("Instructions it ran; null if its file cannot be read")),
                **{
                    name: maybe(cycles(f"{meaning}, inside of the range; null without a timeline"))
                    for name, meaning in _STATES.items()
                },
            },
        ),
    },
)
RESIDENT = schema(
    "rcv.waves.resident",
    "waves",
    "Every wave that was on the device, traced or not (--resident).",
    {
        **CAPTURE,
        "within": ASKED_RANGE,
        "of": OF,
        "rows": rows(
            "One row a wave, by place and begin.",
            {
                "se": whole("Shader engine, a number."),
                "sa": whole("Shader array, a number.", least=-1),
                "cu": whole("Compute unit, a number.", least=-1),
                "simd": whole("SIMD, a number.", least=-1),
                "slot": whole("Slot of the SIMD, a number.", least=-1),
                "begin": _BEGIN,
                "end": _END,
                "workgroup": whole("Number of its workgroup; -1 if it is not known.", least=-1),
                "cycles": _LIVED,
                "kernel": _KERNEL,
                "wave": text("Name of the wave if its instructions were traced, else empty."),
            },
        ),
    },
)

POPULATIONS = schema(
    "rcv.waves.populations",
    "waves",
    "Ways that waves took through the code, and which of them work (--populations).",
    {
        **CAPTURE,
        "read": whole("Waves that could be read."),
        "traced": whole("Waves that the capture names."),
        "instructions_ran": whole("Distinct instructions that one of these waves reached."),
        "instructions": whole("Instructions of the kernels that they executed."),
        "of": OF,
        "rows": rows(
            "One row a population: those that work first, then by executions.",
            {
                "id": text("What `--waves` takes."),
                "name": text("The same for people."),
                "kernel": text("Symbol of the kernel; empty if it is not known."),
                "is_working": flag("Whether these waves do the work of the kernel."),
                "waves": whole("Waves that took this way; how often loops ran is left aside."),
                "cut": whole("Of them: waves whose record does not reach the end of the program."),
                "instructions": number("Executions a wave, median.", least=0),
                "reached": whole("Distinct instructions in the basic blocks of the way."),
                "cycles": cycles("Sum of the lives of these waves"),
                "share": share("Part of the lives of all waves that were read"),
            },
        ),
    },
)

_TOKEN: Fields = {
    "token": whole("Row among the wave's instructions, counted from 0."),
    "start": cycles("When it was first tried", least=None),
    "stall": cycles("Time until it could issue"),
    "issue": cycles("Time of issue (gfx9) or execution"),
    "idle": cycles("Gap in front of it in its wave"),
}
WAVE = schema(
    "rcv.wave",
    "wave",
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
        "counted": waves("Traced waves that touch the range of --clock; without it all"),
        "of": waves("Traced waves"),
        "instructions": rows(
            "Instructions that touch the range, in order of their starts: --tokens.",
            {
                **_TOKEN,
                "kind": text("Kind of the instruction."),
                "line": maybe(LINE),
                "text": text("Text of the instruction; empty if it is not known."),
                "source": SOURCE,
            },
        ),
    },
    optional=("instructions",),
)

UNITS = schema(
    "rcv.units",
    "units",
    "For how long each unit of a compute unit was busy with traced waves.",
    {
        **CAPTURE,
        "place": text("The compute unit, such as SE1 CU3."),
        "waves": waves("Traced waves of it that could be read"),
        "missing": text("Which of its waves could not be read, a sentence; empty if all could."),
        "within": range_of("The range that counts; the whole capture if none was asked for"),
        "rows": rows(
            "One row a unit that was used.",
            {
                "unit": text("Name of the unit with the number of its SIMD; shared units have none."),
                "busy": cycles("Time in which any instruction issued (gfx9) or executed on it"),
                "cycles": cycles("Length of the range"),
                "share": share("Busy part of the range"),
            },
        ),
    },
)

_TOTALS = record(
    "The instruction over all traced waves.",
    {
        "hits": times("Executions"),
        "latency": cycles("Latency"),
        "stall": cycles("Stall"),
        "idle": cycles("Gaps in front of it"),
        "whole": cycles("Latency and gaps of the whole program"),
    },
)
_SAMPLES = record(
    "PC samples of the instruction; only of captures that have some.",
    {
        "issued": times("Samples in which it issued"),
        "stalled": times("Samples in which it stalled"),
        "reasons": named("Stalled samples by reason.", times("Samples")),
    },
)
_CAUSE: Fields = {
    "cause": text("Stable name of the cause."),
    "because": text("Completes: late because."),
    "cycles": cycles("Part of the stall, or of the gap in front"),
    "is_idle": flag("Whether it is of the gap in front, not of the stall."),
    "producer": maybe(LINE),
    "producer_text": text("Text of the producer; empty if there is none."),
    "producer_source": SOURCE,
    "is_guess": flag("Whether the producer is a guess, one of several that fit."),
}
_OF_LINE: Fields = {"instruction": INSTRUCTION, "source": SOURCE, "totals": _TOTALS, "samples": _SAMPLES}
_OF_WAVE: Fields = {"begin": _BEGIN, "end": _END}
_OF_EXECUTION: Fields = {
    "hits_of_wave": times("Executions of the line by the wave"),
    **_TOKEN,
    "waited_for": rows(
        "Operations that a wait waited for, counter by counter, the oldest first.",
        {
            "line": LINE,
            "text": INSTRUCTION,
            "source": SOURCE,
            "cycles_before": cycles("From its issue to the start of the wait", least=None),
        },
    ),
    "released_by": rows(
        "Waits that waited for the operation.",
        {
            "line": LINE,
            "text": INSTRUCTION,
            "source": SOURCE,
            "latency": cycles("From issue to the end of the wait", least=None),
            "is_exact": flag("Whether that is the latency of memory; else it is an upper bound."),
        },
    ),
    "causes": rows("Why it was late.", _CAUSE),
}
PLACE = schema(
    "rcv.place",
    "place",
    "What is known of places: a line, a wave, one execution of a line by a wave.",
    {
        **CAPTURE,
        "places": rows(
            "One row a place, in the order they were given; a line, a wave and a hit each add fields.",
            {
                "place": text("The place as it was given."),
                "wave": maybe(WAVE_NAME),
                "line": maybe(LINE),
                "hit": maybe(whole("Which execution of the line by the wave, counted from 0.")),
                **_OF_LINE,
                **_OF_WAVE,
                **_OF_EXECUTION,
            },
            optional=(*_OF_LINE, *_OF_WAVE, *_OF_EXECUTION),
        ),
    },
)

SEARCH = schema(
    "rcv.search",
    "search",
    "Where a text occurs: instructions and labels, then source lines, then markers.",
    {
        **CAPTURE,
        "match": text("What was looked for; the arguments tell how it was meant."),
        "of": OF,
        "rows": rows(
            "The hits.",
            {
                "where": text("What it is: line, label, source place or marker."),
                "text": text("The text in which it occurs."),
                "line": maybe(LINE),
                "file": text("Path of the source file; empty if it is none."),
                "source_line": maybe(whole("Line of the source file, counted from 1.", least=1)),
                "source": text("Place of an instruction or a source line as file:line; else empty."),
            },
        ),
    },
)

WAVE_SCHEMAS = (WAVES, RESIDENT, POPULATIONS, WAVE, UNITS, PLACE, SEARCH)
