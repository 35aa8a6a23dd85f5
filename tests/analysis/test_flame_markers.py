"""Flamegraphs of scopes, against walking over spans and tokens one by one."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from rcv_py.analysis.core.token_columns import columns_of
from rcv_py.analysis.events.marker_spans import MarkerSpans, marker_spans
from rcv_py.analysis.flame.flame import FlameTree, Metric, What
from rcv_py.analysis.flame.flame_frames import coarse_markers, marked_tree, scoped_costs
from rcv_py.analysis.flame.flame_layout import labels
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.support.fixtures import fixture_of
from tests.support.opened import all_waves, sample_trace, sample_waves
from tests.support.samples import sample

Way = tuple[str, ...]


Marked = tuple[Trace, WaveBatch, MarkerSpans]
NAMES = {1: "matmul_wmma", 2: "WaveTile::load", 3: "multiply"}  # of the marker ids of the simulated kernel


marked = fixture_of(lambda: marked_in(sample_trace("markers")))  # A capture, its waves and its markers


def marked_in(trace: Trace) -> Marked:
    batch = all_waves(trace)
    return trace, batch, marker_spans(trace, [batch])


def marked_code(
    trace: Trace, batch: WaveBatch, spans: MarkerSpans, hidden: np.ndarray | None = None
) -> FlameTree:
    return marked_tree(spans, scoped_costs(spans).of(trace, [batch]), trace.code, hidden)


def totals(trace: Trace, tree: FlameTree) -> dict[Way, int]:
    names = labels(trace, tree)
    ways = [tuple(names[one] for one in tree.ancestors(frame)) for frame in range(len(tree))]
    return dict(zip(ways, tree.total[:, Metric.TOTAL.value].tolist(), strict=True))


def test_scopes_hold_what_is_inside(marked: Marked) -> None:
    _, _, spans = marked
    tree = coarse_markers(spans)
    outer = ~spans.is_point & (spans.depth == 0)
    assert tree.whole(Metric.TOTAL) == int((spans.end - spans.begin)[outer].sum()) > 0
    inside = np.zeros(len(tree), dtype=np.int64)
    np.add.at(inside, tree.parent[tree.parent >= 0], tree.total[tree.parent >= 0, 0])
    assert (tree.total[:, 0] == tree.own[:, 0] + inside).all()
    entered = int(tree.total[:, Metric.HITS.value].sum())
    assert entered == int((~spans.is_point).sum())


def test_scopes_last_as_long_as_those_of_the_simulated_kernel(marked: Marked) -> None:
    """Scopes by their stack of names, each added up."""
    trace, _, spans = marked
    found: Counter[Way] = Counter()
    stack: Way = ()
    for *_, begin, end, depth, marker, is_point in sample("markers")[1].scopes.tolist():
        if not is_point:
            stack = (*stack[:depth], NAMES[marker])
            found[stack] += end - begin
    assert totals(trace, coarse_markers(spans)) == dict(found)
    assert len(found) == 3


def walked_code(marked: Marked) -> dict[tuple[Way, int], int]:
    """What each instruction costs below each stack of scopes, token by token."""
    _, batch, spans = marked
    found: dict[tuple[Way, int], int] = defaultdict(int)
    for piece in [columns_of(batch)]:
        for i, wave in enumerate(piece.waves):
            own = spans.slot == wave.id.slot
            own &= (spans.simd == wave.id.simd) & (spans.se == wave.id.se) & (spans.cu == wave.cu)
            mine = np.flatnonzero(own & ~spans.is_point).tolist()
            for token in range(int(piece.first[i]), int(piece.first[i + 1])):
                time = int(piece.start[token])
                stack = [at for at in mine if spans.begin[at] <= time < spans.end[at]]
                stack.sort(key=lambda at: spans.depth[at])
                way = tuple(spans.names[spans.name_id[at]] for at in stack)
                cost = int(piece.duration[token] + piece.idle[token])
                found[(way, int(piece.line[token]))] += cost
    return {where: cost for where, cost in found.items() if cost}


def test_instructions_count_in_the_scopes_that_are_open(marked: Marked) -> None:
    trace, batch, spans = marked
    tree = marked_code(trace, batch, spans)
    names = labels(trace, tree)
    found = {}
    for frame in np.flatnonzero(tree.code_row >= 0).tolist():
        way = tuple(names[one] for one in tree.ancestors(frame) if tree.what[one] == What.MARKER)
        found[(way, int(tree.code_row[frame]))] = int(tree.total[frame, 0])
    assert found == walked_code(marked)
    assert "<no scope>" in names


def test_hidden_cycles_are_shared_out_by_cycles(marked: Marked) -> None:
    trace, batch, spans = marked
    hidden = HIDDEN[ReferenceRule.REFERENCE].of(trace, [batch]).hidden(trace.code)
    tree = marked_code(trace, batch, spans, hidden)
    assert tree.has_hidden
    left = tree.whole(Metric.TOTAL) - tree.whole(Metric.NONHIDDEN)
    assert left == pytest.approx(int(hidden.sum()), abs=40), "rounded once a frame"


def test_without_markers_all_code_is_outside_of_scopes() -> None:
    trace, batch = sample_waves("vector_add")
    spans = marker_spans(trace, [batch])
    assert len(coarse_markers(spans)) == 0
    tree = marked_code(trace, batch, spans)
    assert labels(trace, tree)[0] == "<no scope>"
    expected = sum(int((piece.duration + piece.idle)[piece.line >= 0].sum()) for piece in [columns_of(batch)])
    assert tree.whole(Metric.TOTAL) == expected
