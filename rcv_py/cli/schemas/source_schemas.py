"""Documents of sources and of counters that rocprofv3 --pmc recorded: source, pmc."""

from __future__ import annotations

from rcv_py.cli.schemas.common import OF
from rcv_py.cli.schemas.envelope import Schema, Variant, schema
from rcv_py.results import source
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    choice,
    fixed,
    listed,
    maybe,
    number,
    rows,
    share,
    text,
    times,
    whole,
)

SOURCES = Schema(
    "rcv.source",
    1,
    "source",
    "What source files and lines cost, or the instructions of a line.",
    tuple(
        Variant(
            {**shapes(source.FACTS), "kind": fixed("What a row is.", kind), "rows": spec.shape},
            words=spec.row,
        )
        for kind, spec in source.FORMS.items()
    ),
)

_COUNTED = {
    "hits": "Requests that found their line in L2",
    "misses": "Requests that did not",
    "requests": "Requests to L2",
    "l1_reads": "Reads that L1 sent to L2",
    "reads": "Reads from memory",
    "reads_32": "Reads from memory of 32 bytes",
    "reads_64": "Reads from memory of 64 bytes",
    "reads_96": "Reads from memory of 96 bytes",
    "reads_128": "Reads from memory of 128 bytes",
    "bubbles": "Reads of 128 bytes as gfx942 counts them",
    "dram_reads": "Reads from the memory of the device itself",
    "writes": "Writes to memory",
    "writes_64": "Writes to memory of 64 bytes",
}
_RANGES = {
    "read": "bytes that were read from memory a dispatch, in bytes.",
    "written": "bytes that were written to memory a dispatch, in bytes.",
    "over_fetch": "bytes read through ideal bytes; null without --ideal-mb.",
    "hit_rates": "L2 hit rate of a dispatch, from 0 to 1.",
}
_BOUNDS = {"least": "Lower bound of ", "most": "Upper bound of "}
PMC = schema(
    "rcv.pmc",
    "pmc",
    "Hit rate of L2 and bytes to and from memory, by counters of rocprofv3 --pmc.",
    {
        "files": listed("Names of the files that were read.", text("A name.")),
        "by": choice("What a row is.", "kernel", "dispatch"),
        "kernel": maybe(text("Part of the kernel's name that was asked for; null for all.")),
        "ideal_bytes": maybe(number("What a dispatch has to read at least, in bytes.")),
        "channels": whole("Channels whose sums were recorded apart, as a count."),
        "notes": listed("What is doubtful or missing.", text("A sentence.")),
        "of": OF,
        "rows": rows(
            "Kernels or dispatches by reads from memory, the most first; means of a dispatch.",
            {
                "kernel": text("Name of the kernel."),
                "dispatch": maybe(text("Number of the dispatch; null for all of the kernel.")),
                "dispatches": times("Dispatches in the row"),
                **{name: maybe(number(f"{text_}, a mean count.")) for name, text_ in _COUNTED.items()},
                "hit_rate": maybe(share("Part of the lookups that hit L2")),
                "partial": maybe(share("Part of the reads that are of 32 bytes")),
                "dram": maybe(share("Part of the reads that went to the memory of the device itself")),
                **{
                    f"{name}_{end}": maybe(number(bound + words))
                    for name, words in _RANGES.items()
                    for end, bound in _BOUNDS.items()
                },
                "nanoseconds": maybe(number("Mean duration, in nanoseconds, while counters were recorded.")),
                "branch": text("Name of what the numbers say."),
                "because": text("The same as a sentence."),
                "remedy": text("What to do."),
                "decided_by": maybe(text("Name of the test that decided; null if none did.")),
                "tests": rows(
                    "The tests that lead there, in order.",
                    {
                        "name": text("Stable name of the test."),
                        "question": text("What is asked."),
                        "least": maybe(number("Lower bound of the value, a share or a quotient.")),
                        "most": maybe(number("Upper bound of the value, a share or a quotient.")),
                        "limit": number("What the value is compared with, a share or a quotient."),
                        "answer": text("The answer: yes, no or unknown."),
                        "means": text("What follows from it."),
                    },
                ),
                "missing": listed("Counters that would tell more.", text("Name of a counter.")),
                "record": listed("Lines for rocprofv3 that record them, a run each.", text("A line.")),
            },
        ),
    },
)

SOURCE_SCHEMAS = (SOURCES, PMC)
