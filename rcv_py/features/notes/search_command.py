"""`rcv search`: instructions, labels, source lines and markers that hold a text."""

from rcv_py.analysis.overview.text_hits import text_hits
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, plural
from rcv_py.cli.answer import CommandAnswer, listing
from rcv_py.cli.opening import markers, opened
from rcv_py.features.notes.options import SearchOptions
from rcv_py.features.notes.result import SEARCH_SCHEMA, hit_table


def run(options: SearchOptions) -> CommandAnswer:
    """List the hits of a search."""
    trace, text = opened(options), options.match
    if not text:
        raise UsageError("There is nothing to look for.", hint="Name a text, e.g. --match buffer_load.")
    spans = markers(trace) if trace.shader_data else None
    found = text_hits(trace, text, spans, is_case_sensitive=options.case, is_regex=options.regex)
    if found.problem:
        raise UsageError(found.problem)
    table = hit_table(trace, found)
    return listing(
        options,
        trace,
        table,
        SEARCH_SCHEMA,
        lambda: {"match": text, "total_rows": len(table)},
        footer=lambda shown: Message("\n{0:,} of {1}.", len(shown), plural(len(table), "hit")),
        why_none="" if len(table) else Message("Nothing matches “{0}”.", text),
    )
