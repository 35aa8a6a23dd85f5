"""Registers above 255: which operands `s_set_vgpr_msb` is about, and how long."""

import pytest

from rcv_py.analysis.program.registers import V, registers
from rcv_py.base.problems import Problems
from rcv_py.formats.isa.program import with_high_registers
from rcv_py.formats.uiout.code import code_of

ALL = 0b11_10_01_01  # sources in quarters 1, 1 and 2, what is written in quarter 3


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("v_fma_f32 v1, v2, -v3, |v4|", "v_fma_f32 v769, v258, -v259, |v516|"),
        ("v_add_co_u32 v1, vcc_lo, v2, v3", "v_add_co_u32 v769, vcc_lo, v258, v259"),
        ("v_cmp_lt_f32_e32 vcc_lo, v2, v3", "v_cmp_lt_f32_e32 vcc_lo, v258, v259"),
        ("v_cmpx_lt_f32_e32 v2, v3", "v_cmpx_lt_f32_e32 v258, v259"),
        ("v_fmamk_f32 v1, v2, 0x41000000, v3", "v_fmamk_f32 v769, v258, 0x41000000, v515"),
        ("v_swap_b32 v1, v2", "v_swap_b32 v769, v258"),
        ("v_add_f16_e32 v1.l, v2.h, v3.l", "v_add_f16_e32 v769.l, v258.h, v259.l"),
        (
            "v_dual_mul_f32 v1, v2, v3 :: v_dual_mov_b32 v6, v7",
            "v_dual_mul_f32 v769, v258, v259 :: v_dual_mov_b32 v774, v263",
        ),
        ("v_mov_b32_dpp v1, v2 quad_perm:[0,1,2,3]", "v_mov_b32_dpp v769, v258 quad_perm:[0,1,2,3]"),
        (
            "v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[40:47], v1, v2",
            "v_wmma_scale_f32_16x16x128_f8f6f4 v[768:775], v[264:279], v[280:295], v[552:559], v1, v2",
        ),
        ("ds_load_b64 v[2:3], v1 offset:8", "ds_load_b64 v[770:771], v257 offset:8"),
        ("ds_store_2addr_b32 v1, v2, v3 offset1:1", "ds_store_2addr_b32 v257, v258, v515 offset1:1"),
        ("ds_add_rtn_u32 v1, v2, v3", "ds_add_rtn_u32 v769, v258, v259"),
        ("global_load_b32 v1, v[2:3], off", "global_load_b32 v769, v[258:259], off"),
        ("global_store_b32 v0, v3, s[2:3]", "global_store_b32 v256, v259, s[2:3]"),
        ("global_atomic_add_u32 v[0:1], v2, off", "global_atomic_add_u32 v[256:257], v258, off"),
        ("global_load_async_to_lds_b32 v1, v2, s[0:1]", "global_load_async_to_lds_b32 v769, v258, s[0:1]"),
        ("scratch_store_b32 off, v1, s0", "scratch_store_b32 off, v257, s0"),
        ("buffer_store_b32 v1, v2, s[4:7], null offen", "buffer_store_b32 v769, v258, s[4:7], null offen"),
        ("s_mov_b32 s1, s2", "s_mov_b32 s1, s2"),
    ],
)
def test_each_operand_has_the_bits_of_its_place(text: str, wanted: str) -> None:
    """The places are those that LLVM's assembler gives: llvm-objdump 22 names these registers."""
    switch = f"s_set_vgpr_msb {ALL:#x}"
    assert with_high_registers([switch, text]) == (switch, wanted)
    assert with_high_registers([switch, wanted]) == (switch, wanted), "they are not moved twice"


def test_the_bits_hold_to_the_next_switch_or_the_end_of_the_block() -> None:
    texts = [
        *("v_mov_b32_e32 v1, 1.0", "s_set_vgpr_msb 64", "v_mov_b32_e32 v1, 2.0", "s_set_vgpr_msb 0x4000"),
        *("v_mov_b32_e32 v1, 3.0", "s_set_vgpr_msb 64", "s_cbranch_scc0 65000", "v_mov_b32_e32 v1, 4.0"),
    ]
    assert [text.split()[1] for text in with_high_registers(texts) if text.startswith("v_")] == [
        *("v1,", "v257,", "v1,", "v1,")
    ]


def test_a_register_that_llvm_names_behind_another_counts_once() -> None:
    texts = ["s_set_vgpr_msb 1", "v_add_f32_e32 v3, v1 /*v257*/, v[2:3] /*v[258:259]*/"]
    assert with_high_registers(texts)[1] == "v_add_f32_e32 v3, v257, v[258:259]"


def test_texts_of_a_folder_have_them_too() -> None:
    texts = ["; kernel", "s_set_vgpr_msb 65", "v_mov_b32_e32 v1, v2", "s_endpgm"]
    rows = [[text, 0, at, "", 1, 4 * at, 0, 0, 0, 0] for at, text in enumerate(texts)]
    header = ["ISA", "_", "LineNumber", "Source", "Codeobj", "Vaddr", "Hit", "Latency", "Stall", "Idle"]
    problems = Problems()
    code = code_of({"header": header}, rows, 12, problems).table
    assert (registers(code.text[2]).writes, registers(code.text[2]).reads) == (1 << V + 257, 1 << V + 258)
    assert not problems, "nothing was cut off"
