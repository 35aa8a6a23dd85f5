"""Documents of what a capture holds: info, check."""

from __future__ import annotations

from rcv_py.cli.schemas.envelope import schema
from rcv_py.results import check
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    choice,
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

SEVERITY = choice("How much it costs the reader.", "info", "warning", "error")
_NAMES = text("A name.")

INFO = schema(
    "rcv.info",
    "info",
    "What a capture holds.",
    {
        "name": text("Name of the capture: that of its folder."),
        "path": text("Path of the folder."),
        "format": record(
            "What was recorded.",
            {
                "version": text("Version of the format."),
                "target": text("Name of the GPU, such as gfx950."),
                "target_from": text("What tells it; empty if only the generation is known, such as gfx9."),
                "gfxip": whole("Generation of the instruction set, a number."),
                "thread_trace": flag("Whether waves were traced."),
                "pc_samples": flag("Whether there are PC samples."),
            },
        ),
        "kernel": text("Name of the kernel with most cycles."),
        "kernels": listed("Names of all kernels of the program.", _NAMES),
        "waves": record(
            "Traced waves.",
            {
                "count": waves("How many there are"),
                "bytes": whole("Size of their files, in bytes."),
                "by_shader_engine": named("Waves by shader engine.", waves("Traced")),
                "slots": times("Places that held a wave"),
                "shortest": cycles("Shortest life"),
                "longest": cycles("Longest life"),
                "cycles": cycles("Sum of all lives"),
            },
        ),
        "code": record(
            "The program; null if the capture has none.",
            {
                "instructions": maybe(times("Instructions")),
                "executed": maybe(times("Instructions that ran")),
                "hits": maybe(times("Executions")),
                "latency": maybe(cycles("Latency of all waves")),
                "stall": maybe(cycles("Stall of all waves")),
                "issue": maybe(cycles("Latency without stall of all waves", least=None)),
                "idle": maybe(cycles("Gaps between instructions of all waves")),
                "samples_issued": maybe(times("PC samples that issued")),
                "samples_stalled": maybe(times("PC samples that stalled")),
            },
        ),
        "activity": record(
            "Where the time of all waves went.",
            {
                name: number(f"{name.capitalize()}, in percent of latency and idle.")
                for name in ("idle", "stall", "issue")
            },
        ),
        "source": record(
            "How instructions are mapped to sources.",
            {
                "mapped": times("Instructions with a source place"),
                "files": times("Source files"),
                "files_with_text": times("Source files whose text is there"),
                "lines": times("Source lines that are named"),
                "effective_lines": number(
                    "Lines that would carry the instructions if spread evenly, a count."
                ),
                "top": text("The line with most instructions, as file:line."),
                "top_share": share("Part of the instructions on it"),
                "top_cost_share": share("Part of the cycles on it"),
            },
        ),
        "occupancy": record(
            "All waves, traced or not; null if the capture does not say when waves began and ended.",
            {
                "waves": maybe(waves("How many there were")),
                "compute_units": maybe(times("Compute units that held one")),
                "peak": maybe(waves("Most at a time")),
                "mean": maybe(number("Mean over time, in waves.", least=0)),
                "unfinished": maybe(waves("Whose end was not seen")),
            },
        ),
        "clock": record(
            "Times.",
            {
                "begin": cycles("First moment", least=None),
                "end": cycles("Last moment", least=None),
                "cycles": cycles("From first to last"),
                "ns": maybe(number("The same in nanoseconds; null if the rate is not known.")),
                "shader_mhz": maybe(number("Rate of the shader clock, in MHz; null if it is not known.")),
                "aligned": flag("Whether the clocks of shader engines could be aligned."),
                "offsets": named("What was added to times, by shader engine.", cycles("Offset", least=None)),
            },
        ),
        "extras": record(
            "What else was recorded.",
            {
                "counters": listed("Names of hardware counters.", _NAMES),
                "dispatches": times("Dispatches"),
                "events": maybe(times("Events of the hardware")),
                "markers": times("Kinds of markers"),
            },
        ),
        "problems": rows(
            "What is wrong, also what the tables say about themselves.",
            {
                "severity": SEVERITY,
                "where": text("The file or the part that is concerned."),
                "text": text("A sentence."),
                "hint": text("What to do; empty if there is nothing to do."),
            },
        ),
    },
)

CAPTURES = schema(
    "rcv.captures",
    "info",
    "The captures below a folder.",
    {
        "captures": rows(
            "One row a capture.",
            {
                "name": text("Name of the capture."),
                "path": text("Path of its folder."),
                "kernel": text("Name of the kernel."),
                "waves": waves("Traced"),
                "instructions": maybe(times("Instructions")),
                "executed": maybe(times("Instructions that ran")),
                "mapped": times("Instructions with a source place"),
                "hits": maybe(times("Executions")),
                "latency": maybe(cycles("Latency of all waves")),
                "note": text("What is wrong with it; empty if nothing is."),
            },
        )
    },
)

CHECK = schema(
    "rcv.check",
    "check",
    "Whether the capture can be trusted, and how to record a better one.",
    {**shapes(check.HEAD), "notes": check.NOTES.shape, **shapes(check.FOOT)},
)

INFO_SCHEMAS = (INFO, CAPTURES, CHECK)
