"""Which basic block of one program is which of another, wherever it was moved to.

First blocks with equal instructions, in order and then out of order; then, among the rest, the pairs with
most instructions in common.  A block has at most one partner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.compare.lcs import common
from rcv_py.analysis.program.blocks import Blocks

ALIKE = 0.5  # share of instructions that two blocks must have in common
PLACE_WEIGHT = 0.3  # what being at the other end of the program takes from a likeness
SHORTEST = 3  # instructions of a block that is paired by likeness: shorter ones say too little
MOST = 300  # blocks on a side that are compared with each other by likeness


@dataclass(frozen=True, eq=False)
class Side:
    """A program cut into blocks: keys of its rows by text and by shape (int64)."""

    blocks: Blocks
    text: np.ndarray
    shape: np.ndarray

    def parts(self, keys: np.ndarray) -> list[tuple[int, ...]]:
        """The keys of each block."""
        places = zip(self.blocks.first.tolist(), self.blocks.stop.tolist(), strict=True)
        flat = keys.tolist()
        return [tuple(flat[first:stop]) for first, stop in places]


def pair_blocks(a: Side, b: Side) -> np.ndarray:
    """Return the block of `b` that each block of `a` is, -1 for none; int32."""
    partner = np.full(len(a.blocks), -1, dtype=np.int32)
    for keys in ("text", "shape"):
        _equal(partner, a.parts(getattr(a, keys)), b.parts(getattr(b, keys)))
    _alike(partner, a, b)
    return partner


def _equal(partner: np.ndarray, a: Sequence[tuple[Hashable, ...]], b: Sequence[tuple[Hashable, ...]]) -> None:
    """Pair blocks with equal contents: in the order of both programs first, then wherever they are."""
    numbers: dict[Hashable, int] = {}
    left = [numbers.setdefault(part, len(numbers)) for part in a]
    right = [numbers.setdefault(part, len(numbers)) for part in b]
    free_a = np.flatnonzero(partner < 0).tolist()
    free_b = _free(partner, len(b)).tolist()
    for i, j in common([left[i] for i in free_a], [right[j] for j in free_b]):
        partner[free_a[i]] = free_b[j]
    waiting: dict[int, list[int]] = defaultdict(list)
    for j in _free(partner, len(b)).tolist()[::-1]:
        waiting[right[j]].append(j)
    for i in np.flatnonzero(partner < 0).tolist():
        if len(a[i]) >= SHORTEST and waiting[left[i]]:
            partner[i] = waiting[left[i]].pop()


def _free(partner: np.ndarray, n: int) -> np.ndarray:
    taken = np.zeros(n, dtype=bool)
    taken[partner[partner >= 0]] = True
    return np.flatnonzero(~taken)


def _alike(partner: np.ndarray, a: Side, b: Side) -> None:
    """Pair the remaining blocks that have most in common, the best pair first."""
    left, right = np.flatnonzero(partner < 0), _free(partner, len(b.blocks))
    left = left[_lengths(a.blocks)[left] >= SHORTEST][:MOST]
    right = right[_lengths(b.blocks)[right] >= SHORTEST][:MOST]
    if not len(left) or not len(right):
        return
    score = _likeness(_bags(a, left, b, right)) - PLACE_WEIGHT * np.abs(
        _relative(a.blocks, left)[:, None] - _relative(b.blocks, right)[None, :]
    )
    order = np.argsort(-score, axis=None, kind="stable")
    order = order[score.reshape(-1)[order] >= ALIKE]
    used_a, used_b = np.zeros(len(left), dtype=bool), np.zeros(len(right), dtype=bool)
    for at in order.tolist():
        i, j = divmod(at, len(right))
        if not used_a[i] and not used_b[j]:
            used_a[i] = used_b[j] = True
            partner[left[i]] = right[j]


def _lengths(table: Blocks) -> np.ndarray:
    return table.stop - table.first


def _relative(table: Blocks, chosen: np.ndarray) -> np.ndarray:
    return (table.first[chosen] + table.stop[chosen]) / 2 / max(int(table.stop[-1]), 1)


def _bags(a: Side, left: np.ndarray, b: Side, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each shape occurs in each chosen block, float32 [blocks, shapes] of both sides."""
    shapes = np.unique(np.concatenate([a.shape, b.shape]))

    def counts(side: Side, chosen: np.ndarray) -> np.ndarray:
        of = np.full(len(side.blocks), -1)
        of[chosen] = np.arange(len(chosen))
        block = of[side.blocks.of_row]
        rows = np.flatnonzero(block >= 0)
        cell = block[rows] * len(shapes) + np.searchsorted(shapes, side.shape[rows])
        size = len(chosen) * len(shapes)
        return np.bincount(cell, minlength=size).reshape(len(chosen), -1).astype(np.float32)

    return counts(a, left), counts(b, right)


def _likeness(bags: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the share of instructions in common, twice those in both over those of both; [left, right]."""
    left, right = bags
    size = left.sum(axis=1)[:, None] + right.sum(axis=1)[None, :]
    both = np.stack([np.minimum(row, right).sum(axis=1) for row in left])
    return 2 * both / np.maximum(size, 1)
