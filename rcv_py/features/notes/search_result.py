"""Search: where a text occurs, among instructions and labels, source lines, and markers."""

from dataclasses import replace

import numpy as np

from rcv_py.analysis.cost.place_text import source_of
from rcv_py.analysis.overview.text_hits import Hits
from rcv_py.model.trace import Trace
from rcv_py.results import json_types, kinds
from rcv_py.results.common import CAPTURE, INSTRUCTION_INDEX, TOTAL_ROWS
from rcv_py.results.field import DATA, Field
from rcv_py.results.schema import Schema
from rcv_py.results.table import Columns, ResultTable, Spec

_FILE_LINE = kinds.WHOLE._replace(json=json_types.plain("integer", minimum=1))
HITS = Spec(
    "search",
    "The hits.",
    "hit",
    Field(
        "where", kinds.TEXT._replace(elastic="left"), "What it is: instruction, label, source line or marker"
    ),
    kinds.CODE("text", "The text in which it occurs"),
    replace(INSTRUCTION_INDEX, is_unknown=True, at=DATA),
    kinds.TEXT("file", "Path of the source file; empty for other hits", at=DATA),
    _FILE_LINE("source_line", "Line of the source file, counted from 1", is_unknown=True, at=DATA),
    kinds.SOURCE("source", "Place of an instruction or a source line as file:line; else empty"),
)
FACTS = (
    CAPTURE,
    kinds.TEXT("match", "The text searched for; the arguments say how it is matched"),
    TOTAL_ROWS,
)
SCHEMA = Schema(
    "search",
    "Where a text occurs: instructions and labels, then source lines, then markers.",
    (*FACTS, HITS.field()),
)


def hits(trace: Trace, found: Hits) -> ResultTable:
    """Return one row per hit."""
    files = [trace.sources[file].path if file >= 0 else "" for file, _ in found.places]
    columns: Columns = {
        "where": found.where,
        "text": found.text,
        "instruction": np.maximum(np.array(found.lines, dtype=np.int64), -1),
        "file": files,
        "source_line": [number if file >= 0 else -1 for file, number in found.places],
        "source": [
            source_of(trace, line) if line >= 0 else f"{path}:{number}" if path else ""
            for line, path, (_, number) in zip(found.lines, files, found.places, strict=True)
        ],
    }
    return ResultTable(HITS, columns)
