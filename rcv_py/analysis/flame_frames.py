"""The flamegraph that is asked for, and its frames as rows of plain values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rcv_py.analysis.cost_columns import SAMPLES, cost_columns
from rcv_py.analysis.flame import FlameTree, Metric, code_costs, kernel_flame, source_flame
from rcv_py.analysis.flame_layout import Order, layout
from rcv_py.analysis.flame_markers import coarse_markers, marked_code
from rcv_py.analysis.flame_paths import What
from rcv_py.analysis.flame_text import full_name, labels
from rcv_py.analysis.hidden_latency import HiddenLatency, hidden_latency
from rcv_py.analysis.marker_spans import marker_spans
from rcv_py.base.errors import UsageError
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

CONTENTS = ("source", "kernel", "markers", "both")
METRICS = {"total": Metric.TOTAL, "nonhidden": Metric.NONHIDDEN, "stall": Metric.STALL, "hits": Metric.HITS}


def flame_tree(
    trace: Trace, content: str, metric: Metric, read: Callable[[], Sequence[WaveBatch]]
) -> tuple[FlameTree, str]:
    """Return the tree of one of `CONTENTS`, and a sentence about it; `read` is called if waves are needed.

    Raises UsageError where the capture cannot answer.
    """
    if content == "markers" and metric is not Metric.TOTAL:
        raise UsageError(
            "Scopes of markers have a duration and no other measure.",
            hint="Use the metric total, or the content both.",
        )
    needs_waves = content in ("markers", "both") or metric is Metric.NONHIDDEN
    batches = read() if needs_waves else ()
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
            hint="Use the metric total or stall.",
        )
    if content == "source" and len(trace.code.chain_file):
        return source_flame(trace.code, own, unit, hidden is not None), note
    if content == "source":
        note = f"No instruction has a source place: these are kernels and basic blocks. {note}".strip()
    return kernel_flame(trace.code, own, unit, hidden is not None), note


def _marked(
    trace: Trace, batches: Sequence[WaveBatch], content: str, hidden: HiddenLatency | None
) -> FlameTree:
    spans = marker_spans(trace, batches)
    if not len(spans):
        raise UsageError(
            f"{trace.name} has no markers.",
            hint="Record a kernel with marked scopes, or use the content source.",
        )
    if content == "markers":
        return coarse_markers(spans)
    return marked_code(
        spans, batches, trace.code, hidden=None if hidden is None else hidden.hidden(trace.code)
    )


def frame_rows(trace: Trace, tree: FlameTree, metric: Metric, order: Order) -> list[dict[str, Any]]:
    """Return one row a frame, those further out first; `parent` is the row of the frame around it."""
    texts = labels(trace, tree)
    boxes = layout(tree, metric, order, texts)
    shown = np.flatnonzero(boxes.width > 0)
    shown = shown[np.lexsort((boxes.row[shown], boxes.begin[shown]))]
    place = {frame: at for at, frame in enumerate(shown.tolist())}
    return [
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
    ]
