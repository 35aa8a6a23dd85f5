"""The names at the left of the rows: groups that stay in view, and rows when there is room."""

from __future__ import annotations

from itertools import groupby

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from rcv_py.ui.core.plain_text import draw_text
from rcv_py.ui.core.theme import Theme
from rcv_py.ui.timeline.rows_item import RowsItem

WIDTH = 112
TEXT_PX = 11


class RowLabels(pg.AxisItem):
    """Takes the place of the left axis; groups are sticky, names elided."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("left")
        self._theme = theme
        self.rows: RowsItem | None = None
        self.setStyle(showValues=False, tickLength=0)
        self.setWidth(WIDTH)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint groups and rows."""
        rows = self.rows
        if rows is None:
            return
        width, height = self.size().width(), self.size().height()
        painter.setClipRect(QRectF(0, 0, width, height))
        font = painter.font()
        font.setPixelSize(TEXT_PX)
        painter.setFont(font)
        first, stop = rows.rows_in_view(height)
        has_names = rows.source.shape.spans >= TEXT_PX - 2
        for group, members in groupby(range(first, stop), rows.source.group):
            self._paint_group(painter, group, list(members), has_names)
        if has_names:
            for row in range(first, stop):
                self._paint_row(painter, row)
        painter.setPen(self._theme.role("line"))
        painter.fillRect(QRectF(width - 1, 0, 1, height), self._theme.role("line"))

    def _paint_group(self, painter: QPainter, group: str, members: list[int], has_names: bool) -> None:
        rows = self.rows
        if rows is None or not group:
            return
        pitch = rows.source.shape.pitch
        top = max(0.0, members[0] * pitch - rows.scroll_px)
        bottom = (members[-1] + 1) * pitch - rows.scroll_px
        is_first = members[0] == 0 or rows.source.group(members[0] - 1) != group
        if is_first and members[0] > 0:
            painter.setPen(self._theme.role("line"))
            painter.drawLine(0, round(top), round(self.size().width()), round(top))
        if bottom - top < TEXT_PX:
            return
        room = (self.size().width() - 14) * (0.62 if has_names else 1.0)
        painter.setPen(self._theme.role("muted"))
        text = QFontMetricsF(painter.font()).elidedText(group, Qt.TextElideMode.ElideRight, room)
        rect = QRectF(8, top, room, min(bottom - top, max(rows.source.shape.spans, TEXT_PX + 3)))
        draw_text(painter, rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def _paint_row(self, painter: QPainter, row: int) -> None:
        rows = self.rows
        if rows is None:
            return
        shape = rows.source.shape
        top = row * shape.pitch - rows.scroll_px
        width = self.size().width()
        is_selected = row == rows.source.selected_row
        if is_selected:
            painter.fillRect(QRectF(width - 4, top, 3, shape.spans), self._theme.role("accent"))
        painter.setPen(self._theme.role("accent" if is_selected else "text"))
        has_group = bool(rows.source.group(row))
        room = (width - 16) * (0.38 if has_group else 1.0)
        label = rows.source.label(row)
        text = QFontMetricsF(painter.font()).elidedText(label, Qt.TextElideMode.ElideRight, room)
        rect = QRectF(width - 8 - room, top, room, shape.spans)
        side = Qt.AlignmentFlag.AlignRight if has_group else Qt.AlignmentFlag.AlignLeft
        draw_text(painter, rect, Qt.AlignmentFlag.AlignVCenter | side, text)
        if value := rows.source.value(row):
            painter.setPen(self._theme.role("muted"))
            draw_text(painter, rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, value)
