"""What everything over time is painted on: a ruler at the top, names or values at the left, the box between.

Plain Qt: of a library of plots nothing would be used but the arrangement of these three, and importing it
takes longer than the rest of the start.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy


class Part:
    """A part of a canvas, which paints itself in its own pixels; the canvas says where it is."""

    canvas: Canvas | None = None
    rect = QRectF()  # in the canvas

    def width(self) -> float:
        """Its width in logical pixels."""
        return self.rect.width()

    def height(self) -> float:
        """Its height in logical pixels."""
        return self.rect.height()

    def size(self) -> QSizeF:
        """Both, in logical pixels."""
        return self.rect.size()

    def update(self) -> None:
        """Paint it anew, soon."""
        if self.canvas is not None:
            self.canvas.viewport().update(self.rect.toAlignedRect())

    def paint(self, painter: QPainter, scale: float) -> None:
        """Paint it from (0, 0) on; `scale` is device pixels a logical pixel."""
        raise NotImplementedError


class Edge(Part):
    """A part beside the box: as high as it says at the top, as wide at the left."""

    def __init__(self, room_px: int) -> None:
        self.room_px = room_px


class Box(Part):
    """Where the picture is: items on top of each other, the last one uppermost."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self.items: list[Part] = []

    def pos(self) -> QPointF:
        """The upper left corner in the canvas."""
        return self.rect.topLeft()

    def paint(self, painter: QPainter, scale: float) -> None:
        """Paint the items, nothing of which is outside."""
        bounds = QRectF(QPointF(), self.size())
        for item in self.items:
            painter.save()
            painter.setClipRect(bounds)
            item.paint(painter, scale)
            painter.restore()


class Canvas(QAbstractScrollArea):
    """A widget of three parts: `top` above the box, `left` beside it."""

    def __init__(self, top: Edge, left: Edge) -> None:
        super().__init__()
        self.box = Box(self)
        self._top, self._left = top, left
        self._ground = QColor()
        top.canvas = left.canvas = self
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)

    def set_ground(self, color: QColor) -> None:
        """Paint everything on this colour."""
        self._ground = color
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the parts."""
        left, top = self._left.room_px, self._top.room_px
        size = self.viewport().size()
        width, height = max(0, size.width() - left), max(0, size.height() - top)
        self.box.rect = QRectF(left, top, width, height)
        self._top.rect, self._left.rect = QRectF(left, 0, width, top), QRectF(0, top, left, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is in need of it."""
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), self._ground)
            for part in (self._top, self._left, self.box):
                if part.rect.intersects(QRectF(event.rect())):
                    painter.save()
                    painter.translate(part.rect.topLeft())
                    part.paint(painter, self.devicePixelRatioF())
                    painter.restore()
