"""Flamegraphs of the scopes that an instrumented kernel marked, with or without its instructions.

```
wave      kernel ───────────────────────────     coarse        integrated
              foo ──────   foo ──────            foo           line 7 | line 9
instructions  7  7  9   3  7  9     3            kernel        foo            | line 3
                                                               kernel
```

*Coarse* sums the lives of scopes over all waves, merged by kind and name.  *Integrated* puts every executed
instruction on the scopes that were open when it began, with its source places in between.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rcv_py.analysis.core.token_columns import TokenColumns, token_columns
from rcv_py.analysis.events.marker_spans import MarkerSpans
from rcv_py.analysis.flame.flame import (
    METRICS,
    FlameTree,
    Metric,
    Stacks,
    What,
    fold,
    joined,
    kernel_stacks,
    key,
    source_stacks,
)
from rcv_py.model.code import CodeTable
from rcv_py.model.waves import WaveBatch

DEEPEST = 64  # scopes inside more others than that are left out: only damaged data has them


def coarse_markers(spans: MarkerSpans) -> FlameTree:
    """Return the tree of scopes of all waves; a frame's executions are how often it was entered.

    What a frame costs itself is the life of its scopes without the scopes inside.
    """
    nest = _nest(spans)
    life = (spans.end - spans.begin)[nest.row]
    within = np.zeros(len(life), dtype=np.int64)
    np.add.at(within, nest.parent[nest.parent >= 0], life[nest.parent >= 0])
    own = np.maximum(life - within, 0)
    tree = fold(_stacks_of(nest, nest.node, own, spans.begin[nest.row]), spans.names)
    tree.total[:, Metric.HITS.value] = tree.own[:, Metric.HITS.value]
    return tree


def marked_code(
    spans: MarkerSpans,
    batches: Iterable[WaveBatch],
    code: CodeTable,
    *,
    show_idle: bool = True,
    hidden: np.ndarray | None = None,
) -> FlameTree:
    """Return the tree of scopes with source places and instructions on them.

    An instruction counts in the scopes that are open when it starts, with its cycles and the idle before
    it if that is shown; outside of all scopes it is below `NO_SCOPE`.  `hidden` (int64, one a code row) is
    shared out by cycles.
    """
    nest = _nest(spans)
    steps = _steps(spans, nest)
    pair, own, order = _merged(
        [_pairs(piece, steps, len(code), show_idle) for piece in token_columns(batches)]
    )
    node, line = pair // max(len(code), 1) - 1, pair % max(len(code), 1)
    if hidden is not None:
        own[:, Metric.NONHIDDEN.value] = _left_over(own[:, Metric.TOTAL.value], line, hidden)
    every = np.ones((len(code), METRICS), dtype=np.int64)
    tails = source_stacks(code, every) if len(code.chain_file) else kernel_stacks(code, every)
    heads = _heads(nest)
    place_of = np.full(len(code), -1, dtype=np.int64)
    place_of[tails.order] = np.arange(len(tails))
    keep = np.flatnonzero(place_of[line] >= 0)
    first, element = joined(heads, node[keep] + 1, tails, place_of[line[keep]])
    return fold(Stacks(first, element, own[keep], order[keep]), spans.names, "cycles", hidden is not None)


def _left_over(cycles: np.ndarray, line: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return what of each sum of cycles is not hidden, a line's hidden cycles being shared out by cycles."""
    whole = np.zeros(len(hidden), dtype=np.int64)
    np.add.at(whole, line, cycles)
    share = np.clip(hidden, 0, whole)[line] / np.maximum(whole[line], 1)
    return cycles - np.rint(cycles * share).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Nest:
    """Scopes without points; nodes are scopes merged by kind and name and by what is around them."""

    row: np.ndarray  # int64, row of the spans
    parent: np.ndarray  # int64, place in `row` of the scope around each, -1 for the outermost
    node: np.ndarray  # int64, node of each scope
    node_parent: np.ndarray  # int64, -1 for the outermost
    node_element: np.ndarray  # int64
    node_depth: np.ndarray  # int64


def _nest(spans: MarkerSpans) -> _Nest:
    row = np.flatnonzero(~spans.is_point & (spans.depth < DEEPEST))
    depth, life = spans.depth[row].astype(np.int64), _lives(spans)[row]
    element = key(What.MARKER, spans.kind[row], spans.name_id[row])
    parent = np.full(len(row), -1, dtype=np.int64)
    node = np.full(len(row), -1, dtype=np.int64)
    columns: list[tuple[np.ndarray, ...]] = [(np.empty(0, dtype=np.int64),) * 3]
    above, count = np.empty(0, dtype=np.int64), 0
    for level in range(int(depth.max(initial=-1)) + 1):
        here = np.flatnonzero(depth == level)
        if len(above) and len(here):
            near = above[np.maximum(np.searchsorted(above, here) - 1, 0)]
            parent[here] = np.where((near < here) & (life[near] == life[here]), near, -1)
        outer = np.where(parent[here] >= 0, node[parent[here]], -1)
        pairs = np.unique(np.stack([outer, element[here]], axis=1), axis=0, return_inverse=True)
        node[here] = count + pairs[1].reshape(-1)
        columns.append((pairs[0][:, 0], pairs[0][:, 1], np.full(len(pairs[0]), level)))
        count += len(pairs[0])
        above = here
    node_parent, node_element, node_depth = map(np.concatenate, zip(*columns, strict=True))
    return _Nest(row, parent, node, node_parent, node_element, node_depth)


def _lives(spans: MarkerSpans) -> np.ndarray:
    """Return a number that differs between waves of a slot and between slots, int64, rows being sorted."""
    change = np.zeros(len(spans), dtype=bool)
    for name in ("se", "sa", "cu", "simd", "slot", "wave"):
        column = getattr(spans, name)
        change[1:] |= column[1:] != column[:-1]
    return np.cumsum(change)


def _heads(nest: _Nest) -> Stacks:
    """Return the stack that lies below everything outside of scopes, then one a node."""
    n = len(nest.node_parent)
    chain = np.zeros((n, int(nest.node_depth.max(initial=0)) + 1), dtype=np.int64)
    length = np.zeros(n, dtype=np.int64)
    for level in range(chain.shape[1]):
        here = np.flatnonzero(nest.node_depth == level)
        outer = nest.node_parent[here]
        has = outer >= 0
        chain[here[has]] = chain[outer[has]]
        length[here] = np.where(has, length[outer] if n else 0, 0) + 1
        chain[here, length[here] - 1] = nest.node_element[here]
    inside = np.arange(chain.shape[1]) < length[:, None]
    element = np.append(key(What.NO_SCOPE), chain[inside])
    first = np.cumsum(np.concatenate([[0, 1], length])).astype(np.int64)
    nothing = np.zeros((n + 1, METRICS), dtype=np.int64)
    return Stacks(first, element, nothing, np.zeros(n + 1, dtype=np.int64))


def _stacks_of(nest: _Nest, node: np.ndarray, cost: np.ndarray, order: np.ndarray) -> Stacks:
    """Return a stack a scope, which costs `cost` and was entered once."""
    chosen = _heads(nest).taken(node + 1)
    own = np.stack([cost, cost, np.zeros_like(cost), np.ones_like(cost)], axis=1)
    return Stacks(chosen.first, chosen.element, own, order)


@dataclass(frozen=True, eq=False)
class _Steps:
    """The innermost open scope as a function of time, for each wave."""

    owner: np.ndarray  # int64, sorted: whose time
    time: np.ndarray  # int64, sorted for each owner
    node: np.ndarray  # int64, node that is innermost from then on; -1: none

    def at(self, owner: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the node that is innermost at a time of an owner; -1 if there is none."""
        if not len(self.owner):
            return np.full(len(owner), -1, dtype=np.int64)
        known, rank = np.unique(self.owner, return_inverse=True)
        low = min(int(self.time.min()), int(time.min(initial=self.time.min())))
        reach = max(int(self.time.max()), int(time.max(initial=0))) - low + 1
        place = np.minimum(np.searchsorted(known, owner), len(known) - 1)
        at = (
            np.searchsorted(
                rank.reshape(-1) * reach + self.time - low, place * reach + time - low, side="right"
            )
            - 1
        )
        found = (at >= 0) & (self.owner[np.maximum(at, 0)] == owner)
        return np.where(found, self.node[np.maximum(at, 0)], -1)


def _steps(spans: MarkerSpans, nest: _Nest) -> _Steps:
    lasting = np.flatnonzero(spans.end[nest.row] > spans.begin[nest.row])
    row = nest.row[lasting]
    owner = spans.wave[row].astype(np.int64)
    depth, parent = spans.depth[row].astype(np.int64), nest.parent[lasting]
    outer = np.where(parent >= 0, nest.node[np.maximum(parent, 0)] if len(nest.node) else -1, -1)
    owner = np.concatenate([owner, owner])
    time = np.concatenate([spans.begin[row], spans.end[row]])
    node = np.concatenate([nest.node[lasting], outer])
    # At one time what is inside closes first, and what is around opens first.
    turn = np.concatenate([depth, -depth - 1])
    order = np.lexsort((turn, time, owner))
    return _Steps(owner[order], time[order], node[order])


_Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]  # (node + 1) * rows + code row, costs, first time


def _pairs(piece: TokenColumns, steps: _Steps, rows: int, show_idle: bool) -> _Pairs:
    """Return what the instructions of a piece cost, summed by (node, code row)."""
    keep = np.flatnonzero((piece.line >= 0) & (piece.line < rows))
    line, start = piece.line[keep].astype(np.int64), piece.start[keep]
    cycles = piece.duration[keep] + (piece.idle[keep] if show_idle else 0)
    owner = np.array([wave.row for wave in piece.waves], dtype=np.int64)[piece.owner[keep]]
    costs = np.stack([cycles, cycles, piece.stall[keep].astype(np.int64), np.ones_like(cycles)], axis=1)
    return _merged([((steps.at(owner, start) + 1) * rows + line, costs, start)])


def _merged(parts: list[_Pairs]) -> _Pairs:
    if not parts:
        none = np.empty(0, dtype=np.int64)
        return none, np.zeros((0, METRICS), dtype=np.int64), none
    pair, costs, time = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    pairs, group = np.unique(pair, return_inverse=True)
    sums = np.zeros((len(pairs), METRICS), dtype=np.int64)
    np.add.at(sums, group.reshape(-1), costs)
    first = np.full(len(pairs), np.iinfo(np.int64).max)
    np.minimum.at(first, group.reshape(-1), time)
    return pairs, sums, first
