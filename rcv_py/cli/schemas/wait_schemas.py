"""Documents of why cycles went by: triage, waits, causes, bubbles."""

from __future__ import annotations

from rcv_py.analysis.findings.bound_class import CLASS_NAMES, SHOWN_NAMES
from rcv_py.cli.schemas.common import (
    CAPTURE,
    LINE,
    PLACE,
    WAVE_ASKED,
    WAVE_NAME,
    WAVES_READ,
)
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import bubbles
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Fields,
    Shape,
    choice,
    cycles,
    fixed,
    flag,
    listed,
    maybe,
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

_EVIDENCE = record(
    "A place where the finding can be seen.",
    {
        "kind": choice("Which of the other fields are there.", "line", "wave", "token", "window", "source"),
        "text": text("What is seen there."),
        "line": LINE,
        "place": text("Source line of the instruction, `file.py:186`."),
        "wave": WAVE_NAME,
        "token": whole("Row among the wave's instructions, counted from 0.", least=-1),
        "begin": cycles("Begin", least=None),
        "end": cycles("End", least=None),
        "source": record(
            "A source place.",
            {"file": whole("Number of the source file."), "line": whole("Line, counted from 1.")},
        ),
    },
    optional=("line", "place", "wave", "token", "begin", "end", "source"),
)
TRIAGE = schema(
    "rcv.triage",
    "triage",
    "What limits the kernel, and findings with evidence and remedy, by what its duration can gain.",
    {
        **CAPTURE,
        "kernel": text("Name of the kernel."),
        "waves": record(
            "How much was looked at.",
            {
                "read": waves("Waves that were read"),
                "of": waves("Traced waves"),
                "counted": waves("Waves whose costs are ranked"),
                "missing": waves("Waves whose file is missing or damaged"),
            },
        ),
        "totals": record(
            "What findings are measured against.",
            {
                "resident": maybe(
                    cycles("Time in which a SIMD held a traced wave, summed over SIMDs; null: of no wave")
                ),
                "silent": maybe(cycles("Part of it in which no wave issued")),
                "bubbles": maybe(cycles("Part of that in which the matrix unit did not work either")),
            },
        ),
        "numbers": rows(
            "Numbers that frame all findings.",
            {
                "id": text("Stable name."),
                "name": text("What it is called."),
                "text": text("The number with its unit."),
                "of": text("What it is a part of."),
            },
        ),
        "alarm": text("Why nothing may be concluded from the capture, and what to do; empty if all is well."),
        "class": maybe(
            record(
                "What limits the kernel; null if nothing can be concluded.",
                {
                    "name": choice("The class.", *CLASS_NAMES),
                    "sentence": text("It with the number that shows it."),
                    "numbers": rows(
                        "The numbers that show it, the deciding one first.",
                        {
                            "id": choice("What it is.", *SHOWN_NAMES),
                            "value": number(
                                "A share from 0 to 1; `rate`: bytes a compute unit and cycle.", least=0
                            ),
                            "text": text("The number with what it is a part of."),
                        },
                    ),
                },
            )
        ),
        "headline": text("The first finding in one line."),
        "of": times("Findings, of which --top may have left some out"),
        "below_threshold": times("Findings with less than 2 % of the kernel's duration to gain"),
        "findings": rows(
            "The findings.",
            {
                "name": text("Stable name of the pattern."),
                "title": text("The finding in one line."),
                "rank": choice("How it is listed.", "ranked", "context", "caution"),
                "gain": share(
                    "What the kernel's duration can gain at most; an estimate if that is no upper bound"
                ),
                "small": flag("Whether it is told in one line with others, since it gains less than 2 %."),
                "cycles": whole("What is at stake, in cycles or, of PC samples, in samples."),
                "is_upper_bound": flag("Whether no change of this alone can win more than that."),
                "share": share("What is at stake, of the unit"),
                "unit": text("What the share is a part of."),
                "exposed": cycles("Part of it in which nothing happened on the SIMD, summed over waves"),
                "attributed": cycles("Stalled and idle time of all waves, covered by others or not"),
                "sentence": text("What is seen, with numbers."),
                "remedy": text("What to do."),
                "remedy_id": text("Name of the remedy in the table of docs/findings.md; empty if none fits."),
                "effort": text("Effort of the remedy: low, medium or high; empty if none fits."),
                "assumption": text("What is taken for granted."),
                "evidence": listed("Where it can be seen.", _EVIDENCE),
            },
        ),
        "assumption": text("What all findings take for granted."),
        "note": text("Why there is nothing, or what is missing; empty if nothing is."),
    },
)
TRIAGE_FOLDER = schema(
    "rcv.triage.folder",
    "triage",
    "The first finding of every capture below a folder.",
    {
        "folder": text("The folder, as it was given."),
        "captures": rows(
            "One row a capture.",
            {
                "capture": text("Path of the capture."),
                "kernel": text("Name of the kernel."),
                "waves": waves("Traced waves"),
                "class": maybe(text("What limits the kernel.")),
                "name": maybe(text("Stable name of the first finding's pattern.")),
                "headline": text("The first finding in one line."),
                "gain": maybe(share("What the kernel's duration can gain by it at most")),
                "cycles": maybe(whole("What is at stake, in cycles or, of PC samples, in samples.")),
                "share": maybe(share("What is at stake, of its unit")),
                "note": text("Why there is no finding."),
            },
        ),
    },
)

WAIT_SCHEMAS = (TRIAGE, TRIAGE_FOLDER, WAITS, CAUSES, BUBBLES)
