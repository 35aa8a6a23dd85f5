"""Shared parts of drawing over time: items, axes and the ruler in pixels, batches of boxes, names."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy import ndarray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QStaticText
from PySide6.QtWidgets import QGraphicsItem, QGraphicsObject, QGraphicsWidget, QSizePolicy

from rcv_py.base import colors
from rcv_py.base.record import Value
from rcv_py.base.runs import ascending, ranges
from rcv_py.base.text import Message, count, elide_right, nanoseconds, translated
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.plain_text import MIDDLE_RIGHT, draw_text, set_text
from rcv_py.ui.core.shapes import draws_shapes, path_of, pyqtgraph
from rcv_py.ui.core.text_size import grown
from rcv_py.ui.core.theme import Theme

TEXT_PX = 11  # px of rulers, names of rows and read-outs
MAX_NAMES = 500  # in boxes of a picture
MAX_TEXTS = 4 * MAX_NAMES  # maximum names kept


class PlotBox(QGraphicsWidget):
    """The area of the picture; the view handles the mouse."""

    def __init__(self) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemClipsChildrenToShape)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def width(self) -> float:
        """Return the width in px."""
        return self.size().width()

    def height(self) -> float:
        """Return the height in px."""
        return self.size().height()


class BoxItem(QGraphicsObject):
    """An item as large as its box that paints in pixels and knows the window of time itself."""

    covers = False  # whether it paints every pixel, so that it hides everything below

    def __init__(self, box: PlotBox, theme: Theme) -> None:
        super().__init__(box)
        self._box, self._theme = box, theme
        self.shown = TimeWindow(0, 1)
        box.geometryChanged.connect(self._resized)

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, self._box.width(), self._box.height())

    def forget(self) -> None:
        """Drop caches before the next paint: the colours or the source changed."""
        self.update()

    def _resized(self) -> None:
        self.prepareGeometryChange()
        self.update()


class PlainAxis(QGraphicsWidget):
    """An axis that its subclass paints; its thickness follows its text."""

    def __init__(self, side: str, theme: Theme, thick_px: int) -> None:
        super().__init__()
        self._theme, self._thick_px = theme, thick_px
        self.is_upright = side == "left"
        self.fit_text()

    def fit_text(self) -> None:
        """Set the thickness for the current text size."""
        thick = grown(self._thick_px)
        if self.is_upright:
            self.setMinimumWidth(thick)
            self.setMaximumWidth(thick)
        else:
            self.setMinimumHeight(thick)
            self.setMaximumHeight(thick)

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw the axis with a font of the ruler's size."""
        self.draw(painter, small_text(painter), self.size().width(), self.size().height())

    def draw(self, painter: QPainter, metrics: QFontMetricsF, width: float, height: float) -> None:
        """Draw the axis into its width and height in px."""
        raise NotImplementedError


def small_text(painter: QPainter) -> QFontMetricsF:
    """Set a painter's font to the ruler's size; return the metrics."""
    font = painter.font()
    font.setPixelSize(grown(TEXT_PX))
    painter.setFont(font)
    return QFontMetricsF(font)


class Rects:
    """A buffer of rectangles that Qt reads without a Python object for each."""

    @cached_property
    def _array(self) -> Any:
        return pyqtgraph().Qt.internals.PrimitiveArray(QRectF, 4)

    def draw(self, painter: QPainter, columns: ndarray) -> None:
        """Draw float [n, 4] rows of left, top, width and height with the painter's brush and pen."""
        if not len(columns):
            return
        if draws_shapes():
            painter.drawPath(path_of(columns))
            return
        self._array.resize(len(columns))
        self._array.ndarray()[:] = columns
        painter.drawRects(*self._array.drawargs())

    def draw_by_code(
        self, painter: QPainter, columns: ndarray, code: ndarray, color: Callable[[int], QColor | QBrush]
    ) -> None:
        """Draw rectangles without outline, one call per code that occurs; thin rectangles last, on top."""
        painter.setPen(Qt.PenStyle.NoPen)
        is_thin = columns[:, 2] < 2
        for chosen in (~is_thin, is_thin):
            for value in ascending(code[chosen]).tolist():
                painter.setBrush(color(value))
                self.draw(painter, columns[chosen & (code == value)])


def fill(strips: ndarray, row: ndarray, left: ndarray, right: ndarray, code: ndarray) -> None:
    """Set the pixels [left, right) of rows of `strips` (uint8 [rows, width]) to codes; later boxes win."""
    length = right - left
    first = row.astype(np.int64) * strips.shape[1] + left
    strips.reshape(-1)[ranges(first, length)] = np.repeat(code, length)


def box_lines(
    line: ndarray, left: ndarray, right: ndarray, code: ndarray, *, lines: int, width: int, nothing: int
) -> ndarray:
    """Return lines of pixels with boxes in them, uint8 [lines, width], in a single pass over the pixels.

    Each box has its line, its integer edges (float64, clipped to the width) and its code.  A box that begins
    before another ends is cut there, but boxes thinner than 2 pixels lie on top of others.
    """
    is_thin = right - left < 2
    begin, end = (line * width + np.clip(edge, 0, width).astype(np.int64) for edge in (left, right))
    thick = np.flatnonzero(~is_thin)
    if np.any(begin[thick[1:]] < begin[thick[:-1]]):
        thick = thick[np.argsort(begin[thick], kind="stable")]
    after = np.maximum.accumulate(end[thick])
    edges = np.zeros(2 * len(thick) + 2, np.int64)
    edges[2:-1:2] = after
    edges[1:-1:2] = np.maximum(begin[thick], edges[:-2:2])
    edges[-1] = lines * width
    codes = np.full(2 * len(thick) + 1, nothing, np.uint8)
    codes[1::2] = code[thick]
    made = np.repeat(codes, np.diff(edges))
    thin = np.flatnonzero(is_thin & (begin < end))
    thin = thin[np.argsort(code[thin], kind="stable")]
    made[begin[thin]] = code[thin]
    return made.reshape(lines, width)


def name_font(theme: Theme, room_px: float, scale: float) -> QFont:
    """Return the font of names in boxes with this height for text: no larger than usual text.

    `scale` is the number of device pixels per pixel; the font is in device pixels.
    """
    font = QFont(theme.mono_family)
    font.setPixelSize(max(7, round(min(grown(TEXT_PX), room_px) * scale)))
    return font


class NamePainter:
    """Writes names into boxes, and caches the glyph layout of each."""

    def __init__(self) -> None:
        self._font = ""
        self._texts: dict[str, QStaticText] = {}

    def paint(
        self,
        painter: QPainter,
        font: QFont,
        room_px: ndarray,
        name_of: Callable[[int], tuple[str, QColor, float, float]],
        *,
        fewest: int = 2,
        shorten: Callable[[str, int], str] = elide_right,
    ) -> None:
        """Write into the boxes that have room for some characters, the widest first.

        `room_px` is float64 [boxes]; `name_of` gives the text of a box, its colour, its left edge and its
        middle; `shorten` gives the text that fits into a number of characters.
        """
        metrics = QFontMetricsF(font)
        room = room_px // metrics.horizontalAdvance("0")
        chosen = np.flatnonzero(room >= fewest)
        chosen = chosen[np.argsort(-room[chosen], kind="stable")][:MAX_NAMES]
        if font.key() != self._font or len(self._texts) > MAX_TEXTS:
            self._font, self._texts = font.key(), {}
        up, pen, texts = (metrics.ascent() + metrics.descent()) / 2, None, self._texts
        painter.setFont(font)
        for box, fits in zip(chosen.tolist(), room[chosen].astype(int).tolist(), strict=True):
            text, color, left, middle = name_of(box)
            text = shorten(text, fits)
            if (written := texts.get(text)) is None:
                written = texts[text] = set_text(text)
            if color is not pen:
                painter.setPen(pen := color)
            painter.drawStaticText(QPointF(left, middle - up), written)


def readable_on(theme: Theme, ground: QColor) -> QColor:
    """Return the text or the canvas colour, whichever is easier to read on a colour."""
    roles = theme.role("text"), theme.role("canvas")
    return max(roles, key=lambda role: colors.contrast(role.name(), ground.name()))


HEIGHT = 22
LABEL_PX = 110  # px a tick needs for its number
UNITS_NS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


class TimeScale(Value):
    """Formats times: in cycles, or in nanoseconds from `origin` if a cycle's length is known."""

    origin: int = 0  # cycles
    ns_per_cycle: float = 0.0  # 0: write cycles

    def ticks(self, window: TimeWindow, width_px: float) -> tuple[list[float], float]:
        """Return times of the ticks in cycles, and the step in the written unit."""
        unit, origin = self.ns_per_cycle or 1.0, self.origin if self.ns_per_cycle else 0
        step = round_step(window.width * unit * grown(LABEL_PX) / max(1.0, width_px))
        step = step if self.ns_per_cycle else max(1.0, step)
        first, last = -(-(window.begin - origin) * unit // step), (window.end - origin) * unit // step
        return (np.arange(first, last + 1) * step / unit + origin).tolist(), step

    def text(self, time: float, step: float) -> str:
        """Return the number at a tick, with its unit."""
        if not self.ns_per_cycle:
            return count(round(time))
        value = (time - self.origin) * self.ns_per_cycle
        name, scale = next((unit for unit in UNITS_NS if step >= unit[1] * 0.999), UNITS_NS[-1])
        digits = 0 if step >= scale else 1
        return f"{value / scale:,.{digits}f} {name}"

    @property
    def unit(self) -> str:
        """Return the unit for the title."""
        return "time since the trace began" if self.ns_per_cycle else "cycles"


def round_step(wanted: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that is at least `wanted`."""
    power = 10.0 ** np.floor(np.log10(max(wanted, 1e-9)))
    return float(next(power * digit for digit in (1, 2, 5, 10) if power * digit >= wanted * 0.999))


class TimeAxis(PlainAxis):
    """Ticks and numbers at the top; the title at the right gives the unit and the time of a pixel."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("top", theme, HEIGHT)
        self.scale_of_time = TimeScale()
        self.shown = TimeWindow(0, 1)

    def title(self, scale_px: float = 1.0) -> str:
        """Return the unit, and the time of a pixel (`scale_px` a logical one) if that is several cycles."""
        per_px = self.shown.width / max(1.0, self.size().width() * scale_px)
        ns = self.scale_of_time.ns_per_cycle
        length = nanoseconds(per_px * ns) if ns else Message("{0:,.0f} cycles", per_px)
        return self.scale_of_time.unit + (Message(" · 1 px = {0}", length) if per_px >= 2 else "")

    def grid_px(self, window: TimeWindow, width_px: int) -> ndarray:
        """Return the pixels of the ticks in a picture of that width, int64."""
        times, _ = self.scale_of_time.ticks(window, self.size().width() or width_px)
        at = np.floor((np.array(times) - window.begin) * width_px / window.width).astype(np.int64)
        return at[(at >= 0) & (at < width_px)]

    def draw(self, painter: QPainter, metrics: QFontMetricsF, width: float, height: float) -> None:
        times, step = self.scale_of_time.ticks(self.shown, width)
        per_cycle = width / self.shown.width
        places = [(time - self.shown.begin) * per_cycle for time in times]
        painter.setPen(self._theme.role("line"))
        painter.drawLines([QLineF(x, height - 7, x, height) for x in places])
        painter.setPen(self._theme.role("muted"))
        widest, texts = metrics.maxWidth(), [self.scale_of_time.text(time, step) for time in times]
        titles = (self.title(painter.deviceTransform().m11()), self.scale_of_time.unit, "")
        for title in map(translated, titles):  # a shorter one if it leaves no number any room
            room = width - metrics.horizontalAdvance(title) - 16
            fitting = [
                (x, text)
                for x, text in zip(places, texts, strict=True)
                # Measured only if it is near.
                if x + len(text) * widest < room or x + metrics.horizontalAdvance(text) < room
            ]
            if fitting or not texts:
                break
        for x, text in fitting:
            draw_text(painter, QPointF(x + 4, height - 7), text)
        draw_text(painter, QRectF(0, 0, width - 6, height - 3), MIDDLE_RIGHT, title)
        painter.setPen(self._theme.role("line"))
        painter.drawLine(QPointF(0, height - 0.5), QPointF(width, height - 0.5))
