"""Live registers: on programs whose live ranges are drawn by hand, and on what waves needed."""

from collections.abc import Sequence

import numpy as np
import pytest

from rcv_py.analysis.program.live_registers import (
    LiveRegisters,
    RegisterFile,
    live_registers,
    numbers,
    ranges_text,
)
from rcv_py.analysis.program.registers import register_use, registers
from rcv_py.model.code import CodeTable
from tests.analysis import build
from tests.support.fixtures import fixture_of_each
from tests.support.opened import VARIED, all_waves, sample_trace

VGPR, AGPR, SGPR = RegisterFile


def found(*texts: str) -> LiveRegisters:
    return live_registers(build.code(texts))


def held(texts: Sequence[str], file: RegisterFile = VGPR) -> list[tuple[int, ...]]:
    known = found(*texts)
    return [numbers(known.held[row], file) for row in range(len(texts))]


def test_a_straight_program() -> None:
    texts = [
        "v_mov_b32_e32 v0, 1",
        "v_mov_b32_e32 v1, 2",
        "v_add_f32_e32 v2, v0, v1",
        "v_mov_b32_e32 v3, v2",
        "global_store_dword v[4:5], v3, off",
        "s_endpgm",
    ]
    # v4 and v5 come with the launch; v2 may take the place of v0 or v1.
    assert held(texts) == [(0, 4, 5), (0, 1, 4, 5), (0, 1, 2, 4, 5), (2, 3, 4, 5), (3, 4, 5), ()]
    assert found(*texts).pressure[:, VGPR].tolist() == [3, 4, 4, 3, 3, 0]
    assert found(*texts).peak(VGPR) == 1


def test_a_result_that_nobody_reads_is_held_where_it_is_written() -> None:
    assert held(["v_mov_b32_e32 v7, 1", "s_nop 0", "s_endpgm"]) == [(7,), (), ()]


def test_a_loop_holds_what_its_next_iteration_reads() -> None:
    known = found(
        "; loop",
        "v_mov_b32_e32 v0, 0",
        "v_mov_b32_e32 v1, 0",
        "; head",
        "v_add_u32_e32 v0, v0, v1",
        "v_mov_b32_e32 v2, v0",
        "global_store_dword v[8:9], v2, off",
        "s_cbranch_scc1 head",
        "s_endpgm",
    )
    assert numbers(known.held[7], VGPR) == (0, 1, 8, 9), "the branch: v0 and v1 for the next iteration"
    assert numbers(known.held[8], VGPR) == ()


def test_both_ways_of_a_branch() -> None:
    texts = [
        "v_mov_b32_e32 v0, 1",
        "v_mov_b32_e32 v1, 2",
        "s_cbranch_scc1 other",
        "global_store_dword v[8:9], v0, off",
        "s_endpgm",
        "; other",
        "global_store_dword v[8:9], v1, off",
        "s_endpgm",
    ]
    assert held(texts)[2] == (0, 1, 8, 9)
    assert held(texts)[3] == (0, 8, 9)
    assert held(texts)[6] == (1, 8, 9)


def test_a_register_that_some_lanes_write_keeps_the_others() -> None:
    texts = [
        "v_mov_b32_e32 v0, 1",
        "s_and_saveexec_b64 s[0:1], vcc",
        "v_mov_b32_e32 v0, 2",
        "s_or_b64 exec, exec, s[0:1]",
        "global_store_dword v[8:9], v0, off",
        "s_endpgm",
    ]
    assert held(texts)[1] == (0, 8, 9), "lanes that are off read the first value"
    whole = [*texts]
    whole[1], whole[3] = "s_nop 0", "s_nop 0"
    assert held(whole)[1] == (8, 9)


def test_half_a_register_keeps_the_other_half() -> None:
    texts = ["v_mov_b32_e32 v0, 1", "s_nop 0", "ds_read_u16_d16_hi v0, v1", "ds_write_b32 v1, v0", "s_endpgm"]
    assert held(texts)[1] == (0, 1)


def test_files_are_counted_apart() -> None:
    texts = [
        "v_accvgpr_write_b32 a0, v0",
        "v_mfma_f32_4x4x4_16b_f16 a[0:3], v[2:3], v[4:5], a[0:3]",
        "s_mov_b64 s[2:3], s[0:1]",
        "global_store_dword v1, a0, s[2:3]",
        "s_endpgm",
    ]
    known = found(*texts)
    assert numbers(known.held[1], AGPR) == (0, 1, 2, 3)
    assert numbers(known.held[1], VGPR) == (1, 2, 3, 4, 5)
    assert numbers(known.held[2], SGPR) == (0, 1, 2, 3)
    assert known.pressure[2].tolist() == [1, 1, 2]
    assert known.peak(VGPR, AGPR) == 0


def test_names_of_ranges() -> None:
    assert ranges_text((0, 1, 2, 7, 9, 10), "v") == "v[0:2], v7, v[9:10]"
    assert ranges_text((), "s") == ""


code = fixture_of_each(lambda name: sample_trace(name).code, VARIED)


def test_no_more_is_held_than_the_program_names(code: CodeTable) -> None:
    use, most = register_use(code), live_registers(code).pressure.max(axis=0)
    assert most.any()
    assert np.all(most <= [use.vector, use.accumulation, use.scalar])


# In the others code that does not run, or lanes that are switched off, keep a few registers for longer.
EXACT = ("reduction", "combined", "groups_512", "gfx11", "gfx12")


@pytest.mark.parametrize("name", VARIED)
def test_what_waves_needed_is_held(name: str) -> None:
    """Back from the end of each wave: needed is what is read before it is written again."""
    trace = sample_trace(name)
    texts = [text.strip() for text in trace.code.text]
    needed_at: dict[int, int] = {}
    for wave in all_waves(trace).waves:
        needed = 0
        for line in reversed(wave.tokens.line.tolist()):
            writes, reads = registers(texts[line])
            behind, needed = needed, needed & ~writes | reads
            needed_at[line] = needed_at.get(line, 0) | behind | writes | needed
    known = live_registers(trace.code)
    differ = 0
    for line, needed in needed_at.items():
        for file in RegisterFile:
            expected, held = set(numbers(needed, file)), set(numbers(known.held[line], file))
            assert expected <= held
            differ += expected != held
    assert needed_at
    assert (differ == 0) == (name in EXACT)


def test_a_program_made_of_many_branches_is_read_in_time() -> None:
    count = 3_000
    texts = [text for n in range(count) for text in (f"; l{n}", f"v_mov_b32_e32 v{n % 200}, v{n % 7}")]
    texts += [f"s_cbranch_scc1 l{row}" for row in range(0, count, 3)]
    known = live_registers(build.code([*texts, "s_endpgm"]))
    assert known.pressure[:, VGPR].max() <= 200
