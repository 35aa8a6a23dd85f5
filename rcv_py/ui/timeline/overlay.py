"""What is painted over rows: the outlines of selection and hover, and small marks at tokens."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from rcv_py.state.session import Session
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.rows_item import RowsItem
from rcv_py.ui.timeline.time_overlay import Line, Marks, Place, TimeOverlay

__all__ = ["Line", "Marks", "Overlay", "Place"]

FEW_TICKS = 600  # marks of the selected line in view; more would be a smear


class Overlay(TimeOverlay):
    """The overlay of a timeline with rows."""

    def __init__(self, box: pg.ViewBox, rows: RowsItem, session: Session, theme: Theme) -> None:
        super().__init__(box, session, theme, lambda: rows.shown)
        self._rows = rows

    def paint_below(self, painter: QPainter, marks: Marks) -> None:
        """Paint the ticks of values the kernel wrote and of the selected line."""
        self._paint_ticks(painter, marks.data, "text", below=True)
        self._paint_ticks(painter, marks.ticks, "accent")

    def paint_above(self, painter: QPainter, marks: Marks) -> None:
        """Paint the outlines."""
        if marks.hovered is not None and marks.hovered != marks.selected:
            self._outline(painter, marks.hovered, self._theme.role("text"), 1.0)
        if marks.selected is not None:
            self._outline(painter, marks.selected, self._theme.role("accent"), 2.0)

    # -- parts ------------------------------------------------------------------------------------------

    def _paint_ticks(
        self, painter: QPainter, ticks: tuple[tuple[int, np.ndarray], ...], role: str, below: bool = False
    ) -> None:
        source = self._rows.source
        if source is None:
            return
        window, width = self._rows.shown, self._box.width()
        places = [
            (row, np.unique(np.round((times - window.begin) * (width / window.width))).tolist())
            for row, times in ticks
        ]
        if sum(len(at) for _, at in places) > FEW_TICKS:
            return
        color = self._theme.role(role)
        for row, at in places:
            top = row * source.shape.pitch - self._rows.scroll_px + (source.shape.spans if below else -2)
            for x in at:
                painter.fillRect(QRectF(x, top, 2, 3 if below else 2), color)

    def _outline(self, painter: QPainter, place: Place, color: QColor, width: float) -> None:
        source = self._rows.source
        if source is None or not place.span.overlaps(self._rows.shown.begin, self._rows.shown.end):
            return
        left, right = self.x_of(place.span.begin), self.x_of(place.span.end)
        top = place.row * source.shape.pitch - self._rows.scroll_px + place.below
        rect = QRectF(left, top, max(2.0, right - left), place.height or source.shape.spans)
        pen = QPen(color, width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(rect.adjusted(-width / 2, -width / 2, width / 2, width / 2))
