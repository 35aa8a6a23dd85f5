"""Documents about several captures, about files that were written, and about schemas."""

from __future__ import annotations

from rcv_py.cli.schemas.envelope import schema
from rcv_py.results.compare import CHANGES
from rcv_py.results.field import shapes
from rcv_py.results.json_types import (
    Shape,
    choice,
    flag,
    listed,
    maybe,
    number,
    ratio,
    record,
    rows,
    text,
    times,
)
from rcv_py.results.library import FACTS, LIBRARY

INDEX = schema(
    "rcv.index",
    "index",
    "All captures below a folder, ranked.",
    {**shapes(FACTS), "captures": LIBRARY.shape},
)

_NOISY = {
    "value": ratio("B divided by A"),
    "noise": maybe(number("How far it may be off by noise; null if that is not known.")),
}


def _pair(meaning: str) -> Shape:
    return {**listed(meaning, number("Of A, then of B.")), "minItems": 2, "maxItems": 2}


COMPARE = schema(
    "rcv.compare",
    "compare",
    "Whether B takes more or fewer cycles than A, beyond noise, and where.",
    {
        "a": text("Name of the capture before the change."),
        "b": text("Name of the capture after the change."),
        "verdict": text("The answer in a word."),
        "per": text("What cycles were put against."),
        "sentence": text("The answer."),
        "notes": listed("What to bear in mind.", text("A sentence.")),
        "measure": choice("Cycles of what.", "cost", "latency", "stall"),
        "same_instructions": flag("Whether both ran the same program."),
        "by": choice("What a row is.", *CHANGES),
        "of": times("Rows, of which --top may have left some out"),
        "beyond_noise": times("Rows whose difference is more than noise"),
        "kernel": maybe(
            record(
                "The kernel as a whole; null if nothing can be compared.",
                {
                    "waves": _pair("Waves."),
                    "hits_per_wave": _pair("Executions a wave."),
                    "cycles_per_wave": _pair("Cycles a wave, without what waves drain under s_endpgm."),
                    "cycles_per_hit": _pair("The same cycles an execution."),
                    "covered": _pair("Part of the cycles on instructions that both have, from 0 to 1."),
                    "ratio_at_equal_hits": record("Cycles at equal executions.", _NOISY),
                    "ratio_per_wave": record("Cycles a wave.", _NOISY),
                    "launch": maybe(
                        record(
                            "The launches on the traced shader engines; null if a capture does not say.",
                            {
                                "duration": _pair("Cycles from the first start of a wave to the last end."),
                                "waves": _pair("Waves that were launched."),
                                "wave_cycles": _pair("Cycles that all these waves lived."),
                                "shader_engines": listed(
                                    "Of A, then of B.", listed("Shader engines.", times("Number"))
                                ),
                                "work_per_wave": maybe(
                                    listed(
                                        "Of A, then of B; null if no unit of work is known.",
                                        _pair("Least and most over groups of traced waves."),
                                    )
                                ),
                                "work_unit": maybe(text("What work is counted in.")),
                                "comparable_per_wave": flag(
                                    "Whether launches have as many waves, and waves do the same work."
                                ),
                                "ratio": record("Duration of B over that of A.", _NOISY),
                            },
                        )
                    ),
                },
            )
        ),
        "rows": CHANGES["line"].shape,
    },
)

REPORT = schema(
    "rcv.report",
    "report",
    "Reports that were written.",
    {
        "reports": rows(
            "One row a capture, in the order they were asked for.",
            {
                "capture": text("Path of the capture."),
                "file": maybe(text("The file that was written; null if there is none.")),
                "error": text("Why there is none; the exit code is then 2."),
            },
        )
    },
)
EXPORT = schema(
    "rcv.export",
    "export",
    "What was exported.",
    {
        "capture": text("Name of the capture."),
        "to": choice("The kind of file.", "perfetto", "speedscope", "csv", "parquet"),
        "file": text("The file or folder that was written."),
        "text": text("What is in it, in a few words with counts."),
    },
)
SYNTH = schema(
    "rcv.samples",
    "synth",
    "Made-up samples: those there are, or those that were written.",
    {
        "samples": rows(
            "One row a sample.",
            {
                "name": text("Its name."),
                "text": text("What is in it."),
                "folder": maybe(text("The folder that was written; null if it was only listed.")),
                "files": maybe(times("Files that were written; null if it was only listed")),
            },
        )
    },
)
SCHEMAS_LIST = schema(
    "rcv.schemas",
    "schema",
    "The schemas there are.",
    {
        "schemas": rows(
            "One row a schema.",
            {
                "schema": text("Name and version, as documents carry them."),
                "command": text("The command that prints such documents."),
                "text": text("What they tell."),
            },
        )
    },
)

DOCUMENTS = schema(
    "rcv.documents",
    "check",
    "What a command prints of several captures: a document each (check and summary).",
    {"documents": listed("In the order of the captures.", {"type": "object", "description": "A document."})},
)

LIBRARY_SCHEMAS = (COMPARE, INDEX, REPORT, EXPORT, SYNTH, SCHEMAS_LIST, DOCUMENTS)
