"""`rcv flame`: costs inside of costs, as a tree, as folded stacks or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.flame.flame import FlameTree, Metric
from rcv_py.analysis.flame.flame_frames import METRICS, flame_tree
from rcv_py.analysis.flame.flame_layout import Order, layout
from rcv_py.analysis.flame.flame_text import folded, labels, placed_labels
from rcv_py.analysis.waves.populations import ALL
from rcv_py.base.text import count, percent
from rcv_py.cli.about import about
from rcv_py.cli.options.cost_options import FlameOptions
from rcv_py.cli.report import Column, json_text, plain, print_table
from rcv_py.cli.results import print_csv
from rcv_py.cli.views.flame_place import charged_with, show_sandwich
from rcv_py.cli.wave_choice import counted_trace, print_heading, told_batches
from rcv_py.cli.wrong_code import warn
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.results.flame import at_least, frames
from rcv_py.results.table import Table

_COLUMNS = (
    Column("total", True),
    Column("share", True),
    Column("self", True),
    Column("frame", elastic="right"),
)
_OF = {
    Metric.TOTAL: "cycles of latency and idle time of all waves",
    Metric.NONHIDDEN: "cycles of all waves that no other wave hid",
    Metric.STALL: "cycles of stall of all waves",
}


def run(arguments: FlameOptions) -> int:
    """Print the flamegraph of a capture."""
    trace, metric = open_trace(arguments.folder, cache=arguments.cache), METRICS[arguments.metric]
    alarm = warn(trace)
    trace, chosen = counted_trace(trace, arguments)
    charged = charged_with(trace, arguments, None if chosen is None else chosen.rows)
    content = "source" if arguments.content == "sandwich" else arguments.content
    read = chosen.batches if chosen is not None else ()
    tree, note = flame_tree(trace, content, metric, lambda: read or told_batches(trace, arguments), charged)
    if arguments.around is not None or arguments.content == "sandwich":
        return show_sandwich(trace, tree, charged, arguments)
    if arguments.folded:
        print(*folded(trace, tree, metric), sep="\n", end="\n" if tree.whole(metric) else "")
    elif arguments.json:
        waves = None if chosen is None else chosen.about()
        document = _document(trace, tree, arguments) | {"frames": _frames(trace, tree, arguments).rows()}
        print(json_text("rcv.flame/1", document, about(arguments, trace, waves=waves, alarm=alarm)))
    elif arguments.csv:
        print_csv(_frames(trace, tree, arguments))
    else:
        if chosen is not None:
            print_heading(chosen)
        print_table(_COLUMNS, list(_rows(trace, tree, metric, Order(arguments.order), arguments.least)))
        print(f"\n{_footer(tree, metric, arguments)}{note and ' ' + note}")
    return 0


def _rows(
    trace: Trace, tree: FlameTree, metric: Metric, order: Order, least: float
) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row a frame that has at least `least` percent of all, parents first."""
    texts, whole = labels(trace, tree), tree.whole(metric)
    boxes = layout(tree, metric, order, texts)
    texts = placed_labels(trace, tree, texts)
    shown = np.flatnonzero((boxes.width > 0) & (boxes.width >= whole * least / 100))
    for frame in shown[np.lexsort((boxes.row[shown], boxes.begin[shown]))].tolist():
        own = int(tree.own[frame, metric.value])
        indent = "  " * int(tree.depth[frame])
        width = int(boxes.width[frame])
        yield count(width), percent(width, whole), count(own) if own else "", indent + plain(texts[frame])


def _footer(tree: FlameTree, metric: Metric, arguments: FlameOptions) -> str:
    whole = count(tree.whole(metric))
    of = "cycles inside of scopes of all waves" if arguments.content == "markers" else _OF.get(metric, "")
    of = of if arguments.waves in (None, ALL) else of.replace("all waves", "these waves")
    if metric is Metric.HITS:
        return f"{whole} executions."
    if tree.unit == "samples":
        return f"{whole} {'stalled ' if metric is Metric.STALL else ''}PC samples."
    return f"{whole} {of}."


def _document(trace: Trace, tree: FlameTree, arguments: FlameOptions) -> dict[str, Any]:
    metric = METRICS[arguments.metric]
    return {
        "capture": trace.name,
        "content": arguments.content,
        "metric": arguments.metric,
        "order": arguments.order,
        "unit": "executions" if metric is Metric.HITS else tree.unit,
        "total": tree.whole(metric),
    }


def _frames(trace: Trace, tree: FlameTree, arguments: FlameOptions) -> Table:
    """All frames; without those below `--least` if it is given."""
    metric = METRICS[arguments.metric]
    table = frames(trace, tree, metric, Order(arguments.order))
    is_given = "least" in arguments.given
    return at_least(table, tree.whole(metric) * arguments.least / 100) if is_given else table
