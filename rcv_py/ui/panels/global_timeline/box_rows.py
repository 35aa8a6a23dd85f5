"""Rows of plain boxes: one look-up of columns for all rows in view, painted as pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from rcv_py.base.text import elide_right
from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.rows_item import CANVAS, FAINT_KERNELS, KERNEL_COLORS, KERNELS, Frame, RowShape
from rcv_py.ui.timeline.token_rows import RowName

NAMES_FROM_PX = 9  # height of a row
FEWEST = 2  # characters of a name that must fit
MOST_NAMES = 300  # a picture
GAP_FROM_PX = 4  # a box this wide keeps a pixel of distance to the next


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes sorted by (row, begin); those of a row do not overlap."""

    row: np.ndarray  # int32, row on screen
    begin: np.ndarray  # int64, cycles
    end: np.ndarray  # int64, cycles
    color: np.ndarray  # int32, number of the kernel colour
    is_strong: np.ndarray  # bool: there is detail to see
    marker: np.ndarray | None = None  # uint8, code of the pixels of a marker, 0 of other boxes

    def at(self, row: int, first: int, stop: int) -> int:
        """The last box of a row that touches the cycles [first, stop); -1 if none does."""
        low, high = np.searchsorted(self.row, [row, row + 1])
        found = low + int(np.searchsorted(self.begin[low:high], stop, side="left")) - 1
        return int(found) if found >= low and self.end[found] > first else -1

    def count(self, row: int, first: int, stop: int) -> int:
        """How many boxes of a row touch the cycles [first, stop)."""
        low, high = np.searchsorted(self.row, [row, row + 1])
        after = np.searchsorted(self.begin[low:high], stop, side="left")
        return int(after - np.searchsorted(self.end[low:high], first, side="right"))


def no_boxes() -> Boxes:
    """Rows without any box."""
    whole, wide = np.zeros(0, np.int32), np.zeros(0, np.int64)
    return Boxes(whole, wide, wide, whole, np.zeros(0, bool))


def _no_name(box: int) -> tuple[QColor, str]:
    return QColor(), ""


class BoxRows:
    """A row source of boxes in the colours of kernels."""

    def __init__(self, theme: Theme, shape: RowShape) -> None:
        self.theme = theme
        self.shape = shape
        self.version = 0
        self.selected_row = -1
        self.boxes = no_boxes()
        self.names: tuple[RowName, ...] = ()
        self.name_of: Callable[[int], tuple[QColor, str]] = _no_name  # colour and text of a marker's name

    def set_boxes(self, boxes: Boxes, names: Sequence[RowName]) -> None:
        """Show other boxes."""
        self.boxes, self.names = boxes, tuple(names)
        self.version += 1

    def __len__(self) -> int:
        return len(self.names)

    def label(self, row: int) -> str:
        """The name beside a row."""
        return self.names[row].label

    def group(self, row: int) -> str:
        """What the row belongs to."""
        return self.names[row].group

    def value(self, row: int) -> str:
        """Nothing is measured here."""
        return ""

    def paint(self, frame: Frame) -> None:
        """Fill the pixels of each box; strong boxes win over faint ones in a pixel they share."""
        boxes, window = self.boxes, frame.pixels.window
        low, high = np.searchsorted(boxes.row, [frame.first, frame.stop])
        seen = low + np.flatnonzero(
            (boxes.end[low:high] > window.begin) & (boxes.begin[low:high] < window.end)
        )
        if not len(seen):
            return
        seen = seen[np.argsort(boxes.is_strong[seen], kind="stable")]
        width = frame.pixels.width_px
        left = (np.maximum(boxes.begin[seen], window.begin) - window.begin) * width // window.width
        right = -(-(np.minimum(boxes.end[seen], window.end) - window.begin) * width // window.width)
        right = np.maximum(right, left + 1)
        right -= right - left >= GAP_FROM_PX
        length = right - left
        at = np.repeat(left - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
        strip = np.full((frame.stop - frame.first, width), CANVAS, np.uint8)
        flat = np.repeat((boxes.row[seen] - frame.first).astype(np.int64) * width, length) + at
        strip.reshape(-1)[flat] = np.repeat(self._codes(seen), length)
        for i in range(len(strip)):
            part = frame.part(frame.first + i)
            if len(part):
                part[:] = np.where(strip[i] == CANVAS, part[0], strip[i])

    def paint_over(self, painter: QPainter, frame: Frame) -> None:
        """Write the names of markers, if rows are high enough."""
        boxes, window = self.boxes, frame.pixels.window
        if boxes.marker is None or frame.shape.spans < NAMES_FROM_PX:
            return
        low, high = np.searchsorted(boxes.row, [frame.first, frame.stop])
        begin, end = (
            np.maximum(boxes.begin[low:high], window.begin),
            np.minimum(boxes.end[low:high], window.end),
        )
        per_cycle = frame.pixels.width_px / window.width
        length = np.where(boxes.marker[low:high] > 0, (end - begin) * per_cycle, 0)
        font = QFont(frame.theme.mono_family)
        font.setPixelSize(max(7, round(min(11, frame.shape.spans - 3) * frame.scale)))
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        room = (length - 6 * frame.scale) // metrics.horizontalAdvance("0")
        chosen = np.flatnonzero(room >= FEWEST)
        down = (frame.spans_px + metrics.ascent() - metrics.descent()) / 2
        for place in chosen[np.argsort(-room[chosen], kind="stable")][:MOST_NAMES].tolist():
            box = int(low) + place
            color, text = self.name_of(box)
            left = float((begin[place] - window.begin) * per_cycle) + 3 * frame.scale
            painter.setPen(color)
            draw_text(
                painter,
                QPointF(left, frame.top(int(boxes.row[box])) + down),
                elide_right(text, int(room[place])),
            )

    def _codes(self, rows: np.ndarray) -> np.ndarray:
        first = np.where(self.boxes.is_strong[rows], KERNELS, FAINT_KERNELS)
        code = (first + self.boxes.color[rows] % KERNEL_COLORS).astype(np.uint8)
        marker = self.boxes.marker
        return code if marker is None else np.where(marker[rows] > 0, marker[rows], code)
