"""What commands say of the files that they wrote, and of the schemas there are."""

from __future__ import annotations

from rcv_py.results import kinds
from rcv_py.results.common import CAPTURE
from rcv_py.results.field import Field, unknown
from rcv_py.results.table import Spec

_REPORTS = Spec.of(
    "reports",
    "One row a capture, in the order they were named.",
    "report",
    kinds.TEXT("path", "Path of the capture"),
    *unknown(kinds.TEXT("file", "The file that was written; null if there is none")),
    kinds.TEXT("error", "Why there is none; the exit code is then 2"),
)
REPORT = (_REPORTS.field("reports"),)
EXPORT = (
    CAPTURE,
    Field("to", kinds.choice("perfetto", "speedscope", "csv", "parquet"), "The kind of file"),
    kinds.TEXT("file", "The file or folder that was written"),
    kinds.TEXT("text", "What is in it, in a few words with counts"),
)
_SAMPLES = Spec.of(
    "samples",
    "One row a sample.",
    "sample",
    kinds.TEXT("name", "Its name", "sample"),
    kinds.TEXT("text", "What is in it", "what is in it"),
    *unknown(
        kinds.TEXT("folder", "The folder that was written; null if it was only listed"),
        kinds.COUNT("files", "Files that were written; null if it was only listed"),
    ),
)
SYNTH = (_SAMPLES.field("samples"),)
_SCHEMAS = Spec.of(
    "schemas",
    "One row a schema.",
    "schema",
    kinds.TEXT("schema", "Name and version, as documents carry them"),
    kinds.TEXT("command", "The command that prints such documents"),
    kinds.TEXT("text", "What they hold", "what such documents hold"),
)
LIST = (_SCHEMAS.field("schemas"),)
