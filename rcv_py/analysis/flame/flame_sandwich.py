"""Everything about one place in one picture: what leads to it, and what it leads to.

```
        main:3   main:9        callers, the nearest beside the place
            body:7
        ──────────────
             place             self and total over all occurrences
        ──────────────
         a:1      line 40      callees, merged over all occurrences
```
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rcv_py.analysis.flame.flame import FlameTree, Metric, fold
from rcv_py.analysis.flame.flame_layout import FlameLayout, Order, layout
from rcv_py.analysis.flame.flame_paths import Stacks, kernel_stacks, source_stacks
from rcv_py.analysis.flame.flame_text import labels
from rcv_py.model.trace import Trace


@dataclass(frozen=True, eq=False)
class Sandwich:
    """Two trees whose only root is the place.

    A stack in which the place occurs twice counts once, from its outermost occurrence.
    """

    callees: FlameTree
    callers: FlameTree  # upside down: below the root is what it was called from


def sandwich(stacks: Stacks, element: int, like: FlameTree) -> Sandwich:
    """Return the callers and callees of an element; both trees are empty if no stack has it.

    `like` is the tree of all stacks, whose names and unit the answer keeps.
    """
    at = np.flatnonzero(stacks.element == element)
    owner = np.searchsorted(stacks.first, at, side="right") - 1
    rows, once = np.unique(owner, return_index=True)
    at = at[once]
    below = _cut(stacks, rows, at, stacks.first[1:][rows] - at, +1)
    above = _cut(stacks, rows, at, at - stacks.first[:-1][rows] + 1, -1)
    fold_alike = partial(fold, names=like.names, unit=like.unit, has_hidden=like.has_hidden)
    return Sandwich(fold_alike(below), fold_alike(above))


def joined_frames(
    both: Sandwich,
    metric: Metric,
    order: Order,
    labels: tuple[tuple[str, ...], tuple[str, ...]] | None = None,
) -> tuple[FlameTree, FlameLayout]:
    """Return both trees as one, the place once, with callers in rows -1, -2 …

    The frames of the callees come first; frames of callers (the root aside) have parents nearer to the place.
    """
    down, up = both.callees, both.callers
    shift = len(down) - 1
    tree = replace(
        down,
        element=np.concatenate([down.element, up.element[1:]]),
        parent=np.concatenate([down.parent, np.where(up.parent[1:] > 0, up.parent[1:] + shift, 0)]).astype(
            np.int32
        ),
        depth=np.concatenate([down.depth, up.depth[1:]]),
        own=np.concatenate([down.own, up.own[1:]]),
        total=np.concatenate([down.total, up.total[1:]]),
        order=np.concatenate([down.order, up.order[1:]]),
    )
    below = layout(down, metric, order, labels and labels[0])
    above = layout(up, metric, order, labels and labels[1])
    row = np.concatenate([below.row, -above.row[1:]])
    begin, width = (
        np.concatenate([getattr(below, name), getattr(above, name)[1:]]) for name in ("begin", "width")
    )
    return tree, FlameLayout(begin, width, row, below.whole)


def _cut(stacks: Stacks, rows: np.ndarray, at: np.ndarray, length: np.ndarray, step: int) -> Stacks:
    """Return the part of each stack that begins at `at` and goes inwards (+1) or outwards (-1)."""
    first = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    inside = np.arange(first[-1]) - np.repeat(first[:-1], length)
    element = stacks.element[np.repeat(at, length) + step * inside]
    return Stacks(first, element, stacks.own[rows], stacks.order[rows])


def sandwich_frames(
    trace: Trace, own: np.ndarray, like: FlameTree, element: int, *, metric: Metric, order: Order
) -> tuple[FlameTree, FlameLayout, tuple[str, ...]] | None:
    """Return both trees as one with its boxes and texts, None if nothing that counts leads through a place.

    `own` is int64 [code rows, metrics]; `like` is the tree of all stacks.
    """
    stacks = (source_stacks if len(trace.code.chain_file) else kernel_stacks)(trace.code, own)
    both = sandwich(stacks, element, like)
    if not len(both.callees) or not both.callees.whole(metric):
        return None
    texts = labels(trace, both.callees), labels(trace, both.callers)
    tree, boxes = joined_frames(both, metric, order, texts)
    return tree, boxes, (*texts[0], *texts[1][1:])
