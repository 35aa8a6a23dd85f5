"""Loops of a program: backward jumps to a block that every path to the jump goes through.

```
 block   depth
   0       0
   1  ┐    1     header of the outer loop
   2  ┐    2     header of the inner one
   3  ┘    2     jumps back to 2
   4  ┘    1     jumps back to 1
```
The header of a loop dominates the block that jumps back (Aho, Sethi, Ullman: natural loops).  Other jumps to
a lower address, which compilers use for code moved out of line, make no loop.  Dominators are computed as in
Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (1979), in the simple form with
compressed paths: nearly linear even for adversarial programs.
"""

from collections.abc import Sequence

import numpy as np

from rcv_py.analysis.program.blocks import Blocks, Ways, ways
from rcv_py.analysis.program.branches import Branches
from rcv_py.base.runs import ascending
from rcv_py.model.columns import ColumnTable


def immediate_dominators(after: Ways, before: Ways, roots: Sequence[int]) -> list[int]:
    """Return the nearest other block on every path from any root to each block; -1: none.

    A root is dominated only by itself: edges into it do not count.  Every block must be reachable.
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

    Block a dominates block b if `enter[a] <= enter[b]` and `leave[b] <= leave[a]`.  `above` is the result of
    `immediate_dominators`.
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
    """Blocks in depth-first order from a virtual block before all roots, their numbers, and the tree."""
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
    """The block with the least `semi` above this block in the forest; compresses the path."""
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


class Loops(ColumnTable):
    """One row per loop, sorted by its header; `depth_of_block` has one row per block."""

    header: np.ndarray  # int32, the block it begins with
    first: np.ndarray  # int32, lowest code row of its blocks
    stop: np.ndarray  # int32, code row after the highest one
    depth: np.ndarray  # int32, from 1; a loop inside another one is deeper
    back: np.ndarray  # int64, times it was continued: back edges taken to the header
    rounds: np.ndarray  # int64, executions of the header
    depth_of_block: np.ndarray  # int32 [blocks], number of loops around a block

    @property
    def entries(self) -> np.ndarray:
        """How often each loop was entered from outside, int64."""
        return np.maximum(0, self.rounds - self.back)


def loops(table: Blocks, jumps: Branches | None = None) -> Loops:
    """Return the natural loops of all kernels; `jumps` counts their iterations (without it 0).

    Nearly linear in blocks and edges, however deep loops are nested.
    """
    before, after = ways(table)
    enter, leave = intervals(immediate_dominators(after, before, _roots(table, after, before)))
    a, b = table.edge_from, table.edge_to
    is_back = (enter[b] <= enter[a]) & (leave[a] <= leave[b])  # the target dominates the source
    tail, head = a[is_back], b[is_back]
    headers = ascending(head)
    tails: dict[int, list[int]] = {}
    for source, target in zip(tail.tolist(), head.tolist(), strict=True):
        tails.setdefault(target, []).append(source)
    low, high, depth = _nested(headers[np.argsort(-enter[headers])].tolist(), tails, before)
    rounds = back = np.zeros(len(headers), dtype=np.int64)
    if jumps is not None:
        # How often the back edges to each header were taken.
        back = np.zeros(len(headers), dtype=np.int64)
        edge = tail.astype(np.int64) << 32 | head
        jump = table.of_row[jumps.source].astype(np.int64) << 32 | table.of_row[jumps.target]
        is_back = np.isin(jump, edge)
        np.add.at(back, np.searchsorted(headers, jump[is_back] & 0xFFFFFFFF), jumps.taken[is_back])
        falls = head[tail == head - 1]  # the block above falls into its header
        last = table.stop[falls - 1] - 1
        back[np.searchsorted(headers, falls)] += jumps.ran[last] - jumps.jumped[last]
        rounds = jumps.ran[table.head[headers]].astype(np.int64)
    first, stop, own = table.first[low[headers]], table.stop[high[headers]], depth[headers]
    return Loops(headers, first, stop, depth=own, back=back, rounds=rounds, depth_of_block=depth)


def _roots(table: Blocks, after: list[list[int]], before: list[list[int]]) -> list[int]:
    """Return the blocks where execution may begin.

    Blocks without a known predecessor count as such, so that the analysis covers the rest as well.
    """
    entries = [block for block in range(len(table)) if table.is_entry[block] or not before[block]]
    seen: set[int] = set()
    roots = dict.fromkeys(entries)
    for root in [*entries, *range(len(table))]:
        if root not in seen:
            roots[root] = None
            todo = [root]
            while todo:
                block = todo.pop()
                if block not in seen:
                    seen.add(block)
                    todo += after[block]
    return list(roots)


def _nested(
    headers: list[int], tails: dict[int, list[int]], before: list[list[int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the lowest and the highest block of each header's loop, and the loop depth of each block.

    All have one row per block.  `headers` are sorted from the innermost: a finished loop is then a block,
    its header, since no other of its blocks is entered from outside.
    """
    count = len(before)
    outer, whole = [-1] * count, list(range(count))  # the header of the loop around a block; union-find
    low, high = list(range(count)), list(range(count))
    for header in headers:
        todo = [_find(whole, tail) for tail in tails[header]]
        while todo:
            block = todo.pop()
            if block == header or whole[block] == header:
                continue
            whole[block] = outer[block] = header
            low[header], high[header] = min(low[header], low[block]), max(high[header], high[block])
            todo += [_find(whole, other) for other in before[block]]
    depth = np.zeros(count, dtype=np.int32)
    for header in reversed(headers):
        depth[header] = 1 + (depth[outer[header]] if outer[header] >= 0 else 0)
    around = np.array(outer, dtype=np.int64)
    inner = np.setdiff1d(np.flatnonzero(around >= 0), headers, assume_unique=True)
    depth[inner] = depth[around[inner]]
    return np.array(low, dtype=np.int32), np.array(high, dtype=np.int32), depth


def _find(whole: list[int], block: int) -> int:
    """The header that a block has been merged into; compresses the path for later calls."""
    top = block
    while whole[top] != top:
        top = whole[top]
    while whole[block] != top:
        whole[block], block = top, whole[block]
    return top
