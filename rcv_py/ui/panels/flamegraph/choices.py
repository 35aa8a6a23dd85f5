"""The choices above a flamegraph: what the frames are, what their width means, how they stand."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from rcv_py.analysis.flame.flame import Metric
from rcv_py.analysis.flame.flame_layout import Order
from rcv_py.ui.core.icons import icon
from rcv_py.ui.core.plain_text import tooltip, with_tip
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.panels.flamegraph.jobs import CONTENT_TEXT, Content

METRIC_TEXT = {
    Metric.TOTAL: ("Total latency", "Samples"),
    Metric.NONHIDDEN: ("Non-hidden latency", "Non-hidden latency"),
    Metric.STALL: ("Stall", "Stalled samples"),
    Metric.HITS: ("Executions", "Executions"),
}
DURATION = "Duration"  # of scopes
ORDER_TEXT = {Order.HEAVY: "Left heavy", Order.EXECUTION: "Execution order", Order.NAME: "Alphabetical"}
LEAST_PX = 64  # of a list
OF_SCOPES = (Metric.TOTAL,)
OF_SAMPLES = (Metric.TOTAL, Metric.STALL)


class FlameChoices(QWidget):
    """Three lists and two buttons, with room for a search field between them."""

    changed = Signal()
    turned = Signal(bool)  # flames grow upwards
    reset = Signal(bool)

    def __init__(self, theme: Theme, search: QWidget) -> None:
        super().__init__()
        self._theme = theme
        self.contents = _combo("What the frames are", CONTENT_TEXT)
        self.metrics = _combo(
            "What the width of a frame means", {one: text[0] for one, text in METRIC_TEXT.items()}
        )
        self.orders = _combo("The order of frames side by side", ORDER_TEXT)
        self.upward = with_tip(QToolButton(), "Let flames grow upwards")
        self.upward.setCheckable(True)
        self.home = with_tip(QToolButton(), "Show everything (0)")
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(8)
        for combo in (self.contents, self.metrics, self.orders):
            row.addWidget(combo)
            combo.activated.connect(lambda _: self.changed.emit())
        row.addWidget(search, 1)
        for button, name in ((self.upward, "Flames grow upwards"), (self.home, "Show everything")):
            button.setAccessibleName(name)
            button.setAutoRaise(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            row.addWidget(button)
        self.upward.toggled.connect(self.turned)
        self.home.clicked.connect(self.reset)
        theme.changed.connect(self._restyle)
        self._restyle()

    @property
    def content(self) -> Content:
        """What the frames are."""
        return self.contents.currentData()

    @property
    def measure(self) -> Metric:
        """What the width of a frame means."""
        return self.metrics.currentData()

    @property
    def order(self) -> Order:
        """How frames stand side by side."""
        return self.orders.currentData()

    def set_content(self, content: Content) -> None:
        """Choose another content.  Emits nothing."""
        self.contents.setCurrentIndex(self.contents.findData(content))

    def offer(self, is_sampled: bool) -> None:
        """Switch off measures that mean nothing for the content or for samples, and leave them."""
        is_coarse = self.content is Content.MARKERS
        allowed = OF_SCOPES if is_coarse else OF_SAMPLES if is_sampled else tuple(Metric)
        model = self.metrics.model()
        assert isinstance(model, QStandardItemModel)
        for at, metric in enumerate(Metric):
            is_duration = is_coarse and metric is Metric.TOTAL
            self.metrics.setItemText(at, DURATION if is_duration else METRIC_TEXT[metric][is_sampled])
            model.item(at).setEnabled(metric in allowed)
            why = "" if metric in allowed else f"{METRIC_TEXT[metric][0]} is not known here."
            self.metrics.setItemData(at, tooltip(why), Qt.ItemDataRole.ToolTipRole)
        if self.measure not in allowed:
            self.metrics.setCurrentIndex(0)

    def text(self) -> str:
        """The choices in words."""
        return ", ".join(combo.currentText() for combo in (self.contents, self.metrics, self.orders))

    def save_state(self) -> dict[str, Any]:
        """Return the choices as plain values."""
        return {
            "content": self.content.value,
            "metric": self.measure.name.lower(),
            "order": self.order.value,
            "upward": self.upward.isChecked(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take back what `save_state` returned; what does not fit changes nothing.  Emits only `turned`."""
        _take(self.contents, state.get("content"), [one.value for one in Content])
        _take(self.metrics, state.get("metric"), [one.name.lower() for one in Metric])
        _take(self.orders, state.get("order"), [one.value for one in Order])
        self.upward.setChecked(state.get("upward") is True)

    def _restyle(self) -> None:
        self.upward.setIcon(icon(self._theme, "flame"))
        self.home.setIcon(icon(self._theme, "reset"))


def _combo(name: str, texts: dict[Any, str]) -> QComboBox:
    combo = with_tip(QComboBox(), f"{name}.")
    combo.setAccessibleName(name)
    combo.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    combo.setMinimumWidth(LEAST_PX)
    for value, text in texts.items():
        combo.addItem(text, value)
    return combo


def _take(combo: QComboBox, value: object, values: list[str]) -> None:
    if value in values:
        combo.setCurrentIndex(values.index(str(value)))
