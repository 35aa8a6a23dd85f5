"""Documents of what instructions cost: hotspot, isa, line, latency, flame."""

from __future__ import annotations

from rcv_py.cli.schemas.common import (
    CAPTURE,
    COST_SHARE,
    COSTS,
    INSTRUCTION,
    LINE,
    LINE_OR_NONE,
    MEASURE,
    OF,
    SOURCE,
    WAVE_NAME,
)
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.cli.schemas.shape import (
    Fields,
    choice,
    cycles,
    fixed,
    listed,
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

LIMIT: Fields = {
    "name": text("Name of the resource."),
    "used": whole("What a wave takes (LDS: a workgroup) before rounding, in units of the resource."),
    "given": whole("What it is given, rounded up to what is given at a time, in units of the resource."),
    "of": whole("What there is, in units of the resource."),
    "source": text("Where the number is from."),
}
OCCUPANCY = record(
    "How many waves fit on a SIMD, as the header of the text tells.",
    {
        "waves_per_simd": waves("Waves of this kernel that fit on a SIMD"),
        "most_waves_per_simd": waves("Waves that a SIMD has room for"),
        "binding": maybe(text("Name of the resource that binds; null if none does.")),
        "limits": rows("One row a resource that is known.", LIMIT),
        "resident_peak": waves("Most traced waves on a SIMD at a time"),
    },
)

HOTSPOT = schema(
    "rcv.hotspot",
    "hotspot",
    "Instructions, source lines, kinds or classes, ranked by what they cost.",
    {
        **CAPTURE,
        "occupancy": OCCUPANCY,
        "by": choice("What a row is.", "line", "source", "kind", "class"),
        "sort": choice("What ranks the rows, the largest first.", "latency", "stall", "idle", "hits"),
        "measure": MEASURE,
        "totals": record("Sums over the whole program.", COSTS),
        "of": OF,
        "rows": rows(
            "The ranking, the largest first.",
            {
                "name": text("What the row is called: a line, a source place, a kind or a class."),
                "text": text("Instruction, source text, or meaning of the kind."),
                "line": LINE_OR_NONE,
                "rows": times("Instructions in the row"),
                **COSTS,
                "share": share("Part of what the ranking is by"),
                "source": SOURCE,
            },
        ),
    },
)

LIKE = schema(
    "rcv.hotspot_like",
    "hotspot",
    "The tables of hotspot_analyzer.py by the rules of one of its generations, mistakes included (--like).",
    {
        **CAPTURE,
        "like": choice("The generation of the rules.", "old", "new"),
        "instructions": times("Instructions that the rules count"),
        "latency": cycles("Latency of all of them"),
        "stall": cycles("Stall of all of them"),
        "target": text("Name of the GPU that the rules guess."),
        "occupancy": record(
            "Registers and waves as the rules count them.",
            {
                "arch": whole("Architectural vector registers of a wave."),
                "accum": whole("Accumulation registers of a wave."),
                "given": whole("Vector registers given to a wave, rounded up."),
                "pool": whole("Vector registers that the rules divide."),
                "limits": rows(
                    "One row a resource.",
                    {
                        "name": text("Name of the resource."),
                        "used": {
                            "type": ["integer", "string"],
                            "description": "What is used, in units of the resource, or as text.",
                        },
                        "waves": waves("Waves a SIMD that fit"),
                    },
                ),
                "waves": waves("Waves a SIMD by all of them"),
                "bound": text("Name of the resource that binds."),
                "next_registers": maybe(whole("Vector registers that one wave more takes at most.")),
            },
        ),
        "warning": text("What is doubtful about the launch that was found; empty if nothing is."),
        "mix": named("Instructions of the program by what they are.", times("Instructions")),
        "classes": named("Stall by class.", cycles("Stall")),
        "sources": rows(
            "Source lines by stall.",
            {
                "source": SOURCE,
                "stall": cycles("Stall"),
                "latency": cycles("Latency"),
                "rate": number("Stall in percent of the line's latency."),
                "dominant": text("Class with most stall."),
            },
        ),
        "rows": rows(
            "Instructions by stall.",
            {
                "line": LINE,
                "text": INSTRUCTION,
                "class": text("Class by the rules."),
                "stall": cycles("Stall"),
                "latency": cycles("Latency"),
                "source": SOURCE,
            },
        ),
    },
)

_ISA: Fields = {**CAPTURE, "measure": MEASURE, "of": OF}
ISA = Schema(
    "rcv.isa",
    1,
    "isa",
    "The program: instructions, basic blocks, branches or labels.",
    (
        Variant(
            {
                **_ISA,
                "kind": fixed("What a row is.", "lines"),
                "rows": rows(
                    "Instructions in the order of the program; with --top by latency and idle.",
                    {
                        "row": LINE,
                        **COSTS,
                        "share": COST_SHARE,
                        "block": text("Name of the basic block."),
                        "bar": maybe(
                            number("Length of the bar that --bars asks for, in cycles; reasons: in samples.")
                        ),
                        "instruction": INSTRUCTION,
                    },
                    optional=("bar",),
                ),
            },
            words="Instructions.",
        ),
        Variant(
            {
                **_ISA,
                "kind": fixed("What a row is.", "blocks"),
                "rows": rows(
                    "Basic blocks in the order of the program; with --top by latency and idle.",
                    {
                        "block": whole("Number of the block, counted from 0."),
                        "first": LINE,
                        "last": LINE,
                        "lines": times("Instructions in it"),
                        **COSTS,
                        "hits": times("Executions of its first instruction"),
                        "share": COST_SHARE,
                        "loops": times("Loops around it"),
                        "name": text("Name of the block."),
                    },
                ),
            },
            words="Basic blocks: --blocks.",
        ),
        Variant(
            {
                **_ISA,
                "kind": fixed("What a row is.", "branches"),
                "rows": rows(
                    "Branches in the order of the program; with --top by executions.",
                    {
                        "row": LINE,
                        "target": whole("Row that it leads to; -1 if that is not known.", least=-1),
                        "taken": times("Executions that jumped"),
                        "not_taken": times("Executions that went on"),
                        "taken_share": share("Part of the executions that jumped"),
                        "instruction": INSTRUCTION,
                    },
                ),
            },
            words="Branches: --branches.",
        ),
        Variant(
            {
                **_ISA,
                "kind": fixed("What a row is.", "labels"),
                "rows": rows(
                    "Labels in the order of the program.",
                    {
                        "row": LINE,
                        "latency": cycles("Latency from here to the next label"),
                        "share": share("Part of what all labels cost"),
                        "codeobj": whole("Number of the code object.", least=None),
                        "address": whole("Address in the code object, in bytes."),
                        "name": text("Name of the label."),
                    },
                ),
            },
            words="Labels: --labels.",
        ),
    ),
)

SPREAD: Fields = {
    "count": times("Hits"),
    "least": cycles("Smallest value", least=None),
    "median": cycles("Value that half of the hits do not exceed", least=None),
    "p95": cycles("Value that 95 percent of the hits do not exceed", least=None),
    "most": cycles("Largest value", least=None),
    "mean": parts_of_cycles("Mean"),
    "total": cycles("Sum", least=None),
}
_MEASURED: Fields = {
    "latency": maybe(cycles("Stall and issue or execution of the hit")),
    "stall": maybe(cycles("Time until it could issue")),
    "idle": maybe(cycles("Gap in front of it")),
    "since": maybe(cycles("Time since the wave ran it before; null the first time")),
}
_LINE: Fields = {**CAPTURE, "line": LINE, "instruction": INSTRUCTION}
LINE_HITS = Schema(
    "rcv.line",
    1,
    "line",
    "How long the hits of one instruction took.",
    (
        Variant(
            {
                **_LINE,
                "by": choice("What is measured for bins and ranking.", "latency", "stall", "idle", "since"),
                "hits": times("Executions by traced waves"),
                "measures": record(
                    "Each measure in numbers; null if it has no value.",
                    {name: maybe(record(shape["description"], SPREAD)) for name, shape in _MEASURED.items()},
                ),
                "bins": record(
                    "Histogram of the measure: bin i holds edges[i] <= value < edges[i + 1].",
                    {
                        "edges": listed(
                            "Limits of the bins, one more than bins.", cycles("Limit", least=None)
                        ),
                        "counts": listed("Hits in each bin.", times("Hits")),
                    },
                ),
                "slowest": rows(
                    "The hits with the largest value, the largest first.",
                    {
                        "wave": WAVE_NAME,
                        "hit": whole("Which execution of the line by the wave, counted from 0."),
                        "token": whole("Row among the wave's instructions, counted from 0."),
                        "start": cycles("When it was first tried", least=None),
                        **_MEASURED,
                    },
                ),
            },
            words="Thread traces.",
        ),
        Variant(
            {
                **_LINE,
                "samples": record(
                    "PC samples of the instruction.",
                    {
                        "issued": times("Samples in which it issued"),
                        "stalled": times("Samples in which it stalled"),
                        "reasons": named("Stalled samples by reason.", times("Samples")),
                    },
                ),
            },
            words="PC samples, which have no times.",
        ),
    ),
)

_LATENCY: Fields = {
    **CAPTURE,
    "rule": choice("Our estimate, or the one of the reference viewer.", "ours", "reference"),
    "assumption": text("What the numbers take for granted, as a sentence."),
    "reason": text("Why there are no rows; empty if there are."),
    "of": OF,
}
_HIDDEN: Fields = {
    "total": cycles("Latency and idle"),
    "not_hidden": cycles("Part that no other wave of the SIMD hid"),
    "hidden": cycles("Part in which another wave of the SIMD was busy"),
    "hidden_idle": cycles("Hidden part of the gaps in front"),
    "hidden_stall": cycles("Hidden part of the stall"),
    "hidden_issue": cycles("Hidden part of the issue or execution"),
}
_BY_WAITS: Fields = {  # only with --waits
    "exact": maybe(number("Executions that a wait stalled for until the result was there, as a count.")),
    "median": maybe(parts_of_cycles("Median of their latencies")),
    "p90": maybe(parts_of_cycles("Latency that nine tenths of them do not exceed")),
}
LATENCY = Schema(
    "rcv.latency",
    1,
    "latency",
    "What of the latency other waves hide, or how long memory takes by counters.",
    (
        Variant(
            {
                **_LATENCY,
                "kind": fixed("Which of the two tables.", "hidden"),
                "totals": record(
                    "Sums over all rows, and how busy matrix units were.",
                    {
                        **_HIDDEN,
                        "matrix_busy": cycles("Matrix instructions by the cycles each takes"),
                        "simd_resident": cycles("Time in which a SIMD held a traced wave, summed over SIMDs"),
                    },
                ),
                "rows": rows(
                    "Instructions by what is not hidden, the largest first.",
                    {"line": LINE, **_HIDDEN, "share": share("Hidden part"), "text": INSTRUCTION},
                ),
            },
            words="What other waves hide.",
        ),
        Variant(
            {
                **_LATENCY,
                "kind": fixed("Which of the two tables.", "memory"),
                "totals": record(
                    "Sums over all rows.",
                    {
                        "samples": times("Returns that were matched"),
                        "in_flight": times("Operations whose return was not seen"),
                    },
                ),
                "rows": rows(
                    "Instructions that read or wrote memory.",
                    {
                        "line": LINE,
                        "counter": text("Counter that told it; empty if only waits did."),
                        "mean": maybe(parts_of_cycles("Mean time from issue to return")),
                        "error": maybe(parts_of_cycles("Standard error of the mean")),
                        "std": maybe(parts_of_cycles("Standard deviation")),
                        "samples": maybe(number("Returns that were matched, as a count.")),
                        "in_flight": maybe(number("Operations whose return was not seen, as a count.")),
                        "issue": maybe(parts_of_cycles("Mean time to issue")),
                        "stall": maybe(parts_of_cycles("Mean stall")),
                        **_BY_WAITS,
                        "text": INSTRUCTION,
                    },
                    optional=tuple(_BY_WAITS),
                ),
            },
            words="How long memory takes: --kind memory.",
        ),
    ),
)

FLAME = schema(
    "rcv.flame",
    "flame",
    "A flamegraph: frames in frames, parents before children.",
    {
        **CAPTURE,
        "content": choice("What frames are.", "source", "kernel", "markers", "both", "sandwich"),
        "metric": choice("What is measured.", "total", "nonhidden", "stall", "hits"),
        "order": choice("Order of siblings.", "heavy", "execution", "name"),
        "unit": choice("What numbers count.", "cycles", "samples", "executions"),
        "total": whole("All frames without a parent, in the unit."),
        "frames": rows(
            "Frames row by row, from left to right.",
            {
                "what": text("Kind of the frame, such as file, source or instruction."),
                "name": text("What is written on it."),
                "full_name": text("The same in full."),
                "line": maybe(LINE),
                "parent": maybe(
                    whole(
                        "Index of the parent in this list; null for the outermost.  In a sandwich that of "
                        "the frame nearer to the place in the middle; null for that place."
                    )
                ),
                "depth": whole(
                    "Frames around it, as a count.  In a sandwich frames from the place in the middle, "
                    "below 0 for those that lead to it.",
                    least=None,
                ),
                "begin": whole("Left edge, in the unit.", least=None),
                "self": whole("What the frame has besides its children, in the unit."),
                "total": whole("The frame with its children, in the unit."),
            },
        ),
    },
)

COST_SCHEMAS = (HOTSPOT, LIKE, ISA, LINE_HITS, LATENCY, FLAME)
