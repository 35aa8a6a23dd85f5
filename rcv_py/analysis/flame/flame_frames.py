"""The requested flamegraph, also of the scopes that an instrumented kernel marked.

```
wave      kernel ───────────────────────────     coarse        integrated
              foo ──────   foo ──────            foo           line 7 | line 9
instructions  7  7  9   3  7  9     3            kernel        foo            | line 3
                                                               kernel
```

*Coarse* sums the durations of scopes over all waves, merged by kind and name.  *Integrated* puts every
executed instruction on the scopes that were open when it began, with its source places in between.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from rcv_py.analysis.core.cost_columns import SAMPLES, CostColumns, cost_columns
from rcv_py.analysis.core.occupancy import latest
from rcv_py.analysis.core.parcels import Parcel
from rcv_py.analysis.core.reduction import Answers, Reduction, Rows, unchanged
from rcv_py.analysis.core.saturated import sums
from rcv_py.analysis.events.marker_spans import MARKERS, MarkerSpans
from rcv_py.analysis.events.scope_costs import MAX_DEPTH, enclosing
from rcv_py.analysis.flame.flame import (
    FlameTree,
    Metric,
    Stacks,
    What,
    code_costs,
    code_flame,
    code_stacks,
    fold,
    joined,
    key,
)
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.base.errors import UsageError
from rcv_py.base.record import Value
from rcv_py.base.runs import borders, distinct, ranges
from rcv_py.base.text import Message
from rcv_py.model.code import CodeTable
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace

ScopedCosts = tuple[np.ndarray, np.ndarray, np.ndarray]  # (node + 1) * rows + code row, costs, first time


def coarse_markers(spans: MarkerSpans) -> FlameTree:
    """Return the tree of scopes of all waves; a frame's executions are its entries.

    A frame's own cost is the duration of its scopes without inner scopes.
    """
    nest = _nest(spans)
    life = (spans.end - spans.begin)[nest.row]
    within = sums(nest.parent + 1, life, len(life) + 1)[1:]
    cost = np.maximum(life - within, 0)
    own = np.stack([cost, cost, np.zeros_like(cost), np.ones_like(cost)], axis=1)
    heads = _heads(nest)
    count = np.diff(heads.first)[nest.node + 1]
    element = heads.element[ranges(heads.first[nest.node + 1], count)]
    tree = fold(Stacks(borders(count), element, own, spans.begin[nest.row]), spans.names)
    tree.total[:, Metric.HITS.value] = tree.own[:, Metric.HITS.value]
    return tree


def scoped_costs(spans: MarkerSpans, *, show_idle: bool = True) -> Reduction[ScopedCosts, ScopedCosts]:
    """Return the reduction for the costs of instructions in each scope, the input of `marked_tree`.

    An instruction counts in the scopes that are open when it starts, with its cycles and the idle before it
    if that is shown.
    """
    return Reduction(partial(_pairs, _steps(spans, _nest(spans)), show_idle), _merge_scopes, unchanged)


def marked_tree(
    spans: MarkerSpans, costs: ScopedCosts, code: CodeTable, hidden: np.ndarray | None = None
) -> FlameTree:
    """Return the tree of scopes with source places and instructions on them, by their cost in the scope.

    Instructions outside all scopes are below `NO_SCOPE`.  `hidden` (int64, one a code row) is distributed in
    proportion to cycles.
    """
    nest, (pair, own, order) = _nest(spans), costs
    node, line = pair // max(len(code), 1) - 1, pair % max(len(code), 1)
    if hidden is not None:  # distribute hidden cycles of a line in proportion to cycles
        own, cycles = own.copy(), own[:, Metric.TOTAL.value]
        whole = sums(line, cycles, len(hidden))
        share = np.clip(hidden, 0, whole)[line] / np.maximum(whole[line], 1)
        own[:, Metric.NONHIDDEN.value] = cycles - np.rint(cycles * share).astype(np.int64)
    every = np.ones((len(code), len(Metric)), dtype=np.int64)
    tails = code_stacks(code, every)
    place_of = np.full(len(code), -1, dtype=np.int64)
    place_of[tails.order] = np.arange(len(tails))
    keep = np.flatnonzero(place_of[line] >= 0)
    first, element = joined(_heads(nest), node[keep] + 1, tails, place_of[line[keep]])
    return fold(Stacks(first, element, own[keep], order[keep]), spans.names, "cycles", hidden is not None)


class _Nest(Value):
    """Scopes without points; nodes are scopes merged by kind, name and enclosing node."""

    row: np.ndarray  # int64, row of the spans
    parent: np.ndarray  # int64, index into `row` of the enclosing scope, -1 for the outermost
    node: np.ndarray  # int64, node of each scope
    node_parent: np.ndarray  # int64, -1 for the outermost
    node_element: np.ndarray  # int64
    node_depth: np.ndarray  # int64


def _nest(spans: MarkerSpans) -> _Nest:
    row = np.flatnonzero(~spans.is_point & (spans.depth < MAX_DEPTH))
    depth = spans.depth[row].astype(np.int64)
    element = key(What.MARKER, spans.kind[row], spans.name_id[row])
    outer = enclosing(spans)[row]
    parent = np.where(outer >= 0, np.searchsorted(row, outer), -1)
    node = np.full(len(row), -1, dtype=np.int64)
    columns: list[tuple[np.ndarray, ...]] = [(np.empty(0, dtype=np.int64),) * 3]
    count = 0
    for level in range(int(depth.max(initial=-1)) + 1):
        here = np.flatnonzero(depth == level)
        outer = np.where(parent[here] >= 0, node[parent[here]], -1)
        first, number = distinct(outer, element[here])
        node[here] = count + number
        columns.append((outer[first], element[here][first], np.full(len(first), level)))
        count += len(first)
    return _Nest(row, parent, node, *map(np.concatenate, zip(*columns, strict=True)))


def _heads(nest: _Nest) -> Stacks:
    """Return the stack for everything outside scopes, then a stack for each node."""
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
    nothing = np.zeros((n + 1, len(Metric)), dtype=np.int64)
    return Stacks(borders([1, *length.tolist()]), element, nothing, nothing[:, 0])


class _Steps(Value):
    """The innermost open scope as a function of time, for each wave."""

    owner: np.ndarray  # int64, sorted: owner of the time
    time: np.ndarray  # int64, sorted for each owner
    node: np.ndarray  # int64, node that is innermost from then on; -1: none

    def at(self, owner: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the node that is innermost at a time of an owner; -1 if there is none."""
        return np.append(self.node, -1)[latest(self.owner, self.time, owner, time)]


def _steps(spans: MarkerSpans, nest: _Nest) -> _Steps:
    lasting = np.flatnonzero(spans.end[nest.row] > spans.begin[nest.row])
    row = nest.row[lasting]
    owner = spans.wave[row].astype(np.int64)
    depth, parent = spans.depth[row].astype(np.int64), nest.parent[lasting]
    outer = np.where(parent >= 0, nest.node[parent], -1)
    owner = np.concatenate([owner, owner])
    time = np.concatenate([spans.begin[row], spans.end[row]])
    node = np.concatenate([nest.node[lasting], outer])
    # At equal times inner scopes close first, and outer scopes open first.
    turn = np.concatenate([depth, -depth - 1])
    order = np.lexsort((turn, time, owner))
    return _Steps(owner[order], time[order], node[order])


def _pairs(steps: _Steps, show_idle: bool, trace: Trace, parcel: Parcel) -> ScopedCosts:
    """Return the costs of instructions, summed by (node, code row)."""
    tokens, rows = parcel.own, len(trace.code)
    keep = np.flatnonzero((tokens.line >= 0) & (tokens.line < rows))
    line, start = tokens.line[keep].astype(np.int64), tokens.start[keep]
    cycles = tokens.duration[keep] + (tokens.idle[keep] if show_idle else 0)
    owner = tokens.rows[tokens.owner[keep]]
    costs = np.stack([cycles, cycles, tokens.stall[keep].astype(np.int64), np.ones_like(cycles)], axis=1)
    return _summed((steps.at(owner, start) + 1) * rows + line, costs, start)


def _merge_scopes(parts: Sequence[ScopedCosts]) -> ScopedCosts:
    none = np.zeros((0, len(Metric)), dtype=np.int64)
    nothing = (none[:, 0], none, none[:, 0])
    return _summed(*(np.concatenate(column) for column in zip(nothing, *parts, strict=True)))


def _summed(pair: np.ndarray, costs: np.ndarray, time: np.ndarray) -> ScopedCosts:
    pairs, group = np.unique(pair, return_inverse=True)
    cost = np.zeros((len(pairs), len(Metric)), dtype=np.int64)
    np.add.at(cost, group, costs)
    first = np.full(len(pairs), np.iinfo(np.int64).max)
    np.minimum.at(first, group, time)
    return pairs, cost, first


NOT_IN_RANGE = "What is hidden is known for all waves only: this is the total of the clock range."
CONTENTS = ("source", "kernel", "markers", "both")
_MARKERS, _HIDDEN = MARKERS[ReferenceRule.OURS], HIDDEN[ReferenceRule.OURS]
METRICS = {"total": Metric.TOTAL, "nonhidden": Metric.NONHIDDEN, "stall": Metric.STALL, "hits": Metric.HITS}


class Charged(Value):
    """The costs of code lines: by default the latency and idle time of all waves."""

    costs: CostColumns | None = None  # None: costs of all waves
    show_idle: bool = True
    is_ranged: bool = False  # costs of a clock range: hidden cycles are then unknown
    rows: Rows = None  # rows of the wave index of the waves that count, None for all


EVERYTHING = Charged()


def flame_tree(
    trace: Trace, content: str, metric: Metric, look: Callable[[], Answers], charged: Charged = EVERYTHING
) -> tuple[FlameTree, str]:
    """Return the tree of one of `CONTENTS`, and a sentence about it; `look` is called if waves are needed.

    Raises UsageError if the capture does not have the data.
    """
    if content == "markers" and metric is not Metric.TOTAL:
        hint = "Use the metric total, or the content both."
        raise UsageError("Scopes of markers have a duration and no other measure.", hint=hint)
    is_marked, is_hiding = content in ("markers", "both"), metric is Metric.NONHIDDEN
    hidden, note = None, NOT_IN_RANGE if is_hiding else ""
    if is_hiding and not charged.is_ranged:
        latency = look().of(_HIDDEN, charged.rows)
        hidden, note = latency.hidden(trace.code, charged.show_idle), latency.assumption
    if is_marked:
        return _marked(trace, content, look(), charged.show_idle, hidden), note
    costs = charged.costs or cost_columns(trace.code)
    own = code_costs(costs, charged.show_idle, hidden)
    unit = "samples" if costs.label == SAMPLES else "cycles"
    if unit == "samples" and metric in (Metric.HITS, Metric.NONHIDDEN):
        what = Message("{0} has PC samples, which know neither executions nor what was hidden.", trace.name)
        raise UsageError(what, hint="Use the metric total or stall.")
    if content == "source" and not len(trace.code.chain_file):
        why = Message("No instruction has a source place: these are kernels and basic blocks. {0}", note)
        note = why.strip()
    return code_flame(trace.code, own, unit, hidden is not None, by_kernel=content == "kernel"), note


def _marked(
    trace: Trace, content: str, found: Answers, show_idle: bool, hidden: np.ndarray | None
) -> FlameTree:
    spans = found.of(_MARKERS)
    if not len(spans):
        hint = "Record a kernel with marked scopes, or use the content source."
        raise UsageError(Message("{0} has no markers.", trace.name), hint=hint)
    if content == "markers":
        return coarse_markers(spans)
    return marked_tree(spans, found.of(scoped_costs(spans, show_idle=show_idle)), trace.code, hidden)
