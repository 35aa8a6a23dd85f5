"""Loops of a program: jumps back to a block through which every way to the jump leads.

```
 block   depth
   0       0
   1  ┐    1     header of the outer loop
   2  ┐    2     header of the inner one
   3  ┘    2     jumps back to 2
   4  ┘    1     jumps back to 1
```
The header of a loop dominates the block that jumps back (Aho, Sethi, Ullman: natural loops); a jump to a
lower address that does not, as compilers use them for code moved out of line, makes no loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.blocks import Blocks
from rcv_py.analysis.branches import Branches


@dataclass(frozen=True, eq=False)
class Loops:
    """One row a loop, sorted by its header; `depth_of_block` has one row a block."""

    header: np.ndarray  # int32, block it begins with
    first: np.ndarray  # int32, lowest code row of its blocks
    stop: np.ndarray  # int32, code row behind the highest one
    depth: np.ndarray  # int32, from 1; a loop inside another one is deeper
    back: np.ndarray  # int64, times it was continued: ways taken back to the header
    rounds: np.ndarray  # int64, executions of the header
    depth_of_block: np.ndarray  # int32 [blocks], in how many loops a block is
    back_from: np.ndarray  # int32 [back edges], block
    back_to: np.ndarray  # int32 [back edges], block: a header

    def __len__(self) -> int:
        return len(self.header)

    @property
    def entries(self) -> np.ndarray:
        """How often each loop was entered from outside, int64."""
        return np.maximum(0, self.rounds - self.back)


def loops(table: Blocks, found: Branches | None = None) -> Loops:
    """Return the natural loops of all kernels; `found` counts their rounds (else they are 0)."""
    after, before = _neighbours(table)
    dominators = _dominators(table, after, before)
    pairs = zip(table.edge_from.tolist(), table.edge_to.tolist(), strict=True)
    back = [(a, b) for a, b in pairs if dominators[a] >> b & 1]
    bodies: dict[int, set[int]] = {}
    for a, b in back:
        bodies.setdefault(b, {b}).update(_body(a, b, before))
    headers = sorted(bodies)
    depth_of_block = np.zeros(len(table), dtype=np.int32)
    for body in bodies.values():
        depth_of_block[list(body)] += 1
    spans = [(min(bodies[h]), max(bodies[h])) for h in headers]
    counted = [_rounds(table, h, [a for a, b in back if b == h], found) for h in headers]

    def column(values: list[int], dtype: type) -> np.ndarray:
        return np.array(values, dtype=dtype)

    return Loops(
        column(headers, np.int32),
        table.first[column([low for low, _ in spans], np.int32)],
        table.stop[column([high for _, high in spans], np.int32)],
        depth_of_block[column(headers, np.int32)],
        column([one[0] for one in counted], np.int64),
        column([one[1] for one in counted], np.int64),
        depth_of_block,
        column([a for a, _ in back], np.int32),
        column([b for _, b in back], np.int32),
    )


def _neighbours(table: Blocks) -> tuple[list[list[int]], list[list[int]]]:
    after: list[list[int]] = [[] for _ in range(len(table))]
    before: list[list[int]] = [[] for _ in range(len(table))]
    for a, b in zip(table.edge_from.tolist(), table.edge_to.tolist(), strict=True):
        after[a].append(b)
        before[b].append(a)
    return after, before


def _dominators(table: Blocks, after: list[list[int]], before: list[list[int]]) -> list[int]:
    """Return for each block the set, as bits, of the blocks on every way to it."""
    order, roots = _reached(table, after, before)
    everything = (1 << len(table)) - 1
    found = [everything] * len(table)
    is_stable = False
    while not is_stable:
        is_stable = True
        for block in order:
            ways = everything if block not in roots else 0
            for other in before[block]:
                ways &= found[other]
            now = ways | 1 << block
            if now != found[block]:
                found[block], is_stable = now, False
    return found


def _reached(
    table: Blocks, after: list[list[int]], before: list[list[int]]
) -> tuple[list[int], frozenset[int]]:
    """Return all blocks in reverse postorder, and where a run may begin.

    Blocks that nothing known leads to count as places to begin, so that the rest says something all the same.
    """
    wanted = [block for block in range(len(table)) if table.is_entry[block] or not before[block]]
    order: list[int] = []
    seen: set[int] = set()
    roots = []
    for root in [*wanted, *range(len(table))]:
        if root in seen:
            continue
        roots.append(root)
        order[:0] = _postorder(root, after, seen)[::-1]
    return order, frozenset(roots) | frozenset(wanted)


def _postorder(root: int, after: list[list[int]], seen: set[int]) -> list[int]:
    seen.add(root)
    done, stack = [], [(root, iter(after[root]))]
    while stack:
        block, ways = stack[-1]
        fresh = next((way for way in ways if way not in seen), None)
        if fresh is None:
            done.append(block)
            stack.pop()
        else:
            seen.add(fresh)
            stack.append((fresh, iter(after[fresh])))
    return done


def _body(tail: int, header: int, before: list[list[int]]) -> set[int]:
    """Return the blocks from which the tail is reached without passing the header."""
    body, todo = {header, tail}, [tail] if tail != header else []
    while todo:
        fresh = [block for block in before[todo.pop()] if block not in body]
        body.update(fresh)
        todo += fresh
    return body


def _rounds(table: Blocks, header: int, tails: list[int], found: Branches | None) -> tuple[int, int]:
    """Return (ways back that were taken, executions of the header)."""
    if found is None or not len(found.ran):
        return 0, 0
    source, target = table.of_row[found.source], table.of_row[found.target]
    jumps = int(found.taken[np.isin(source, tails) & (target == header)].sum())
    fallen = 0
    if header - 1 in tails:  # the block above falls into its header
        last = int(table.stop[header - 1]) - 1
        fallen = int(found.ran[last] - found.jumped[last])
    return jumps + fallen, int(found.ran[table.head[header]])
