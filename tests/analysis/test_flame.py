"""Flamegraphs: exact sums, exact boxes, and what an instruction is inside of."""

import json
from collections import Counter
from pathlib import Path as FolderPath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import cost_columns
from rcv_py.analysis.flame.flame import (
    METRICS,
    FlameTree,
    Metric,
    Stacks,
    What,
    code_costs,
    code_flame,
    fold,
    key,
    kind_mix,
    source_stacks,
)
from rcv_py.analysis.flame.flame_layout import (
    SiblingOrder,
    folded,
    full_name,
    joined_frames,
    labels,
    layout,
    sandwich,
    source_text,
)
from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.formats.open import open_trace
from rcv_py.model.kinds import KIND_COUNT, TokenKind
from rcv_py.model.modes import LatencyMode, ReferenceRule
from rcv_py.model.trace import Trace
from tests.support.code_samples import code_table, trace
from tests.support.fixtures import fixture_of
from tests.support.opened import VARIED, sample_trace, sample_waves, traces_of
from tests.support.samples import write_sample

Path = tuple[int, ...]


def costs_of(trace: Trace, show_idle: bool = True, hidden: np.ndarray | None = None) -> np.ndarray:
    return code_costs(cost_columns(trace.code, LatencyMode.SUM_ALL, None, None), show_idle, hidden)


def by_path(tree: FlameTree) -> dict[tuple[int, ...], int]:
    """Total cost of each frame, by its elements."""
    ways = [tuple(tree.element[tree.ancestors(frame)].tolist()) for frame in range(len(tree))]
    return dict(zip(ways, tree.total[:, 0].tolist(), strict=True))


def named(trace: Trace, tree: FlameTree, frame: int) -> str:
    return full_name(trace, tree, frame, labels(trace, tree)[frame])


def stacks(paths: list[Path], cost: list[int]) -> Stacks:
    own = np.repeat(np.array(cost, dtype=np.int64)[:, None], METRICS, axis=1).reshape(len(paths), METRICS)
    element = np.array([one for path in paths for one in path], dtype=np.int64)
    first = np.cumsum([0, *map(len, paths)]).astype(np.int64)
    return Stacks(first, element, own, np.arange(len(paths), dtype=np.int64))


paths = st.lists(st.integers(0, 3), min_size=1, max_size=5).map(tuple)
some_stacks = st.lists(st.tuples(paths, st.integers(0, 99)), max_size=25)


def test_a_small_program_with_inlined_code() -> None:
    small = trace()
    tree = code_flame(small.code, costs_of(small))
    names = labels(small, tree)
    ways = [" / ".join(names[one] for one in tree.ancestors(frame)) for frame in range(len(tree))]
    shown = dict(zip(ways, tree.total[:, 0].tolist(), strict=True))
    load, mfma = "ds_read_b128 v[0:3], v9", "v_mfma_f32_32x32x16_bf16 v[80:95], v[0:3], v[4:7], v[80:95]"
    assert shown == {
        "kernels/attn.py": 2150,
        "kernels/attn.py / kernels/attn.py:2": 140,
        "kernels/attn.py / kernels/attn.py:2 / s_load_dword s4, s[0:1], 0x3c": 140,
        "kernels/attn.py / kernels/attn.py:3": 2010,
        "kernels/attn.py / kernels/attn.py:3 / s_waitcnt lgkmcnt(0)": 2010,
        "lib/attn.py": 900,
        "lib/attn.py / lib/attn.py:2": 900,
        "lib/attn.py / lib/attn.py:2 / kernels/attn.py:3": 300,
        f"lib/attn.py / lib/attn.py:2 / kernels/attn.py:3 / {load}": 300,
        f"lib/attn.py / lib/attn.py:2 / {mfma}": 600,
        "<no source>": 60,
        "<no source> / s_cbranch_scc1 65530": 50,
        "<no source> / s_endpgm": 10,
    }
    assert named(small, tree, int(np.flatnonzero(tree.total[:, 0] == 2150)[0])) == "/src/kernels/attn.py"
    assert named(small, tree, int(np.flatnonzero(tree.what == What.NO_SOURCE)[0])).startswith("instr")
    line = int(np.flatnonzero(tree.element == key(What.LINE, 1, 2))[0])
    assert source_text(small, tree, line) == "return a * b"


def test_idle_counts_only_if_it_is_shown() -> None:
    small = trace()
    with_idle, without = (code_flame(small.code, costs_of(small, show)) for show in (True, False))
    assert with_idle.whole(Metric.TOTAL) == 3110
    assert without.whole(Metric.TOTAL) == 3000
    assert with_idle.whole(Metric.STALL) == without.whole(Metric.STALL) == 2210
    assert with_idle.whole(Metric.HITS) == 20


def test_hidden_cycles_are_clamped_to_the_line() -> None:
    small = trace()
    hidden = np.array([5, 1000, 100, 0, -7, 0, 50, 0])
    tree = code_flame(small.code, costs_of(small, True, hidden), has_hidden=True)
    assert tree.whole(Metric.NONHIDDEN) == 3110 - 140 - 100 - 50


@given(some_stacks)
def test_totals_are_sums_over_all_stacks_that_begin_alike(rows: list[tuple[Path, int]]) -> None:
    paths, cost = [path for path, _ in rows], [one for _, one in rows]
    tree = fold(stacks(paths, cost))
    expected: dict[Path, int] = {}
    for path, one in rows:
        for depth in range(1, len(path) + 1):
            expected[path[:depth]] = expected.get(path[:depth], 0) + one
    assert by_path(tree) == expected
    assert (np.diff(tree.parent) >= 0).all()
    children = np.zeros_like(tree.own)
    np.add.at(children, tree.parent[tree.parent >= 0], tree.total[tree.parent >= 0])
    assert (tree.total == tree.own + children).all()
    for frame in range(len(tree)):
        own = np.flatnonzero(tree.parent == frame)
        assert (np.diff(own) == 1).all()


@given(some_stacks, st.sampled_from(list(SiblingOrder)))
def test_boxes_lie_in_parents_beside_each_other(rows: list[tuple[Path, int]], order: SiblingOrder) -> None:
    tree = fold(stacks([path for path, _ in rows], [one for _, one in rows]))
    names = tuple(str(one) for one in tree.element.tolist())
    boxes = layout(tree, Metric.TOTAL, order, names)
    for parent in range(-1, len(tree)):
        inside = np.flatnonzero(tree.parent == parent)
        inside = inside[np.lexsort((boxes.width[inside] > 0, boxes.begin[inside]))]
        begin = 0 if parent < 0 else int(boxes.begin[parent])
        for frame in inside.tolist():
            assert boxes.begin[frame] == begin
            begin += int(boxes.width[frame])
        assert begin <= (boxes.whole if parent < 0 else boxes.begin[parent] + boxes.width[parent])
        wide = inside[boxes.width[inside] > 0]
        rank = {
            SiblingOrder.HEAVY: (-boxes.width[wide]).tolist(),
            SiblingOrder.EXECUTION: tree.order[wide].tolist(),
            SiblingOrder.NAME: [names[frame] for frame in wide.tolist()],
        }[order]
        assert rank == sorted(rank)


@given(some_stacks, st.integers(0, 3))
def test_a_sandwich_counts_every_stack_with_the_place_once(rows: list[tuple[Path, int]], place: int) -> None:
    paths, cost = [path for path, _ in rows], [one for _, one in rows]
    whole = fold(stacks(paths, cost))
    callees, callers = sandwich(stacks(paths, cost), place, whole)
    holding = [(path, one) for path, one in rows if place in path]
    for tree in (callees, callers):
        assert len(tree) == 0 if not holding else (tree.depth == 0).sum() == 1
        assert tree.whole(Metric.TOTAL) == sum(one for _, one in holding)
    expected: dict[Path, int] = {}
    for path, one in holding:
        way = path[: path.index(place) + 1][::-1]
        for depth in range(1, len(way) + 1):
            expected[way[:depth]] = expected.get(way[:depth], 0) + one
    assert by_path(callers) == expected
    if holding:
        tree, boxes = joined_frames(callees, callers, Metric.TOTAL, SiblingOrder.HEAVY, ((), ()))
        assert len(tree) == len(callees) + len(callers) - 1
        assert (boxes.row == 0).sum() == 1
        assert boxes.row.min() == -int(callers.depth.max())
        nearer = np.abs(boxes.row[tree.parent[1:]]) == np.abs(boxes.row[1:]) - 1
        assert nearer.all()
        assert (boxes.begin + boxes.width <= boxes.whole).all()


def test_an_instruction_knows_its_callers() -> None:
    small = trace()
    own = costs_of(small)
    tree = code_flame(small.code, own)
    callees, callers = sandwich(source_stacks(small.code, own), int(key(What.CODE, 0, 2)), tree)
    outwards = ("ds_read_b128 v[0:3], v9", "kernels/attn.py:3", "lib/attn.py:2", "lib/attn.py")
    assert labels(small, callers) == outwards
    assert len(callees) == 1


recorded = traces_of(VARIED)


def test_every_cycle_of_a_capture_is_somewhere(recorded: Trace) -> None:
    own = costs_of(recorded)
    code = ~recorded.code.is_label
    for tree in (code_flame(recorded.code, own), code_flame(recorded.code, own, by_kernel=True)):
        assert tree.whole(Metric.TOTAL) == int((recorded.code.latency + recorded.code.idle)[code].sum()) > 0
        assert tree.whole(Metric.STALL) == int(recorded.code.stall[code].sum())
        rows = np.sort(tree.code_row[tree.code_row >= 0])
        assert rows.tolist() == np.flatnonzero((own > 0).any(axis=1) & code).tolist()


@pytest.mark.parametrize("name", ["matmul_small", "kernels", "gfx12"])
def test_frames_are_the_places_that_the_file_tells(name: str) -> None:
    """A row of code.json has its places from the innermost one outwards."""
    trace = sample_trace(name)
    expected: Counter[tuple[str, ...]] = Counter()
    for row in json.loads((trace.path / "code.json").read_text())["code"]:
        if not row[0].startswith(";") and (cost := row[7] + row[9]):
            places = row[3].split(" -> ")[::-1] if row[3] else []
            way = (places[0].rpartition(":")[0], *places) if places else ("",)
            for depth in range(1, len(way) + 1):
                expected[way[:depth]] += cost
    tree = code_flame(trace.code, costs_of(trace))
    places = np.flatnonzero(np.isin(tree.what, (What.FILE, What.LINE, What.NO_SOURCE))).tolist()
    names = labels(trace, tree)

    def name_of(frame: int) -> str:
        return "" if tree.what[frame] == What.NO_SOURCE else full_name(trace, tree, frame, names[frame])

    found = {tuple(map(name_of, tree.ancestors(one))): int(tree.total[one, 0]) for one in places}
    assert found == dict(expected)
    assert max(map(len, found)) > 2, "some of it is inlined"


def test_what_is_left_of_hidden_cycles() -> None:
    trace, batch = sample_waves("matmul_small")
    hidden = HIDDEN[ReferenceRule.REFERENCE].of(trace, [batch]).hidden(trace.code)
    tree = code_flame(trace.code, costs_of(trace, True, hidden), has_hidden=True)
    costs = trace.code.latency + trace.code.idle
    rows = zip(hidden.tolist(), costs.tolist(), strict=True)
    left = sum(cost - min(max(0, covered), cost) for covered, cost in rows)
    assert 0 < tree.whole(Metric.NONHIDDEN) == left < tree.whole(Metric.TOTAL) == costs.sum()


def test_code_without_sources_keeps_its_instructions(tmp_path: FolderPath) -> None:
    write_sample("matmul_small", tmp_path)
    content = json.loads((tmp_path / "code.json").read_text())
    kept = next(at for at, row in enumerate(content["code"]) if row[3] and not row[0].startswith(";"))
    content["code"] = [[*row[:3], row[3] * (at == kept), *row[4:]] for at, row in enumerate(content["code"])]
    (tmp_path / "code.json").write_text(json.dumps(content))
    bare = open_trace(tmp_path)
    tree = code_flame(bare.code, costs_of(bare))
    assert "<no source>" in labels(bare, tree)
    assert int((tree.what == What.CODE).sum()) == np.count_nonzero(bare.code.hits)
    content["code"][kept][3] = ""
    (tmp_path / "code.json").write_text(json.dumps(content))
    bare = open_trace(tmp_path)
    blocks = code_flame(bare.code, costs_of(bare))
    assert [What(one) for one in np.unique(blocks.what)] == [What.CODE, What.KERNEL, What.BLOCK]


def test_a_file_without_a_copy_keeps_its_whole_name() -> None:
    small = trace(code_table(((("s_nop 0"), TokenKind.IMMED, 1, 4, 0, 0, ((2, 77),)),)))
    tree = code_flame(small.code, costs_of(small))
    assert [named(small, tree, frame) for frame in (0, 1)] == ["/src/lib/lost.py", "/src/lib/lost.py:77"]


sampled = fixture_of(sample_trace, "pc_sampling")  # A capture of PC samples


def test_samples_are_costs_where_there_are_no_cycles(sampled: Trace) -> None:
    costs = costs_of(sampled)
    tree = code_flame(sampled.code, costs, "samples")
    issued, stalled = sampled.code.samples_issued, sampled.code.samples_stalled
    assert tree.whole(Metric.TOTAL) == int(issued.sum() + stalled.sum())
    assert tree.whole(Metric.STALL) == int(stalled.sum())


def test_folded_stacks_have_all_costs_and_no_stray_semicolon() -> None:
    small = trace()
    code = replace(small.code, text=(*small.code.text[:-1], "s_end;pgm"))
    small = trace(code)
    lines = list(folded(small, code_flame(code, costs_of(small)), Metric.TOTAL))
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 3110
    assert "<no source>;s_end,pgm 10" in lines
    assert len({line.rpartition(" ")[0] for line in lines}) == len(lines)


def test_the_mix_of_kinds_is_that_of_the_instructions_on_a_frame() -> None:
    small = trace()
    tree = code_flame(small.code, costs_of(small))
    frame = int(np.flatnonzero(tree.total[:, 0] == 900)[0])
    mix = kind_mix(tree, frame, small.code.kind, Metric.TOTAL, KIND_COUNT)
    found = {TokenKind(kind): int(mix[kind]) for kind in np.flatnonzero(mix)}
    assert found == {TokenKind.LDS: 300, TokenKind.MATRIX: 600}


def test_nothing_makes_an_empty_tree() -> None:
    small = trace(code_table(()))
    tree = code_flame(small.code, costs_of(small))
    assert len(tree) == tree.levels == tree.whole(Metric.TOTAL) == 0
    assert len(layout(tree, Metric.TOTAL)) == 0
    assert list(folded(small, tree, Metric.TOTAL)) == []
