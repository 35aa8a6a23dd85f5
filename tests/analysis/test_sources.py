"""Costs charged to source places, folders, labels and ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.core.cost_columns import CostColumns, cost_columns
from rcv_py.analysis.cost.explorer import NO_SOURCE, CostNode, source_tree
from rcv_py.analysis.cost.ranking import BY, ranking
from rcv_py.analysis.cost.source_costs import SourceCosts, source_costs
from rcv_py.analysis.program.blocks import labels
from rcv_py.model.code import CodeTable, SourceFile
from rcv_py.model.modes import LatencyMode, SourceCost
from tests.analysis import build
from tests.support.columns import in_rows

SELF, INCLUSIVE = SourceCost.SELF, SourceCost.INCLUSIVE
A, B = 0, 1
#  v_a came straight from A:5, v_b from B:4 called in B:8 called in A:5, v_c is recursive, s_nop is nobody's
TEXTS = ["; kernel", "v_a", "v_b", "v_mfma", "s_nop"]
CHAINS = [(), [(A, 5)], [(B, 4), (B, 8), (A, 5)], [(B, 4), (B, 4)], ()]
CODE = build.code(TEXTS, latency=[0, 1, 10, 100, 1000], chains=CHAINS, kinds=[0, 6, 6, 13, 9])
SOURCES = (SourceFile("/x/lib/a.py", ("one", "two", "three", "four", "  five")), SourceFile("/x/b.py", None))


def table(costs: SourceCosts) -> dict[tuple[int, int], int]:
    """Cost by (file, line)."""
    return dict(zip(in_rows(costs.file, costs.line), costs.cost.tolist(), strict=True))


def test_self_charges_the_innermost_place() -> None:
    costs = source_costs(CODE, CODE.latency, SELF)
    assert table(costs) == {(A, 5): 1, (B, 4): 110}
    assert costs.file_cost.tolist() == [1, 110]
    assert (costs.unmapped, costs.total) == (1000, 1111)


def test_inclusive_charges_every_place_once_and_every_file_once() -> None:
    costs = source_costs(CODE, CODE.latency, INCLUSIVE)
    assert table(costs) == {(A, 5): 11, (B, 4): 110, (B, 8): 10}
    assert costs.file_cost.tolist() == [11, 110]
    assert costs.rows.tolist() == [2, 2, 1]


def test_cost_is_split_by_the_kind_of_the_code_line() -> None:
    costs = source_costs(CODE, CODE.latency, SELF)
    assert costs.by_kind[1, [6, 13]].tolist() == [10, 100]
    assert (costs.by_kind.sum(axis=1) == costs.cost).all()


def test_rows_of_a_file() -> None:
    costs = source_costs(CODE, CODE.latency, INCLUSIVE, files=3)
    own = costs.lines_of(B)
    assert (costs.line[own].tolist(), costs.cost[own].tolist()) == ([4, 8], [110, 10])
    assert costs.line[costs.lines_of(2)].tolist() == []


@st.composite
def programs(draw: st.DrawFn) -> CodeTable:
    """Code lines with chains, some of them repeating a place."""
    place = st.tuples(st.integers(0, 2), st.integers(0, 3))
    chains = draw(st.lists(st.lists(place, max_size=4), min_size=1, max_size=12))
    n = len(chains)
    cost = draw(st.lists(st.integers(0, 1000), min_size=n, max_size=n))
    kinds = draw(st.lists(st.integers(0, 20), min_size=n, max_size=n))
    return build.code(["v_x"] * n, latency=cost, chains=chains, kinds=kinds)


@given(programs(), st.sampled_from([SELF, INCLUSIVE]))
def test_costs_equal_the_definition(code: CodeTable, how: SourceCost) -> None:
    lines: dict[tuple[int, int], int] = {}
    files: dict[int, int] = {}
    for row in range(len(code)):
        chain = code.chain(row)[:1] if how is SELF else code.chain(row)
        for place in set(chain):
            lines[place] = lines.get(place, 0) + int(code.latency[row])
        for file in {file for file, _ in chain}:
            files[file] = files.get(file, 0) + int(code.latency[row])
    costs = source_costs(code, code.latency, how, 3)
    assert table(costs) == lines
    assert costs.file_cost.tolist() == [files.get(file, 0) for file in range(3)]
    if how is SELF:
        assert int(costs.cost.sum()) + costs.unmapped == costs.total


# -- explorer ---------------------------------------------------------------------------------------


def drawn(node: CostNode, depth: int = 0) -> list[str]:
    """The tree as text."""
    line = f"{'  ' * depth}{node.name} {node.cost}"
    return [line, *(row for child in node.children for row in drawn(child, depth + 1))]


def tree(
    paths: list[str], chains: list[list[tuple[int, int]]], cost: list[int], how: SourceCost = SELF
) -> list[str]:
    code = build.code(["v_x"] * len(cost), latency=cost, chains=chains)
    return drawn(source_tree(code, [SourceFile(path, None) for path in paths], code.latency, how, 0))


def test_folders_with_one_child_join_and_children_are_sorted_by_cost() -> None:
    paths = ["/r/p/k/a.py", "/r/p/k/b.py", "/r/p/lib/deep/c.py"]
    assert tree(paths, [[(0, 1)], [(1, 1)], [(2, 1)], []], [1, 5, 20, 7]) == [
        " 33",
        "  /r/p 26",
        "    lib/deep 20",
        "      c.py 20",
        "    k 6",
        "      b.py 5",
        "      a.py 1",
        f"  {NO_SOURCE} 7",
    ]


def test_a_code_line_counts_once_in_a_folder_that_holds_two_of_its_files() -> None:
    both = tree(["/r/a.py", "/r/b.py"], [[(0, 1), (1, 1)]], [9], INCLUSIVE)
    assert both == [" 9", "  /r 9", "    /r/a.py 9".replace("/r/a", "a"), "    b.py 9"]


def test_dots_in_paths_are_left_out_and_odd_paths_stay() -> None:
    rows = [" 6", "  /r 3", "    a.py 3", "  b.py 2", "   1"]
    assert tree(["/r/./a.py", "b.py", ""], [[(0, 1)], [(1, 1)], [(2, 1)]], [3, 2, 1]) == rows


def test_without_sources_all_is_without_source() -> None:
    assert tree([], [[], []], [4, 5]) == [" 9", f"  {NO_SOURCE} 9"]


@given(programs(), st.sampled_from([SELF, INCLUSIVE]))
def test_no_folder_costs_more_than_everything_or_less_than_a_child(code: CodeTable, how: SourceCost) -> None:
    paths = [SourceFile(path, None) for path in ("/r/a.py", "/r/x/b.py", "/q/c.py")]

    def walk(node: CostNode) -> None:
        assert int(node.by_kind.sum()) == node.cost <= int(code.latency.sum()) or node.name == ""
        for child in node.children:
            assert child.cost <= node.cost
            walk(child)

    walk(source_tree(code, paths, code.latency, how, 0))


# -- labels and ranks -------------------------------------------------------------------------------

BLOCKS = build.code(["v_first", "; kernel", "v_a", "; _mangled", "v_b", "v_c"], latency=[1, 0, 30, 0, 50, 20])


def test_a_label_costs_what_runs_until_the_next() -> None:
    costs = [(one.row, one.name, one.cost, one.share) for one in labels(BLOCKS)]
    assert costs == [(1, "kernel", 30, 0.3), (3, "_mangled", 70, 0.7)]
    names = [one.name for one in labels(replace(BLOCKS, kernels=()))]
    assert names == ["kernel", "_mangled"], "without a kernel a label is called what it says"
    assert labels(build.code([])) == ()


COSTS = cost_columns(CODE, LatencyMode.SUM_ALL, None, None)


def test_ranks_by_line_source_and_kind() -> None:
    found = [(one.name, one.latency) for one in ranking(CODE, SOURCES, COSTS, "instruction")]
    assert found == [(f"instruction {row}", 10 ** (row - 1)) for row in (4, 3, 2, 1)]
    found = [(one.name, one.rows, one.latency, one.text) for one in ranking(CODE, SOURCES, COSTS, "source")]
    assert found == [(NO_SOURCE, 1, 1000, ""), ("/x/b.py:4", 2, 110, ""), ("/x/lib/a.py:5", 1, 1, "five")]
    found = [(one.name, one.rows, one.latency) for one in ranking(CODE, SOURCES, COSTS, "kind")]
    assert found == [("IMMED", 1, 1000), ("MATRIX", 1, 100), ("VALU", 2, 11)]


def test_equal_rows_come_in_program_order() -> None:
    code = build.code(["v_x"] * 9, latency=[5] * 9, chains=[[(0, 9 - row)] for row in range(9)])
    costs = cost_columns(code, LatencyMode.SUM_ALL, None, None)
    names = [one.name for one in ranking(code, SOURCES, costs, "source")]
    assert names == [f"/x/lib/a.py:{9 - row}" for row in range(9)]


@given(programs(), st.sampled_from(BY))
def test_ranks_add_up_to_everything(code: CodeTable, by: str) -> None:
    costs = CostColumns(code.hits, code.latency, code.stall, code.idle, "")
    sources = [SourceFile(name, None) for name in "abc"]
    rows = ranking(code, sources, costs, by)
    assert sum(row.latency for row in rows) == int(code.latency.sum())
    assert [row.latency for row in rows] == sorted((row.latency for row in rows), reverse=True)
    assert not rows or sum(row.share for row in rows) == pytest.approx(1)


def test_pc_samples_stand_in_where_there_are_no_cycles() -> None:
    samples = replace(CODE, latency=np.zeros(5, dtype=np.int64), samples_issued=np.array([0, 1, 2, 0, 0]))
    samples = replace(samples, samples_stalled=np.array([0, 4, 0, 0, 1]))
    columns = cost_columns(samples, LatencyMode.SUM_ALL, None, None)
    assert (columns.latency.tolist(), columns.stall.tolist()) == ([0, 5, 2, 0, 1], [0, 4, 0, 0, 1])
    assert columns.label == "PC samples"
