"""Many rectangles at once: one draw call a colour.  The only file that knows pyqtgraph's PrimitiveArray."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pyqtgraph.Qt.internals import PrimitiveArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter


class Rects:
    """A buffer of rectangles that Qt reads without a Python object for each."""

    def __init__(self) -> None:
        self._array = PrimitiveArray(QRectF, 4)

    def draw(self, painter: QPainter, columns: np.ndarray) -> None:
        """Draw float [n, 4] rows of left, top, width and height with the painter's brush and pen."""
        if not len(columns):
            return
        self._array.resize(len(columns))
        self._array.ndarray()[:] = columns
        painter.drawRects(*self._array.drawargs())

    def draw_by_code(
        self,
        painter: QPainter,
        columns: np.ndarray,
        code: np.ndarray,
        color: Callable[[int], QColor | QBrush],
    ) -> None:
        """Draw rectangles without outline, a call for every code that occurs; thin ones last, on top."""
        painter.setPen(Qt.PenStyle.NoPen)
        is_thin = columns[:, 2] < 2
        for chosen in (~is_thin, is_thin):
            for one in np.unique(code[chosen]).tolist():
                painter.setBrush(color(one))
                self.draw(painter, columns[chosen & (code == one)])
