"""`rcv schema`: the published JSON Schema of what commands print with --json."""

from rcv_py.cli.answer import CommandAnswer, TextTable
from rcv_py.cli.options.program import SchemaOptions
from rcv_py.cli.schemas import SCHEMAS, schema_document
from rcv_py.results import written
from rcv_py.results.table import ResultTable

_HINT = "\n`rcv schema NAME` prints one; `rcv schema envelope` what all documents have in common."


def run(options: SchemaOptions) -> CommandAnswer | None:
    """Print one schema, or list them."""
    if options.name is not None:
        import orjson  # noqa: PLC0415 - the list does not wait for it

        print(orjson.dumps(schema_document(options.name), option=orjson.OPT_INDENT_2).decode())
        return None
    table = ResultTable.of_rows(written.SCHEMAS, [(one.id, one.command, one.meaning) for one in SCHEMAS])
    return CommandAnswer.of_table(
        written.LIST_SCHEMA, table, lambda: [TextTable(table), _HINT], rows="schemas"
    )
