"""Documents of why cycles went by: triage, waits, causes, bubbles."""

from __future__ import annotations

from rcv_py.cli.schemas.common import (
    CAPTURE,
    LINE,
    PLACE,
    WAVE_ASKED,
    WAVES_READ,
)
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import bubbles, triage
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Fields,
    Shape,
    cycles,
    fixed,
    flag,
    maybe,
    parts_of_cycles,
    record,
    rows,
    share,
    text,
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

_CAUSED: Fields = {
    "stall": cycles("Stall"),
    "share": maybe(share("Part of all stall; null without stall")),
    "idle": cycles("Gaps between instructions"),
    "count": times("Executions"),
    "guessed": cycles("Stall and gaps of which the producer is a guess, one of several that fit"),
}
_PLACE_OR_NONE: Fields = {**PLACE, "line": maybe(LINE)}
_PARTS = rows(
    "What the row consists of.",
    {
        "cause": text("Stable name of the cause."),
        "line": record("The instruction that stalled or idled.", _PLACE_OR_NONE),
        "producer": maybe(record("The instruction to blame; null if there is none.", _PLACE_OR_NONE)),
        **_CAUSED,
    },
)
_CAUSES: Fields = {
    **CAPTURE,
    "waves": WAVES_READ,
    "totals": record(
        "Sums over all waves; null if no wave was read.",
        {
            "stall": maybe(cycles("Stall")),
            "idle": maybe(cycles("Gaps between instructions")),
            "explained": maybe(share("Part of the stall with a cause; null without stall")),
            "explained_idle": maybe(share("Part of the gaps with a cause; null without gaps")),
        },
    ),
    "assumption": text("What the attribution takes for granted, as a sentence."),
}
_PLACED: Shape = rows("Instructions by stall and idle.", {**_PLACE_OR_NONE, **_CAUSED, "parts": _PARTS})
CAUSES = Schema(
    "rcv.causes",
    2,
    "causes",
    "Why waves stalled and idled; cycles of waves, not elapsed time.",
    (
        Variant(
            {
                **_CAUSES,
                "by": fixed("What a row is.", "cause"),
                "rows": rows(
                    "Causes by stall and idle.",
                    {
                        "cause": text("Stable name of the cause."),
                        "name": text("The cause in a few words."),
                        "because": text("Completes: stalled because."),
                        "evidence": text("What has to be seen before a cycle is given this cause."),
                        "is_certain": flag("Whether the instruction or a replay tells it."),
                        **_CAUSED,
                        "parts": _PARTS,
                    },
                ),
            },
            words="By cause.",
        ),
        Variant(
            {**_CAUSES, "by": fixed("What a row is.", "line"), "rows": _PLACED},
            words="By the instruction that stalled: --by line.",
        ),
        Variant(
            {**_CAUSES, "by": fixed("What a row is.", "producer"), "rows": _PLACED},
            words="By the instruction to blame: --by producer.",
        ),
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
