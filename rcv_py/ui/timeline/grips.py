"""A window of time on a picture of more time: what a press grabs, where a drag leads, and how it looks."""

from enum import Enum

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from rcv_py.model.window import TimeWindow

EDGE_PX = 6  # px: distance at which a press grabs an edge
ALL = 0.995  # share of the picture from which on a window is all of it


class Grip(Enum):
    """The grabbed part of the window."""

    NONE = 0
    BEGIN = 1
    END = 2
    BODY = 3
    NEW = 4


CURSORS = {
    Grip.BEGIN: Qt.CursorShape.SizeHorCursor,
    Grip.END: Qt.CursorShape.SizeHorCursor,
    Grip.BODY: Qt.CursorShape.OpenHandCursor,
}


def grip_at(x: float, begin: float, end: float, width: float) -> Grip:
    """Return what a press grabs, of a window from `begin` to `end` in a picture of a width; all in px."""
    if end - begin >= width * ALL:
        return Grip.NEW  # nothing to move
    for grip, edge in ((Grip.BEGIN, begin), (Grip.END, end)):
        if abs(x - edge) <= min(EDGE_PX, max(2.0, (end - begin) / 3)):
            return grip
    return Grip.BODY if begin < x < end else Grip.NEW


def dragged(grip: Grip, held: TimeWindow, start: int, time: int) -> TimeWindow:
    """Return the window after a drag of a grip from a cycle to another; it was `held` before."""
    if grip is Grip.BODY:
        return held.moved(time - start)
    fixed = {Grip.BEGIN: held.end, Grip.END: held.begin}.get(grip, start)
    return TimeWindow(*sorted((fixed, time)))


def paint_window(
    painter: QPainter, box: QRectF, left: float, right: float, ink: tuple[QColor, QColor]
) -> None:
    """Veil what is outside of a window in a box, and frame the window; `ink`: of the veil and the frame."""
    veil, accent = ink
    right = max(right, left + 2)
    painter.fillRect(QRectF(box.left(), box.top(), left - box.left(), box.height()), veil)
    painter.fillRect(QRectF(right, box.top(), box.right() - right, box.height()), veil)
    height = min(14.0, box.height() - 4)
    for x in (left, right - 1):
        painter.fillRect(QRectF(x, box.top(), 1, box.height()), accent)
        painter.fillRect(QRectF(x - 1, box.center().y() - height / 2, 3, height), accent)
    painter.fillRect(QRectF(left, box.top(), right - left, 1), accent)
