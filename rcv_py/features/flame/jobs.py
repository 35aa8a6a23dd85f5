"""The flamegraphs a user can choose, as jobs for a thread."""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from rcv_py.analysis.core.cost_columns import SAMPLES
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.flame.flame import FlameTree, Metric, code_costs, code_flame
from rcv_py.analysis.flame.flame_layout import SiblingOrder, layout, sandwich_frames
from rcv_py.analysis.flame.flame_markers import coarse_markers, marked_tree, scoped_costs
from rcv_py.analysis.flame.flame_text import labels
from rcv_py.analysis.latency.hidden_latency import HiddenLatency
from rcv_py.model.modes import LatencyMode
from rcv_py.state.session import Session
from rcv_py.ui.core.costs import cost_job
from rcv_py.ui.flame.flame_scene import FlameScene


class Content(Enum):
    """The content of the stacks."""

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


class FlameChoice(NamedTuple):
    """The user's choices; `element` is the place in the middle of a sandwich view."""

    content: Content
    metric: Metric
    order: SiblingOrder
    element: int = -1


def scene_job(
    session: Session,
    wanted: FlameChoice,
    show_idle: bool,
    hidden: HiddenLatency | None = None,
    spans: MarkerSpans | None = None,
) -> Callable[[], FlameScene | None] | None:
    """Return a function that makes the scene, None if no capture is open.

    The function touches no mutable state; it returns None where there is nothing to show.
    """
    trace, store, costs = session.trace.value, session.store, cost_job(session, LatencyMode.SUM_ALL)
    if trace is None or store is None or costs is None:
        return None
    code, read, content, metric = trace.code, session.snapshot(), wanted.content, wanted.metric
    # Hidden latency is known for all waves only, not for the waves of a clock range.
    known = hidden if session.clock_range.value is None else None
    covered = None if known is None else known.hidden(code, show_idle)

    def marked(spans: MarkerSpans) -> FlameTree:
        reduction = scoped_costs(spans, show_idle=show_idle)
        costs = read.incremental("costs of scopes", reduction, (spans, show_idle))(None)
        return marked_tree(spans, costs, code, covered)

    def scene() -> FlameScene | None:
        if content in OF_MARKERS:
            tree_of = coarse_markers if content is Content.MARKERS else marked
            tree = tree_of(spans) if spans is not None and len(spans) else None
        else:
            columns = costs()
            own = code_costs(columns, show_idle, covered)
            unit = "samples" if columns.label == SAMPLES else "cycles"
            tree = code_flame(code, own, unit, covered is not None, by_kernel=content is Content.KERNEL)
            if content is Content.SANDWICH:
                frames = sandwich_frames(trace, own, tree, wanted.element, metric=metric, order=wanted.order)
                if frames is None:
                    return None
                tree, boxes, texts = frames
                return FlameScene(trace=trace, tree=tree, boxes=boxes, labels=texts, metric=metric, place=0)
        if tree is None or not tree.whole(metric):
            return None
        texts = labels(trace, tree)
        boxes = layout(tree, metric, wanted.order, texts)
        return FlameScene(trace=trace, tree=tree, boxes=boxes, labels=texts, metric=metric)

    return scene
