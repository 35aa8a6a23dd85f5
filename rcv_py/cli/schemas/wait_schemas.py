"""Documents of why cycles went by: triage, waits, causes, bubbles."""

from __future__ import annotations

from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import bubbles, causes, triage, waits
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    fixed,
)

WAITS = Schema(
    "rcv.waits",
    1,
    "waits",
    "What waits waited for, or the memory latency that waits tell.",
    (
        Variant(
            {**shapes(waits.FACTS), "waits": waits.DOCUMENT.shape}, words="Waits and what they waited for."
        ),
        Variant(
            {**shapes(waits.FACTS), "latency": waits.LATENCIES.shape},
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
