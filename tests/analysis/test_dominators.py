"""Loops of any program are those that a slow computation by the definition finds.

A block dominates another one if nothing reaches the other once the block is taken away.  A way back leads
to a block that dominates the one it comes from; its loop is the header and all that reaches the way back
without passing the header (Aho, Sethi, Ullman).
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rcv_py.analysis.program.blocks import Blocks
from rcv_py.analysis.program.loops import immediate_dominators, loops

Edges = list[tuple[int, int]]
ROWS = 3  # of a block


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges, list[bool]]:
    """Blocks, edges without repeats, and which blocks are entries; many fall into the next one."""
    count = draw(st.integers(1, 14))
    one = st.integers(0, count - 1)
    falls = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    edges = {(at, at + 1) for at in range(count - 1) if falls[at]}
    edges |= set(draw(st.lists(st.tuples(one, one), max_size=24)))
    entries = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return count, sorted(edges), [True, *entries[1:]] if draw(st.booleans()) else entries


def reached(starts: list[int], edges: Edges, without: int = -1) -> set[int]:
    """Blocks that can be reached from `starts`, with one block taken away."""
    seen = {start for start in starts if start != without}
    while fresh := {b for a, b in edges if a in seen and b not in seen and b != without}:
        seen |= fresh
    return seen


def roots_of(count: int, edges: Edges, entries: list[bool]) -> list[int]:
    """Entries and blocks that nothing leads to, then in order whatever is not reached yet."""
    roots = [b for b in range(count) if entries[b] or not any(to == b for _, to in edges)]
    for block in range(count):
        if block not in reached(roots, edges):
            roots.append(block)
    return roots


def dominated(count: int, edges: Edges, roots: list[int]) -> list[set[int]]:
    """Of each block the blocks that it dominates; a root is dominated by nothing but itself."""
    return [
        ({*range(count)} - reached([root for root in roots if root != block], edges, block)) | {block}
        for block in range(count)
    ]


def table_of(count: int, edges: Edges, entries: list[bool]) -> Blocks:
    first = np.arange(0, ROWS * count, ROWS, dtype=np.int32)
    ends = np.array(edges, dtype=np.int32).reshape(-1, 2)
    names = tuple(f"block {at}" for at in range(count))
    none = np.full(count, -1, dtype=np.int32)
    is_entry = np.array(entries, dtype=bool)
    kernel = np.zeros(count, dtype=np.int32)
    return Blocks(first, first + ROWS, names, none, first, kernel, is_entry, ends[:, 0], ends[:, 1])


@settings(max_examples=400, deadline=None)
@given(graphs())
def test_loops_are_those_of_the_definition(graph: tuple[int, Edges, list[bool]]) -> None:
    count, edges, entries = graph
    below = dominated(count, edges, roots_of(count, edges, entries))
    back = [(a, b) for a, b in edges if a in below[b]]
    around = [(b, a) for a, b in edges]
    bodies = {to: {to} | reached([a for a, b in back if b == to], around, without=to) for _, to in back}
    found = loops(table_of(count, edges, entries))
    assert found.header.tolist() == sorted(bodies)
    depth = [sum(block in body for body in bodies.values()) for block in range(count)]
    assert found.depth_of_block.tolist() == depth
    assert found.depth.tolist() == [depth[header] for header in sorted(bodies)]
    assert found.first.tolist() == [ROWS * min(bodies[header]) for header in sorted(bodies)]
    assert found.stop.tolist() == [ROWS * max(bodies[header]) + ROWS for header in sorted(bodies)]


@settings(max_examples=400, deadline=None)
@given(graphs())
def test_dominators_are_those_of_the_definition(graph: tuple[int, Edges, list[bool]]) -> None:
    count, edges, entries = graph
    roots = roots_of(count, edges, entries)
    below = dominated(count, edges, roots)
    after = [[b for a, b in edges if a == block] for block in range(count)]
    before = [[a for a, b in edges if b == block] for block in range(count)]
    nearest = immediate_dominators(after, before, roots)
    for block in range(count):
        above = {one for one in range(count) if block in below[one] and one != block}
        assert (nearest[block] in above) if above else nearest[block] == -1
        assert above <= {nearest[block]} | {one for one in above if nearest[block] in below[one]}
