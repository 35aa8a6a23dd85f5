"""Documents of what is hidden, how long memory takes, and of costs inside of costs: latency, flame."""

from __future__ import annotations

from rcv_py.cli.schemas.common import CAPTURE, INSTRUCTION, LINE, OF, SOURCE
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import flame
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Fields,
    choice,
    cycles,
    fixed,
    maybe,
    number,
    parts_of_cycles,
    record,
    rows,
    share,
    text,
    times,
)

_TEXT: Fields = {"text": INSTRUCTION, "source": SOURCE}
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
_MEMORY: Fields = {
    "mean": parts_of_cycles("Mean time from issue to return"),
    "error": parts_of_cycles("Standard error of the mean"),
    "std": parts_of_cycles("Standard deviation"),
    "samples": number("Returns that were matched, as a count."),
    "in_flight": number("Operations whose return was not seen, as a count."),
    "issue": parts_of_cycles("Mean time to issue"),
    "stall": parts_of_cycles("Mean stall"),
}
_BY_COUNTERS = record(
    "Sums over what counters tell.",
    {
        "samples": times("Returns that were matched"),
        "in_flight": times("Operations whose return was not seen"),
    },
)
_BY_WAITS: Fields = {
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
                "kind": fixed("Which of the tables.", "hidden"),
                "totals": record(
                    "Sums over all rows, and how busy matrix units were; null if no wave was read.",
                    {
                        **{name: maybe(shape) for name, shape in _HIDDEN.items()},
                        "matrix_busy": maybe(cycles("Matrix instructions by the cycles each takes")),
                        "simd_resident": maybe(
                            cycles("Time in which a SIMD held a traced wave, summed over SIMDs")
                        ),
                    },
                ),
                "rows": rows(
                    "Instructions by what is not hidden, the largest first.",
                    {"line": LINE, **_HIDDEN, "share": share("Hidden part"), **_TEXT},
                ),
            },
            words="What other waves hide.",
        ),
        Variant(
            {
                **_LATENCY,
                "kind": fixed("Which of the tables.", "memory"),
                "totals": _BY_COUNTERS,
                "rows": rows(
                    "Instructions that read or wrote memory.",
                    {
                        "line": LINE,
                        "counter": text("Counter that told it."),
                        **_MEMORY,
                        **_TEXT,
                    },
                ),
            },
            words="How long memory takes: --kind memory.",
        ),
        Variant(
            {
                **_LATENCY,
                "kind": fixed("Which of the tables.", "memory_waits"),
                "totals": _BY_COUNTERS,
                "rows": rows(
                    "Instructions that counters or waits tell of; null where one of them does not.",
                    {
                        "line": LINE,
                        "counter": text("Counter that told it; empty if only waits did."),
                        **{name: maybe(shape) for name, shape in _MEMORY.items()},
                        **_BY_WAITS,
                        **_TEXT,
                    },
                ),
            },
            words="How long memory takes by counters and by waits: --kind memory --waits.",
        ),
    ),
)

FLAME = schema(
    "rcv.flame",
    "flame",
    "A flamegraph: frames in frames, parents before children.",
    {**shapes(flame.FACTS), "frames": flame.FRAMES.shape},
)
SANDWICH = schema(
    "rcv.flame.sandwich",
    "flame",
    "A place with what leads to it above and what it leads to below (--content sandwich --around).",
    {
        **CAPTURE,
        "content": fixed("What frames are.", "sandwich"),
        **shapes(flame.SANDWICH_FACTS),
        "frames": flame.SANDWICH.shape,
    },
)

DEPTH_SCHEMAS = (LATENCY, FLAME, SANDWICH)
