"""Rows of plain boxes: one look-up of columns for all rows in view, painted as pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtGui import QColor, QPainter

from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.items import fill, name_font, paint_names
from rcv_py.ui.timeline.rows_item import (
    CANVAS,
    FAINT_KERNELS,
    KERNEL_COLORS,
    KERNELS,
    Frame,
    RowName,
    RowShape,
    RowSource,
)

NAMES_FROM_PX = 9  # height of a row
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
        box = low + int(np.searchsorted(self.begin[low:high], stop, side="left")) - 1
        return int(box) if box >= low and self.end[box] > first else -1

    def count(self, row: int, first: int, stop: int) -> int:
        """How many boxes of a row touch the cycles [first, stop)."""
        low, high = np.searchsorted(self.row, [row, row + 1])
        after = np.searchsorted(self.begin[low:high], stop, side="left")
        return int(after - np.searchsorted(self.end[low:high], first, side="right"))


def no_boxes() -> Boxes:
    """Rows without any box."""
    narrow, wide = np.zeros(0, np.int32), np.zeros(0, np.int64)
    return Boxes(narrow, wide, wide, narrow, np.zeros(0, bool))


class BoxRows(RowSource):
    """A row source of boxes in the colours of kernels."""

    def __init__(self, theme: Theme, shape: RowShape) -> None:
        super().__init__(theme, shape)
        self.boxes = no_boxes()
        self.name_of: Callable[[int], tuple[str, QColor]] = lambda box: ("", QColor())  # of a marker

    def set_boxes(self, boxes: Boxes, names: Sequence[RowName]) -> None:
        """Show other boxes."""
        self.boxes, self.names = boxes, tuple(names)
        self.version += 1

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
        strip = np.full((frame.stop - frame.first, width), CANVAS, np.uint8)
        fill(strip, boxes.row[seen] - frame.first, left, right, self._codes(seen))
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
        begin = np.maximum(boxes.begin[low:high], window.begin)
        end = np.minimum(boxes.end[low:high], window.end)
        per_cycle, margin = frame.pixels.width_px / window.width, 3 * frame.scale
        length = np.where(boxes.marker[low:high] > 0, (end - begin) * per_cycle, 0)

        def name(at: int) -> tuple[str, QColor, float, float]:
            left = float((begin[at] - window.begin) * per_cycle) + margin
            middle = frame.top(int(boxes.row[low + at])) + frame.spans_px / 2
            return *self.name_of(int(low) + at), left, middle

        font = name_font(frame.theme, min(11, frame.shape.spans - 3) * frame.scale)
        paint_names(painter, font, length - 2 * margin, name)

    def _codes(self, rows: np.ndarray) -> np.ndarray:
        first = np.where(self.boxes.is_strong[rows], KERNELS, FAINT_KERNELS)
        code = (first + self.boxes.color[rows] % KERNEL_COLORS).astype(np.uint8)
        marker = self.boxes.marker
        return code if marker is None else np.where(marker[rows] > 0, marker[rows], code)
