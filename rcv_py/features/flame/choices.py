"""What a flamegraph shows: choices in its header, the path to the frame in view, the job that makes it."""

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QWidget

from rcv_py.analysis.core.cost_columns import SAMPLES
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.flame.flame import FlameTree, Metric, code_costs, code_flame
from rcv_py.analysis.flame.flame_frames import coarse_markers, marked_tree, scoped_costs
from rcv_py.analysis.flame.flame_layout import SiblingOrder, labels, layout, sandwich_frames
from rcv_py.analysis.latency.hidden_latency import HiddenLatency
from rcv_py.base.text import Message, elide_right
from rcv_py.model.modes import LatencyMode
from rcv_py.state.session import Session
from rcv_py.ui.core.costs import cost_job
from rcv_py.ui.core.layout import row
from rcv_py.ui.core.plain_text import Rich, joined, rich, shown, tooltip, with_reason
from rcv_py.ui.flame.flame_scene import FlameScene
from rcv_py.ui.widgets.choice import ChoiceBox


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
    made = partial(FlameScene, trace=trace, metric=metric)

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
                return made(tree=tree, boxes=boxes, labels=texts, place=0)
        if tree is None or not tree.whole(metric):
            return None
        texts = labels(trace, tree)
        return made(tree=tree, boxes=layout(tree, metric, wanted.order, texts), labels=texts)

    return scene


METRIC_TEXT = {
    Metric.TOTAL: ("Total latency", "Samples"),
    Metric.NONHIDDEN: ("Non-hidden latency", "Non-hidden latency"),
    Metric.STALL: ("Stall", "Stalled samples"),
    Metric.HITS: ("Executions", "Executions"),
}
DURATION = "Duration"  # of scopes
ORDER_TEXT = {
    SiblingOrder.HEAVY: "Left heavy",
    SiblingOrder.EXECUTION: "Execution order",
    SiblingOrder.NAME: "Alphabetical",
}
OF_SCOPES, OF_SAMPLES = (Metric.TOTAL,), (Metric.TOTAL, Metric.STALL)
LETTERS = 34  # of a name on a button
MAX_NAMES = 5  # maximum names shown at the end of the path


class FlameChoices(QWidget):
    """Three lists, with room for a search field beside them."""

    changed = Signal()

    def __init__(self, search: QWidget) -> None:
        super().__init__()
        contents = {content.value: text for content, text in CONTENT_TEXT.items()}
        metrics = {metric.name.lower(): text for metric, (text, _) in METRIC_TEXT.items()}
        orders = {order.value: text for order, text in ORDER_TEXT.items()}
        self.contents = ChoiceBox("What the frames are", contents)
        self.metrics = ChoiceBox("What the width of a frame means", metrics)
        self.orders = ChoiceBox("The order of frames side by side", orders)
        boxes = (self.contents, self.metrics, self.orders)
        row(*boxes, (search, 1), margins=(8, 4, 8, 4), spacing=8, of=self)
        for box in boxes:
            box.currentIndexChanged.connect(lambda _: self.changed.emit())

    @property
    def content(self) -> Content:
        """Return the content of the frames."""
        return Content(self.contents.value)

    def chosen(self, element: int = -1) -> FlameChoice:
        """Return all that is chosen; `element` is the place in the middle of a sandwich view."""
        metric, order = Metric[self.metrics.value.upper()], SiblingOrder(self.orders.value)
        return FlameChoice(self.content, metric, order, element)

    def offer(self, is_sampled: bool) -> None:
        """Disable measures that mean nothing for the content or for samples, and deselect them."""
        is_coarse = self.content is Content.MARKERS
        allowed = OF_SCOPES if is_coarse else OF_SAMPLES if is_sampled else tuple(Metric)
        model = self.metrics.model()
        assert isinstance(model, QStandardItemModel)
        for at, (metric, texts) in enumerate(METRIC_TEXT.items()):
            is_duration = is_coarse and metric is Metric.TOTAL
            self.metrics.setItemText(at, shown(DURATION if is_duration else texts[is_sampled]))
            model.item(at).setEnabled(metric in allowed)
            why = "" if metric in allowed else Message("{0} is not known here.", texts[0])
            self.metrics.setItemData(at, tooltip(with_reason(why)), Qt.ItemDataRole.ToolTipRole)
        if self.chosen().metric not in allowed:
            self.metrics.setCurrentIndex(0)

    def text(self) -> str:
        """Return the choices as text."""
        return ", ".join(combo.currentText() for combo in (self.contents, self.metrics, self.orders))


def way_html(scene: FlameScene | None, frame: int) -> Rich:
    """Return the path to a frame as links, `All › file › file:258`; -1 is the root."""
    way = [] if scene is None or frame < 0 else scene.tree.ancestors(frame)
    parts = [rich("<a href='frame:-1'>{}</a>", "All"), *(["…"] if len(way) > MAX_NAMES else [])]
    for one in way[-MAX_NAMES:]:
        assert scene is not None
        parts.append(rich("<a href='frame:{}'>{}</a>", one, elide_right(scene.labels[one], LETTERS)))
    return joined(" › ", parts)
