"""Below a plot of curves: the whole capture in small, and on it the visible window."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rcv_py.analysis.core.step_curve import StepCurve
from rcv_py.ui.core.context import UiContext
from rcv_py.ui.timeline.brush import Brush
from rcv_py.ui.timeline.brush_strip import BrushStrip

HEIGHT = 22


class RangeStrip(BrushStrip, QWidget):
    """The highest value of any curve over all time; drag the window on it, its edges, or draw a new one."""

    def __init__(self, ui: UiContext) -> None:
        super().__init__()
        self.ui, self.session = ui, ui.session
        self.brush = Brush()
        self.curves: tuple[StepCurve, ...] = ()
        self._shape = QPolygonF()
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Visible range of the plot")
        self.setToolTip(
            "The whole capture. Drag the window or its edges; drag elsewhere for a new one; "
            "click to go there; double click for everything."
        )
        for cell in (self.session.view, self.session.clock_range, self.session.hover):
            cell.watch(self._repaint)
        self.session.trace.watch(self._trace_changed)
        ui.theme.changed.connect(self._repaint)
        self._trace_changed()

    def show_curves(self, curves: Iterable[StepCurve]) -> None:
        """Draw other curves."""
        self.curves = tuple(curve for curve in curves if len(curve))
        self._reshape()

    def sizeHint(self) -> QSize:
        """A thin strip."""
        return QSize(600, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the curve, the clock range, the window and the cursor."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.ui.theme.role("canvas"))
            if self.session.trace.value is not None:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(self.ui.theme.soft(self.ui.theme.role("muted"), 0.35))
                painter.drawPolygon(self._shape)
                self._paint_range(painter)
                self.paint_window(painter, self.height())
            painter.fillRect(0, 0, self.width(), 1, self.ui.theme.role("line"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make the shape for the new width."""
        self.brush.width_px = max(1, self.width())
        self._reshape()

    def _paint_range(self, painter: QPainter) -> None:
        window, hover = self.session.clock_range.value, self.session.hover.value
        if window is not None:
            left, right = round(self.brush.x_of(window.begin)), round(self.brush.x_of(window.end))
            painter.fillRect(left, HEIGHT - 3, max(2, right - left), 3, self.ui.theme.role("range"))
        if hover is not None and hover.time is not None:
            painter.fillRect(round(self.brush.x_of(hover.time)), 0, 1, HEIGHT, self.ui.theme.role("muted"))

    def _trace_changed(self) -> None:
        trace = self.session.trace.value
        if trace is not None:
            self.brush.outer = self.session.outer(trace)
        self._reshape()

    def _reshape(self) -> None:
        """One column a pixel, as high as the highest value in it."""
        self._shape = QPolygonF()
        width = self.width()
        if self.curves and width > 1:
            found = [np.nan_to_num(curve.columns(self.brush.outer, width).high) for curve in self.curves]
            high = np.maximum(np.max(found, axis=0), 0)
            top = HEIGHT - 1 - high / max(1e-9, float(high.max())) * (HEIGHT - 6)
            x = np.repeat(np.arange(width + 1, dtype=float), 2)
            y = np.concatenate([[HEIGHT], np.repeat(top, 2), [HEIGHT]])
            self._shape = pg.functions.arrayToQPolygonF(x, y)
        self.update()

    def _repaint(self) -> None:
        self.update()
