"""`rcv flame`: costs inside of costs, as a tree, as folded stacks or as JSON."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rcv_py.analysis.cost_columns import SAMPLES
from rcv_py.analysis.flame import FlameTree, Metric, code_costs, kernel_flame, source_flame
from rcv_py.analysis.flame_layout import FlameLayout, Order, layout
from rcv_py.analysis.flame_markers import coarse_markers, marked_code
from rcv_py.analysis.flame_paths import What, key
from rcv_py.analysis.flame_sandwich import sandwich_frames
from rcv_py.analysis.flame_text import folded, full_name, labels
from rcv_py.analysis.hidden_latency import hidden_latency
from rcv_py.analysis.marker_spans import marker_spans
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, percent
from rcv_py.cli.chosen import asked_costs
from rcv_py.cli.opening import batches
from rcv_py.cli.report import Column, json_text, plain, print_table
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch

_COLUMNS = (
    Column("total", True),
    Column("share", True),
    Column("self", True),
    Column("frame", elastic="right"),
)
_METRICS = {"total": Metric.TOTAL, "nonhidden": Metric.NONHIDDEN, "stall": Metric.STALL, "hits": Metric.HITS}
_NOT_IN_RANGE = "What is hidden is known for all waves only: this is the total of the clock range."
_OF = {
    Metric.TOTAL: "cycles of latency and idle time of all waves",
    Metric.NONHIDDEN: "cycles of all waves that no other wave hid",
    Metric.STALL: "cycles of stall of all waves",
}


def run(arguments: Namespace) -> int:
    """Print the flamegraph of a capture."""
    trace, metric = open_trace(arguments.folder), _METRICS[arguments.metric]
    _check_sandwich(arguments)
    tree, note = _tree(trace, arguments, metric)
    if arguments.content == "sandwich":
        return _show_sandwich(trace, tree, arguments)
    if arguments.folded:
        print(*folded(trace, tree, metric), sep="\n", end="\n" if tree.whole(metric) else "")
    elif arguments.json:
        print(json_text("rcv.flame/1", _document(trace, tree, arguments)))
    else:
        print_table(_COLUMNS, list(_rows(trace, tree, metric, Order(arguments.order), arguments.least)))
        print(f"\n{_footer(tree, metric, arguments.content)}{note and ' ' + note}")
    return 0


def _check_sandwich(arguments: Namespace) -> None:
    if (arguments.content == "sandwich") != (arguments.around is not None):
        raise UsageError(
            "--content sandwich and --around belong together.", hint="Name a line, e.g. --around 62."
        )
    if arguments.content == "sandwich" and arguments.folded:
        raise UsageError("A sandwich is no tree, so it cannot be folded.", hint="Use --json.")


def _show_sandwich(trace: Trace, like: FlameTree, arguments: Namespace) -> int:
    """Print a place with its callers and callees."""
    metric, order = _METRICS[arguments.metric], Order(arguments.order)
    costs = asked_costs(trace, arguments.clock)
    own = code_costs(costs, not arguments.no_idle, _hidden(trace, arguments, metric))
    element = _element(trace, arguments.around)
    made = sandwich_frames(trace, own, like, element, metric=metric, order=order)
    if made is None:
        raise UsageError(
            "Nothing that has a cost leads through this place.", hint="Name a line that was executed."
        )
    tree, boxes, texts = made
    if arguments.json:
        document = flame_document(trace, arguments, tree, boxes, texts)
        print(json_text("rcv.flame/1", document))
        return 0
    shown = np.flatnonzero(boxes.width > 0)
    rows = []
    for frame in shown[np.lexsort((boxes.begin[shown], boxes.row[shown]))].tolist():
        own_cost, width = int(tree.own[frame, metric.value]), int(boxes.width[frame])
        row = int(boxes.row[frame])
        place = "  " * abs(row) + ("↑ " if row < 0 else "") + plain(texts[frame])
        rows.append((count(width), percent(width, boxes.whole), count(own_cost) if own_cost else "", place))
    print_table(_COLUMNS, rows)
    print("\nLines with an arrow lead to the place, the nearest nearest to it; below it is what it leads to.")
    return 0


def _element(trace: Trace, around: tuple[str, int]) -> int:
    """The place of `62` or `kernel.py:62`; raise UsageError if there is none."""
    path, line = around
    if not path:
        if line >= len(trace.code):
            raise UsageError(f"The capture has no line {line}.", hint=f"The last is {len(trace.code) - 1}.")
        return int(key(What.CODE, 0, line))
    file = next((at for at, source in enumerate(trace.sources) if source.path == path), None)
    if file is None:
        raise UsageError(f"No code came from {path}.", hint="`rcv hotspot --by source` names the files.")
    return int(key(What.LINE, file, line))


def _hidden(trace: Trace, arguments: Namespace, metric: Metric) -> np.ndarray | None:
    """What of each code line is hidden; of a clock range nothing is known."""
    if metric is not Metric.NONHIDDEN or arguments.clock is not None:
        return None
    found = hidden_latency(trace, list(batches(trace)))
    return found.hidden(trace.code, not arguments.no_idle)


def _tree(trace: Trace, arguments: Namespace, metric: Metric) -> tuple[FlameTree, str]:
    """Return the tree, and a sentence about it."""
    content = arguments.content
    if content == "markers" and metric is not Metric.TOTAL:
        raise UsageError(
            "Scopes of markers have a duration and no other measure.",
            hint="Use --metric total, or --content both.",
        )
    needs_waves = content in ("markers", "both") or metric is Metric.NONHIDDEN
    read = [trace.reader.read(list(range(len(trace.waves))))] if needs_waves else []
    is_known = metric is Metric.NONHIDDEN and arguments.clock is None
    found = hidden_latency(trace, read) if is_known else None
    hidden = None if found is None else found.hidden(trace.code, not arguments.no_idle)
    note = _NOT_IN_RANGE if metric is Metric.NONHIDDEN and not is_known else ""
    note = note if found is None else found.assumption
    if content in ("markers", "both"):
        return _marked(trace, read, arguments, hidden), note
    costs = asked_costs(trace, arguments.clock)
    own = code_costs(costs, not arguments.no_idle, hidden)
    unit = "samples" if costs.label == SAMPLES else "cycles"
    if unit == "samples" and metric in (Metric.HITS, Metric.NONHIDDEN):
        raise UsageError(
            f"{trace.name} has PC samples, which tell neither executions nor what was hidden.",
            hint="Use --metric total or --metric stall.",
        )
    has_source = len(trace.code.chain_file) > 0
    if content != "kernel" and has_source:
        return source_flame(trace.code, own, unit, hidden is not None), note
    if content == "source":
        note = f"No instruction has a source place: these are kernels and basic blocks. {note}".strip()
    return kernel_flame(trace.code, own, unit, hidden is not None), note


def _marked(
    trace: Trace, read: list[WaveBatch], arguments: Namespace, hidden: np.ndarray | None
) -> FlameTree:
    spans = marker_spans(trace, read)
    if not len(spans):
        raise UsageError(
            f"{trace.name} has no markers.",
            hint="Record a kernel with marked scopes, or use --content source.",
        )
    if arguments.content == "markers":
        return coarse_markers(spans)
    return marked_code(spans, read, trace.code, show_idle=not arguments.no_idle, hidden=hidden)


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
    texts = labels(trace, tree)
    boxes = layout(tree, _METRICS[arguments.metric], Order(arguments.order), texts)
    return flame_document(trace, arguments, tree, boxes, texts)


def flame_document(
    trace: Trace, arguments: Namespace, tree: FlameTree, boxes: FlameLayout, texts: Sequence[str]
) -> dict[str, Any]:
    """The frames from the root to the leaves, left to right; rows above a sandwich's place are negative."""
    metric = _METRICS[arguments.metric]
    shown = np.flatnonzero(boxes.width > 0)
    shown = shown[np.lexsort((boxes.row[shown], boxes.begin[shown]))]
    place = {frame: at for at, frame in enumerate(shown.tolist())}
    return {
        "capture": trace.name,
        "content": arguments.content,
        "metric": arguments.metric,
        "order": arguments.order,
        "unit": "executions" if metric is Metric.HITS else tree.unit,
        "total": boxes.whole,
        "frames": [
            {
                "what": What(int(tree.what[frame])).name.lower(),
                "name": texts[frame],
                "full_name": full_name(trace, tree, frame, texts[frame]),
                "line": int(tree.code_row[frame]) if tree.code_row[frame] >= 0 else None,
                "parent": place.get(int(tree.parent[frame])),
                "depth": int(boxes.row[frame]),
                "begin": int(boxes.begin[frame]),
                "self": int(tree.own[frame, metric.value]),
                "total": int(boxes.width[frame]),
            }
            for frame in shown.tolist()
        ],
    }
