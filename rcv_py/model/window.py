"""A range of time in integer cycles, and the arithmetic of zoom and pan."""

from __future__ import annotations

from msgspec.structs import force_setattr

from rcv_py.base.record import Value


class TimeWindow(Value, order=True):
    """The cycles `begin <= t < end`; never empty: `end` is at least `begin + 1`."""

    begin: int
    end: int

    def __post_init__(self) -> None:
        if self.end <= self.begin:
            force_setattr(self, "end", self.begin + 1)

    @property
    def width(self) -> int:
        """Number of cycles."""
        return self.end - self.begin

    @property
    def middle(self) -> int:
        """The cycle in the middle."""
        return self.begin + self.width // 2

    def contains(self, time: int) -> bool:
        """Whether the cycle lies inside."""
        return self.begin <= time < self.end

    def overlaps(self, begin: int, end: int) -> bool:
        """Whether any cycle of `begin <= t < end` lies inside."""
        return begin < self.end and end > self.begin

    def moved(self, cycles: int) -> TimeWindow:
        """Return the window shifted by `cycles`."""
        return TimeWindow(self.begin + cycles, self.end + cycles)

    def zoomed(self, factor: float, at: int) -> TimeWindow:
        """Return a window `factor` times as wide with the cycle `at` at the same place.

        The fraction (at - begin) / width is kept in integer arithmetic, rounded down, so that the cycle under
        the mouse stays there to within one new cycle.
        """
        width = max(1, round(self.width * factor))
        begin = at - (at - self.begin) * width // self.width
        return TimeWindow(begin, begin + width)

    def clamped(self, outer: TimeWindow) -> TimeWindow:
        """Return this window shifted, and narrowed if necessary, to lie inside `outer`."""
        width = min(self.width, outer.width)
        begin = min(max(self.begin, outer.begin), outer.end - width)
        return TimeWindow(begin, begin + width)

    def padded(self, share: float) -> TimeWindow:
        """Return the window wider by `share` of its width on each side."""
        more = max(1, round(self.width * share))
        return TimeWindow(self.begin - more, self.end + more)

    def __str__(self) -> str:
        return f"{self.begin:,} … {self.end:,}"
