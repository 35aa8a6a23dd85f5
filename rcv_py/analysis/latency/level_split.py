"""How long operations take, from how many are in flight: without assuming an order between queues.

Let N(t, a) be how many operations of a queue were issued less than `a` cycles before the sample at t.  If a
share p of them takes `a` cycles, then the level is the sum of p N(t, a) over queues and lengths.  Shares that
fit the samples best are found by least squares; they say how much of each level belongs to which queue.
Inside a queue the oldest operation is done first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.latency.memory_ops import Levels

LENGTHS = 24  # different latencies of a queue that are considered
MOST_SAMPLES = 16_384  # that shares are fitted to
_WEIGHT = 100.0  # of the wish that the shares of a queue sum up to one


@dataclass(frozen=True, eq=False)
class QueueSamples:
    """Samples of one compute unit and what its queues issued."""

    levels: Levels
    issue: tuple[np.ndarray, ...]  # of each queue: int64, sorted


def split_levels(units: Sequence[QueueSamples]) -> list[list[np.ndarray]]:
    """Return for each compute unit and queue how many operations were in flight at each sample, float64."""
    queues = len(units[0].issue) if units else 0
    if queues <= 1:
        return [[unit.levels.level.astype(np.float64)] for unit in units]
    lengths = _lengths(units)
    shares = _shares(units, lengths, queues)
    return [_split(unit, lengths, shares) for unit in units]


def returns(time: np.ndarray, level: np.ndarray, issue: np.ndarray, interval: int) -> np.ndarray:
    """Return when each operation of a queue was done, float64 cycles; NaN if that was after the last sample.

    `issue` is sorted.  Of two samples between which an operation was done, the moment is interpolated.
    """
    if not len(time):
        return np.full(len(issue), np.nan)
    done = np.clip(np.searchsorted(issue, time, side="right") - level, 0, None)
    # What is done never becomes less; noise is cut evenly from above and from below.
    done = (np.maximum.accumulate(done) + np.minimum.accumulate(done[::-1])[::-1]) / 2
    time = np.append(time[0] - interval, time).astype(np.float64)
    done = np.append(0.0, done)
    wanted = np.arange(len(issue)) + 0.5
    after = np.searchsorted(done, wanted, side="left")
    known = after < len(done)
    after = np.minimum(after, len(done) - 1)
    before = np.maximum(after - 1, 0)
    step = np.maximum(done[after] - done[before], 1e-12)
    moment = time[before] + (time[after] - time[before]) * np.clip((wanted - done[before]) / step, 0, 1)
    return np.where(known, np.maximum(moment, issue), np.nan)


def least_squares(normal: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return x >= 0 with the least |A x - y|, from A'A and A'y, by the active sets of Lawson and Hanson."""
    size = len(right)
    x, free = np.zeros(size), np.zeros(size, dtype=bool)
    least = 1e-9 * float(np.abs(right).max(initial=0.0))
    for _ in range(3 * size):
        gain = np.where(free, -np.inf, right - normal @ x)
        if free.all() or gain.max() <= least:
            break
        free[int(np.argmax(gain))] = True
        x = _feasible(normal, right, x, free)
    return x


def _feasible(normal: np.ndarray, right: np.ndarray, x: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Solve for the free places, giving up those that would become negative; changes `free`."""
    while free.any():
        wish = np.zeros_like(x)
        wish[free] = np.linalg.lstsq(normal[np.ix_(free, free)], right[free], rcond=1e-12)[0]
        bad = free & (wish <= 0)
        if not bad.any():
            return wish
        way = np.min(x[bad] / np.maximum(x[bad] - wish[bad], 1e-300))
        x = x + way * (wish - x)
        free &= x > 1e-12
        x = np.where(free, x, 0.0)
    return x


def _lengths(units: Sequence[QueueSamples]) -> np.ndarray:
    """The latencies to consider: up to somewhat more than one queue for all would need."""
    longest = 0.0
    for unit in units:
        issue = np.sort(np.concatenate(unit.issue))
        done = returns(unit.levels.time, unit.levels.level, issue, unit.levels.interval)
        took = (done - issue)[~np.isnan(done)]
        longest = max(longest, float(np.quantile(took, 0.99)) if len(took) else 0.0)
    interval = max((unit.levels.interval for unit in units), default=1)
    step = max(1.6 * longest / LENGTHS, interval / 4)
    return (np.arange(LENGTHS) + 0.5) * step


def _young(issue: np.ndarray, time: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """How many operations were issued less than each length before each time, float64 [times, lengths]."""
    now = np.searchsorted(issue, time, side="right")
    before = [np.searchsorted(issue, time - length, side="right") for length in lengths.tolist()]
    return (now[:, None] - np.stack(before, axis=1)).astype(np.float64)


def _shares(units: Sequence[QueueSamples], lengths: np.ndarray, queues: int) -> np.ndarray:
    """The share of each queue's operations that take each length, float64 [queues, lengths]."""
    size = queues * len(lengths)
    normal, right = np.zeros((size, size)), np.zeros(size)
    stride = -(-sum(len(unit.levels.time) for unit in units) // MOST_SAMPLES)
    for unit in units:
        time, level = unit.levels.time[:: max(1, stride)], unit.levels.level[:: max(1, stride)]
        young = np.concatenate([_young(issue, time, lengths) for issue in unit.issue], axis=1)
        normal += young.T @ young
        right += young.T @ level
    weight = _WEIGHT * max(float(np.diagonal(normal).mean()), 1.0)
    normal += np.kron(np.eye(queues), np.full((len(lengths), len(lengths)), weight))
    return least_squares(normal, right + weight).reshape(queues, len(lengths))


def _split(unit: QueueSamples, lengths: np.ndarray, shares: np.ndarray) -> list[np.ndarray]:
    """The level of each queue: what is expected, and its part of what was counted more or less."""
    expected = np.stack(
        [
            _young(issue, unit.levels.time, lengths[share > 0]) @ share[share > 0]
            if np.any(share > 0)
            else np.zeros(len(unit.levels.time))
            for issue, share in zip(unit.issue, shares, strict=True)
        ]
    )
    whole = expected.sum(axis=0)
    part = np.divide(expected, whole, out=np.full_like(expected, 1.0 / len(expected)), where=whole > 0)
    found = expected + part * (unit.levels.level - whole)
    return list(np.clip(found, 0, None))
