"""The document of loops: one variant a table that `rcv loops --show` has."""

from __future__ import annotations

from rcv_py.cli.schemas.common import (
    CAPTURE,
    INSTRUCTION,
    LINE,
    LINE_OR_NONE,
    OF,
    SOURCE,
    WAVE_ASKED,
    WAVE_NAME,
    WAVES_READ,
)
from rcv_py.cli.schemas.envelope import Schema, Variant
from rcv_py.cli.schemas.shape import (
    Fields,
    choice,
    cycles,
    fixed,
    flag,
    maybe,
    named,
    number,
    parts_of_cycles,
    record,
    rows,
    share,
    text,
    times,
    waves,
    whole,
)

KINDS = named("Cycles by kind of instruction, the most first.", cycles("Latency of the kind"))
_PHASE = maybe(
    record(
        "A phase; null without a loop that a wave ran twice.",
        {
            name: record(
                f"The {name} of the dominant loop.",
                {"share": share("Part of the waves' time"), "stalled": share("Part of it that stalled")},
            )
            for name in ("prologue", "steady", "epilogue")
        },
    )
)
_LOOPS: Fields = {
    **CAPTURE,
    "wave": WAVE_ASKED,
    "waves": WAVES_READ,
    "dominant": whole("Row of the loop the kernel is about, of --show loops; -1 if there is none.", least=-1),
    "phases": _PHASE,
    "outliers": times("Iterations that took much longer than others"),
    "barriers": record(
        "Barriers in numbers.",
        {
            "instances": times("Meetings of two or more traced waves"),
            "median": maybe(parts_of_cycles("Median skew")),
            "max": maybe(cycles("Largest skew")),
            "release_spread_max": maybe(cycles("Largest time between the releases of one meeting")),
            "dropped": times("Executions that fit no meeting"),
            "groups_are_guessed": flag("Whether a workgroup is only told by the starts of its waves."),
            "groups_told_by": maybe(
                choice(
                    "How workgroups are known: numbered in the capture, or their barriers open together.",
                    "capture",
                    "barriers",
                )
            ),
        },
    ),
    "of": OF,
}
_SPENT: Fields = {"stall": cycles("Stall"), "idle": cycles("Gaps between instructions")}
_ROUND: Fields = {
    "min": maybe(parts_of_cycles("Shortest iteration")),
    "median": maybe(parts_of_cycles("Median iteration")),
    "p90": maybe(parts_of_cycles("Iteration that nine tenths do not exceed")),
    "max": maybe(parts_of_cycles("Longest iteration")),
}
_NOTES = ("", "entry", "last", "outlier")
_SHOWN: dict[str, tuple[str, Fields]] = {
    "loops": (
        "One row a loop.",
        {
            "branch": LINE,
            "head": LINE,
            "taken": times("Jumps back"),
            "waves": waves("Waves that jumped back"),
            "per_wave": number("Jumps back a wave, as a count."),
            "iterations": times("Iterations between two jumps back"),
            **_ROUND,
            **_SPENT,
            "kinds": KINDS,
            "text": INSTRUCTION,
            "source": text("Source place of the head as file:line; empty if there is none."),
            "branch_source": SOURCE,
        },
    ),
    "iterations": (
        "One row an iteration between two jumps back, the longest of its loop first; with --loop every "
        "round of that loop.",
        {
            "branch": LINE,
            "wave": WAVE_NAME,
            "iteration": whole("Which iteration of the wave, counted from 0."),
            "begin": cycles("Begin", least=None),
            "end": cycles("End", least=None),
            "cycles": cycles("Duration"),
            "median": maybe(parts_of_cycles("Median of the loop")),
            "outlier": flag("Whether it took much longer than others."),
            **_SPENT,
            "token": whole("Its first row among the wave's instructions, counted from 0."),
            "kinds": KINDS,
            "branch_source": SOURCE,
            "note": choice("With --loop: what the round is; empty for an ordinary one.", *_NOTES),
        },
    ),
    "phases": (
        "One row a wave that ran the dominant loop.",
        {
            "wave": WAVE_NAME,
            **{name: cycles(f"The {name}") for name in ("prologue", "steady", "epilogue")},
            **{
                f"{name}_stall": cycles(f"Stall of the {name}") for name in ("prologue", "steady", "epilogue")
            },
        },
    ),
    "first": (
        "One row a line that stalled, by the stall of its first execution in each wave.",
        {
            "line": LINE,
            "waves": waves("Waves that ran it"),
            "hits": times("Executions"),
            "first_stall": cycles("Stall of the first execution in each wave"),
            "later_stall": cycles("Stall of all later executions"),
            "first_share": share("Part of the stall in first executions"),
            "text": INSTRUCTION,
            "source": SOURCE,
        },
    ),
    "distance": (
        "One row an operation that a wait required.",
        {
            "line": LINE,
            "n": times("Executions that a wait required"),
            "p10": cycles("From issue to the first wait that required it, a tenth being less", least=None),
            "median": cycles("From issue to the first wait that required it, median", least=None),
            "p90": cycles(
                "From issue to the first wait that required it, nine tenths being less", least=None
            ),
            "matrix": whole("Matrix instructions in between, median count."),
            "vector": whole("Vector instructions in between, median count."),
            "short": times("Executions whose wait came sooner than the measured latency"),
            "stall": cycles("Stall of these waits"),
            "wait": LINE_OR_NONE,
            "latency": maybe(parts_of_cycles("Measured latency, median")),
            "is_short": flag("Whether the wait mostly comes sooner than the latency."),
            "text": INSTRUCTION,
            "source": SOURCE,
            "wait_source": SOURCE,
        },
    ),
    "chains": (
        "One row a chain of cross-lane operations.",
        {
            "first": LINE,
            "last": LINE,
            "links": times("Operations in the chain"),
            "times": times("Executions of the chain"),
            "cycles": cycles("Time of all executions"),
            "cycles_per_link": parts_of_cycles("Mean time of a link"),
            "stall": cycles("Stall"),
            "text": INSTRUCTION,
            "source": SOURCE,
            "last_source": SOURCE,
        },
    ),
    "barriers": (
        "One row a meeting at a barrier, the largest skew first.",
        {
            "line": LINE,
            "arrived": cycles("When the first wave arrived", least=None),
            "workgroup": whole(
                "Number of the workgroup, counted from 0 by shader engine and start.", least=0
            ),
            "waves": waves("Traced waves that met"),
            "skew": cycles("From the first to the last arrival"),
            "release_spread": cycles("From the first to the last release"),
            "stall": cycles("Stall of all of them"),
            "last": WAVE_NAME,
            "source": SOURCE,
        },
    ),
}
LOOPS = Schema(
    "rcv.loops",
    1,
    "loops",
    "Iterations of loops, phases of waves, and what costs cycles in and around them.",
    tuple(
        Variant(
            {**_LOOPS, "show": fixed("Which table.", name), "rows": rows(meaning, fields, ("note",))},
            words=f"{meaning[:-1]}: --show {name}.",
        )
        for name, (meaning, fields) in _SHOWN.items()
    ),
)

LOOP_SCHEMAS = (LOOPS,)
