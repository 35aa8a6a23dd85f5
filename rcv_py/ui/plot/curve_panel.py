"""A plot of curves over the session's time, its canvas, and shared parts of its panels: choices, table."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from rcv_py.base.manifest import panel_for
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending
from rcv_py.base.text import Message, elide_right, join_texts, short_count, translated
from rcv_py.model.window import TimeWindow
from rcv_py.state.selection import Hover
from rcv_py.ui.core.layout import BAR_ABOVE, bar, column, row, split
from rcv_py.ui.core.panel import Panel, Sheet, UiContext
from rcv_py.ui.core.plain_text import MIDDLE_LEFT, MIDDLE_RIGHT, ElidedLabel, draw_text, named, tooltip
from rcv_py.ui.core.swatches import Swatch
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.plot.curves import Curve, CurveSet, CurvesItem, curve_color
from rcv_py.ui.timeline.items import TEXT_PX, UNITS_NS, PlainAxis, round_step, small_text
from rcv_py.ui.timeline.rows_item import WIDTH
from rcv_py.ui.timeline.time_overlay import Line, Marks, TimeOverlay, bookmark_time
from rcv_py.ui.timeline.time_plot import TimePlot
from rcv_py.ui.timeline.timeline_plot import steady_bar
from rcv_py.ui.widgets.choice import ChoiceBox
from rcv_py.ui.widgets.empty_state import WithEmptyState
from rcv_py.ui.widgets.legend import Legend

TICK_PX = 34  # px a tick needs
LARGE = 100_000  # numbers from here on are shortened


class ValueAxis(PlainAxis):
    """An axis as wide as the names next to a timeline, so that times align."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("left", theme, WIDTH)
        self.title = ""
        self.low, self.high = 0.0, 1.0
        self.is_whole = False  # integer values: no ticks in between

    def draw(self, painter: QPainter, metrics: QFontMetricsF, width: float, height: float) -> None:
        """Paint numbers and the title, which runs upwards."""
        values = ticks(self.low, self.high, height, self.is_whole)
        step = values[1] - values[0] if len(values) > 1 else 1.0
        for value in values:
            y = height - (value - self.low) / (self.high - self.low) * height
            painter.setPen(self._theme.role("line"))
            painter.drawLine(QPointF(width - 5, y), QPointF(width - 1, y))
            painter.setPen(self._theme.role("muted"))
            # The outermost numbers stay inside the axis, next to their ticks.
            middle = min(max(y, metrics.height() / 2), height - metrics.height() / 2)
            rect = QRectF(grown(20), middle - metrics.height() / 2, width - 8 - grown(20), metrics.height())
            draw_text(painter, rect, MIDDLE_RIGHT, value_text(value, step))
        painter.fillRect(QRectF(width - 1, 0, 1, height), self._theme.role("line"))
        painter.save()
        painter.setPen(self._theme.role("text"))
        painter.translate(4, height)
        painter.rotate(-90)
        text = metrics.elidedText(translated(self.title), Qt.TextElideMode.ElideRight, max(0.0, height - 4))
        draw_text(painter, QRectF(0, 0, height, metrics.height() + 2), Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()


def ticks(low: float, high: float, height_px: float, is_whole: bool) -> list[float]:
    """Return round values between two bounds, as many as fit."""
    span, least = max(high - low, 1e-9), 1.0 if is_whole else 0.0
    step = max(round_step(span * TICK_PX / max(1.0, height_px)), least)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    if first >= last and height_px >= 2 * grown(TEXT_PX):  # a scale needs two numbers: they must fit
        step = round_step(span)
        while step > span * 1.001:
            step = round_step(step / 2.6)
        step = max(step, least)
        first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
        return [float(at * step + 0.0) for at in ((first, last) if last > first else (first,))]
    return (np.arange(first, last + 1) * step + 0.0).tolist()  # no -0


def bounds(low: float, high: float) -> tuple[float, float]:
    """Return bounds of an axis that hold all values, with a margin above; they stay while values vary little.

    0 stays in view, because the height of a curve means nothing otherwise.
    """
    low, high = min(0.0, low), max(0.0, high)
    span = high - low or 1.0
    step = round_step(span / 10)
    top = np.ceil((high + span * 0.03) / step) * step if high else 1.0
    bottom = low if low == 0 else np.floor((low - span * 0.03) / step) * step
    return float(bottom), float(max(top, bottom + step))


def value_text(value: float, step: float = 0.0) -> str:
    """Return a value as text: grouped, short if large, with as many digits as the step needs."""
    if abs(value) >= LARGE:
        return short_count(value)
    digits = max(0, -int(np.floor(np.log10(step) + 1e-9))) if step > 0 else 0
    return f"{value:,.{digits}f}"


def exact_text(value: float) -> str:
    """Return a value as in its column: all digits of an integer, six digits of another number."""
    return f"{value:,}" if isinstance(value, int) or float(value).is_integer() else f"{value:,.6g}"


LINE_PX = 15
PAD_PX = 6
MAX_NAME = 40  # characters of a name
TAG_PX = 26


class ReadoutLine(Value):
    """A line of the read-out."""

    name: str
    value: str
    color: QColor | None = None
    y: float | None = None  # position of the curve in the box, for a dot
    is_bold: bool = False


class CurveOverlay(TimeOverlay):
    """An overlay with a box of values next to the cursor."""

    read: Callable[[int], tuple[str, list[ReadoutLine]]]  # the values at a time; set by the owner

    def paint(self, painter: QPainter, *_: object) -> None:
        """Paint the marks, and above them a dot on every curve and the box of values at the cursor."""
        super().paint(painter)
        hover = self._session.hover.value
        if hover is None or hover.time is None or not self.shown.contains(hover.time):
            return
        x = self.x_of(hover.time)
        title, readings = self.read(hover.time)
        if not readings:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.role("canvas"))
        for reading in readings:
            if reading.y is not None and reading.color is not None:
                painter.setBrush(reading.color)
                painter.drawEllipse(QPointF(round(x) + 0.5, reading.y), 3.5, 3.5)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_box(painter, x, title, self._fitting(readings))

    def _fitting(self, readings: list[ReadoutLine]) -> list[ReadoutLine]:
        """Return as many lines as fit, including the curve under the mouse."""
        room = max(1, int((self._box.height() - 2 * PAD_PX - grown(LINE_PX) - 8) // grown(LINE_PX)))
        if len(readings) <= room:
            return readings
        first = sorted(readings, key=lambda reading: not reading.is_bold)[: max(1, room - 1)]
        rest = ReadoutLine(Message("{0} more", len(readings) - len(first)), "")
        return [*(reading for reading in readings if reading in first), *([rest] if room > 1 else [])]

    def _paint_box(self, painter: QPainter, x: float, title: str, readings: list[ReadoutLine]) -> None:
        metrics, font, title = small_text(painter), painter.font(), translated(title)
        names = [elide_right(translated(reading.name), MAX_NAME) for reading in readings]
        left = max(metrics.horizontalAdvance(name) for name in names) * 1.06 + 14
        right = max(metrics.horizontalAdvance(translated(reading.value)) for reading in readings) * 1.06
        width = max(left + 16 + right, metrics.horizontalAdvance(title)) + 2 * PAD_PX
        height = grown(LINE_PX) * (len(readings) + 1) + 2 * PAD_PX
        at = x + 12 if x + 12 + width <= self._box.width() else x - 12 - width
        has_tag = self._session.measure.value is not None  # at the top, next to the text of its length
        rect = QRectF(round(max(2.0, at)), TAG_PX if has_tag else 4, width, height)
        painter.setPen(self._theme.role("line"))
        painter.setBrush(self._theme.role("raised"))
        painter.drawRoundedRect(rect, 3, 3)
        line = QRectF(rect.x() + PAD_PX, rect.y() + PAD_PX, width - 2 * PAD_PX, grown(LINE_PX))
        painter.setPen(self._theme.role("muted"))
        draw_text(painter, line, MIDDLE_LEFT, title)
        for reading, name in zip(readings, names, strict=True):
            line.translate(0, grown(LINE_PX))
            if reading.color is not None:
                painter.fillRect(QRectF(line.x(), line.center().y() - 4, 8, 8), reading.color)
            font.setBold(reading.is_bold)
            painter.setFont(font)
            painter.setPen(self._theme.role("text" if reading.value else "muted"))
            draw_text(painter, line.adjusted(14, 0, 0, 0), MIDDLE_LEFT, name)
            draw_text(painter, line, MIDDLE_RIGHT, reading.value)
        font.setBold(False)
        painter.setFont(font)


MAX_MEANS = 2  # curves whose means a measured range shows


class CurveCanvas(TimePlot):
    """Draws a `CurveSet` over time; reports clicks on curves."""

    pressed = Signal(str, object, bool)  # name of the curve or "", time, whether it was a double click

    def __init__(self, ui: UiContext, *, is_overview: bool = False) -> None:
        self.values = ValueAxis(ui.theme)
        super().__init__(ui, self.values, is_overview=is_overview)
        self.content = self.curves = CurvesItem(self.box, ui.theme)
        self.overlay = CurveOverlay(self.box, ui.session, ui.theme)
        self.overlay.marks = self._marks
        self.overlay.read = self.readings
        self.picked = ""  # name of the curve that the legend emphasizes
        self.moments: tuple[Line, ...] = ()  # marked through the plot, e.g. dispatches
        self.start()

    def show_set(self, curves: CurveSet, title: str) -> None:
        """Show other curves."""
        self.curves.set = curves
        self.values.title = title
        self._fit_values()
        self._repaint()

    def _fit_values(self) -> None:
        curves = self.curves.set
        low, high = bounds(*curves.extent(self.axis.shown))
        self.curves.low, self.curves.high = self.values.low, self.values.high = low, high
        self.values.is_whole = curves.is_whole
        self.curves.grid_y = ticks(low, high, self.box.height(), curves.is_whole)
        self.curves.grid_x = self.axis.grid_px(self.axis.shown, max(1, round(self.box.width())))

    def readings(self, time: int) -> tuple[str, list[ReadoutLine]]:
        """Return the time as text and the exact value of every curve; the uppermost layer first."""
        curves = self.curves.set
        readings = [self._reading(curve, time) for curve in curves.curves]
        if curves.stacked:
            readings.reverse()
            units = {curve.unit for curve in curves.curves if curve.unit}
            total = curves.total.at(time) if len(readings) > 1 else None
            if total is not None:
                readings.insert(0, ReadoutLine("together", " ".join((exact_text(total), *units))))
        scale, ns = self.axis.scale_of_time, self.axis.scale_of_time.ns_per_cycle
        if not ns:
            return Message("cycle {0:,}", time), readings
        width_ns = self.axis.shown.width * ns
        name, unit_ns = next((unit for unit in UNITS_NS if width_ns >= unit[1]), UNITS_NS[-1])
        digits = max(0, min(6, math.ceil(math.log10(unit_ns * 1000 / max(width_ns, 1e-9)))))  # of a pixel
        return f"{(time - scale.origin) * ns / unit_ns:,.{digits}f} {name}", readings

    def _reading(self, curve: Curve, time: int) -> ReadoutLine:
        value = curve.steps.at(time)
        text = "–" if value is None else " ".join(part for part in (exact_text(value), curve.unit) if part)
        y = None
        if value is not None and not self.curves.set.stacked:
            y = float(self.curves.scale_of().y(np.array(float(value))))
        color = curve_color(self.ui.theme, curve.color)
        return ReadoutLine(curve.name, text, color, y, curve.name == self.curves.bold)

    def _marks(self) -> Marks:
        session, token, lines = self.session, self.session.token(), self.moments
        if token is not None:
            lines = (*lines, Line(token[0].tokens.span(token[1]).begin, "accent"))
        times = (bookmark_time(session, mark) for mark in session.bookmarks.value)
        return Marks(lines=lines, bookmarks=tuple(time for time in times if time is not None))

    def _view_changed(self) -> None:
        super()._view_changed()
        self._fit_values()

    def pick(self, name: str) -> None:
        """Emphasize a curve while no other one is under the mouse, "" for none."""
        self.picked = name
        self.point_out("")

    def hover_at(self, at: QPointF, on_screen: QPointF) -> None:
        """Pass the cursor's time to the session, and thicken the curve under the mouse."""
        self.point_out(self._name_at(at))
        self.session.hover.set(Hover(time=self.time_at(at.x())))

    def hover_ended(self) -> None:
        self.point_out("")
        self.session.hover.set(None)

    def point_out(self, name: str) -> None:
        """Emphasize a curve, "" for the picked one."""
        name = name or self.picked
        if name != self.curves.bold:
            self.curves.bold = name
            self.curves.update()
            self.overlay.update()

    def _name_at(self, at: QPointF) -> str:
        inside = at - self.box.scenePos()
        curve = self.curves.at(inside.x(), inside.y())
        return "" if curve is None else curve.name

    def clicked(self, at: QPointF, is_double: bool) -> None:
        self.pressed.emit(self._name_at(at), self.time_at(at.x()), is_double)

    def measured(self, window: TimeWindow) -> str:
        """Return the mean of a curve or two over the measured time."""
        curves = self.curves.set.curves
        if not 0 < len(curves) <= MAX_MEANS:
            return ""
        means = [float(curve.steps.means(window, 1)[0]) for curve in curves if curve.is_step]
        pairs = zip(curves, means, strict=False)
        return join_texts(" · ", (Message("{0}: mean {1:,.4g}", curve.name, mean) for curve, mean in pairs))

    def y_of(self, value: float) -> float:
        """Return the position of a value in the widget."""
        return self.box.scenePos().y() + float(self.curves.scale_of().y(np.array(value)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.is_started:
            self._fit_values()

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 80)


class CurvePlot(QWidget):
    """Curves with the view and the gestures of the timelines; a click in the legend emphasizes one."""

    clicked = Signal(str, object, bool)  # name of the curve or "", time in cycles, whether a double click

    def __init__(self, ui: UiContext, name: str, *, is_overview: bool = False) -> None:
        super().__init__()
        self._theme = ui.theme
        self.canvas = named(CurveCanvas(ui, is_overview=is_overview), name)
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
        return Sheet(self.declared.id, ("cycle", *heads), _rows(curves, self.plot.canvas.view))


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
