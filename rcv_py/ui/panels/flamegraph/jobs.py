"""The flamegraphs that a user can ask for, as jobs for a thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.flame.flame import FlameTree, Metric, code_costs, kernel_flame, source_flame
from rcv_py.analysis.flame.flame_layout import Order, layout, sandwich_frames
from rcv_py.analysis.flame.flame_markers import coarse_markers, marked_code
from rcv_py.analysis.flame.flame_text import labels
from rcv_py.analysis.latency.hidden_latency import HiddenLatency
from rcv_py.model.modes import LatencyMode
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.state.session import Session
from rcv_py.ui.core.costs import cost_job
from rcv_py.ui.flame.flame_scene import FlameScene


class Content(Enum):
    """What the stacks are made of."""

    SOURCE = "source"
    KERNEL = "kernel"
    MARKERS = "markers"
    MARKED = "marked"
    SANDWICH = "sandwich"


CONTENT_TEXT = {
    Content.SOURCE: "Source and ISA",
    Content.KERNEL: "Kernel, blocks and ISA",
    Content.MARKERS: "Markers",
    Content.MARKED: "Markers and ISA",
    Content.SANDWICH: "Callers and callees",
}
OF_MARKERS = (Content.MARKERS, Content.MARKED)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user asked for; `element` is the place in the middle of a sandwich."""

    content: Content
    metric: Metric
    order: Order
    element: int = -1


@dataclass(frozen=True, eq=False)
class _Inputs:
    trace: Trace
    costs: Callable[[], CostColumns]
    batches: tuple[WaveBatch, ...]
    show_idle: bool
    hidden: np.ndarray | None
    spans: MarkerSpans | None


def scene_job(
    session: Session,
    wanted: Wanted,
    show_idle: bool,
    hidden: HiddenLatency | None = None,
    spans: MarkerSpans | None = None,
) -> Callable[[], FlameScene | None] | None:
    """Return a function that makes the scene, None if nothing is open.

    The function touches nothing that changes; its answer is None where there is nothing to show.
    """
    trace, store, costs = session.trace.value, session.store, cost_job(session, LatencyMode.SUM_ALL)
    if trace is None or store is None or costs is None:
        return None
    # What is hidden is known for all waves only, not for those of a clock range.
    covered = None
    if hidden is not None and session.clock_range.value is None:
        covered = hidden.hidden(trace.code, show_idle)
    inputs = _Inputs(trace, costs, store.batches, show_idle, covered, spans)
    if wanted.content is Content.SANDWICH:
        return lambda: _sandwich_scene(inputs, wanted)
    return lambda: _scene(inputs, wanted)


def _scene(inputs: _Inputs, wanted: Wanted) -> FlameScene | None:
    tree = _tree(inputs, wanted.content)
    if tree is None or not tree.whole(wanted.metric):
        return None
    texts = labels(inputs.trace, tree)
    boxes = layout(tree, wanted.metric, wanted.order, texts)
    return FlameScene(inputs.trace, tree, boxes, texts, wanted.metric)


def _tree(inputs: _Inputs, content: Content) -> FlameTree | None:
    code = inputs.trace.code
    if content in OF_MARKERS:
        if inputs.spans is None or not len(inputs.spans):
            return None
        if content is Content.MARKERS:
            return coarse_markers(inputs.spans)
        return marked_code(
            inputs.spans, inputs.batches, code, show_idle=inputs.show_idle, hidden=inputs.hidden
        )
    own, unit = _own(inputs)
    is_source = content is not Content.KERNEL and len(code.chain_file)
    return (source_flame if is_source else kernel_flame)(code, own, unit, inputs.hidden is not None)


def _sandwich_scene(inputs: _Inputs, wanted: Wanted) -> FlameScene | None:
    trace, (own, unit) = inputs.trace, _own(inputs)
    has_source = len(trace.code.chain_file) > 0
    like = (source_flame if has_source else kernel_flame)(trace.code, own, unit, inputs.hidden is not None)
    made = sandwich_frames(trace, own, like, wanted.element, metric=wanted.metric, order=wanted.order)
    return None if made is None else FlameScene(trace, *made, wanted.metric, 0)


def _own(inputs: _Inputs) -> tuple[np.ndarray, str]:
    costs = inputs.costs()
    unit = "samples" if costs.label == SAMPLES else "cycles"
    return code_costs(costs, inputs.show_idle, inputs.hidden), unit
