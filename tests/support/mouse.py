"""The mouse over a widget, wherever an earlier test left the pointer of the platform."""

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget


def move_mouse(widget: QWidget, at: QPoint, held: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
    """Move the mouse while a button is held or none: Qt sends nothing if the pointer is there already."""
    where, screen = QPointF(at), QPointF(widget.mapToGlobal(at))
    no_button, no_key = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    event = QMouseEvent(QEvent.Type.MouseMove, where, screen, no_button, held, no_key)
    QApplication.sendEvent(widget, event)


def left_click(widget: QWidget, at: QPoint) -> None:
    """Press and release the left button at a place of a widget."""
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at)
