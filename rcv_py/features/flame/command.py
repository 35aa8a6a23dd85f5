"""`rcv flame`: nested costs, as a tree, as folded stacks, or around one place."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache, partial
from typing import Any

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES, cost_columns
from rcv_py.analysis.flame.flame import FlameTree, Metric, What, code_costs, key
from rcv_py.analysis.flame.flame_frames import METRICS, Charged, flame_tree
from rcv_py.analysis.flame.flame_layout import (
    FlameLayout,
    SiblingOrder,
    folded,
    labels,
    layout,
    placed_labels,
    sandwich_frames,
)
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.base.errors import UsageError
from rcv_py.base.text import Message, count, percent
from rcv_py.cli.answer import CommandAnswer, Part, TextColumn, TextGrid, heading
from rcv_py.cli.opening import ChosenWaves, announced, counted_waves, refuse_unrun
from rcv_py.features.flame.options import FlameOptions
from rcv_py.features.flame.result import SANDWICH, SANDWICH_SCHEMA, SCHEMA, at_least, frames, placed
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.results.table import ResultTable

_HIDDEN = HIDDEN[ReferenceRule.OURS]
_COLUMNS = (
    *(TextColumn(name, True) for name in ("total", "share", "self")),
    TextColumn("frame", elastic="right"),
)
_OF = {
    Metric.TOTAL: "cycles of latency and idle time of all waves",
    Metric.NONHIDDEN: "cycles of all waves that no other wave hid",
    Metric.STALL: "cycles of stall of all waves",
}


def run(options: FlameOptions) -> CommandAnswer:
    """Return the flamegraph of a capture."""
    metric = METRICS[options.metric]
    waves = counted_waves(options, (_HIDDEN,) if metric is Metric.NONHIDDEN and options.clock is None else ())
    trace = waves.trace
    refuse_unrun(trace, "costs")
    charged = Charged(cost_columns(trace.code), not options.no_idle, options.clock is not None, waves.rows)
    content = _content(trace, options).replace("sandwich", "source")
    with ExitStack() as open_ones:
        look = cache(partial(open_ones.enter_context, announced(waves, options)))
        tree, note = flame_tree(trace, content, metric, look, charged)
    if options.around is not None or options.content == "sandwich":
        return _sandwich(waves, tree, charged, options)

    def text() -> Iterator[Part]:
        names = labels(trace, tree)
        boxes = layout(tree, metric, SiblingOrder(options.order), names)
        least = tree.whole(metric) * options.least / 100
        shown = np.flatnonzero((boxes.width > 0) & (boxes.width >= least))
        shown = shown[np.lexsort((boxes.row[shown], boxes.begin[shown]))]
        yield from heading(waves)
        yield _grid(tree, metric, boxes, placed_labels(trace, tree, names), shown)
        yield Message("\n{0}{1}", _footer(tree, metric, content, waves.whose), note and " " + note)

    def table() -> ResultTable:
        every = frames(trace, tree, metric, SiblingOrder(options.order))
        is_given = "least" in options.given
        return at_least(every, tree.whole(metric) * options.least / 100) if is_given else every

    return CommandAnswer(
        schema=SCHEMA,
        document=lambda: {**_facts(trace, options, tree.unit, tree.whole(metric)), "frames": table().rows()},
        csv=lambda: table().csv(),
        text=text,
        forms={"folded": lambda: "".join(f"{line}\n" for line in folded(trace, tree, metric))},
        of=waves,
    )


def _content(trace: Trace, options: FlameOptions) -> str:
    has_scopes = trace.has_only_markers and trace.markers and options.metric == "total"
    return options.content or ("markers" if has_scopes else "source")


def _grid(
    tree: FlameTree, metric: Metric, boxes: FlameLayout, texts: tuple[str, ...], shown: np.ndarray
) -> TextGrid:
    """One row per frame, below its parents; frames that lead to a place are marked with an arrow."""
    rows, columns = [], (tree.own[:, metric.value], boxes.width, boxes.row)
    for frame in shown.tolist():
        own, width, row = (int(column[frame]) for column in columns)
        name = "  " * abs(row) + ("↑ " if row < 0 else "") + texts[frame]
        rows.append((count(width), percent(width, boxes.whole), count(own) if own else "", name))
    return TextGrid(_COLUMNS, rows)


def _footer(tree: FlameTree, metric: Metric, content: str, whose: str) -> str:
    total = count(tree.whole(metric))
    if metric is Metric.HITS:
        return Message("{0} executions.", total)
    if tree.unit == "samples":
        return Message("{0} {1}.", total, "stalled PC samples" if metric is Metric.STALL else "PC samples")
    of = "cycles inside of scopes of all waves" if content == "markers" else _OF[metric]
    return Message("{0} {1}.", total, of.replace("all waves", whose))


def _facts(trace: Trace, options: FlameOptions, unit: str, total: int) -> dict[str, Any]:
    return {
        "content": _content(trace, options),
        "metric": options.metric,
        "order": options.order,
        "unit": "executions" if METRICS[options.metric] is Metric.HITS else unit,
        "total": total if len(trace.code) else None,
    }


def _sandwich(waves: ChosenWaves, like: FlameTree, charged: Charged, options: FlameOptions) -> CommandAnswer:
    """A place with its callers and callees; `like` is the tree of the whole program."""
    if options.content != "sandwich" or options.around is None:
        hint = "Name an instruction, e.g. --content sandwich --around 62."
        raise UsageError("--content sandwich and --around belong together.", hint=hint)
    if options.folded:
        raise UsageError("A sandwich is not a tree, so it cannot be folded.", hint="Use --json.")
    trace, metric, costs = waves.trace, METRICS[options.metric], charged.costs
    assert costs is not None
    hidden = None
    if metric is Metric.NONHIDDEN and not charged.is_ranged:
        hidden = waves.of(_HIDDEN).hidden(trace.code, charged.show_idle)
    own = code_costs(costs, charged.show_idle, hidden)
    element = _element(trace, options.around)
    made = sandwich_frames(trace, own, like, element, metric=metric, order=SiblingOrder(options.order))
    if made is None:
        raise UsageError("No cost leads through this place.", hint="Name an instruction that was executed.")
    tree, boxes, texts = made
    table = placed(trace, tree, metric, boxes, texts, spec=SANDWICH)

    def text() -> Iterator[Part]:
        shown = np.flatnonzero(boxes.width > 0)
        shown = shown[np.lexsort((boxes.begin[shown], boxes.row[shown]))]
        yield _grid(tree, metric, boxes, placed_labels(trace, tree, texts), shown)
        yield "\nFrames with an arrow lead to the place, the nearest next to it; below is what it leads to."

    unit = "samples" if costs.label == SAMPLES else "cycles"
    facts, about = _facts(trace, options, unit, boxes.whole), {"waves": waves.about}
    return CommandAnswer.of_table(
        SANDWICH_SCHEMA, table, text, lambda: facts, rows="frames", of=trace, about=about
    )


def _element(trace: Trace, around: tuple[str, int]) -> int:
    """The place of `62` or `kernel.py:62`; raise UsageError if there is none."""
    path, line = around
    if not path:
        trace.check_line(line)
        return int(key(What.CODE, 0, line))
    file = next((at for at, source in enumerate(trace.sources) if source.path == path), None)
    if file is None:
        hint = "`rcv hotspot --by source` names the files."
        raise UsageError(Message("No code came from {0}.", path), hint=hint)
    return int(key(What.LINE, file, line))
