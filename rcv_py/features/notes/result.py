"""Notes about a capture, by people and agents, with their places; and the hits of a search."""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.cost.place_text import source_of
from rcv_py.analysis.overview.text_hits import Hits
from rcv_py.model.notes import Note
from rcv_py.model.trace import Trace
from rcv_py.results import json_types, kinds
from rcv_py.results.common import CAPTURE, INSTRUCTION_INDEX, TOTAL_ROWS, WAVE_NAME
from rcv_py.results.field import DATA, REPORT, Field
from rcv_py.results.table import Columns, ResultTable, Schema, Spec

_ROWS = kinds.listed(kinds.ROW, "Index of an instruction in the program, counted from 0")
_FILE_LINE = replace(kinds.WHOLE, json=json_types.plain("integer", minimum=1))
_MOMENT = replace(kinds.CYCLE, text=str)
NOTES = Spec(
    "notes",
    "One row per note.",
    "note",
    kinds.TEXT("id", "Id of the note"),
    Field("severity", kinds.choice("info", "warning", "error"), "Severity"),
    kinds.CODE("title", "What it says, on one line"),
    kinds.NOTE("place", "What it is about, in words", "about"),
    kinds.CODE("text", "Further text"),
    Field("instructions", _ROWS, "The instructions that it is about; none if it names none", at=DATA),
    kinds.TEXT("file", "Path of the source file; empty if it names none", at=DATA),
    _FILE_LINE.maybe("source_line", "Line of the source file, counted from 1", at=DATA),
    replace(WAVE_NAME, meaning="The wave, such as se0/simd2/slot5/wv3; empty if it names none", at=DATA),
    _MOMENT.maybe("start", "The cycle, or the start of the range", at=DATA),
    _MOMENT.maybe("end", "End of the range; for a single cycle, one cycle later", at=DATA),
    kinds.NAME("author", "Its author; empty if it does not say"),
    kinds.TEXT("written", "When it was written, ISO 8601; empty if it does not say", at=DATA),
    kinds.TEXT("kept_in", "Where it is kept", "kept in", at=DATA | REPORT),
    kinds.TEXT("problem", "Why the capture has no such place; empty if it has", at=DATA),
    nothing="No notes about this capture.",
)
ACTIONS = ("list", "add", "remove", "import", "export")
FACTS = (
    CAPTURE,
    Field("action", kinds.choice(*ACTIONS), "What was done"),
    Field("changed", kinds.texts("Id of a note."), "Notes that were added, removed, imported or exported"),
    kinds.TEXT("kept_in", "The file that was written; empty if none was"),
    TOTAL_ROWS,
)
SCHEMA = Schema("notes", "Notes about a capture.", (*FACTS, NOTES.field()), version=1)


def note_table(trace: Trace, notes: Sequence[Note]) -> ResultTable:
    """Return one row per note, in their order."""
    spans = [note.anchor.span for note in notes]
    sources = [note.anchor.source for note in notes]
    rows = np.empty(len(notes), dtype=object)
    rows[:] = [list(note.anchor.instructions) for note in notes]
    columns: Columns = {
        "severity": [note.severity.value for note in notes],
        "place": [str(note.anchor) for note in notes],
        "instructions": rows,
        "file": ["" if source is None else source[0] for source in sources],
        "source_line": [np.nan if source is None else source[1] for source in sources],
        "wave": [str(note.anchor.wave or "") for note in notes],
        "start": [np.nan if span is None else span.begin for span in spans],
        "end": [np.nan if span is None else span.end for span in spans],
        "problem": [note.anchor.why_not(trace) for note in notes],
    }
    return ResultTable.of(NOTES, notes, columns)


_WHERE = replace(kinds.TEXT, elastic="left")
HITS = Spec(
    "search",
    "The hits.",
    "hit",
    Field("where", _WHERE, "What it is: instruction, label, source line or marker"),
    kinds.CODE("text", "The text in which it occurs"),
    replace(INSTRUCTION_INDEX, is_unknown=True, at=DATA),
    kinds.TEXT("file", "Path of the source file; empty for other hits", at=DATA),
    _FILE_LINE.maybe("source_line", "Line of the source file, counted from 1", at=DATA),
    kinds.SOURCE("source", "Place of an instruction or a source line as file:line; else empty"),
)
_SEARCH_FACTS = (
    CAPTURE,
    kinds.TEXT("match", "The text searched for; the arguments say how it is matched"),
    TOTAL_ROWS,
)
SEARCH_SCHEMA = Schema(
    "search",
    "Where a text occurs: instructions and labels, then source lines, then markers.",
    (*_SEARCH_FACTS, HITS.field()),
)


def hit_table(trace: Trace, found: Hits) -> ResultTable:
    """Return one row per hit."""
    rows = []
    for where, text, line, (file, number) in zip(
        found.where, found.text, found.lines, found.places, strict=True
    ):
        path = trace.sources[file].path if file >= 0 else ""
        source = source_of(trace, line) if line >= 0 else f"{path}:{number}" if path else ""
        rows.append((where, text, max(line, -1), path, number if path else -1, source))
    return ResultTable.of_rows(HITS, rows)
