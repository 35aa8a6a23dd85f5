"""Results of commands that write files, the list of schemas, and documents of several captures."""

from rcv_py.results import json_types, kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import DATA, Field, Kind
from rcv_py.results.table import Schema, Spec

REPORTS = Spec(
    "reports",
    "One row per capture, in the order they were named.",
    "report",
    kinds.NAME("path", "Path of the capture"),
    kinds.TEXT.maybe("file", "The file that was written; null if there is none"),
    kinds.TEXT("error", "Why there is none; the exit code is then 2"),
)
REPORT = (REPORTS.field("reports"),)
EXPORT = (
    CAPTURE,
    Field("to", kinds.choice("perfetto", "speedscope", "csv", "parquet"), "The kind of file"),
    kinds.TEXT("file", "The file or folder that was written"),
    kinds.TEXT("text", "What is in it, in a few words with counts"),
)
PACKED = (
    CAPTURE,
    kinds.TEXT("file", "The file or folder that was written"),
    kinds.COUNT("waves", "Waves in it"),
    kinds.COUNT("instructions", "Instructions that these waves executed"),
    kinds.COUNT("missing", "Waves that could not be read: they are missing there, too"),
    kinds.COUNT("bytes", "Size of the output in bytes"),
)
SAMPLES = Spec(
    "samples",
    "One row per sample.",
    "sample",
    kinds.TEXT("name", "Its name", "sample"),
    kinds.NOTE("text", "What is in it", "what is in it"),
    kinds.TEXT.maybe("folder", "The folder that was written; null if it was only listed", at=DATA),
    kinds.COUNT.maybe("files", "Files that were written; null if it was only listed", at=DATA),
)
SYNTH = (SAMPLES.field("samples"),)
SCHEMAS = Spec(
    "schemas",
    "One row per schema.",
    "schema",
    kinds.TEXT("schema", "Name and version, as in documents"),
    kinds.NAME("command", "The command that prints such documents"),
    kinds.NOTE("text", "What such documents contain", "what such documents contain"),
)
LIST = (SCHEMAS.field("schemas"),)
_DOCUMENTS = Kind(
    json=lambda sentence: json_types.listed(sentence, {"type": "object", "description": "A document."}),
    is_nested=True,
)
REPORT_SCHEMA = Schema("report", "Reports that were written.", REPORT)
EXPORT_SCHEMA = Schema("export", "What was exported.", EXPORT)
PACK_SCHEMA = Schema("pack", "A capture that was written as one file.", PACKED, version=1)
UNPACK_SCHEMA = Schema("unpack", "A packed capture that was written as a folder.", PACKED, version=1)
DECODE_SCHEMA = Schema("decode", "A capture that was written as a folder.", PACKED, version=1)
SAMPLES_SCHEMA = Schema(
    "samples", "Synthetic samples: the available ones, or the written ones.", SYNTH, command="synth"
)
DOCUMENTS_SCHEMA = Schema(
    "documents",
    "What a command prints for several captures: one document each (check and summary).",
    (Field("documents", _DOCUMENTS, "In the order of the captures"),),
    command="check",
)
LIST_SCHEMA = Schema("schemas", "All schemas.", LIST, command="schema")
