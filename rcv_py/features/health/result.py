"""The check of a capture: reasons not to trust it, and how to record a better one."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from rcv_py.analysis.health.capture_health import CHECKED, verdict
from rcv_py.analysis.health.input_yaml import command_line, input_settings, input_yaml
from rcv_py.analysis.health.note import HealthNote
from rcv_py.base.text import Message, join_texts
from rcv_py.model.trace import Trace
from rcv_py.results import json_types, kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import Field, Kind, of_analysis, rows
from rcv_py.results.table import ResultTable, Schema, Spec

SEVERITY = Field("severity", kinds.choice("info", "warning", "error"), "Severity")
_OPTION = json_types.plain("string", "integer", "boolean", "array")("Value of the option.")
OPTIONS = Kind(json=lambda sentence: json_types.named(sentence, _OPTION), is_nested=True, document=dict)
_MEASURED = (
    kinds.TEXT("name", "What was measured"),
    kinds.VALUE("value", "The value, in the unit that the text names"),
    kinds.TEXT("text", "The value with its unit and denominator"),
)
_EVIDENCE = replace(
    rows(*_MEASURED),
    document=lambda evidence: [of_analysis(_MEASURED, number) for number in evidence],
    text=lambda evidence: join_texts(
        "; ", (Message("{0}: {1}", number.name, number.text) for number in evidence)
    ),
)
_TITLE = kinds.TEXT("title", "The note in one line")
_REASONS = (
    _TITLE,
    _EVIDENCE("evidence", "The numbers that support it"),
    kinds.TEXT("consequence", "What it means for the reader", "impact"),
    kinds.TEXT("remedy", "What to do about it", "fix"),
)
SETTINGS = OPTIONS("settings", "Options of rocprofv3 by name")
_NOTE = kinds.TEXT("note", "Stable name of the check", key="name")
NOTES = Spec(
    "check notes",
    "Reasons not to trust the capture, the most severe first.",
    "note",
    replace(_NOTE, name="name"),
    *(SEVERITY, *_REASONS, SETTINGS),
)
NOTE_ROWS = Spec("check", "One row per note.", "note", _NOTE, SEVERITY, *_REASONS)
NUMBERS = Spec(
    "check numbers",
    "One row per number that supports a note.",
    "number",
    *(_NOTE, SEVERITY, _TITLE),
    replace(_MEASURED[0], name="evidence"),
    *_MEASURED[1:],
)
HEAD = (
    CAPTURE,
    kinds.NAME("path", "Path of the folder"),
    kinds.NAME("kernel", "Name of the kernel"),
    kinds.TEXT("verdict", "The verdict in one sentence"),
    kinds.FLAG("is_serious", "Whether a note is a warning or an error; --strict then exits with 4"),
)
FOOT = (
    Field("checked", kinds.texts("A few words."), "What was checked"),
    Field("problems", kinds.texts("A sentence."), "What is wrong with the files"),
    SETTINGS,
    kinds.TEXT(
        "input_yaml", "An input file for rocprofv3 that makes a better recording; empty if none is needed"
    ),
    kinds.TEXT("command", "How to use that file"),
)
SCHEMA = Schema(
    "check",
    "Whether the capture can be trusted, and how to record a better one.",
    (*HEAD, NOTES.field("notes"), *FOOT),
)


def note_table(notes: Sequence[HealthNote], spec: Spec = NOTES) -> ResultTable:
    """Return one row per note, with the fields of documents or of `NOTE_ROWS`, which has no settings."""
    return ResultTable.of(spec, notes, {"severity": [str(note.severity) for note in notes]})


def number_table(notes: Sequence[HealthNote]) -> ResultTable:
    """Return one row per number that supports a note."""
    rows = [
        (note.name, str(note.severity), note.title, one.name, one.value, one.text)
        for note in notes
        for one in note.evidence
    ]
    return ResultTable.of_rows(NUMBERS, rows)


def facts(trace: Trace, notes: Sequence[HealthNote]) -> dict[str, Any]:
    """Return the facts about all notes."""
    return {
        "verdict": verdict(notes),
        "is_serious": any(note.is_serious for note in notes),
        "checked": list(CHECKED),
        "settings": input_settings(trace, notes),
        "input_yaml": input_yaml(trace, notes),
        "command": command_line(),
    }


def document(trace: Trace, notes: Sequence[HealthNote]) -> dict[str, Any]:
    """Return the notes and the facts about all, as `HEAD` and `FOOT` declare them."""
    found = facts(trace, notes) | {
        "capture": trace.name,
        "path": str(trace.path),
        "kernel": trace.kernel_name,
        "notes": note_table(notes).rows(),
        "problems": [str(problem) for problem in trace.problems],
    }
    return {name: found[name] for name in (*(f.name for f in HEAD), "notes", *(f.name for f in FOOT))}
