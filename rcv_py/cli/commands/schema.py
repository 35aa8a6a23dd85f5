"""`rcv schema`: the published JSON Schema of what commands print with --json."""

from __future__ import annotations

from rcv_py.cli.answer import Answer, Grid
from rcv_py.cli.options.other_options import SchemaOptions
from rcv_py.cli.report import Column
from rcv_py.cli.schemas.table import SCHEMAS, schema_document

_HEAD = ("schema", "command", "text")
_COLUMNS = (Column("schema"), Column("command"), Column("what such documents say", elastic="right"))
_HINT = "\n`rcv schema NAME` prints one; `rcv schema envelope` what all documents have in common."


def run(options: SchemaOptions) -> Answer | None:
    """Print one schema, or list them."""
    if options.name is not None:
        import orjson  # noqa: PLC0415 - the list does not wait for it

        print(orjson.dumps(schema_document(options.name), option=orjson.OPT_INDENT_2).decode())
        return None
    rows = [(schema.id, schema.command, schema.meaning) for schema in SCHEMAS]
    return Answer(
        schema="rcv.schemas/2",
        document=lambda: {"schemas": [dict(zip(_HEAD, row, strict=True)) for row in rows]},
        csv=lambda: (_HEAD, rows),
        text=lambda: [Grid(_COLUMNS, rows), _HINT],
    )
