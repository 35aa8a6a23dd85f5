"""The names at the left of the rows: groups that stay in view, and rows when there is room."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.items import TEXT_PX, PlainAxis
from rcv_py.ui.timeline.rows_item import RowsItem

WIDTH = 112


class RowLabels(PlainAxis):
    """Takes the place of the left axis; groups are sticky, names elided."""

    rows: RowsItem  # whose names these are; set before anything is painted

    def __init__(self, theme: Theme) -> None:
        super().__init__("left", theme)
        self.setWidth(WIDTH)

    def draw(self, painter: QPainter, metrics: QFontMetricsF, width: float, height: float) -> None:
        """Paint groups and rows."""
        rows, names = self.rows, self.rows.source.names
        painter.setClipRect(QRectF(0, 0, width, height))
        first, stop = rows.rows_in_view(height)
        for group, members in groupby(range(first, stop), lambda row: names[row].group):
            if group:
                self._paint_group(painter, metrics, group, list(members))
        if rows.source.shape.spans >= TEXT_PX - 2:
            for row in range(first, stop):
                self._paint_row(painter, metrics, row)
        painter.fillRect(QRectF(width - 1, 0, 1, height), self._theme.role("line"))

    def _paint_group(self, painter: QPainter, metrics: QFontMetricsF, group: str, members: list[int]) -> None:
        rows, shape, width = self.rows, self.rows.source.shape, self.size().width()
        top = max(0.0, members[0] * shape.pitch - rows.scroll_px)
        bottom = (members[-1] + 1) * shape.pitch - rows.scroll_px
        if members[0] > 0 and rows.source.names[members[0] - 1].group != group:
            painter.setPen(self._theme.role("line"))
            painter.drawLine(0, round(top), round(width), round(top))
        if bottom - top < TEXT_PX:
            return
        room = (width - 14) * (0.62 if shape.spans >= TEXT_PX - 2 else 1.0)
        painter.setPen(self._theme.role("muted"))
        text = metrics.elidedText(group, Qt.TextElideMode.ElideRight, room)
        rect = QRectF(8, top, room, min(bottom - top, max(shape.spans, TEXT_PX + 3)))
        draw_text(painter, rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def _paint_row(self, painter: QPainter, metrics: QFontMetricsF, row: int) -> None:
        source, width = self.rows.source, self.size().width()
        top = row * source.shape.pitch - self.rows.scroll_px
        is_selected = row == source.selected_row
        if is_selected:
            painter.fillRect(QRectF(width - 4, top, 3, source.shape.spans), self._theme.role("accent"))
        painter.setPen(self._theme.role("accent" if is_selected else "text"))
        has_group = bool(source.names[row].group)
        room = (width - 16) * (0.38 if has_group else 1.0)
        text = metrics.elidedText(source.names[row].label, Qt.TextElideMode.ElideRight, room)
        rect = QRectF(width - 8 - room, top, room, source.shape.spans)
        side = Qt.AlignmentFlag.AlignRight if has_group else Qt.AlignmentFlag.AlignLeft
        draw_text(painter, rect, Qt.AlignmentFlag.AlignVCenter | side, text)
        if value := source.value(row):
            painter.setPen(self._theme.role("muted"))
            draw_text(painter, rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, value)
