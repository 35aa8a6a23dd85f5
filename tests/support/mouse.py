"""The mouse over a widget, wherever an earlier test left the pointer of the platform."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget


def move_mouse(widget: QWidget, at: QPoint) -> None:
    """Move the mouse without a button: Qt's own way sends nothing if the pointer is there already."""
    no_button = Qt.MouseButton.NoButton
    where, screen = QPointF(at), QPointF(widget.mapToGlobal(at))
    event = QMouseEvent(
        QEvent.Type.MouseMove, where, screen, no_button, no_button, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(widget, event)
