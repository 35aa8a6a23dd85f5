"""A window on a strip of all time: dragged, resized, or drawn anew."""

from __future__ import annotations

from enum import Enum

from rcv_py.model.window import TimeWindow

EDGE_PX = 6  # how near to an edge a press takes hold of it
SLOP_PX = 4


class Grip(Enum):
    """What a press took hold of."""

    NONE = 0
    BEGIN = 1
    END = 2
    BODY = 3
    NEW = 4


class Brush:
    """The arithmetic of the brush: positions in pixels of a strip that shows `outer` in `width_px`."""

    def __init__(self) -> None:
        self.outer = TimeWindow(0, 1)
        self.width_px = 1
        self.grip = Grip.NONE
        self._from = 0.0
        self._held = TimeWindow(0, 1)

    def x_of(self, time: float) -> float:
        """Position of a time."""
        return (time - self.outer.begin) / self.outer.width * self.width_px

    def time_at(self, x: float) -> int:
        """The cycle at a position, inside the strip."""
        time = self.outer.begin + int(x * self.outer.width // max(1, self.width_px))
        return min(max(time, self.outer.begin), self.outer.end)

    def grip_at(self, x: float, view: TimeWindow) -> Grip:
        """What a press at a position takes hold of."""
        begin, end = self.x_of(view.begin), self.x_of(view.end)
        if view.width >= self.outer.width * 0.995:
            return Grip.NEW  # nothing to move: the whole strip is in view
        for grip, edge in ((Grip.BEGIN, begin), (Grip.END, end)):
            if abs(x - edge) <= min(EDGE_PX, max(2.0, (end - begin) / 3)):
                return grip
        return Grip.BODY if begin < x < end else Grip.NEW

    def press(self, x: float, view: TimeWindow) -> None:
        """Begin a drag at a place of the strip."""
        self.grip, self._from, self._held = self.grip_at(x, view), x, view

    def drag(self, x: float) -> TimeWindow:
        """The window that the drag makes."""
        held, time = self._held, self.time_at(x)
        if self.grip is Grip.BODY:
            return held.moved(time - self.time_at(self._from))
        fixed = {Grip.BEGIN: held.end, Grip.END: held.begin}.get(self.grip, self.time_at(self._from))
        return TimeWindow(*sorted((fixed, time)))

    def is_click(self, x: float) -> bool:
        """Whether the pointer is still where it was pressed."""
        return abs(x - self._from) < SLOP_PX

    def centred(self, x: float) -> TimeWindow:
        """The held window with its middle at a position."""
        return self._held.moved(self.time_at(x) - self._held.middle)
