"""The counters of many waves at once, without a loop over tokens.

Operations of a counter are numbered in order of issue; a wait that lets N of them stay, after c have been
issued, releases all before c - N.  So what is released is a running maximum, and every wait gets a range
of operation numbers.  Where results may overtake each other a wait for N > 0 tells nothing: that is so while
a bad place is outstanding, and stays so until the next wait for zero, since nothing is released until then.

Numbers of operations and places of waits only grow from one wave to the next, so one pass serves all waves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Operations:
    """What was issued to one counter, in order of issue."""

    row: np.ndarray  # int64, token; twice for an operation that raises the counter by two
    kind: np.ndarray  # uint8
    is_unordered: np.ndarray  # bool, its result may come back at any time

    def last_bad(self) -> np.ndarray:
        """Return, for each c from 0 to n, the last bad place before operation c; int64 [n + 1], -1 for none.

        An operation without order is bad itself; of two kinds in a row the first is.
        """
        place = np.arange(len(self.row), dtype=np.int64)
        changes = np.zeros(len(place), dtype=bool)
        changes[1:] = self.kind[1:] != self.kind[:-1]
        bad = np.where(self.is_unordered, place, np.where(changes, place - 1, -1))
        return np.maximum.accumulate(np.concatenate([[-1], bad]))


@dataclass(frozen=True, eq=False)
class Asked:
    """Waits on one counter, in order of execution."""

    row: np.ndarray  # int64, token
    left: np.ndarray  # int64, how many operations may stay outstanding
    wave_first: np.ndarray  # int64, first token of the wave


@dataclass(frozen=True, eq=False)
class Released:
    """What each wait of `Asked` released: operations `begin` to `stop - 1` of its counter."""

    begin: np.ndarray  # int64
    stop: np.ndarray  # int64
    is_known: np.ndarray  # bool, False where the wait told nothing because results overtake each other
    is_ordered: np.ndarray  # bool, no outstanding operation could have overtaken another


def release(ops: Operations, asked: Asked) -> Released:
    """Return what waits release by the rules of the hardware."""
    issued, base = _numbers(ops.row, asked)
    target = np.where(asked.left == 0, issued, issued - asked.left)
    free = _running(np.maximum(target, base), base)  # as if every wait told something
    is_disordered = ops.last_bad()[issued] >= _before(free, base)
    is_known = ~_so_far(is_disordered & (asked.left > 0), asked) | (asked.left == 0)
    return _ranges(issued, base, asked, is_known, ~is_disordered)


def release_by_flag(ops: np.ndarray, flags: np.ndarray, asked: Asked) -> Released:
    """Return what waits release by the reference's rule.

    `ops` are the tokens that raise the counter; after one of the tokens `flags` it is out of order, until it
    is waited for down to zero.
    """
    issued, base = _numbers(ops, asked)
    seen = np.searchsorted(flags, asked.row)
    since = np.searchsorted(flags, asked.wave_first)
    start = np.maximum.accumulate(np.where(asked.left == 0, seen, 0))
    is_flagged = seen > np.maximum(since, np.concatenate([[0], start[:-1]])) if len(seen) else seen > since
    is_known = ~is_flagged | (asked.left == 0)
    return _ranges(issued, base, asked, is_known, ~is_flagged)


def take_all(ops: np.ndarray, asked: Asked) -> Released:
    """Return what waits take from a list that each of them empties."""
    nothing = Asked(asked.row, np.zeros_like(asked.left), asked.wave_first)
    return release_by_flag(ops, np.zeros(0, dtype=np.int64), nothing)


def _numbers(ops: np.ndarray, asked: Asked) -> tuple[np.ndarray, np.ndarray]:
    """Operations issued before each wait, and before its wave; both count through all waves."""
    return np.searchsorted(ops, asked.row), np.searchsorted(ops, asked.wave_first)


def _running(value: np.ndarray, base: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum.accumulate(value), base)


def _before(after: np.ndarray, base: np.ndarray) -> np.ndarray:
    return np.maximum(np.concatenate([base[:1], after[:-1]]), base)


def _so_far(is_bad: np.ndarray, asked: Asked) -> np.ndarray:
    """Whether this or an earlier wait is bad, counted anew after every wait for zero and in every wave."""
    place = np.arange(len(is_bad))
    opens = np.ones(len(is_bad), dtype=bool)
    opens[1:] = (asked.left[:-1] == 0) | (asked.wave_first[1:] != asked.wave_first[:-1])
    start = np.maximum.accumulate(np.where(opens, place, 0))
    return np.maximum.accumulate(np.where(is_bad, place, -1)) >= start


def _ranges(
    issued: np.ndarray, base: np.ndarray, asked: Asked, is_known: np.ndarray, is_ordered: np.ndarray
) -> Released:
    target = np.where(is_known, issued - asked.left, base)
    stop = _running(np.maximum(target, base), base)
    return Released(_before(stop, base), stop, is_known, is_ordered)
