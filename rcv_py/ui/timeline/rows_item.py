"""All rows of a timeline as one graphics item: a picture in device pixels, kept until its key changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from rcv_py.analysis.timeline.pixel_codes import Pixels
from rcv_py.base.colors import MARKER_TURNS
from rcv_py.model.kinds import MarkerKind, WaveState
from rcv_py.model.window import TimeWindow
from rcv_py.ui.core.theme import Theme

# Codes of pixels besides those of the raster (token kinds, and kinds with STALLED).
CANVAS, GRID, TINT = 0x20, 0x21, 0x22
STRIP = 0x28  # plus the place of a state in STRIP_ORDER; what is behind the last place is no colour
STRIP_ORDER = (WaveState.EXEC, WaveState.WAIT, WaveState.STALL, WaveState.IDLE)  # from the bottom
KERNELS, FAINT_KERNELS = 0x40, 0x60  # plus the number of a kernel, modulo KERNEL_COLORS
KERNEL_COLORS = 12
MARKERS = 0x80  # plus MARKER_COLORS times the kind of a marker, plus the number of its name
MARKER_COLORS = len(MARKER_TURNS)
FAINT = 0.55  # share of the background in a box that has no detail


def color_table(theme: Theme) -> list[int]:
    """0xffRRGGBB of every code a pixel can have."""
    table = theme.lod_table.copy()
    tint = theme.soft(theme.role("accent_soft"), 0.5)
    for code, color in ((CANVAS, theme.role("canvas")), (GRID, theme.role("grid")), (TINT, tint)):
        table[code] = color.rgba()
    for place, state in enumerate(STRIP_ORDER):
        table[STRIP + place] = theme.state(state).rgba()
    for number in range(KERNEL_COLORS):
        table[KERNELS + number] = theme.kernel(number).rgba()
        table[FAINT_KERNELS + number] = theme.soft(theme.kernel(number), FAINT).rgba()
    for kind in MarkerKind:
        for name in range(MARKER_COLORS):
            table[MARKERS + kind * MARKER_COLORS + name] = theme.marker(kind, name).rgba()
    return table.tolist()


def marker_codes(kind: np.ndarray, name: np.ndarray) -> np.ndarray:
    """The pixel codes of markers by kind and name, uint8."""
    return (MARKERS + kind.astype(np.int64) * MARKER_COLORS + name % MARKER_COLORS).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class RowShape:
    """Heights of a row, in logical pixels: spans, strip of states, band of markers, gap to the next row."""

    spans: int = 18
    strip: int = 5
    gap: int = 3
    band: int = 0

    @property
    def pitch(self) -> int:
        """From one row to the next."""
        return self.spans + self.strip + self.band + self.gap


@dataclass(frozen=True, eq=False)
class Frame:
    """A picture being made.  All lengths are device pixels; row r begins at `top(r)`."""

    canvas: np.ndarray  # uint8 [height, width], codes of `color_table`
    pixels: Pixels
    first: int  # rows in view
    stop: int
    scale: float  # device pixels a logical pixel
    scroll_px: float  # logical
    shape: RowShape
    theme: Theme

    def top(self, row: int) -> int:
        """Where a row begins; may be negative."""
        return round((row * self.shape.pitch - self.scroll_px) * self.scale)

    @property
    def spans_px(self) -> int:
        """Height of the spans."""
        return max(1, round(self.shape.spans * self.scale))

    @property
    def strip_px(self) -> int:
        """Height of the strip of states."""
        return round(self.shape.strip * self.scale)

    def part(self, row: int, below: int = 0, height: int | None = None) -> np.ndarray:
        """The pixels of a row that are in view, as a view into the canvas: its spans by default."""
        top = self.top(row) + below
        stop = top + (self.spans_px if height is None else height)
        return self.canvas[max(0, top) : max(0, min(stop, len(self.canvas)))]


class RowSource(Protocol):
    """What a timeline shows."""

    version: int  # grows when anything of the picture changes
    shape: RowShape
    selected_row: int  # -1: none

    def __len__(self) -> int: ...

    def label(self, row: int) -> str:
        """The name beside a row."""

    def group(self, row: int) -> str:
        """What the row belongs to; equal for neighbours of one group."""

    def value(self, row: int) -> str:
        """A number beside the name, "" for none."""

    def paint(self, frame: Frame) -> None:
        """Fill the rows' pixels."""

    def paint_over(self, painter: QPainter, frame: Frame) -> None:
        """Add what is drawn one by one: rectangles, names, hatching."""


class RowsItem(pg.GraphicsObject):
    """Paints the rows in view.  It lives in the pixels of its view box, not in data coordinates."""

    def __init__(self, box: pg.ViewBox, theme: Theme, source: RowSource) -> None:
        super().__init__()
        self.setParentItem(box)
        self._box = box
        self._theme = theme
        self._key: tuple[object, ...] = ()
        self._image = QImage()
        self._canvas = np.zeros((0, 0), np.uint8)
        self.source = source
        self.shown = TimeWindow(0, 1)
        self.scroll_px = 0.0
        self.grid: Callable[[TimeWindow, int], np.ndarray] = _no_grid
        self.frame_ms = 0.0  # what the last new picture cost
        box.sigResized.connect(self._resized)

    def boundingRect(self) -> QRectF:
        """The whole view box."""
        return QRectF(0, 0, self._box.width(), self._box.height())

    def viewTransformChanged(self) -> None:
        """Data coordinates mean nothing to this item."""

    def rows_in_view(self, height: float) -> tuple[int, int]:
        """First row in view and the one behind the last."""
        source = self.source
        first = int(self.scroll_px // source.shape.pitch)
        return max(0, first), min(len(source), int((self.scroll_px + height) // source.shape.pitch) + 1)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw the picture, made anew only if it would be another one."""
        rect = self.boundingRect()
        if rect.width() < 1 or rect.height() < 1:
            return
        # Not painter.device(): PySide6 6.11 crashes when the wrapper of a window's backing store dies.
        scale = (widget.devicePixelRatioF() if widget is not None else 1.0) * painter.worldTransform().m11()
        source = self.source
        look = (source.version, source.selected_row, source.shape)
        key = (self.shown, rect.size().toTuple(), scale, self.scroll_px, look)
        if key != self._key:
            start = perf_counter()
            self._render(rect, scale, source)
            self._key = key
            self.frame_ms = (perf_counter() - start) * 1e3
        painter.drawImage(rect, self._image)

    def forget(self) -> None:
        """Make the picture anew at the next paint: the source or the colours are others."""
        self._key = ()
        self.update()

    def _render(self, rect: QRectF, scale: float, source: RowSource) -> None:
        width, height = max(1, round(rect.width() * scale)), max(1, round(rect.height() * scale))
        if self._canvas.shape != (height, width):
            self._canvas = np.empty((height, width), np.uint8)
        first, stop = self.rows_in_view(rect.height())
        pixels = Pixels(self.shown, width)
        frame = Frame(self._canvas, pixels, first, stop, scale, self.scroll_px, source.shape, self._theme)
        self._background(frame)
        source.paint(frame)
        codes = QImage(self._canvas.data, width, height, width, QImage.Format.Format_Indexed8)
        codes.setColorTable(color_table(self._theme))
        self._image = codes.convertToFormat(QImage.Format.Format_RGB32)
        painter = QPainter(self._image)
        source.paint_over(painter, frame)
        painter.end()

    def _background(self, frame: Frame) -> None:
        line = np.full(frame.pixels.width_px, CANVAS, np.uint8)
        line[self.grid(frame.pixels.window, frame.pixels.width_px)] = GRID
        frame.canvas[:] = line
        source = self.source
        if frame.first <= source.selected_row < frame.stop:
            below = -round(source.shape.gap * frame.scale / 2)
            frame.part(source.selected_row, below, round(source.shape.pitch * frame.scale))[:] = TINT

    def _resized(self) -> None:
        self.prepareGeometryChange()
        self.update()


def _no_grid(window: TimeWindow, width_px: int) -> np.ndarray:
    return np.zeros(0, np.int64)
