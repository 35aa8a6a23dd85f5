"""`rcv schema`: the published JSON Schema of what commands print with --json."""

from __future__ import annotations

import sys

from rcv_py.base.csv_text import csv_text
from rcv_py.cli.about import about
from rcv_py.cli.options.output_options import SchemaOptions
from rcv_py.cli.report import Column, json_text, print_table
from rcv_py.cli.schemas.table import SCHEMAS, schema_document

_HEAD = ("schema", "command", "text")
_COLUMNS = (Column("schema"), Column("command"), Column("what such documents tell", elastic="right"))


def run(arguments: SchemaOptions) -> int:
    """Print one schema, or list them."""
    if arguments.name is not None:
        print(_pretty(schema_document(arguments.name)))
        return 0
    rows = [(schema.id, schema.command, schema.meaning) for schema in SCHEMAS]
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, rows))
    elif arguments.json:
        content = {"schemas": [dict(zip(_HEAD, row, strict=True)) for row in rows]}
        print(json_text("rcv.schemas/1", content, about(arguments)))
    else:
        print_table(_COLUMNS, rows)
        print("\n`rcv schema NAME` prints one; `rcv schema envelope` what all documents have in common.")
    return 0


def _pretty(document: dict[str, object]) -> str:
    import orjson  # noqa: PLC0415 - the list does not wait for it

    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()
