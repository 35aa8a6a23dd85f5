"""`rcv flame --content sandwich`: a place with its callers and callees; and what frames are charged with."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES
from rcv_py.analysis.flame.flame import FlameTree, Metric, What, code_costs, key
from rcv_py.analysis.flame.flame_frames import METRICS, Charged
from rcv_py.analysis.flame.flame_layout import FlameLayout, Order, sandwich_frames
from rcv_py.analysis.flame.flame_text import placed_labels
from rcv_py.analysis.latency.hidden_latency import hidden_latency
from rcv_py.base.errors import UsageError
from rcv_py.base.text import count, percent
from rcv_py.cli.about import about
from rcv_py.cli.chosen import asked_costs
from rcv_py.cli.opening import batches
from rcv_py.cli.options.cost_options import FlameOptions
from rcv_py.cli.report import Column, json_text, plain, print_table
from rcv_py.cli.results import print_csv
from rcv_py.model.trace import Trace
from rcv_py.results.flame import SANDWICH, placed

_COLUMNS = (*(Column(name, True) for name in ("total", "share", "self")), Column("frame", elastic="right"))


def charged_with(trace: Trace, arguments: FlameOptions, rows: Collection[int] | None = None) -> Charged:
    """Return what `--clock` and `--no-idle` say, of the waves in `rows` (None: all)."""
    costs = asked_costs(trace, arguments.clock, rows=rows)
    return Charged(costs, not arguments.no_idle, arguments.clock is not None, rows)


def show_sandwich(trace: Trace, like: FlameTree, charged: Charged, arguments: FlameOptions) -> int:
    """Print a place with what leads to it and what it leads to; `like` is the tree of everything."""
    _check(arguments)
    metric, order = METRICS[arguments.metric], Order(arguments.order)
    assert charged.costs is not None
    own = code_costs(charged.costs, charged.show_idle, _hidden(trace, metric, charged))
    assert arguments.around is not None
    element = _element(trace, arguments.around)
    made = sandwich_frames(trace, own, like, element, metric=metric, order=order)
    if made is None:
        hint = "Name a line that was executed."
        raise UsageError("Nothing that has a cost leads through this place.", hint=hint)
    if arguments.csv:
        print_csv(placed(trace, made[0], metric, *made[1:], spec=SANDWICH))
    elif arguments.json:
        unit = "samples" if charged.costs.label == SAMPLES else "cycles"
        tree, boxes, texts = made
        document = {
            "capture": trace.name,
            "content": arguments.content,
            "metric": arguments.metric,
            "order": arguments.order,
            "unit": "executions" if metric is Metric.HITS else unit,
            "total": boxes.whole,
            "frames": placed(trace, tree, metric, boxes, texts, spec=SANDWICH).rows(),
        }
        print(json_text("rcv.flame.sandwich/1", document, about(arguments, trace)))
    else:
        tree, boxes, texts = made
        _print(metric, tree, boxes, placed_labels(trace, tree, texts))
    return 0


def _check(arguments: FlameOptions) -> None:
    if arguments.content != "sandwich" or arguments.around is None:
        hint = "Name a line, e.g. --content sandwich --around 62."
        raise UsageError("--content sandwich and --around belong together.", hint=hint)
    if arguments.folded:
        raise UsageError("A sandwich is no tree, so it cannot be folded.", hint="Use --json.")


def _hidden(trace: Trace, metric: Metric, charged: Charged) -> np.ndarray | None:
    if metric is not Metric.NONHIDDEN or charged.is_ranged:
        return None
    return hidden_latency(trace, list(batches(trace)), rows=charged.rows).hidden(
        trace.code, charged.show_idle
    )


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


def _print(metric: Metric, tree: FlameTree, boxes: FlameLayout, texts: tuple[str, ...]) -> None:
    shown = np.flatnonzero(boxes.width > 0)
    rows = []
    for frame in shown[np.lexsort((boxes.begin[shown], boxes.row[shown]))].tolist():
        own, width, row = (int(x[frame]) for x in (tree.own[:, metric.value], boxes.width, boxes.row))
        place = "  " * abs(row) + ("↑ " if row < 0 else "") + plain(texts[frame])
        rows.append((count(width), percent(width, boxes.whole), count(own) if own else "", place))
    print_table(_COLUMNS, rows)
    print("\nLines with an arrow lead to the place, the nearest nearest to it; below it is what it leads to.")
