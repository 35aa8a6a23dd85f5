"""Which instruction of one build is which of another."""

import random
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcv_py.analysis.compare.align import Fate, align, plain, shape
from rcv_py.analysis.compare.lcs import common, heaviest_rising
from rcv_py.model.code import CodeTable
from tests.analysis import build
from tests.analysis.compare_cases import table
from tests.support.fixtures import fixture_of
from tests.support.opened import sample_trace
from tests.support.python_calls import calls_and_result


def longest(a: list[int], b: list[int]) -> int:
    """The length of a longest common subsequence, by the textbook."""
    row = [0] * (len(b) + 1)
    for key in a:
        old = list(row)
        for j, other in enumerate(b):
            row[j + 1] = old[j] + 1 if key == other else max(old[j + 1], row[j])
    return row[-1]


keys = st.lists(st.integers(0, 5), max_size=30)


@given(keys, keys)
def test_the_common_part_is_common_rising_and_the_longest(a: list[int], b: list[int]) -> None:
    pairs = common(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))
    assert len(pairs) == longest(a, b)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), max_size=9))
def test_the_heaviest_rising_part_beats_all_others(items: list[tuple[int, int]]) -> None:
    values, weights = [value for value, _ in items], [weight for _, weight in items]
    chosen = heaviest_rising(values, weights)
    assert all(values[i] < values[j] and i < j for i, j in pairwise(chosen))

    def best(at: int, above: int) -> int:
        if at == len(values):
            return 0
        skipped = best(at + 1, above)
        return max(skipped, weights[at] + best(at + 1, values[at])) if values[at] > above else skipped

    assert sum(weights[at] for at in chosen) == best(0, -1)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("v_add_u32_e32 v22, s21, v7 // 00000A2C", "v_add_u32_e32 v_ s_ v_"),
        ("global_load_dwordx4 v[32:35], v18, s[4:5] offset:16", "global_load_dwordx4 v4_ v_ s2_ offset:"),
        ("s_waitcnt vmcnt(3) lgkmcnt(0)", "s_waitcnt vmcnt lgkmcnt"),
        ("v_mul_f32_e32 v1, -0.5, v2", "v_mul_f32_e32 v_ v_"),
    ],
)
def test_a_shape_has_no_numbers(text: str, kept: str) -> None:
    assert shape(text) == kept


def test_where_a_branch_goes_is_no_part_of_its_text() -> None:
    assert plain("s_cbranch_scc1 65482") == plain("s_cbranch_scc1 12 // 000") == "s_cbranch_scc1"


def test_edits_are_told_apart() -> None:
    a = table(["; k", "s_mov_b32 s0, 0", "v_add v1, v2, v3", "s_nop 0", "v_sub v1, v2", "s_endpgm"])
    b = table(["; k", "s_mov_b32 s4, 0", "v_add v1, v2, v3", "v_mul v4, v5", "v_sub v1, v2", "s_endpgm"])
    found = align(a, b)
    assert found.to_b.tolist() == [0, 1, 2, -1, 4, 5]
    assert [Fate(one).name for one in found.fate_a] == ["SAME", "CHANGED", "SAME", "REMOVED", "SAME", "SAME"]
    pairs = [(0, 0), (1, 1), (2, 2), (3, -1), (-1, 3), (4, 4), (5, 5)]
    assert list(zip(*(column.tolist() for column in found.listing), strict=True)) == pairs
    assert not found.is_same


def program(order: list[int], sizes: list[int], tail: bool = True) -> list[str]:
    """Blocks of different instructions in an order, each with a branch at its end."""
    text = ["; k"]
    for block in order:
        text += [f"v_op_{block}_{i} v{i}, v1" for i in range(sizes[block])]
        text.append(f"s_cbranch_scc{block % 2} .elsewhere")
    return [*text, "s_endpgm"] if tail else text


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_blocks_are_found_wherever_they_were_moved(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(3, 12), min_size=1, max_size=7))
    order = data.draw(st.permutations(range(len(sizes))))
    a, b = table(program(sorted(order), sizes)), table(program(list(order), sizes))
    found = align(a, b)
    own = [row for row, text in enumerate(a.text) if text.startswith("v_op")]
    # Every instruction, all different, is found again unless blocks are as many in order as out of it.
    paired = [row for row in own if found.to_b[row] >= 0]
    assert all(a.text[row] == b.text[found.to_b[row]] for row in paired)
    assert len(paired) == len(own)
    moved = {a.text[row].split("_")[2] for row in own if found.fate_a[row] == Fate.MOVED}
    assert bool(moved) == (list(order) != sorted(order))
    # As little as possible counts as moved: what stays is the heaviest rising part of the order.
    stays = heaviest_rising(list(order), [sizes[block] + 1 for block in order])
    stay = sum(sizes[order[at]] + 1 for at in stays)
    assert sum(sizes[int(block)] + 1 for block in moved) == sum(size + 1 for size in sizes) - stay


def test_a_moved_block_with_an_edit_is_still_found() -> None:
    sizes = [8, 9, 10]
    a = table(program([0, 1, 2], sizes))
    text = program([1, 2, 0], sizes)
    text.remove("v_op_0_3 v3, v1")
    found = align(a, table(text))
    gone = [a.text[row] for row in np.flatnonzero(found.fate_a == Fate.REMOVED)]
    assert gone == ["v_op_0_3 v3, v1"]
    moved = {a.text[row].split("_")[2] for row in np.flatnonzero(found.fate_a == Fate.MOVED)}
    assert moved >= {"0"}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=40), st.lists(st.integers(0, 4), max_size=40))
def test_an_alignment_pairs_each_row_at_most_once(left: list[int], right: list[int]) -> None:
    a, b = (build.code([f"v_op{key} v{at}" for at, key in enumerate(keys)]) for keys in (left, right))
    found = align(a, b)
    rows = np.flatnonzero(found.to_b >= 0)
    assert np.array_equal(found.to_a[found.to_b[rows]], rows)
    assert len(rows) == np.count_nonzero(found.to_a >= 0)
    row_a, row_b = found.listing
    assert sorted(row_a[row_a >= 0].tolist()) == list(range(len(a)))
    assert row_b[row_b >= 0].tolist() == list(range(len(b)))


def unrolled(rows: int) -> CodeTable:
    """A long program: the loops of simulated kernels, again and again with other registers."""
    names = ("matmul_tiled", "tutorial_before", "reduction", "combined", "rivals")
    texts = [text for name in names for text in sample_trace(name).code.text if not text.startswith(";")]
    body = [
        re.sub(r"\bv(\d+)", lambda found, by=3 * turn: f"v{int(found[1]) + by}", text)
        for turn in range(rows // len(texts) + 1)
        for text in texts
    ]
    return build.code(["; kernel", *body[: rows - 2], "s_endpgm"])


def rebuilt(code: CodeTable) -> tuple[CodeTable, list[int]]:
    """A program with instructions removed, added and changed, and the row that each comes from, or -1."""
    rng = random.Random(3)
    text, origin = [], []
    for row, line in enumerate(code.text):
        if rng.random() < 0.02:
            text.append("v_cvt_f32_new v1, v2")
            origin.append(-1)
        if rng.random() > 0.02:
            text.append(line if line.startswith(";") else line.replace(" v1", " v21"))
            origin.append(row)
    return build.code(text), origin


long_program = fixture_of(unrolled, 5_000)


def test_a_rebuild_of_five_thousand_instructions_is_aligned_in_linear_time(long_program: CodeTable) -> None:
    code = long_program
    assert 4_900 < len(code) < 5_100
    new, origin = rebuilt(code)
    calls, found = calls_and_result(lambda: align(code, new))
    assert np.mean(found.to_a == np.array(origin)) > 0.95
    assert calls < 250 * len(code)  # 223 for a kernel of 590


def test_the_same_program_in_two_captures_has_the_same_instructions() -> None:
    a, b = (sample_trace(name).code for name in ("matmul_small", "counters"))
    found = align(a, b)
    assert found.is_same
    assert np.array_equal(found.to_b, np.arange(len(a)))
