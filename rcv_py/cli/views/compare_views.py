"""`rcv compare --by listing` and `--by flame`: both programs side by side, and the differences as frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.compare.compare import Comparison
from rcv_py.base.paths import short_paths
from rcv_py.cli.about import about
from rcv_py.cli.options.cost_options import CompareOptions
from rcv_py.cli.report import json_text
from rcv_py.cli.results import ordered, print_csv, print_shown
from rcv_py.model.trace import Trace
from rcv_py.results.compare import frame_table, listing_table, view_facts, widest
from rcv_py.results.places import with_short_places


def show_listing(found: Comparison, traces: Sequence[Trace], arguments: CompareOptions) -> None:
    """Print both programs, a row a pair, in the order of B."""
    table = listing_table(found)
    if arguments.beyond_noise:
        table = table[np.asarray(table.columns["beyond_noise"])]
    shown = ordered(table, arguments).head(arguments.top)
    if arguments.csv:
        print_csv(shown)
    elif arguments.json:
        document = view_facts(found, table) | {"rows": shown.rows()}
        print(json_text("rcv.compare.listing/1", document, about(arguments, *traces)))
    else:
        print(found.judgement.sentence + "\n")
        short = short_paths(source.path for side in (found.a, found.b) for source in side.sources)
        print_shown(with_short_places(shown, short))


def show_flame(found: Comparison, traces: Sequence[Trace], arguments: CompareOptions) -> None:
    """Print the frames of B, each with its cycles a wave in both; instructions only A has are left out."""
    table = frame_table(found, traces[1])
    shown = widest(table, arguments.top) if "top" in arguments.given else table
    if arguments.csv:
        print_csv(shown)
    elif arguments.json:
        document = view_facts(found, table) | {"frames": shown.rows()}
        print(json_text("rcv.compare.flame/1", document, about(arguments, *traces)))
    else:
        print(found.judgement.sentence + "\n")
        print_shown(with_short_places(shown, short_paths(source.path for source in traces[1].sources)))


VIEWS = {"listing": show_listing, "flame": show_flame}
