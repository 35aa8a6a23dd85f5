"""`rcv search`: instructions, labels, source lines and markers that hold a text."""

from __future__ import annotations

from rcv_py.analysis.events.marker_spans import marker_spans
from rcv_py.analysis.overview.text_hits import text_hits
from rcv_py.base.errors import UsageError
from rcv_py.base.text import plural
from rcv_py.cli.about import about
from rcv_py.cli.opening import batches
from rcv_py.cli.options.wave_options import SearchOptions
from rcv_py.cli.report import json_text
from rcv_py.cli.results import print_csv, print_result
from rcv_py.formats.open import open_trace
from rcv_py.results.search import hits

SCHEMA = "rcv.search/1"


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
    whole = hits(trace, found)
    shown = whole.head(arguments.top)
    if arguments.csv:
        print_csv(shown)
    elif arguments.json:
        document = {
            "capture": trace.name,
            "match": arguments.match,
            "of": len(whole),
            "rows": shown.rows(),
        }
        print(json_text(SCHEMA, document, about(arguments, trace)))
    elif not len(whole):
        print(f"Nothing matches “{arguments.match}”.")
    else:
        print_result(shown, trace)
        print(f"\n{len(shown):,} of {plural(len(whole), 'hit')}.")
    return 0
