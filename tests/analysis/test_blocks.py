"""Blocks, branches and loops: of drawings, of programs by hand, and of simulated kernels."""

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.program.blocks import Blocks, block_costs, blocks, by_label
from rcv_py.analysis.program.branches import branch_table, branches, flow
from rcv_py.analysis.program.loops import loops
from rcv_py.model.code import CodeTable
from tests.analysis import build
from tests.analysis.in_memory import jumps, kind_latency
from tests.support.opened import all_waves, sample_trace
from tests.support.read_twice import Case
from tests.support.samples import sample


def words(text: list[str]) -> CodeTable:
    """A program whose instructions are one word long, a label having the address of what follows."""
    code = build.code(text)
    real = [not line.startswith(";") for line in text]
    address = np.concatenate([[0], np.cumsum(real)])[:-1].astype(np.uint64) * np.uint64(4)
    return replace(code, address=address)


NESTED = words(
    [
        "; kernel",
        "s_mov_b32 s0, 0",  # 1
        "v_add v0",  # 2: outer
        "v_mul v0",  # 3: inner
        "s_cbranch_scc1 65534",  # 4: to 3
        "s_cbranch_scc0 0xfffc",  # 5: to 2
        "s_endpgm",  # 6
    ]
)


def spans(table: Blocks) -> list[tuple[int, int]]:
    return list(zip(table.first.tolist(), table.stop.tolist(), strict=True))


def test_blocks_of_a_program_are_found_once() -> None:
    code = sample_trace("matmul_tiled").code
    assert blocks(code) is blocks(code)


def test_operands_tell_where_a_branch_goes() -> None:
    how = flow(NESTED)
    assert how.target.tolist() == [-1, -1, -1, -1, 3, 2, -1]
    assert np.flatnonzero(how.is_branch).tolist() == [4, 5]
    assert np.flatnonzero(~how.falls).tolist() == [6]


def test_a_label_is_a_target_by_name_and_by_address() -> None:
    code = words(["; k", "s_branch .L1", "s_nop 0", "; .L1:", "s_cbranch_vccz 65534 // 000", "s_endpgm"])
    code = replace(code, kernels=code.kernels[:1])
    assert flow(code).target[[1, 4]].tolist() == [3, 2]
    assert spans(blocks(code)) == [(0, 2), (2, 3), (3, 5), (5, 6)]
    assert blocks(code).name == ("k", "block 1", ".L1", "block 3")
    assert blocks(code).head.tolist() == [1, 2, 4, 5]
    sections = by_label(blocks(code))
    assert (spans(sections), sections.name) == ([(0, 3), (3, 6)], ("k", ".L1"))


def test_operands_that_lead_nowhere_are_unknown() -> None:
    far = words(["s_branch 300", "s_branch somewhere", "s_branch 99999", "s_branch", "s_endpgm"])
    assert flow(far).target.tolist() == [-1] * 5
    sparse = build.code(["s_branch 1", "v_a", "v_b", "s_endpgm"])  # 8 bytes apart: not addresses of words
    assert flow(sparse).target.tolist() == [-1] * 4


def test_blocks_begin_at_targets_and_behind_branches() -> None:
    table = blocks(NESTED)
    assert spans(table) == [(0, 2), (2, 3), (3, 5), (5, 6), (6, 7)]
    assert table.name == ("kernel", "block 1", "block 2", "block 3", "block 4")
    assert table.is_entry.tolist() == [True, False, False, False, False]
    assert table.of_row.tolist() == [0, 0, 1, 2, 2, 3, 4]
    edges = set(zip(table.edge_from.tolist(), table.edge_to.tolist(), strict=True))
    assert edges == {(0, 1), (1, 2), (2, 2), (2, 3), (3, 1), (3, 4)}


def test_jumps_that_were_seen_stand_in_for_operands_that_do_not_tell() -> None:
    code = build.code(["v_a", "s_setpc_b64 s[0:1]", "v_b", "v_c", "v_d"])
    wave = build.wave("V|J|V|V", [0, 1, 3, 4])
    assert spans(blocks(code)) == [(0, 2), (2, 5)]
    assert spans(blocks(code, branches([wave], code))) == [(0, 2), (2, 3), (3, 5)]


def test_a_jump_that_contradicts_its_operand_counts_for_nothing() -> None:
    wave = build.wave("V|V|J|V", [2, 3, 4, 6])  # tokens are missing: row 4 goes to row 3
    found = branches([wave], NESTED)
    assert spans(blocks(NESTED, found)) == spans(blocks(NESTED))
    how = flow(NESTED)
    table = branch_table(found, how)
    assert table.row.tolist() == [4, 5]
    assert table.target.tolist() == [3, 2]
    assert table.taken.tolist() == [1, 0]


def test_loops_nest_and_count_their_rounds() -> None:
    lines = [1, 2, 3, 4, 3, 4, 5, 2, 3, 4, 5, 6]
    found = branches([build.wave("S|V|V|J|V|N|J|V|V|N|N|I", lines)], NESTED)
    table = blocks(NESTED, found)
    ring = loops(table, found)
    assert ring.header.tolist() == [1, 2]
    assert ring.first.tolist() == [2, 3]
    assert ring.stop.tolist() == [6, 5]
    assert ring.depth.tolist() == [1, 2]
    assert ring.back.tolist() == [1, 1]
    assert ring.rounds.tolist() == [2, 3]
    assert ring.entries.tolist() == [1, 2]
    assert ring.depth_of_block.tolist() == [0, 1, 2, 1, 0]


def test_a_jump_back_from_code_moved_out_of_line_is_no_loop() -> None:
    code = words(["s_cbranch_scc0 2", "v_a", "s_endpgm", "v_rare", "s_branch 65532"])  # back to 1
    assert flow(code).target.tolist() == [3, -1, -1, -1, 1]
    assert len(loops(blocks(code))) == 0


def test_a_loop_that_falls_into_its_header_is_counted() -> None:
    code = words(["s_branch 1", "v_body", "v_head", "s_cbranch_scc1 65533", "s_endpgm"])  # 3 goes to 1
    lines = [0, 2, 3, 1, 2, 3, 1, 2, 3, 4]
    found = branches([build.wave("J|V|J|V|V|J|V|V|N|I", lines)], code)
    ring = loops(blocks(code, found), found)
    assert (ring.first.tolist(), ring.stop.tolist()) == ([1], [4])
    assert (ring.back.tolist(), ring.rounds.tolist(), ring.entries.tolist()) == ([2], [3], [1])


def test_costs_are_sums_and_labels_cost_nothing() -> None:
    hits = np.array([9, 4, 6, 7, 7, 6, 4])
    cycles = np.array([50, 1, 2, 3, 4, 5, 6])
    costs = block_costs(blocks(NESTED), NESTED, replace(NESTED, hits=hits, latency=cycles, idle=cycles * 10))
    assert costs.lines.tolist() == [1, 1, 2, 1, 1]
    assert costs.hits.tolist() == [4, 6, 7, 6, 4]
    assert costs.latency.tolist() == [1, 2, 7, 5, 6]
    assert costs.cost.tolist() == [11, 22, 77, 55, 66]
    assert costs.executed.all()


def test_nothing_has_no_blocks() -> None:
    empty = build.code([])
    table = blocks(empty)
    assert len(table) == 0
    assert len(loops(table)) == 0
    assert len(block_costs(table, empty, empty).hits) == 0


def test_branches_of_all_waves_tell_what_became_of_every_execution(case: Case) -> None:
    code = case.trace.code
    found, how = jumps(case.batches, code), flow(case.trace.code)
    np.testing.assert_array_equal(found.ran, code.hits)
    table = branch_table(found, how)
    if case.trace.name not in (
        "waitcnt_gfx9",
        "waitcnt_gfx11",
        "waitcnt_gfx12",
    ):  # made up: their waves stop short
        np.testing.assert_array_equal(table.taken + table.not_taken, code.hits[table.row])
    one_by_one = [branches([wave], code) for wave in case.waves]
    total = sum(int(one.taken.sum()) for one in one_by_one)
    assert int(found.taken.sum()) == total
    np.testing.assert_array_equal(sum(one.passed for one in one_by_one), found.passed)


def test_blocks_are_run_as_a_whole(case: Case) -> None:
    code = case.trace.code
    found = jumps(case.batches, code)
    table = blocks(code, found)
    assert table.first[0] == 0
    assert table.stop[-1] == len(code)
    np.testing.assert_array_equal(table.stop[:-1], table.first[1:])
    for first, stop in spans(table):
        hits = code.hits[first:stop][~code.is_label[first:stop]]
        assert len(set(hits.tolist())) <= 1, (first, stop)
    entered = np.isin(found.target, table.head)
    assert entered.all(), "every jump goes to the top of a block"


@pytest.mark.parametrize("name", ["matmul_small", "reduction", "rivals", "groups_512", "gfx11", "gfx12"])
def test_the_loop_of_a_simulated_kernel(name: str) -> None:
    trace, (_, truth) = sample_trace(name), sample(name)
    found = jumps([all_waves(trace)], trace.code)
    ring = loops(blocks(trace.code, found), found)
    visits = [rounds for wave in truth.waves.values() for each in wave.iterations.values() for rounds in each]
    assert (ring.rounds.tolist(), ring.entries.tolist()) == ([sum(visits)], [len(visits)])
    (first,), (stop,) = ring.first.tolist(), ring.stop.tolist()
    how = flow(trace.code)
    assert how.is_branch[stop - 1]
    assert how.target[stop - 1] == first


def test_cycles_by_kind_add_up(case: Case) -> None:
    code = case.trace.code
    kinds = kind_latency(case.batches, len(code)).cycles
    np.testing.assert_array_equal(kinds.sum(axis=1), code.latency)
    total = [0] * kinds.shape[1]
    for wave in case.waves:
        for kind, cycles in zip(wave.tokens.kind.tolist(), wave.tokens.duration.tolist(), strict=True):
            total[kind] += cycles
    assert kinds.sum(axis=0).tolist() == total
    assert kinds.sum() > 0
