"""`rcv samples`: PC samples by instruction, line or reason, beside the cycles of the traced waves."""

from collections.abc import Iterator

from rcv_py.base.text import Message, count, plural
from rcv_py.cli.answer import CommandAnswer, listing
from rcv_py.cli.opening import opened
from rcv_py.features.samples.options import SamplesOptions
from rcv_py.features.samples.result import ROWS, SCHEMA, facts, samples_table, sentences
from rcv_py.results.table import ResultTable
from rcv_py.work.beside import samples_of_run


def run(options: SamplesOptions) -> CommandAnswer:
    """List instructions or source lines by samples."""
    trace = opened(options)
    found = samples_of_run(trace, options.samples)
    table, shares = ResultTable.of_rows(ROWS, []), None
    if found.rows is not None and not found.why:
        table, shares = samples_table(trace, found.rows, options.by)

    def footer(shown: ResultTable) -> Iterator[str]:
        noun = "source line" if options.by == "source" else "instruction"
        yield Message("\n{0} of {1}, by samples.", count(len(shown)), plural(len(table), noun))
        yield from sentences(found, shares)

    return listing(
        options,
        trace,
        table,
        SCHEMA,
        lambda: {"by": options.by, **facts(found, shares), "total_rows": len(table)},
        footer=footer,
        why_none=found.why,
    )
