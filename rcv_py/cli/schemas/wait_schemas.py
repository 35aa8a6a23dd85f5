"""Documents of why cycles went by: triage, waits, causes, bubbles."""

from __future__ import annotations

from rcv_py.cli.schemas.common import (
    CAPTURE,
    PLACE,
    WAVE_ASKED,
    WAVES_READ,
)
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import bubbles, causes, triage
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Fields,
    cycles,
    fixed,
    maybe,
    parts_of_cycles,
    record,
    rows,
    share,
    times,
)

SAMPLED: Fields = {
    "exact": times("Samples in which a wait stalled until the result was there"),
    "bounds": times("Samples in which the result was there before, which only bounds the latency"),
    "p10": maybe(parts_of_cycles("Value that a tenth of the exact samples does not exceed")),
    "median": maybe(parts_of_cycles("Median of the exact samples")),
    "p90": maybe(parts_of_cycles("Value that nine tenths of the exact samples do not exceed")),
    "mean": maybe(parts_of_cycles("Mean of the exact samples")),
}
_WAITS: Fields = {
    **CAPTURE,
    "wave": WAVE_ASKED,
    "waves": WAVES_READ,
    "totals": record(
        "Sums over all waits; null if no wave was read.",
        {
            "waits": maybe(times("Wait instructions that waited for something")),
            "hits": maybe(times("Their executions")),
            "stall": maybe(cycles("Their stall")),
            "charged": maybe(cycles("Part of it that is charged to a producer")),
        },
    ),
}
WAITS = Schema(
    "rcv.waits",
    1,
    "waits",
    "What waits waited for, or the memory latency that waits tell.",
    (
        Variant(
            {
                **_WAITS,
                "waits": rows(
                    "Waits by stall, the largest first.",
                    {
                        **PLACE,
                        "hits": times("Executions"),
                        "stall": maybe(cycles("Stall")),
                        "share": share("Part of the stall of all waits"),
                        "exact": times("Executions that stalled for an operation"),
                        "producers": rows(
                            "What it waited for, by stall.",
                            {
                                **PLACE,
                                "n": times("Executions of the wait that required it"),
                                "stall": cycles(
                                    "Stall that is charged to it, as the newest that was required"
                                ),
                                "share": share("Part of the stall of the wait"),
                                "latency": record("From issue to result, in cycles.", SAMPLED),
                            },
                        ),
                    },
                ),
            },
            words="Waits and what they waited for.",
        ),
        Variant(
            {
                **_WAITS,
                "latency": rows("Instructions by exact samples.", {**PLACE, **SAMPLED}),
            },
            words="Memory latency of instructions: --latency.",
        ),
    ),
)

CAUSES = Schema(
    "rcv.causes",
    2,
    "causes",
    "Why waves stalled and idled; cycles of waves, not elapsed time.",
    tuple(
        Variant(
            {
                **shapes(causes.FACTS),
                "by": fixed("What a row is.", by),
                "rows": spec.shape,
            },
            words=words,
        )
        for (by, spec), words in zip(
            causes.DOCUMENTS.items(),
            (
                "By cause.",
                "By the instruction that stalled: --by line.",
                "By the instruction to blame: --by producer.",
            ),
            strict=True,
        )
    ),
)
BUBBLES = schema(
    "rcv.bubbles",
    "bubbles",
    "Instructions by the cycles in which waves waited in them while nothing happened on their SIMD.",
    {**shapes(bubbles.FACTS), "rows": bubbles.BUBBLES.shape},
)

TRIAGE = schema(
    "rcv.triage",
    "triage",
    "What limits the kernel, and findings with evidence and remedy, by what its duration can gain.",
    {**shapes(triage.HEAD), "findings": triage.FINDINGS.shape, **shapes(triage.FOOT)},
)
TRIAGE_FOLDER = schema(
    "rcv.triage.folder",
    "triage",
    "The first finding of every capture below a folder.",
    {**shapes(triage.FOLDER_FACTS), "captures": triage.CAPTURES.shape},
)

WAIT_SCHEMAS = (TRIAGE, TRIAGE_FOLDER, WAITS, CAUSES, BUBBLES)
