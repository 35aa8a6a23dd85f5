"""A line of text that ends in an ellipsis where it does not fit; the tooltip has all of it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

NARROWEST = 10


class ElidedLabel(QLabel):
    """Takes the room that is left, and asks for none."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(NARROWEST)

    def minimumSizeHint(self) -> QSize:
        """Hardly anything."""
        return QSize(NARROWEST, super().minimumSizeHint().height())

    def setText(self, text: str) -> None:
        """Show a text."""
        super().setText(text)
        self.setToolTip(text)
        self.setAccessibleName(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what fits."""
        with QPainter(self) as painter:
            painter.setPen(self.palette().windowText().color())
            text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
