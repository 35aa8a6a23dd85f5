"""Which block of a program every way to another block leads through.

Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (1979), the simple form with
compressed paths: nearly linear, so that a program made to be slow is not.  Blocks are numbered from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Ways = Sequence[Sequence[int]]  # of each block: its neighbours


def immediate_dominators(after: Ways, before: Ways, roots: Sequence[int]) -> list[int]:
    """Return the nearest other block on every way from any root to each block; -1 if there is none.

    A root is dominated by nothing but itself: ways into it do not count.  Every block must be reached.
    """
    count = len(after)
    vertex, number, parent = _walk(after, roots)
    semi = number[:]
    ancestor, label = [-1] * (count + 1), list(range(count + 1))
    bucket: list[list[int]] = [[] for _ in range(count + 1)]
    idom = [-1] * (count + 1)
    is_root = set(roots)
    for block in reversed(vertex[1:]):
        for other in (count,) if block in is_root else before[block]:
            least = _best(other, ancestor, label, semi)
            semi[block] = min(semi[block], semi[least])
        bucket[vertex[semi[block]]].append(block)
        ancestor[block] = parent[block]
        for waiting in bucket[parent[block]]:
            least = _best(waiting, ancestor, label, semi)
            idom[waiting] = least if semi[least] < semi[waiting] else parent[block]
        bucket[parent[block]].clear()
    for block in vertex[1:]:
        if idom[block] != vertex[semi[block]]:
            idom[block] = idom[idom[block]]
    return [-1 if above == count else above for above in idom[:count]]


def intervals(above: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return when a walk over the tree enters and leaves each block, int64.

    Block a dominates block b if `enter[a] <= enter[b]` and `leave[b] <= leave[a]`.  `above` is what
    `immediate_dominators` returns.
    """
    below: list[list[int]] = [[] for _ in above]
    for block, parent in enumerate(above):
        if parent >= 0:
            below[parent].append(block)
    enter, leave = np.zeros(len(above), dtype=np.int64), np.zeros(len(above), dtype=np.int64)
    clock = 0
    todo = [(block, False) for block, parent in enumerate(above) if parent < 0]
    while todo:
        block, is_done = todo.pop()
        clock += 1
        if is_done:
            leave[block] = clock
            continue
        enter[block] = clock
        todo.append((block, True))
        todo += [(child, False) for child in below[block]]
    return enter, leave


def _walk(after: Ways, roots: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Blocks in the order of a walk from a made-up block in front of all roots, its numbers, and its tree."""
    count = len(after)
    is_root = set(roots)
    vertex, number, parent = [count], [0] * (count + 1), [-1] * (count + 1)
    seen = [False] * count
    todo = [(root, count) for root in reversed(roots)]
    while todo:
        block, front = todo.pop()
        if seen[block]:
            continue
        seen[block] = True
        number[block], parent[block] = len(vertex), front
        vertex.append(block)
        todo += [(way, block) for way in reversed(after[block]) if not seen[way] and way not in is_root]
    return vertex, number, parent


def _best(block: int, ancestor: list[int], label: list[int], semi: list[int]) -> int:
    """The block with the least `semi` above this one in the forest; shortens the way there."""
    if ancestor[block] < 0:
        return block
    way = []
    at = block
    while ancestor[ancestor[at]] >= 0:
        way.append(at)
        at = ancestor[at]
    for one in reversed(way):
        over = ancestor[one]
        if semi[label[over]] < semi[label[one]]:
            label[one] = label[over]
        ancestor[one] = ancestor[over]
    return label[block]
