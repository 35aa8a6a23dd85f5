"""A plot of curves over the session's time, and shared parts of its panels: choices, empty state, table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QIcon,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QSizePolicy, QToolButton, QWidget

from rcv_py.base.manifest import panel_for
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, elide_right, translated
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.core.layout import BAR_ABOVE, bar, column, row, wrapped
from rcv_py.ui.core.panel import Panel, Sheet
from rcv_py.ui.core.plain_text import ElidedLabel, button_text, tooltip
from rcv_py.ui.core.shapes import draws_shapes
from rcv_py.ui.core.swatches import Swatch, paint_swatches
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.plot.curve_canvas import CurveCanvas
from rcv_py.ui.plot.curves import Curve, CurveSet, Stack, curve_color
from rcv_py.ui.timeline.rows_item import WIDTH
from rcv_py.ui.timeline.timeline_plot import steady_bar
from rcv_py.ui.widgets.choice import ChoiceBox
from rcv_py.ui.widgets.empty_state import page

MAX_NAME = 36  # characters of a name
SWATCH = 10
GAP = 2
MAX_LINES = 2  # rows of buttons before the legend scrolls
CLICKS = "Click: show or hide. Double click: show alone, or all again."
ALONE = "Show alone, or all again"


class LegendButton(QToolButton):
    """The name of a curve; checked while the curve is shown."""

    def __init__(self, name: str, legend: CurveLegend, parent: QWidget) -> None:
        super().__init__(parent)
        self.name, self._legend = name, legend
        self.swatch = Swatch(QColor(), name)
        self.setText(button_text(elide_right(translated(name), MAX_NAME)))
        self.setCheckable(True)
        self.setAutoRaise(True)
        self.setProperty("legend", True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(SWATCH, SWATCH))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        alone = QAction(translated(ALONE), self)
        alone.triggered.connect(lambda: legend.isolated.emit(name))
        self.addAction(alone)
        self.clicked.connect(lambda: legend.toggled.emit(name))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the button; in an SVG file draw its colour and name, because an icon would be a bitmap."""
        if not draws_shapes():
            super().paintEvent(event)
            return
        with QPainter(self) as painter:
            text = self.palette().text().color()
            box = QRectF(self.rect()).adjusted(SWATCH / 2, 0, 0, 0)
            if self.isChecked():
                paint_swatches(painter, box, [self.swatch], text, text)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show this curve alone, or all again."""
        self._legend.isolated.emit(self.name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Isolate on Enter; the button handles Space."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._legend.isolated.emit(self.name)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Emphasize the curve while the mouse is over the button, or the button has the focus."""
        if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self._legend.hovered.emit(self.name)
        elif event.type() in (QEvent.Type.Leave, QEvent.Type.FocusOut):
            self._legend.hovered.emit("")
        return super().event(event)


class CurveLegend(QScrollArea):
    """A click or Space shows and hides a curve; a double click or Enter shows it alone, or all again."""

    toggled = Signal(str)
    isolated = Signal(str)
    hovered = Signal(str)  # "" for none

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._curves: tuple[Curve, ...] = ()
        self.buttons: list[LegendButton] = []  # in the order of the curves
        self._height = 0
        self._inside = QWidget()
        self.setWidget(self._inside)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(translated("Legend of the curves"))
        self.viewport().setAutoFillBackground(False)
        self._inside.setAutoFillBackground(False)
        theme.changed.connect(self._recolor)

    def show_curves(self, curves: Sequence[Curve], shown: set[str]) -> None:
        """Show a button for every curve; buttons of shown curves are checked."""
        if [curve.name for curve in curves] != [curve.name for curve in self._curves]:
            self._rebuild(curves)
        self._curves = tuple(curves)
        for curve, button in zip(self._curves, self.buttons, strict=True):
            is_shown = curve.name in shown
            button.setChecked(is_shown)
            button.setAccessibleName(
                translated(Message("Curve {0}, {1}", curve.name, "shown" if is_shown else "hidden"))
            )
            tip = curve.tip or curve.name
            button.setToolTip(tooltip(f"{translated(tip)}\n{translated(CLICKS)}"))
        self._recolor()
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    @property
    def is_whole(self) -> bool:
        """Return whether all names are visible."""
        return self._inside.height() <= self.height()

    def sizeHint(self) -> QSize:
        return QSize(200, self._height)

    def minimumSizeHint(self) -> QSize:
        """Return an empty size: the legend may be hidden."""
        return QSize(0, 0)

    def _rebuild(self, curves: Sequence[Curve]) -> None:
        for button in self.buttons:
            button.hide()
            button.deleteLater()
        self.buttons = [LegendButton(curve.name, self, self._inside) for curve in curves]
        for button in self.buttons:
            button.show()

    def _arrange(self) -> None:
        """Place the buttons from left to right, wrapped like words."""
        width, needed = max(1, self.viewport().width()), 0
        for line in wrapped(self.buttons, width, GAP):
            x = 0
            for button in line:
                size = button.sizeHint()
                button.setGeometry(x, needed, size.width(), size.height())
                x += size.width() + GAP
            needed += line[0].sizeHint().height() + GAP
        self._inside.resize(width, needed)
        one = self.buttons[0].sizeHint().height() if self.buttons else 0
        height = min(needed, MAX_LINES * (one + GAP))
        if height != self._height or self.height() != height:
            self._height = height
            self.setFixedHeight(height)
            self.updateGeometry()

    def _recolor(self) -> None:
        ratio = self.devicePixelRatioF()
        for curve, button in zip(self._curves, self.buttons, strict=True):
            button.swatch = Swatch(curve_color(self._theme, curve.color), button.text(), curve.tip)
            button.setIcon(_swatch(self._theme, curve, button.isChecked(), ratio))


def _swatch(theme: Theme, curve: Curve, is_shown: bool, ratio: float) -> QIcon:
    side = round(SWATCH * ratio)
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        color = curve_color(theme, curve.color)
        if is_shown:
            painter.fillRect(0, 0, side, side, color)
        else:
            painter.setPen(color)
            painter.drawRect(0, 0, side - 1, side - 1)
    picture.setDevicePixelRatio(ratio)
    return QIcon(picture)


__all__ = ["Curve", "CurvePlot", "Stack"]


class CurvePlot(QWidget):
    """Curves that follow and drive the session's view with the gestures of the timelines.

    Hidden names stay hidden when curves of the same names are set again.
    """

    shown_changed = Signal()
    clicked = Signal(str, object, bool)  # name of the curve or "", time in cycles, whether a double click
    pointed = Signal(str)  # name of the curve that the legend emphasizes, "" for none

    def __init__(self, ui: UiContext, name: str, *, is_overview: bool = False) -> None:
        super().__init__()
        self.canvas = CurveCanvas(ui, is_overview=is_overview)
        self.canvas.setAccessibleName(translated(name))
        self.legend = CurveLegend(ui.theme)
        self._set = CurveSet()
        self._hidden: set[str] = set()
        self._title = ""
        self.stack = Stack.LINES  # drawing mode of the curves
        head = row((self.legend, 1), margins=(8, 3, 8, 3))
        head.setAlignment(self.legend, Qt.AlignmentFlag.AlignTop)
        body = QGridLayout()
        body.setSpacing(0)
        body.setContentsMargins(0, 0, 0, 0)
        body.addWidget(self.canvas, 0, 0, 1, 2)
        room = steady_bar()  # where a timeline has its scroll bar
        room.hide()
        body.addWidget(room, 0, 2)
        body.setColumnMinimumWidth(0, grown(WIDTH))
        body.setColumnStretch(1, 1)
        column(head, (body, 1), of=self)
        self.setFocusProxy(self.canvas)
        self.legend.toggled.connect(self.toggle)
        self.legend.isolated.connect(self.isolate)
        self.legend.hovered.connect(self.canvas.point_out)
        self.legend.hovered.connect(self.pointed)
        self.canvas.pressed.connect(self.clicked)

    # -- content ----------------------------------------------------------------------------------------

    def set_curves(self, curves: Iterable[Curve] | CurveSet, y_title: str) -> None:
        """Show these curves; the title of the axis of values gives the quantity and the unit.

        A set of long curves is prepared by the thread that made them.
        """
        self._set = curves if isinstance(curves, CurveSet) else CurveSet(tuple(curves))
        self._title = y_title
        self._show()

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Return all curves, including hidden curves."""
        return self._set.curves

    @property
    def shown(self) -> set[str]:
        """Return names of the drawn curves."""
        return {curve.name for curve in self.curves} - self._hidden

    @shown.setter
    def shown(self, names: Iterable[str]) -> None:
        self._hidden = {curve.name for curve in self.curves} - set(names)
        self._show()
        self.shown_changed.emit()

    def toggle(self, name: str) -> None:
        """Hide a curve, or show it again."""
        self.shown = self.shown ^ {name}

    def isolate(self, name: str) -> None:
        """Show a curve alone; if it is alone already, show all."""
        self.shown = {curve.name for curve in self.curves} if self.shown == {name} else {name}

    def set_stack(self, stack: Stack) -> None:
        """Draw lines, stacked areas, or shares of their sum."""
        self.stack = stack
        self._show()

    def sizeHint(self) -> QSize:
        return QSize(640, 240)

    def _show(self) -> None:
        self.legend.show_curves(self.curves, self.shown)
        curves = self._set.without(frozenset(self._hidden))
        self.canvas.show_set(curves, self.stack, self._title)


MAX_ROWS = 1 << 20  # maximum rows of a table: the limit of spreadsheets

Choices = Sequence[tuple[str, str, str]]  # text, value, tip


class CurvePanel(Panel):
    """A panel around a `CurvePlot`."""

    def __init__(self, ui: UiContext, name: str, *, is_overview: bool = False) -> None:
        super().__init__(ui)
        self.plot = CurvePlot(ui, name, is_overview=is_overview)
        self.note = ElidedLabel()
        self.note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._head = bar((self.note, 1), margins=BAR_ABOVE)
        self.page = page(self, self._head, (self.plot, 1))
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

    # -- panel ------------------------------------------------------------------------------------------

    def canvas(self) -> QWidget:
        """Return the widget that a picture of this panel shows: the plot with its legend."""
        return self.page if self.page.is_empty else self.plot

    def swatches(self) -> tuple[Swatch, ...]:
        """Return the curves, if the legend cannot show all of them."""
        legend = self.plot.legend
        return () if legend.is_whole else tuple(one.swatch for one in legend.buttons if one.isChecked())

    def caption(self) -> str:
        return "" if self.page.is_empty else self.note.text()

    def sheet(self) -> Sheet | None:
        """Return the shown curves in the view: a row for every time at which any of them changes."""
        curves = [curve for curve in self.plot.curves if curve.name in self.plot.shown]
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
