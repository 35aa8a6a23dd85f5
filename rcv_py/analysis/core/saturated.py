"""Sums of cycles that end at the limits of int64 instead of wrapping around.

A damaged or hostile file may hold any number of cycles.  Ordinary numbers come out exactly, and as fast.
"""

from __future__ import annotations

import numpy as np

MAX_CYCLES = (1 << 63) - 1  # cycles, the largest int64
_EXACT = 1 << 53  # below it sums of float64 are exact
_LOW = (1 << 31) - 1


def later(time: np.ndarray, cycles: np.ndarray) -> np.ndarray:
    """Return `time + cycles`, at most MAX_CYCLES; both int64 or narrower, cycles of at least 0; int64."""
    time = time.astype(np.int64)
    return time + np.minimum(cycles.astype(np.int64), MAX_CYCLES - np.maximum(time, 0))


def since(time: np.ndarray, base: int, limit: int) -> np.ndarray:
    """Return `time - base`, at most `limit`; int64.  No time is before the base."""
    apart = time.astype(np.int64).view(np.uint64) - np.uint64(base % (1 << 64))  # wraps to what is right
    return np.minimum(apart, np.uint64(limit)).astype(np.int64)


def sums(place: np.ndarray, cycles: np.ndarray, count: int) -> np.ndarray:
    """Return the sums of the cycles at each place from 0 to count - 1, at most MAX_CYCLES; int64 [count].

    `place` is int64 [n], `cycles` int64 or narrower [n], at least 0.
    """
    place, cycles = place.reshape(-1), cycles.astype(np.int64)
    if int(cycles.max(initial=0)) < _EXACT // max(1, len(cycles)):
        return np.bincount(place, weights=cycles, minlength=count).astype(np.int64)
    low, high = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    np.add.at(low, place, cycles & _LOW)
    np.add.at(high, place, cycles >> 31)
    high += low >> 31
    return np.where(high > MAX_CYCLES >> 31, MAX_CYCLES, (high << 31) | (low & _LOW))


def total(cycles: np.ndarray) -> int:
    """Return the sum of a column of at least 0, at most MAX_CYCLES."""
    return int(sums(np.zeros(len(cycles), dtype=np.int64), cycles, 1)[0])


def summed(key: np.ndarray, *columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the distinct keys, ascending, and the sums of each column by them, at most MAX_CYCLES; int64."""
    distinct, place = np.unique(key, return_inverse=True)
    return distinct, *(sums(place, column, len(distinct)) for column in columns)
