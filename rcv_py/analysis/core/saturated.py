"""Sums of cycles that end at the limits of int64 instead of wrapping around.

A damaged or hostile file may hold any number of cycles.  Ordinary numbers stay exact, at the same speed.
"""

from collections.abc import Sequence

import numpy as np

from rcv_py.base.runs import order, run_starts

Sums = tuple[np.ndarray, ...]  # distinct keys, ascending, and columns of numbers that add up by them; int64

MAX_CYCLES = (1 << 63) - 1  # cycles, the largest int64
_EXACT = 1 << 53  # below it sums of float64 are exact
_LOW = (1 << 31) - 1


def later(time: np.ndarray, cycles: np.ndarray) -> np.ndarray:
    """Return `time + cycles`, at most MAX_CYCLES, int64; both int64 or narrower, `cycles` at least 0."""
    if int(time.max(initial=0)) <= MAX_CYCLES - int(cycles.max(initial=0)):
        return np.add(time, cycles, dtype=np.int64)
    time = time.astype(np.int64)
    return time + np.minimum(cycles.astype(np.int64), MAX_CYCLES - np.maximum(time, 0))


def narrow(cycles: np.ndarray) -> np.ndarray:
    """Return int64 cycles as int32 if all of them fit, to save memory."""
    fits = int(cycles.max(initial=0)) <= _LOW and int(cycles.min(initial=0)) >= -_LOW
    return cycles.astype(np.int32) if fits else cycles


def since(time: np.ndarray, base: int, limit: int) -> np.ndarray:
    """Return `time - base`, at most `limit`, int64.  No time may be before the base."""
    apart = time.astype(np.int64).view(np.uint64) - np.uint64(base % (1 << 64))  # wraps to the right result
    return np.minimum(apart, np.uint64(limit)).astype(np.int64)


def sums(place: np.ndarray, cycles: np.ndarray, count: int) -> np.ndarray:
    """Return the sums of the cycles at each place from 0 to count - 1, at most MAX_CYCLES; int64 [count].

    `place` is int64 [n], `cycles` int64 or narrower [n], at least 0.
    """
    place = place.reshape(-1)
    if int(cycles.max(initial=0)) < _EXACT // max(1, len(cycles)):
        return np.bincount(place, weights=cycles, minlength=count).astype(np.int64)
    low, high = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    cycles = cycles.astype(np.int64)
    np.add.at(low, place, cycles & _LOW)
    np.add.at(high, place, cycles >> 31)
    high += low >> 31
    return np.where(high > MAX_CYCLES >> 31, MAX_CYCLES, (high << 31) | (low & _LOW))


def total(cycles: np.ndarray) -> int:
    """Return the sum of a column, at most MAX_CYCLES; no value may be negative."""
    return int(sums(np.zeros(len(cycles), dtype=np.int64), cycles, 1)[0])


def summed(key: np.ndarray, *columns: np.ndarray) -> Sums:
    """Return the distinct keys, ascending, and the sums of each column by them, at most MAX_CYCLES; int64."""
    by_key = order(key)
    key = key.take(by_key)
    first = run_starts(key)
    return key.take(first), *(sums_of_runs(column.take(by_key), first) for column in columns)


def sums_of_runs(cycles: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the sums of runs of rows, at most MAX_CYCLES, int64; `first` are their first rows, from 0 on."""
    if int(cycles.max(initial=0)) < _EXACT // max(1, len(cycles)):
        return np.add.reduceat(cycles, first, dtype=np.int64) if len(first) else np.zeros(0, dtype=np.int64)
    return sums(np.repeat(np.arange(len(first)), np.diff(first, append=len(cycles))), cycles, len(first))


def no_sums(columns: int) -> Sums:
    """Return empty sums with this number of columns."""
    return (np.zeros(0, dtype=np.int64),) * (1 + columns)


def joined_sums(parts: Sequence[Sums]) -> Sums:
    """Merge the keys and sums of several parts; their order does not matter."""
    return summed(*map(np.concatenate, zip(*parts, strict=True)))


def nonzero(dense: np.ndarray) -> Sums:
    """Return the indices of the nonzero values of a column as keys, and these values."""
    key = np.flatnonzero(dense)
    return key, dense[key]


def dense(parts: Sums, rows: int) -> tuple[np.ndarray, ...]:
    """Return each column as a dense array, int64 [rows], indexed by key; 0 where a key is missing."""
    key, *columns = parts
    table = np.zeros((len(columns), rows), dtype=np.int64)
    table[:, key] = columns
    return tuple(table)
