"""Gestures at cycles and rows instead of pixels, and colours found there."""

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from rcv_py.ui.timeline.timeline_plot import TimelinePlot

NONE = Qt.KeyboardModifier.NoModifier
LEFT = Qt.MouseButton.LeftButton


class CanvasBot:
    """Sends real events to a timeline."""

    def __init__(self, plot: TimelinePlot) -> None:
        self.plot = plot

    def at(self, row: int, time: float) -> QPointF:
        """The middle of the pixel that shows a cycle of a row."""
        return QPointF(self.plot.x_of(time) + 0.5, self.plot.y_of(row))

    def _send(
        self, kind: QEvent.Type, at: QPointF, held: Qt.MouseButton, modifiers: Qt.KeyboardModifier
    ) -> None:
        button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else LEFT
        screen = QPointF(self.plot.mapToGlobal(at.toPoint()))
        event = QMouseEvent(kind, at, screen, button, held, modifiers)
        QApplication.sendEvent(self.plot.viewport(), event)

    def click(self, row: int, time: float) -> None:
        self._send(QEvent.Type.MouseButtonPress, self.at(row, time), LEFT, NONE)
        self._send(QEvent.Type.MouseButtonRelease, self.at(row, time), Qt.MouseButton.NoButton, NONE)

    def double_click(self, row: int, time: float) -> None:
        self._send(QEvent.Type.MouseButtonDblClick, self.at(row, time), LEFT, NONE)

    def hover(self, row: int, time: float) -> None:
        self._send(QEvent.Type.MouseMove, self.at(row, time), Qt.MouseButton.NoButton, NONE)

    def drag(self, row: int, begin: float, end: float, modifiers: Qt.KeyboardModifier = NONE) -> None:
        first, last = self.at(row, begin), self.at(row, end)
        self._send(QEvent.Type.MouseButtonPress, first, LEFT, modifiers)
        self._send(QEvent.Type.MouseMove, (first + last) / 2, LEFT, modifiers)
        self._send(QEvent.Type.MouseMove, last, LEFT, modifiers)
        self._send(QEvent.Type.MouseButtonRelease, last, Qt.MouseButton.NoButton, modifiers)

    def wheel(
        self,
        row: int,
        time: float,
        notches: float,
        modifiers: Qt.KeyboardModifier = NONE,
        sideways: bool = False,
    ) -> None:
        at, turn = self.at(row, time), round(120 * notches)
        delta = QPoint(turn, 0) if sideways else QPoint(0, turn)
        event = QWheelEvent(
            at,
            QPointF(self.plot.mapToGlobal(at.toPoint())),
            QPoint(),
            delta,
            Qt.MouseButton.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(self.plot.viewport(), event)

    def key(self, key: Qt.Key) -> None:
        QApplication.sendEvent(self.plot, QKeyEvent(QEvent.Type.KeyPress, key, NONE))

    def color(self, row: int, time: float, below: float = 0.0) -> QColor:
        """What is painted at a cycle of a row, or so many pixels below the middle of its spans."""
        spot = self.at(row, time) + QPointF(0, below)
        return self.plot.viewport().grab().toImage().pixelColor(int(spot.x()), int(spot.y()))
