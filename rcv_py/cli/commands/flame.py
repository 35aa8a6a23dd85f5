"""`rcv flame`: costs inside of costs, as a tree, as folded stacks or as JSON."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np

from rcv_py.analysis.cost_columns import SAMPLES, cost_columns
from rcv_py.analysis.flame import FlameTree, Metric, code_costs, kernel_flame, source_flame
from rcv_py.analysis.flame_layout import Order, layout
from rcv_py.analysis.flame_markers import coarse_markers, marked_code
from rcv_py.analysis.flame_paths import What
from rcv_py.analysis.flame_text import folded, full_name, labels
from rcv_py.analysis.hidden_latency import HiddenLatency, hidden_latency
from rcv_py.analysis.marker_spans import marker_spans
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, percent
from rcv_py.cli.about import about
from rcv_py.cli.report import Column, csv_text, json_text, plain, print_table
from rcv_py.formats.open import open_trace
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

_COLUMNS = (
    Column("total", True),
    Column("share", True),
    Column("self", True),
    Column("frame", elastic="right"),
)
_HEAD = ("what", "name", "full_name", "line", "parent", "depth", "begin", "self", "total")
_METRICS = {"total": Metric.TOTAL, "nonhidden": Metric.NONHIDDEN, "stall": Metric.STALL, "hits": Metric.HITS}
_OF = {
    Metric.TOTAL: "cycles of latency and idle time of all waves",
    Metric.NONHIDDEN: "cycles of all waves that no other wave hid",
    Metric.STALL: "cycles of stall of all waves",
}


def run(arguments: Namespace) -> int:
    """Print the flamegraph of a capture."""
    trace, metric = open_trace(arguments.folder), _METRICS[arguments.metric]
    tree, note = _tree(trace, arguments.content, metric)
    if arguments.folded:
        print(*folded(trace, tree, metric), sep="\n", end="\n" if tree.whole(metric) else "")
    elif arguments.json:
        print(json_text("rcv.flame/1", _document(trace, tree, arguments), about(arguments, trace)))
    elif arguments.csv:
        frames = _document(trace, tree, arguments)["frames"]
        sys.stdout.write(csv_text(_HEAD, [[frame[name] for name in _HEAD] for frame in frames]))
    else:
        print_table(_COLUMNS, list(_rows(trace, tree, metric, Order(arguments.order), arguments.least)))
        print(f"\n{_footer(tree, metric, arguments.content)}{note and ' ' + note}")
    return 0


def _tree(trace: Trace, content: str, metric: Metric) -> tuple[FlameTree, str]:
    """Return the tree, and a sentence about it."""
    if content == "markers" and metric is not Metric.TOTAL:
        raise UsageError(
            "Scopes of markers have a duration and no other measure.",
            hint="Use --metric total, or --content both.",
        )
    needs_waves = content in ("markers", "both") or metric is Metric.NONHIDDEN
    batches = [trace.reader.read(list(range(len(trace.waves))))] if needs_waves else []
    hidden = hidden_latency(trace, batches) if metric is Metric.NONHIDDEN else None
    note = "" if hidden is None else hidden.assumption
    if content in ("markers", "both"):
        return _marked(trace, batches, content, hidden), note
    costs = cost_columns(trace.code, LatencyMode.SUM_ALL, None, None)
    own = code_costs(costs, True, None if hidden is None else hidden.hidden(trace.code))
    unit = "samples" if costs.label == SAMPLES else "cycles"
    if unit == "samples" and metric in (Metric.HITS, Metric.NONHIDDEN):
        raise UsageError(
            f"{trace.name} has PC samples, which tell neither executions nor what was hidden.",
            hint="Use --metric total or --metric stall.",
        )
    if content == "source" and len(trace.code.chain_file):
        return source_flame(trace.code, own, unit, hidden is not None), note
    if content == "source":
        note = f"No instruction has a source place: these are kernels and basic blocks. {note}".strip()
    return kernel_flame(trace.code, own, unit, hidden is not None), note


def _marked(trace: Trace, batches: list[WaveBatch], content: str, hidden: HiddenLatency | None) -> FlameTree:
    spans = marker_spans(trace, batches)
    if not len(spans):
        raise UsageError(
            f"{trace.name} has no markers.",
            hint="Record a kernel with marked scopes, or use --content source.",
        )
    if content == "markers":
        return coarse_markers(spans)
    return marked_code(
        spans, batches, trace.code, hidden=None if hidden is None else hidden.hidden(trace.code)
    )


def _rows(
    trace: Trace, tree: FlameTree, metric: Metric, order: Order, least: float
) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row a frame that has at least `least` percent of all, parents first."""
    texts, whole = labels(trace, tree), tree.whole(metric)
    boxes = layout(tree, metric, order, texts)
    frames = np.flatnonzero((boxes.width > 0) & (boxes.width >= whole * least / 100))
    for frame in frames[np.lexsort((boxes.row[frames], boxes.begin[frames]))].tolist():
        own = int(tree.own[frame, metric.value])
        indent = "  " * int(tree.depth[frame])
        width = int(boxes.width[frame])
        yield count(width), percent(width, whole), count(own) if own else "", indent + plain(texts[frame])


def _footer(tree: FlameTree, metric: Metric, content: str) -> str:
    whole = count(tree.whole(metric))
    if metric is Metric.HITS:
        return f"{whole} executions."
    if tree.unit == "samples":
        return f"{whole} {'stalled ' if metric is Metric.STALL else ''}PC samples."
    return f"{whole} {'cycles inside of scopes of all waves' if content == 'markers' else _OF[metric]}."


def _document(trace: Trace, tree: FlameTree, arguments: Namespace) -> dict[str, Any]:
    metric = _METRICS[arguments.metric]
    texts = labels(trace, tree)
    boxes = layout(tree, metric, Order(arguments.order), texts)
    shown = np.flatnonzero(boxes.width > 0)
    shown = shown[np.lexsort((boxes.row[shown], boxes.begin[shown]))]
    place = {frame: at for at, frame in enumerate(shown.tolist())}
    return {
        "capture": trace.name,
        "content": arguments.content,
        "metric": arguments.metric,
        "order": arguments.order,
        "unit": "executions" if metric is Metric.HITS else tree.unit,
        "total": tree.whole(metric),
        "frames": [
            {
                "what": What(int(tree.what[frame])).name.lower(),
                "name": texts[frame],
                "full_name": full_name(trace, tree, frame, texts[frame]),
                "line": int(tree.code_row[frame]) if tree.code_row[frame] >= 0 else None,
                "parent": place.get(int(tree.parent[frame])),
                "depth": int(tree.depth[frame]),
                "begin": int(boxes.begin[frame]),
                "self": int(tree.own[frame, metric.value]),
                "total": int(boxes.width[frame]),
            }
            for frame in shown.tolist()
        ],
    }
