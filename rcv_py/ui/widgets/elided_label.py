"""A line of text that ends in an ellipsis where it does not fit; the tooltip has all of it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent

from rcv_py.ui.core.plain_text import PlainLabel, draw_text, tooltip

MIN_PX = 24


class ElidedLabel(PlainLabel):
    """A label that can be as narrow as a few characters."""

    def minimumSizeHint(self) -> QSize:
        """Hardly anything."""
        return QSize(MIN_PX, super().minimumSizeHint().height())

    def setText(self, text: str) -> None:
        """Show a text; it is the tooltip as well, unless somebody gave it another."""
        if self.toolTip() == tooltip(self.text()):
            self.setToolTip(tooltip(text))
        super().setText(text)
        self.setAccessibleName(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what fits."""
        box = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, box.width())
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            draw_text(painter, box, self.alignment(), text)
