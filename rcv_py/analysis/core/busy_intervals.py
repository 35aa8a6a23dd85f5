"""When units were busy: spans merged, queued or told apart by owner, and how much of others they cover.

All times are on one axis; spans of different SIMDs are kept apart by shifting each SIMD beyond the one before
(`analysis/core/simd_tokens.py`), so that one sort serves all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.union import Union, union


def merged(begin: np.ndarray, end: np.ndarray) -> Union:
    """Return what spans in any order cover together; those of no length cover nothing."""
    keep = end > begin
    begin, end = begin[keep], end[keep]
    if len(begin) > 1 and np.any(begin[1:] < begin[:-1]):
        order = np.argsort(begin)
        begin, end = begin[order], end[order]
    return union(begin, end)


def crowded(begin: np.ndarray, end: np.ndarray, least: int) -> Union:
    """Return when at least so many of the spans are open at once."""
    keep = np.flatnonzero(end > begin)
    time = np.concatenate([begin[keep], end[keep]])
    step = np.repeat(np.array([1, -1], dtype=np.int64), len(keep))
    # Begins are in front of ends, and the sort is stable: who takes over at once leaves no gap.
    order = np.argsort(time, kind="stable")
    time, is_full = time[order], np.cumsum(step[order]) >= least
    edges = np.flatnonzero(np.diff(is_full.astype(np.int8), prepend=0))
    return merged(time[edges[::2]], time[edges[1::2]])


def queued(begin: np.ndarray, length: np.ndarray) -> Union:
    """Return when a unit is busy that takes one span after the other.

    A span that begins while the unit is busy is done after what is in front of it: the end is
    `max(begin, end before) + length`.  Summed up, that is the running maximum of `begin - work before`, plus
    all work so far.
    """
    order = np.argsort(begin, kind="stable")
    begin, length = begin[order], length[order]
    work = np.cumsum(length)
    end = np.maximum.accumulate(begin - (work - length)) + work
    return union(begin, end)


def both(one: Union, other: Union) -> Union:
    """Return what is covered by either."""
    return merged(np.concatenate([one.begin, other.begin]), np.concatenate([one.end, other.end]))


def without(one: Union, other: Union) -> Union:
    """Return what is covered by `one` and not by `other`."""
    apart = split(one.begin, one.end, other)
    return merged(apart.begin[~apart.is_inside], apart.end[~apart.is_inside])


def common(one: Union, other: Union) -> Union:
    """Return what is covered by both."""
    parts = split(one.begin, one.end, other)
    return merged(parts.begin[parts.is_inside], parts.end[parts.is_inside])


@dataclass(frozen=True, eq=False)
class Split:
    """Spans cut where a union begins and ends: one row a part, none of them empty."""

    span: np.ndarray  # int64, place of the span that it is a part of
    begin: np.ndarray  # int64
    end: np.ndarray  # int64
    is_inside: np.ndarray  # bool, whether the union covers it


def split(begin: np.ndarray, end: np.ndarray, covered: Union) -> Split:
    """Return the parts of spans inside and outside of what is covered, by span."""
    first = np.searchsorted(covered.end, begin, side="right")  # the first stretch that ends behind the begin
    count = np.maximum(np.searchsorted(covered.begin, end, side="left") - first, 0)
    # A span that meets n stretches has 2 n + 1 parts, outside and inside in turns; some may be empty.
    parts = 2 * count + 1
    span = np.repeat(np.arange(len(begin)), parts)
    turn = np.arange(len(span)) - np.repeat(np.cumsum(parts) - parts, parts)
    edge = np.empty(2 * len(covered.begin) + 2, dtype=np.int64)  # one to spare at either end
    edge[1:-1:2], edge[2:-1:2] = covered.begin, covered.end
    far = np.iinfo(np.int64)
    edge[0], edge[-1] = far.min, far.max
    at = 2 * first[span] + turn
    low = np.where(turn == 0, begin[span], np.maximum(edge[at], begin[span]))
    high = np.where(turn == parts[span] - 1, end[span], np.minimum(edge[at + 1], end[span]))
    some = np.flatnonzero(high > low)
    return Split(span[some], low[some], high[some], turn[some] % 2 == 1)


def until(covered: Union, time: np.ndarray) -> np.ndarray:
    """Return how many covered cycles lie before each time, int64."""
    if not len(covered.begin):
        return np.zeros(len(time), dtype=np.int64)
    row = np.searchsorted(covered.begin, time, side="right") - 1
    row[row < 0] = 0
    part = np.minimum(time, covered.end[row]) - covered.begin[row]
    return covered.before[row] + np.maximum(part, 0)


def inside(covered: Union, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return how many cycles of each span are covered, int64; a span that ends before it begins has none."""
    found = np.zeros(len(begin), dtype=np.int64)
    rows = np.flatnonzero(end > begin)
    if len(rows):
        found[rows] = until(covered, end[rows]) - until(covered, begin[rows])
    return found


@dataclass(frozen=True, eq=False)
class Owned:
    """Busy time of a unit, and which part of it a single owner made alone."""

    all: Union  # on the axis of the units
    alone: Union  # on the axis of the owners

    def by_others(
        self, begin: np.ndarray, end: np.ndarray, lane_shift: np.ndarray, owner_shift: np.ndarray
    ) -> np.ndarray:
        """Return how many cycles of each span somebody else than its owner covers, int64.

        The shifts bring a time onto the axis of units and onto that of owners.
        """
        covered = inside(self.all, begin + lane_shift, end + lane_shift)
        rows = np.flatnonzero(covered)
        shift = owner_shift[rows]
        covered[rows] -= inside(self.alone, begin[rows] + shift, end[rows] + shift)
        return covered


def owned(begin: np.ndarray, end: np.ndarray, owner: np.ndarray, stride: int, lane: np.ndarray) -> Owned:
    """Return the busy time of units from spans with owners.

    `lane[i]` is the unit that owner i works on.  Times are shorter than `stride`; the axis of units shifts
    each by `lane * stride`, that of owners by `owner * stride`.
    """
    own = merged(begin + owner * stride, end + owner * stride)
    who = own.begin // stride
    to_lane = (lane[who] - who) * stride
    time = np.concatenate([own.begin + to_lane, own.end + to_lane])
    # Begins are in front of ends, and the sort is stable: who takes over at once leaves no gap.
    order = np.argsort(time, kind="stable")
    time = time[order]
    step = np.concatenate([np.ones(len(who), dtype=np.int64), np.full(len(who), -1)])[order]
    count = np.cumsum(step)
    held = np.cumsum(np.concatenate([who, who])[order] * step)  # the sum of those who work now
    opens = np.flatnonzero(count[:-1] == 0) + 1 if len(count) else count
    first = np.append(0, opens)[: len(opens) + 1 if len(count) else 0]
    last = np.append(first[1:] - 1, len(count) - 1)[: len(first)]
    total = _disjoint(time[first], time[last])
    single = np.flatnonzero((count[:-1] == 1) & (time[1:] > time[:-1]))
    back = (held[single] - lane[held[single]]) * stride
    return Owned(total, merged(time[single] + back, time[single + 1] + back))


def _disjoint(begin: np.ndarray, end: np.ndarray) -> Union:
    return Union(begin, end, np.append(0, np.cumsum(end - begin)))
