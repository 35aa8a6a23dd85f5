"""Sets of cycles as intervals: merge, queue and cut them, and measure how much of others they cover.

All times are on one axis.  Intervals of different SIMDs are kept apart by shifting each SIMD beyond the one
before (`analysis/device/simd_work.py`), so that one sort serves all of them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy import ndarray

from rcv_py.base.record import Record, Value
from rcv_py.base.runs import borders, of_ranges, order, ranges
from rcv_py.model.window import TimeWindow


class IntervalSet(Record):
    """The covered stretches of an axis: sorted by time, disjoint, not empty."""

    begin: ndarray  # int64, cycles
    end: ndarray  # int64, cycles

    @classmethod
    def of(cls, begin: ndarray, end: ndarray) -> IntervalSet:
        """Return the union of intervals in any order; intervals of no length cover nothing."""
        is_some = end > begin
        if not is_some.all():
            keep = np.flatnonzero(is_some)
            begin, end = begin.take(keep), end.take(keep)
        begin, end = begin.astype(np.int64, copy=False), end.astype(np.int64, copy=False)
        if len(begin) > 1 and np.any(begin[1:] < begin[:-1]):
            rows = order(begin)
            begin, end = begin.take(rows), end.take(rows)
        is_apart = begin[1:] > end[:-1]
        if is_apart.all():
            return cls(begin, end)
        if (end[1:] < end[:-1]).any():  # an interval covers the end of the next
            end = np.maximum.accumulate(end)
            is_apart = begin[1:] > end[:-1]
        last = np.append(np.flatnonzero(is_apart), len(begin) - 1)
        return cls(begin.take(np.append(0, last[:-1] + 1)), end.take(last))

    @cached_property
    def offset(self) -> ndarray:
        """Offset of each stretch, int64: a time in it plus the offset is the covered cycles before it."""
        covered = np.cumsum(self.end - self.begin)
        covered -= self.end
        return covered

    @property
    def total(self) -> int:
        """All covered cycles."""
        return int((self.end - self.begin).sum())

    def __or__(self, other: IntervalSet) -> IntervalSet:
        return IntervalSet.of(np.append(self.begin, other.begin), np.append(self.end, other.end))

    def __sub__(self, other: IntervalSet) -> IntervalSet:
        far = np.iinfo(np.int64)
        return self & IntervalSet(np.append(far.min, other.end), np.append(other.begin, far.max))

    def __and__(self, other: IntervalSet) -> IntervalSet:
        few, many = (self, other) if len(self.begin) <= len(other.begin) else (other, self)
        first = np.searchsorted(many.end, few.begin, side="right")  # the first that each of the few meets
        count = np.maximum(np.searchsorted(many.begin, few.end, side="left") - first, 0)
        met = np.flatnonzero(count)
        rows, edge = ranges(first[met], count[met]), borders(count[met])
        begin, end = many.begin.take(rows), many.end.take(rows)
        begin[edge[:-1]] = np.maximum(begin[edge[:-1]], few.begin[met])
        end[edge[1:] - 1] = np.minimum(end[edge[1:] - 1], few.end[met])
        return IntervalSet(begin, end)

    def covered_before_each(self, begin: ndarray, end: ndarray) -> tuple[ndarray, ndarray]:
        """Return how many covered cycles lie before begin and end of each interval, int64."""
        return self._before(begin), self._before(end)

    def _before(self, time: ndarray) -> ndarray:
        if not len(self.begin):
            return np.zeros(len(time), dtype=np.int64)
        row = np.searchsorted(self.begin, time, side="right") - 1  # -1: before all of them
        covered = np.maximum(time, self.begin[0])
        np.minimum(covered, self.end.take(row, mode="clip"), out=covered)
        covered += self.offset.take(row, mode="clip")
        return covered

    def covered(self, begin: ndarray, end: ndarray) -> ndarray:
        """Return how many cycles of each interval are covered, int64; none if it ends before it begins."""
        return self._before(np.maximum(begin, end)) - self._before(begin)

    def inside(self, window: TimeWindow) -> int:
        """Return how many cycles of a window are covered."""
        return int(self.covered(np.array([window.begin]), np.array([window.end]))[0])

    def split(self, begin: ndarray, end: ndarray) -> Split:
        """Cut intervals into covered and uncovered parts, ordered by interval and time."""
        first = np.searchsorted(self.end, begin, side="right")  # the first stretch that ends after the begin
        count = np.maximum(np.searchsorted(self.begin, end, side="left") - first, 0)
        # An interval that meets n stretches has 2 n + 1 parts, outside and inside by turns; some are empty.
        parts = 2 * count + 1
        span, turn = of_ranges(0, parts)
        low, high, is_inside = begin.take(span), end.take(span), turn % 2 == 1
        after = np.flatnonzero(turn)  # a begin or an end of the set; the first part begins with the interval
        row = first.take(span.take(after)) + (turn.take(after) - 1 >> 1)
        edge = np.where(is_inside.take(after), self.begin.take(row), self.end.take(row))
        low[after] = np.maximum(low.take(after), edge)
        high[after - 1] = np.minimum(high.take(after - 1), edge)  # where the part in front ends
        some = np.flatnonzero(high > low)
        return Split(span.take(some), low.take(some), high.take(some), is_inside.take(some))


class Split(Value):
    """Intervals cut where an IntervalSet begins and ends: one row a part, none of them empty."""

    span: ndarray  # int64, number of the interval that the part belongs to
    begin: ndarray  # int64
    end: ndarray  # int64
    is_inside: ndarray  # bool, whether the set covers it


def at_least(begin: ndarray, end: ndarray, count: int) -> IntervalSet:
    """Return the times at which at least `count` of the intervals are open."""
    keep = np.flatnonzero(end > begin)
    begin, end = begin.take(keep), np.sort(end.take(keep))
    if np.any(begin[1:] < begin[:-1]):
        begin = np.sort(begin)
    # When k intervals have ended, `count` are open from the (k + count)-th begin on, until the next end.
    return IntervalSet.of(begin[count - 1 :], end[: max(0, len(end) - count + 1)])


def serial_busy(begin: ndarray, length: ndarray) -> IntervalSet:
    """Return the busy times of a unit that does one piece of work after another."""
    rows = order(begin)
    begin, length = begin.take(rows), length.take(rows)
    return IntervalSet.of(begin, serial_ends(begin, length))


def serial_ends(begin: ndarray, length: ndarray) -> ndarray:
    """Return when a unit that does one piece of work after another ends each, int64; begins ascend.

    Work that arrives while the unit is busy waits for earlier work: its end is `max(begin, end before) +
    length`.  Summed up, that is the running maximum of `begin - work before`, plus all work so far.
    """
    work = np.cumsum(length)
    return np.maximum.accumulate(begin - (work - length)) + work


def occupied_cycles(lives: ndarray) -> int:
    """Return the cycles in which any of (place, begin, end) is open, summed over places; int64 [n, 3]."""
    if not len(lives):
        return 0
    place, begin, end = lives[np.lexsort(lives.T[::-1])].T
    reach = int(end.max() - begin.min()) + 1
    shift = np.unique(place, return_inverse=True)[1].reshape(-1) * reach - begin.min()
    return IntervalSet.of(begin + shift, end + shift).total


class OwnedIntervals(Value):
    """Busy time of a unit, and the part of it in which only one owner used the unit."""

    all: IntervalSet  # on the axis of the units
    alone: IntervalSet  # on the axis of the owners

    def by_others(self, begin: ndarray, end: ndarray, lane_shift: ndarray, owner_shift: ndarray) -> ndarray:
        """Return how many cycles of each interval other owners cover, int64.

        The shifts move a time onto the axis of units and onto the axis of owners.
        """
        covered = self.all.covered(begin + lane_shift, end + lane_shift)
        rows = np.flatnonzero(covered)
        shift = owner_shift[rows]
        covered[rows] -= self.alone.covered(begin[rows] + shift, end[rows] + shift)
        return covered


def owned(begin: ndarray, end: ndarray, owner: ndarray, stride: int, lane: ndarray) -> OwnedIntervals:
    """Compute the busy time of units from intervals with owners.

    `lane[i]` is the unit that owner i works on.  Times are shorter than `stride`; the axis of units shifts
    each by `lane * stride`, the axis of owners by `owner * stride`.
    """
    own = IntervalSet.of(begin + owner * stride, end + owner * stride)
    who = own.begin // stride
    to_lane = (lane[who] - who) * stride
    time = np.concatenate([own.begin + to_lane, own.end + to_lane])
    rows = order(time)  # at equal times begins come first, so that adjacent intervals leave no gap
    time, step = time.take(rows), np.where(rows < len(who), 1, -1)
    count = np.cumsum(step)
    held = np.cumsum(np.concatenate([who, who])[rows] * step)  # the sum over the owners at work
    single = np.flatnonzero((count[:-1] == 1) & (time[1:] > time[:-1]))
    back = (held[single] - lane[held[single]]) * stride
    return OwnedIntervals(
        IntervalSet.of(own.begin + to_lane, own.end + to_lane),
        IntervalSet.of(time[single] + back, time[single + 1] + back),
    )
