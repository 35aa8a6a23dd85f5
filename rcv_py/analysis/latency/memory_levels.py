"""Latencies of operations in flight, inferred from samples of how many there were.

Let N(t, a) be how many operations of a queue were issued less than `a` cycles before the sample at t.  If a
share p of them takes `a` cycles, then the level is the sum of p N(t, a) over queues and lengths.  Least
squares finds the shares that fit the samples best; they divide each level among the queues.  Inside a queue
the oldest operation is done first.
"""

from collections.abc import Sequence

import numpy as np

from rcv_py.base.record import Value

LENGTHS = 24  # candidate latencies of a queue
MAX_SAMPLES = 16_384  # samples that shares are fitted to
_WEIGHT = 100.0  # of the constraint that the shares of a queue sum to one


class Levels(Value):
    """How many operations of a compute unit were in flight at sampled times, sorted by time."""

    time: np.ndarray  # int64, cycles, aligned
    level: np.ndarray  # int64
    interval: int  # cycles between two samples


class QueueSamples(Value):
    """Samples of one compute unit and what its queues issued."""

    levels: Levels
    issue: tuple[np.ndarray, ...]  # of each queue: int64, sorted


def split_levels(units: Sequence[QueueSamples]) -> list[list[np.ndarray]]:
    """Return for each compute unit and queue how many operations were in flight at each sample, float64."""
    queues = len(units[0].issue) if units else 0
    if queues <= 1:
        return [[unit.levels.level.astype(np.float64)] for unit in units]
    # Candidate latencies: up to somewhat more than a single queue would need.
    longest = 0.0
    for unit in units:
        issue = np.sort(np.concatenate(unit.issue))
        done = returns(unit.levels.time, unit.levels.level, issue, unit.levels.interval)
        took = (done - issue)[~np.isnan(done)]
        longest = max(longest, float(np.quantile(took, 0.99)) if len(took) else 0.0)
    step = max(1.6 * longest / LENGTHS, max(unit.levels.interval for unit in units) / 4)
    lengths = (np.arange(LENGTHS) + 0.5) * step
    shares = _shares(units, lengths, queues)
    return [_split(unit, lengths, shares) for unit in units]


def returns(time: np.ndarray, level: np.ndarray, issue: np.ndarray, interval: int) -> np.ndarray:
    """Return when each operation of a queue was done, float64 cycles; NaN if that was after the last sample.

    `issue` is sorted.  The time is interpolated between the two samples around the completion.
    """
    if not len(time):
        return np.full(len(issue), np.nan)
    done = np.clip(np.searchsorted(issue, time, side="right") - level, 0, None)
    # The number of completed operations never decreases; noise is averaged from above and from below.
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
        while free.any():  # release the entries that would become negative
            wish = np.zeros_like(x)
            wish[free] = np.linalg.lstsq(normal[np.ix_(free, free)], right[free], rcond=1e-12)[0]
            bad = free & (wish <= 0)
            if not bad.any():
                x = wish
                break
            x = x + np.min(x[bad] / np.maximum(x[bad] - wish[bad], 1e-300)) * (wish - x)
            free &= x > 1e-12
            x = np.where(free, x, 0.0)
    return x


def _young(issue: np.ndarray, time: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """How many operations were issued less than each length before each time, float64 [times, lengths]."""
    now = np.searchsorted(issue, time, side="right")
    before = [np.searchsorted(issue, time - length, side="right") for length in lengths.tolist()]
    return (now[:, None] - np.stack(before, axis=1)).astype(np.float64)


def _shares(units: Sequence[QueueSamples], lengths: np.ndarray, queues: int) -> np.ndarray:
    """The share of each queue's operations that take each length, float64 [queues, lengths]."""
    size = queues * len(lengths)
    normal, right = np.zeros((size, size)), np.zeros(size)
    stride = -(-sum(len(unit.levels.time) for unit in units) // MAX_SAMPLES)
    for unit in units:
        time, level = unit.levels.time[:: max(1, stride)], unit.levels.level[:: max(1, stride)]
        young = np.concatenate([_young(issue, time, lengths) for issue in unit.issue], axis=1)
        normal += young.T @ young
        right += young.T @ level
    weight = _WEIGHT * max(float(np.diagonal(normal).mean()), 1.0)
    normal += np.kron(np.eye(queues), np.full((len(lengths), len(lengths)), weight))
    return least_squares(normal, right + weight).reshape(queues, len(lengths))


def _split(unit: QueueSamples, lengths: np.ndarray, shares: np.ndarray) -> list[np.ndarray]:
    """The level of each queue: its expected level, and its part of the difference to the count."""
    time = unit.levels.time
    parts = [
        _young(issue, time, lengths[share > 0]) @ share[share > 0] if share.any() else 0.0 * time
        for issue, share in zip(unit.issue, shares, strict=True)
    ]
    expected = np.stack(parts)
    whole = expected.sum(axis=0)
    part = np.divide(expected, whole, out=np.full_like(expected, 1.0 / len(expected)), where=whole > 0)
    return list(np.clip(expected + part * (unit.levels.level - whole), 0, None))
