"""The header of a flamegraph: its choices, and the path to the frame in view."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QWidget

from rcv_py.analysis.flame.flame import Metric
from rcv_py.analysis.flame.flame_layout import SiblingOrder
from rcv_py.base.text import Message, elide_right
from rcv_py.features.flame.jobs import CONTENT_TEXT, Content
from rcv_py.ui.core.layout import row
from rcv_py.ui.core.plain_text import Rich, joined, rich, shown, tooltip, with_reason
from rcv_py.ui.flame.flame_scene import FlameScene
from rcv_py.ui.widgets.choice import ChoiceBox

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

    @property
    def measure(self) -> Metric:
        """Return the measure that a frame's width shows."""
        return Metric[self.metrics.value.upper()]

    @property
    def order(self) -> SiblingOrder:
        """Return the order of neighbouring frames."""
        return SiblingOrder(self.orders.value)

    def offer(self, is_sampled: bool) -> None:
        """Disable measures that mean nothing for the content or for samples, and deselect them."""
        is_coarse = self.content is Content.MARKERS
        allowed = OF_SCOPES if is_coarse else OF_SAMPLES if is_sampled else tuple(Metric)
        model = self.metrics.model()
        assert isinstance(model, QStandardItemModel)
        for at, metric in enumerate(Metric):
            is_duration = is_coarse and metric is Metric.TOTAL
            text = DURATION if is_duration else METRIC_TEXT[metric][is_sampled]
            self.metrics.setItemText(at, shown(text))
            model.item(at).setEnabled(metric in allowed)
            why = "" if metric in allowed else Message("{0} is not known here.", METRIC_TEXT[metric][0])
            self.metrics.setItemData(at, tooltip(with_reason(why)), Qt.ItemDataRole.ToolTipRole)
        if self.measure not in allowed:
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
