"""Pieces that were moved: runs of instructions without a partner on both sides that are like each other.

A compiler that moves a piece of a block elsewhere leaves a run in A and one in B, each without a partner.
Runs that have most of their instructions in common, in order, are the same piece.
"""

from __future__ import annotations

import numpy as np

from rcv_py.analysis.compare.lcs import common

SHORTEST = 4  # instructions in common: shorter runs are alike by chance
ALIKE = 0.75  # share of the shorter run that has to be in common
MOST = 60  # runs of a side that are looked at, the longest


def pair_leftover(to_b: np.ndarray, key_a: np.ndarray, key_b: np.ndarray) -> np.ndarray:
    """Pair runs that are left over, the likest first; return the rows of A that were paired, bool.

    `to_b` (int32 [rows of A], -1 for none) is completed in place.
    """
    moved = np.zeros(len(to_b), dtype=bool)
    taken = np.zeros(len(key_b), dtype=bool)
    taken[to_b[to_b >= 0]] = True
    found = []
    runs_b = _runs(~taken)
    for rows_a in _runs(to_b < 0):
        for rows_b in runs_b:
            pairs = common(key_a[rows_a].tolist(), key_b[rows_b].tolist())
            if len(pairs) >= max(SHORTEST, ALIKE * min(len(rows_a), len(rows_b))):
                found.append((len(pairs), rows_a, rows_b, pairs))
    for _, rows_a, rows_b, pairs in sorted(found, key=lambda one: -one[0]):
        i, j = np.array(pairs).T
        free = (to_b[rows_a[i]] < 0) & ~taken[rows_b[j]]
        if free.all():
            to_b[rows_a[i]] = rows_b[j]
            moved[rows_a[i]] = taken[rows_b[j]] = True
    return moved


def _runs(is_free: np.ndarray) -> list[np.ndarray]:
    """Return the rows of runs that are long enough, the longest ones."""
    edges = np.flatnonzero(np.diff(is_free.astype(np.int8), prepend=0, append=0))
    runs = [
        np.arange(first, stop)
        for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        if stop - first >= SHORTEST
    ]
    return sorted(runs, key=len, reverse=True)[:MOST]
