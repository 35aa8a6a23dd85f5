"""Hidden latency as the reference viewer defines it.

A SIMD has four units with a list of busy stretches each; work that overlaps is queued, and a matrix
instruction also keeps the vector arithmetic unit busy for three quarters of its time.  The idle, stall and
issue of every token is looked up in two lists, and the list that covers more of them counts.
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.core.intervals import IntervalSet, serial_busy
from rcv_py.analysis.core.simd_tokens import MATRIX, OTHER, SCALAR, VALU, VMEM, SimdTokens

ASSUMPTION = (
    "The reference viewer's rule: overlapping work of a unit is queued, a wave may hide its own latency, and "
    "three quarters of a matrix instruction's issue count as vector arithmetic."
)

_MATH, _VECTOR, _ALL = "math", "vector", "all"
_CANDIDATES = (  # unit, list A, list B, lists in which the issue of the unit's own kind does not count
    (MATRIX, VALU, MATRIX, (True, True)),
    (VALU, VALU, MATRIX, (True, False)),
    (VMEM, _MATH, VMEM, (False, True)),
    (SCALAR, _VECTOR, SCALAR, (False, True)),
    (OTHER, _ALL, None, (False, False)),
)


def reference_parts(tokens: SimdTokens) -> np.ndarray:
    """Return the hidden idle, stall and issue of every token, int64 [3, n], cycles."""
    length = tokens.end - tokens.issue
    stride = 2 * tokens.span + int(length.sum()) * 2
    shift = tokens.lane[tokens.wave] * stride
    lists = _lists(tokens, tokens.issue + shift, length)
    before = tokens.before
    parts = np.zeros((3, len(tokens)), dtype=np.int64)
    for unit, one, other, is_own in _CANDIDATES:
        rows = np.flatnonzero(tokens.unit == unit)
        moved = shift[rows]
        edges = tuple(column[rows] + moved for column in (before, tokens.start, tokens.issue, tokens.end))
        first = _covered(lists[one], edges, is_own[0])
        second = _covered(lists[other], edges, is_own[1]) if other is not None else np.zeros_like(first)
        parts[:, rows] = np.where(first.sum(axis=0) > second.sum(axis=0), first, second)
    return parts


def _lists(tokens: SimdTokens, issue: np.ndarray, length: np.ndarray) -> dict[int | str, IntervalSet]:
    """The busy stretches of each unit and of their unions, on the axis of SIMDs."""
    lists: dict[int | str, IntervalSet] = {}
    is_matrix = tokens.unit == MATRIX
    for unit in (MATRIX, VALU, VMEM, SCALAR):
        rows = np.flatnonzero(tokens.unit == unit)
        begin, work = issue[rows], length[rows]
        if unit == VALU:
            begin = np.concatenate([begin, issue[is_matrix]])
            work = np.concatenate([work, length[is_matrix] * 3 // 4])
        lists[unit] = serial_busy(begin, work)
    lists[_MATH] = lists[VALU] | lists[MATRIX]
    lists[_VECTOR] = lists[_MATH] | lists[VMEM]
    lists[_ALL] = lists[_VECTOR] | lists[SCALAR]
    return lists


def _covered(busy: IntervalSet, edges: tuple[np.ndarray, ...], is_own: bool) -> np.ndarray:
    """Cycles of idle, stall and issue inside a list, int64 [3, n]; `is_own`: issue does not count."""
    before, start, issue, end = edges
    none = np.zeros(len(start), dtype=np.int64)
    return np.stack(
        [
            busy.covered(before, start),
            busy.covered(start, issue),
            none if is_own else busy.covered(issue, end),
        ]
    )
