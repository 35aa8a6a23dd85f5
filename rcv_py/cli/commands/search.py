"""`rcv search`: instructions, labels, source lines and markers that hold a text."""

from __future__ import annotations

import sys

from rcv_py.analysis.events.marker_spans import marker_spans
from rcv_py.analysis.overview.text_hits import text_hits
from rcv_py.base.errors import UsageError
from rcv_py.base.paths import short_place
from rcv_py.base.text import plural
from rcv_py.cli.about import about
from rcv_py.cli.opening import batches
from rcv_py.cli.options.wave_options import SearchOptions
from rcv_py.cli.places import short_sources, source_of
from rcv_py.cli.report import Column, csv_text, json_text, print_table
from rcv_py.formats.open import open_trace

SCHEMA = "rcv.search/1"
_HEAD = ("where", "text", "line", "file", "source_line", "source")


def run(arguments: SearchOptions) -> int:
    """Print the hits of a search as text, CSV or JSON."""
    trace = open_trace(arguments.folder, cache=arguments.cache)
    if not arguments.match:
        raise UsageError("There is nothing to look for.", hint="Name a text, e.g. --match buffer_load.")
    spans = marker_spans(trace, list(batches(trace))) if trace.shader_data else None
    how = {"is_case_sensitive": arguments.case, "is_regex": arguments.regex}
    found = text_hits(trace, arguments.match, spans, **how)
    if found.problem:
        raise UsageError(found.problem)
    rows = [
        (
            where,
            text,
            line if line >= 0 else None,
            trace.sources[file].path if file >= 0 else "",
            number if file >= 0 else None,
            source_of(trace, line)
            if line >= 0
            else f"{trace.sources[file].path}:{number}"
            if file >= 0
            else "",
        )
        for where, text, line, (file, number) in zip(
            found.where, found.text, found.lines, found.places, strict=True
        )
    ]
    shown = rows[: arguments.top or None]
    if arguments.csv:
        sys.stdout.write(csv_text(_HEAD, shown))
    elif arguments.json:
        document = {
            "capture": trace.name,
            "match": arguments.match,
            "of": len(rows),
            "rows": [dict(zip(_HEAD, row, strict=True)) for row in shown],
        }
        print(json_text(SCHEMA, document, about(arguments, trace)))
    elif not rows:
        print(f"Nothing matches “{arguments.match}”.")
    else:
        short = short_sources(trace)
        columns = (
            Column("where", elastic="left"),
            Column("text", elastic="right"),
            Column("source", elastic="left"),
        )
        print_table(columns, [(*row[:2], short_place(row[-1], short)) for row in shown])
        print(f"\n{len(shown):,} of {plural(len(rows), 'hit')}.")
    return 0
