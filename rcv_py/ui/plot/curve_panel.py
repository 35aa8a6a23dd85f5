"""A plot of curves over the session's time, and shared parts of its panels: choices, empty state, table."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from rcv_py.base.manifest import panel_for
from rcv_py.base.runs import ascending
from rcv_py.base.text import translated
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import BAR_ABOVE, bar, column, row, split
from rcv_py.ui.core.panel import Panel, Sheet
from rcv_py.ui.core.plain_text import ElidedLabel, tooltip
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.plot.curve_canvas import CurveCanvas
from rcv_py.ui.plot.curves import Curve, CurveSet, curve_color
from rcv_py.ui.timeline.rows_item import WIDTH
from rcv_py.ui.timeline.timeline_plot import steady_bar
from rcv_py.ui.widgets.choice import ChoiceBox
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.legend import Legend


class CurvePlot(QWidget):
    """Curves with the view and the gestures of the timelines; a click in the legend emphasizes one."""

    clicked = Signal(str, object, bool)  # name of the curve or "", time in cycles, whether a double click

    def __init__(self, ui: UiContext, name: str, *, is_overview: bool = False) -> None:
        super().__init__()
        self._theme = ui.theme
        self.canvas = CurveCanvas(ui, is_overview=is_overview)
        self.canvas.setAccessibleName(translated(name))
        self.legend = Legend()
        body = QGridLayout()
        body.setSpacing(0)
        body.setContentsMargins(0, 0, 0, 0)
        body.addWidget(self.canvas, 0, 0, 1, 2)
        room = steady_bar()  # where a timeline has its scroll bar
        room.hide()
        body.addWidget(room, 0, 2)
        body.setColumnMinimumWidth(0, grown(WIDTH))
        body.setColumnStretch(1, 1)
        column(row((self.legend, 1), margins=(8, 3, 8, 3)), (body, 1), of=self)
        self.setFocusProxy(self.canvas)
        self.legend.picked_changed.connect(self.canvas.pick)
        self.canvas.pressed.connect(self.clicked)
        ui.theme.changed.connect(self._show_legend)

    def show_curves(self, curves: CurveSet, y_title: str) -> None:
        """Show these curves; the title of the axis of values gives the quantity and the unit."""
        self.canvas.show_set(curves, y_title)
        self._show_legend()

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Return the curves."""
        return self.canvas.curves.set.curves

    @property
    def names(self) -> list[str]:
        """Return the names of the curves."""
        return [curve.name for curve in self.curves]

    def sizeHint(self) -> QSize:
        return QSize(640, 240)

    def _show_legend(self) -> None:
        pairs = ((curve, curve_color(self._theme, curve.color)) for curve in self.curves)
        self.legend.set_items([Swatch(color, one.name, one.tip, key=one.name) for one, color in pairs])


MAX_ROWS = 1 << 20  # maximum rows of a table: the limit of spreadsheets

Choices = Sequence[tuple[str, str, str]]  # text, value, tip


class CurvePanel(Panel):
    """A panel around a `CurvePlot`, with choices above it, and perhaps something `beside` it."""

    def __init__(
        self, ui: UiContext, name: str, *, beside: QWidget | None = None, is_overview: bool = False
    ) -> None:
        super().__init__(ui)
        self.plot = CurvePlot(ui, name, is_overview=is_overview)
        self.note = ElidedLabel()
        self.note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._head = bar((self.note, 1), margins=BAR_ABOVE)
        self.page = WithEmptyState(self.plot if beside is None else split(beside, self.plot, sizes=()))
        column(self._head, (self.page, 1), of=self)
        self.plot.canvas.range_measured.connect(lambda: self.wants.emit(panel_for("range")))

    def add_choice(self, name: str, title: str, items: Choices, changed: Callable[[], None]) -> ChoiceBox:
        """Add a box of choices before the note; `title` is for screen readers."""
        box = ChoiceBox(title, {value: text for text, value, _ in items}, tip=title)
        for at, (_, _, tip) in enumerate(items):
            box.setItemData(at, tooltip(tip), Qt.ItemDataRole.ToolTipRole)
        box.currentIndexChanged.connect(changed)
        self._head.insertWidget(self._head.count() - 1, box)
        self.remembered[name] = box
        return box

    def chosen(self, name: str) -> str:
        """Return the value of a choice."""
        box = self.remembered[name]
        assert isinstance(box, ChoiceBox)
        return box.value

    def say(self, note: str) -> None:
        """Show a text next to the choices."""
        self.note.setText(note)

    def canvas(self) -> QWidget:
        return self.page if self.page.is_empty else self.plot

    def caption(self) -> str:
        return "" if self.page.is_empty else self.note.text()

    def sheet(self) -> Sheet | None:
        """Return the shown curves in the view: a row for every time at which any of them changes."""
        curves = self.plot.curves
        if self.page.is_empty or not curves:
            return None
        heads = [f"{curve.name} ({curve.unit})" if curve.unit else curve.name for curve in curves]
        return Sheet(self.panel_id or "curves", ("cycle", *heads), _rows(curves, self.plot.canvas.view))


def _rows(curves: Sequence[Curve], window: TimeWindow) -> Iterator[tuple[Any, ...]]:
    """Return one row per time, starting with the values at the window's begin."""
    parts = [curve.time[curve.steps.rows_in(window)] for curve in curves]
    begin = max(window.begin, min((int(curve.time[0]) for curve in curves if len(curve.time)), default=0))
    times = ascending(np.concatenate([np.array([begin], np.int64), *parts]))[:MAX_ROWS]
    columns = []
    for curve in curves:
        at = curve.time.searchsorted(times, "right") - 1
        value = curve.value[np.maximum(at, 0)].tolist() if len(curve.time) else [None] * len(times)
        columns.append([v if r >= 0 else None for v, r in zip(value, at.tolist(), strict=True)])
    return zip(times.tolist(), *columns, strict=True)
