"""Where the frames of a flamegraph are: exact whole numbers, children side by side inside their parent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from rcv_py.analysis.flame.flame import FlameTree, Metric


class Order(Enum):
    """Which of two siblings stands left."""

    HEAVY = "heavy"  # the more expensive one
    EXECUTION = "execution"  # the one met first, by code row or by time
    NAME = "name"  # the alphabetically first


@dataclass(frozen=True, eq=False)
class FlameLayout:
    """One row a frame of the tree, as a box: `begin` to `begin + width` of `whole`, in row `row`.

    A frame that costs nothing in the metric has width 0.  Rows below zero hold the callers of a sandwich.
    """

    begin: np.ndarray  # int64
    width: np.ndarray  # int64, the frame's total in the metric
    row: np.ndarray  # int32
    whole: int  # width of all roots

    def __len__(self) -> int:
        return len(self.begin)


def layout(
    tree: FlameTree, metric: Metric, order: Order = Order.HEAVY, labels: tuple[str, ...] | None = None
) -> FlameLayout:
    """Return the boxes of a tree; `labels`, one a frame, are needed for the order by name.

    Equal siblings stand in the order in which they are met.
    """
    width = tree.total[:, metric.value]
    rank = _rank(tree, width, order, labels)
    begin = np.zeros(len(tree), dtype=np.int64)
    for level in range(tree.levels):
        here = np.arange(*np.searchsorted(tree.depth, [level, level + 1]))
        here = here[np.lexsort((tree.order[here], rank[here], tree.parent[here]))]
        before = np.cumsum(width[here]) - width[here]
        parent = tree.parent[here]
        is_first = np.append(True, parent[1:] != parent[:-1])[: len(here)]
        start = np.maximum.accumulate(np.where(is_first, np.arange(len(here)), 0))
        left = np.where(parent >= 0, begin[parent], 0)
        begin[here] = left + before - before[start]
    return FlameLayout(begin, width, tree.depth, tree.whole(metric))


def _rank(tree: FlameTree, width: np.ndarray, order: Order, labels: tuple[str, ...] | None) -> np.ndarray:
    if order is Order.HEAVY:
        return -width
    if order is Order.EXECUTION or labels is None:
        return tree.order
    _, rank = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)
    return rank.reshape(-1)
