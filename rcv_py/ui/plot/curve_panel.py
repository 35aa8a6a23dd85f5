"""What the panels with curves share: a line of choices, the plot, an empty state, a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QWidget

from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.panel import Panel, Sheet
from rcv_py.ui.core.plain_text import tooltip
from rcv_py.ui.plot.curve_plot import Curve, CurvePlot
from rcv_py.ui.widgets.elided_label import ElidedLabel
from rcv_py.ui.widgets.empty_state import page

MOST_ROWS = 1 << 20  # of a table; what spreadsheets can hold

Choices = Sequence[tuple[str, str, str]]  # text, value, tip


class CurvePanel(Panel):
    """A panel around a `CurvePlot`."""

    def __init__(self, ui: UiContext, name: str) -> None:
        super().__init__(ui)
        self.plot = CurvePlot(ui, name)
        self.note = ElidedLabel()
        self.note.setObjectName("muted")
        self.note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._choices: dict[str, QComboBox] = {}
        self._head = QHBoxLayout()
        self._head.setContentsMargins(8, 4, 8, 0)
        self._head.setSpacing(8)
        self._head.addWidget(self.note, 1)
        self.page = page(self, self._head, (self.plot, 1))

    def add_choice(self, name: str, title: str, items: Choices, changed: Callable[[], None]) -> QComboBox:
        """Add a box of choices before the note; `title` is what a screen reader says."""
        box = QComboBox()
        for row, (text, value, tip) in enumerate(items):
            box.addItem(text, value)
            box.setItemData(row, tooltip(tip), 3)  # Qt.ItemDataRole.ToolTipRole
        box.setAccessibleName(title)
        box.setToolTip(tooltip(title))
        box.currentIndexChanged.connect(changed)
        self._head.insertWidget(self._head.count() - 1, box)
        self._choices[name] = box
        return box

    def chosen(self, name: str) -> str:
        """The value of a choice."""
        return str(self._choices[name].currentData())

    def choose(self, name: str, value: str) -> None:
        """Set a choice, if it has such a value."""
        row = self._choices[name].findData(value)
        if row >= 0:
            self._choices[name].setCurrentIndex(row)

    def say(self, note: str) -> None:
        """Write beside the choices."""
        self.note.setText(note)

    # -- panel ------------------------------------------------------------------------------------------

    def canvas(self) -> QWidget:
        """The widget a picture of this panel shows: the plot with its legend."""
        return self.page if self.page.is_empty else self.plot

    def caption(self) -> str:
        """What is drawn."""
        return "" if self.page.is_empty else self.note.text()

    def sheet(self) -> Sheet | None:
        """The shown curves in the view: a row for every time at which one of them changes."""
        curves = [curve for curve in self.plot.curves if curve.name in self.plot.shown]
        if self.page.is_empty or not curves:
            return None
        heads = [f"{curve.name} ({curve.unit})" if curve.unit else curve.name for curve in curves]
        title = str(getattr(self, "panel_id", "curves"))
        return Sheet(title, ("cycle", *heads), _rows(curves, self.session.window.value))

    def save_state(self) -> dict[str, Any]:
        """The choices."""
        return {name: box.currentData() for name, box in self._choices.items()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Make the choices again; ignore what there is no longer."""
        for name, value in state.items():
            if name in self._choices and isinstance(value, str):
                self.choose(name, value)


def _rows(curves: Sequence[Curve], window: TimeWindow) -> Iterator[tuple[Any, ...]]:
    """One row a time, from the value that holds at the window's begin on."""
    parts = [curve.time[curve.steps.rows_in(window)] for curve in curves]
    begin = max(window.begin, min((int(curve.time[0]) for curve in curves if len(curve.time)), default=0))
    times = np.unique(np.concatenate([np.array([begin], np.int64), *parts]))[:MOST_ROWS]
    columns = []
    for curve in curves:
        row = curve.time.searchsorted(times, "right") - 1
        value = curve.value[np.maximum(row, 0)].tolist() if len(curve.time) else [None] * len(times)
        columns.append([v if r >= 0 else None for v, r in zip(value, row.tolist(), strict=True)])
    return zip(times.tolist(), *columns, strict=True)
