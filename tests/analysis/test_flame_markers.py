"""Flamegraphs of scopes, against walking over spans and tokens one by one."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
import pytest

from rcv_py.analysis.core.token_columns import token_columns
from rcv_py.analysis.events.marker_spans import MarkerSpans, marker_spans
from rcv_py.analysis.flame.flame import FlameTree, Metric, What
from rcv_py.analysis.flame.flame_markers import coarse_markers, marked_tree, scoped_costs
from rcv_py.analysis.flame.flame_text import labels
from rcv_py.analysis.latency.hidden_latency import hidden_latency
from rcv_py.formats.open import open_trace
from rcv_py.model.modes import ReferenceRule
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from tests.support.captures import golden, real_trace, synthetic_path

Way = tuple[str, ...]


@cache
def marked() -> tuple[Trace, WaveBatch, MarkerSpans]:
    trace = open_trace(synthetic_path("markers_gfx12"))
    batch = trace.reader.read(list(range(len(trace.waves))))
    return trace, batch, marker_spans(trace, [batch])


def marked_code(
    trace: Trace, batch: WaveBatch, spans: MarkerSpans, hidden: np.ndarray | None = None
) -> FlameTree:
    return marked_tree(spans, scoped_costs(spans).of(trace, [batch]), trace.code, hidden)


def buckets() -> list[list[dict[str, Any]]]:
    """The spans of each wave slot, as the reference viewer has them."""
    return list(golden("synthetic/markers_gfx12.rcv.json")["markers"]["buckets"].values())


def totals(trace: Trace, tree: FlameTree) -> dict[Way, int]:
    names = labels(trace, tree)
    return {
        tuple(names[one] for one in tree.ancestors(frame)): int(tree.total[frame, Metric.TOTAL.value])
        for frame in range(len(tree))
    }


def plain(name: str) -> str:
    """A name as both write it: the reference viewer keeps arguments, and has its own word for unknown ids."""
    return name.split("(", maxsplit=1)[0]


def walked_scopes() -> dict[Way, int]:
    """Nodes by (kind, name), stack trimmed to the depth, each span's own duration at least 1."""
    found: dict[Way, int] = defaultdict(int)
    for spans in buckets():
        stack: list[str] = []
        for span in spans:
            if span["point"]:
                continue
            stack = [*stack[: span["depth"]], plain(span["name"])]
            found[tuple(stack)] += 1 if span["open"] else max(1, span["exit"] - span["enter"])
    return dict(found)


def test_our_scopes_last_until_the_wave_ends_and_hold_what_is_inside() -> None:
    trace, _, spans = marked()
    tree = coarse_markers(spans)
    outer = ~spans.is_point & (spans.depth == 0)
    assert tree.whole(Metric.TOTAL) == int((spans.end - spans.begin)[outer].sum())
    inside = np.zeros(len(tree), dtype=np.int64)
    np.add.at(inside, tree.parent[tree.parent >= 0], tree.total[tree.parent >= 0, 0])
    assert (tree.total[:, 0] == tree.own[:, 0] + inside).all()
    entered = int(tree.total[:, Metric.HITS.value].sum())
    assert entered == int((~spans.is_point).sum())
    assert totals(trace, tree)[("synth_kernel",)] > walked_scopes()[("synth_kernel",)], "one never closed"


def walked_code() -> dict[tuple[Way, int], int]:
    """What each instruction costs below each stack of scopes, token by token."""
    _, batch, spans = marked()
    found: dict[tuple[Way, int], int] = defaultdict(int)
    for piece in token_columns([batch]):
        for i, wave in enumerate(piece.waves):
            own = spans.slot == wave.id.slot
            own &= (spans.simd == wave.id.simd) & (spans.se == wave.id.se) & (spans.cu == wave.cu)
            mine = np.flatnonzero(own & ~spans.is_point).tolist()
            for token in range(int(piece.first[i]), int(piece.first[i + 1])):
                time = int(piece.start[token])
                stack = [at for at in mine if spans.begin[at] <= time < spans.end[at]]
                way = tuple(
                    spans.names[spans.name_id[at]] for at in sorted(stack, key=lambda at: spans.depth[at])
                )
                cost = int(piece.duration[token] + piece.idle[token])
                found[(way, int(piece.line[token]))] += cost
    return {where: cost for where, cost in found.items() if cost}


def test_instructions_count_in_the_scopes_that_are_open() -> None:
    trace, batch, spans = marked()
    tree = marked_code(trace, batch, spans)
    names = labels(trace, tree)
    found = {}
    for frame in np.flatnonzero(tree.code_row >= 0).tolist():
        way = tuple(names[one] for one in tree.ancestors(frame) if tree.what[one] == What.MARKER)
        found[(way, int(tree.code_row[frame]))] = int(tree.total[frame, 0])
    assert found == walked_code()
    assert "<no scope>" in names


def test_hidden_cycles_are_shared_out_by_cycles() -> None:
    trace, batch, spans = marked()
    hidden = hidden_latency(trace, [batch], ReferenceRule.REFERENCE).hidden(trace.code)
    tree = marked_code(trace, batch, spans, hidden)
    assert tree.has_hidden
    left = tree.whole(Metric.TOTAL) - tree.whole(Metric.NONHIDDEN)
    assert left == pytest.approx(int(hidden.sum()), abs=40), "rounded once a frame"


def test_without_markers_all_code_is_outside_of_scopes() -> None:
    trace = real_trace("vec_add")
    batch = trace.reader.read(list(range(len(trace.waves))))
    spans = marker_spans(trace, [batch])
    assert len(coarse_markers(spans)) == 0
    tree = marked_code(trace, batch, spans)
    assert labels(trace, tree)[0] == "<no scope>"
    expected = sum(
        int((piece.duration + piece.idle)[piece.line >= 0].sum()) for piece in token_columns([batch])
    )
    assert tree.whole(Metric.TOTAL) == expected
