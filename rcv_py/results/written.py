"""What commands say of the files that they wrote, and of the schemas there are."""

from __future__ import annotations

from rcv_py.results.common import CAPTURE
from rcv_py.results.field import At, Field, unknown
from rcv_py.results.table import Spec
from rcv_py.results.unit import COUNT, NOTE, TEXT, choice

REPORTS = Spec(
    "reports",
    "One row a capture, in the order they were named.",
    "report",
    (
        Field("path", TEXT, "Path of the capture"),
        *unknown(Field("file", TEXT, "The file that was written; null if there is none")),
        Field("error", TEXT, "Why there is none; the exit code is then 2"),
    ),
)
REPORT = (REPORTS.field("reports"),)
EXPORT = (
    CAPTURE,
    Field("to", choice("perfetto", "speedscope", "csv", "parquet"), "The kind of file"),
    Field("file", TEXT, "The file or folder that was written"),
    Field("text", TEXT, "What is in it, in a few words with counts"),
)
SAMPLES = Spec(
    "samples",
    "One row a sample.",
    "sample",
    (
        Field("name", TEXT, "Its name", "sample"),
        Field("text", NOTE, "What is in it", "what is in it"),
        *unknown(
            Field("folder", TEXT, "The folder that was written; null if it was only listed", at=At.DATA),
            Field("files", COUNT, "Files that were written; null if it was only listed", at=At.DATA),
        ),
    ),
)
SYNTH = (SAMPLES.field("samples"),)
SCHEMAS = Spec(
    "schemas",
    "One row a schema.",
    "schema",
    (
        Field("schema", TEXT, "Name and version, as documents carry them"),
        Field("command", TEXT, "The command that prints such documents"),
        Field("text", NOTE, "What they say", "what such documents say"),
    ),
)
LIST = (SCHEMAS.field("schemas"),)
