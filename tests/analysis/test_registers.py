"""Which registers stand where in an instruction, and where others write and read them."""

import gzip
from functools import reduce
from operator import or_
from pathlib import Path

import pytest

from rcv_py.analysis.program.registers import (
    SPECIAL,
    A,
    S,
    V,
    definition,
    next_use,
    operands,
    registers,
    words,
)

MNEMONIC = "mnemonic"


def bits(*names: str) -> int:
    """The set of registers such as `v4`, `s[0:1]`, `vcc`, made without our parser of texts."""
    first, made = {"v": V, "a": A, "s": S}, 0
    for name in names:
        if name in SPECIAL:
            made |= 1 << SPECIAL[name]
            continue
        low, _, high = name[1:].strip("[]").partition(":")
        for number in range(int(low), int(high or low) + 1):
            made |= 1 << first[name[0]] + number
    return made


def found(text: str) -> list[tuple[str, int, int]]:
    """Text, what it writes and what it reads, of each operand."""
    name = text.strip().split(" ")[0]
    shown = [(text[one.start : one.stop], one.writes, one.reads) for one in operands(text)]
    return [(MNEMONIC if word == name else word, writes, reads) for word, writes, reads in shown]


@pytest.mark.parametrize(
    ("text", "writes", "reads"),
    [
        (
            "v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]",
            ["v[0:3]"],
            ["v[4:5]", "v[6:7]", "v[0:3]"],
        ),
        ("buffer_load_dwordx4 v[8:11], v2, s[4:7], 0 offen offset:16", ["v[8:11]"], ["v2", "s[4:7]"]),
        ("buffer_store_dword v1, v2, s[4:7], 0 offen", [], ["v1", "v2", "s[4:7]"]),
        ("global_store_dwordx2 v[0:1], v[2:3], off", [], ["v[0:1]", "v[2:3]"]),
        ("global_load_dword v5, v[0:1], off", ["v5"], ["v[0:1]"]),
        ("ds_write_b128 v9, v[0:3] offset:64", [], ["v9", "v[0:3]"]),
        ("ds_read_b64_tr_b16 a[2:3], v7", ["a[2:3]"], ["v7"]),
        ("v_cmp_lt_i32_e32 vcc, v1, v2", ["vcc"], ["v1", "v2"]),
        ("v_cmp_lt_i32_e64 s[2:3], v1, s9", ["s[2:3]"], ["v1", "s9"]),
        ("v_add_co_u32_e32 v1, vcc, s2, v3", ["v1", "vcc"], ["s2", "v3"]),
        ("v_accvgpr_read_b32 v1, a3", ["v1"], ["a3"]),
        ("s_mov_b32 m0, s4", ["m0"], ["s4"]),
        ("v_readfirstlane_b32 s4, v1  // 00001: v9", ["s4"], ["v1"]),
        ("global_atomic_add v1, v2, s[0:1]", [], ["v1", "v2", "s[0:1]"]),
        ("global_atomic_add v4, v0, v1, s[2:3] sc0", ["v4"], ["v0", "v1", "s[2:3]"]),
        ("ds_bpermute_b32 v7, v6, v2", ["v7"], ["v6", "v2"]),
    ],
)
def test_printed_operands(text: str, writes: list[str], reads: list[str]) -> None:
    expected = [(name, bits(name), 0) for name in writes]
    assert found(text) == expected + [(name, 0, bits(name)) for name in reads]


def test_what_is_written_and_read_at_once() -> None:
    assert found("v_fmac_f32_e32 v1, v2, v3")[0] == ("v1", bits("v1"), bits("v1"))
    assert found("v_swap_b32 v1, v2") == [("v1", bits("v1"), bits("v1")), ("v2", bits("v2"), bits("v2"))]


def test_the_mnemonic_stands_for_what_is_not_printed() -> None:
    assert found("s_cmp_lt_i32 s4, s5")[0] == (MNEMONIC, bits("scc"), 0)
    assert found("s_cbranch_scc1 65531") == [(MNEMONIC, 0, bits("scc"))]
    assert found("s_and_saveexec_b64 s[0:1], vcc")[0] == (MNEMONIC, bits("exec", "scc"), bits("exec"))
    assert found("s_cbranch_execz .LBB0_3") == [(MNEMONIC, 0, bits("exec"))]


@pytest.mark.parametrize(
    ("text", "writes", "reads"),
    [
        # From the ISA documents: what the operand tables of LLVM leave out, or its decoder gets wrong.
        ("v_dual_mov_b32 v2, 0 :: v_dual_add_f32 v3, v1, v1", ["v[2:3]"], ["v1"]),
        (
            "v_dual_fmac_f32 v6, v1, v5 :: v_dual_add_nc_u32 v7, s8, v0",
            ["v[6:7]"],
            ["v[0:1]", "v[5:6]", "s8"],
        ),
        ("v_dual_mul_f32 v6, v1, v5 :: v_dual_fmac_f32 v7, s8, v0", ["v[6:7]"], ["v[0:1]", "v5", "v7", "s8"]),
        (
            "v_dual_cndmask_b32 v2, v3, v4 :: v_dual_lshlrev_b32 v5, 1, v1",
            ["v2", "v5"],
            ["v1", "v[3:4]", "vcc"],
        ),
        ("v_dual_cndmask_b32 v2, v3, v4, s6 :: v_dual_mov_b32 v5, v1", ["v2", "v5"], ["v1", "v[3:4]", "s6"]),
        (
            "v_dual_fmaak_f32 v23, s1, v0, 0x2f800000 :: v_dual_mov_b32 v0, v1",
            ["v0", "v23"],
            ["v[0:1]", "s1"],
        ),
        ("s_cmov_b32 s4, s5", ["s4"], ["s[4:5]", "scc"]),
        ("s_bitset1_b32 s4, s5", ["s4"], ["s[4:5]"]),
        ("v_pk_fmac_f16 v1, v2, v3", ["v1"], ["v[1:3]"]),
        ("global_load_short_d16_hi v1, v[2:3], off", ["v1"], ["v[1:3]"]),
        ("ds_read_u16_d16 v1, v2", ["v1"], ["v[1:2]"]),
        ("buffer_load_dword v1, s[4:7], 0 offen glc scc", ["v1"], ["s[4:7]"]),
        ("buffer_load_dword v0, s[4:5], 0 offen lds", [], ["v0", "s[4:5]", "m0"]),
        ("s_cbranch_vccz 12", [], ["vcc"]),
    ],
)
def test_forms_that_llvm_does_not_describe(text: str, writes: list[str], reads: list[str]) -> None:
    assert registers(text) == (bits(*writes), bits(*reads))


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        # LLVM 22: the forms of gfx9 to gfx1250 whose tables have m0, and their neighbours that lack it.
        ("s_ttracedata", True),
        ("s_ttracedata_imm 0x17", False),
        ("s_sendmsg sendmsg(MSG_INTERRUPT)", True),
        ("s_sendmsghalt sendmsg(MSG_SYSMSG)", True),
        ("s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)", False),
        ("s_movrels_b32 s0, s1", True),
        ("s_movreld_b64 s[0:1], s[2:3]", True),
        ("s_movrelsd_2_b32 s0, s1", True),
        ("v_movrelsd_2_b32_e32 v1, v2", True),
        ("v_swaprel_b32 v1, v2", True),
        ("s_barrier_init -1", True),
        ("s_barrier_signal -1", False),
        ("s_set_gpr_idx_on s0, gpr_idx(SRC0)", True),
        ("s_set_gpr_idx_mode gpr_idx(SRC0)", True),
        ("s_set_gpr_idx_off", False),
        ("ds_gws_init v0 offset:65535 gds", True),
        ("ds_append v1 offset:4", True),
        ("ds_consume v1", True),
        ("ds_ordered_count v1, v2 offset:4 gds", True),
        ("ds_nop", True),
        ("ds_read_addtid_b32 v1 offset:4", True),
        ("ds_store_addtid_b32 v1 offset:4", True),
        ("ds_add_src2_u32 v1 offset:4", True),
        ("ds_write_src2_b64 v1", True),
        ("ds_add_gs_reg_rtn v[0:1], v2 offset:4 gds", True),
        ("ds_sub_gs_reg_rtn v[0:1], v2 gds", True),
        ("ds_bvh_stack_push8_pop1_rtn_b32 v1, v2, v3, v[4:11]", True),
        ("ds_bpermute_fi_b32 v1, v2, v3", True),
        ("ds_bpermute_b32 v1, v2, v3", False),
        ("ds_add_u32 v1, v2", False),
        ("ds_direct_load v1 wait_vdst:15", True),
        ("lds_direct_load v1 wait_vdst:15", True),
        ("ds_param_load v1, attr0.x wait_vdst:15", True),
        ("lds_param_load v1, attr0.x wait_vdst:15", True),
        ("v_mov_b32_e32 v0, src_lds_direct", True),
        ("v_interp_p1_f32_e32 v1, v2, attr0.x", True),
        ("v_interp_p10_f16_f32 v1, v2, v3, v4", True),
        ("exp mrt0 v0, v1, v2, v3 row_en", True),
        ("exp mrt0 v0, v1, v2, v3 done", False),
        ("buffer_load_dword v1, s[4:7], 0 offen lds", True),
        ("buffer_store_lds_dword s[4:7], 0 offset:4 lds", True),
        ("global_load_lds_dwordx4 v[0:1], off", True),
        ("scratch_load_lds_ubyte off, s0", True),
        ("global_load_async_to_lds_b128 v1, v[2:3], off", False),
        ("cluster_load_async_to_lds_b128 v1, v[2:3], off", True),
        ("tensor_load_to_lds s[0:3], s[4:11]", False),
    ],
)
def test_m0_is_read_without_being_printed(text: str, is_read: bool) -> None:
    assert bool(registers(text).reads & bits("m0")) == is_read


def test_instructions_of_all_targets_write_and_read_what_the_tables_of_llvm_say() -> None:
    """Texts, registers written and read, as `operands.cpp` prints them; exec where it is printed or set."""
    rows = gzip.decompress(Path(__file__).with_name("operands.tsv.gz").read_bytes()).decode().splitlines()
    wrong = []
    for text, writes, reads in (row.split("\t") for row in rows):
        unsaid = ["m0"] if "src_lds_direct" in text else []  # which the tables lack
        if registers(text) != (bits(*writes.split()), bits(*reads.split(), *unsaid)):
            wrong.append(text)
        shown = operands(text)
        both = [reduce(or_, (getattr(one, way) for one in shown), 0) for way in ("writes", "reads")]
        assert registers(text) == tuple(both)
    assert len(rows) == 5000
    assert not wrong


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("s_addc_u32 s1, s2, -1", "s_addc_u32 s1, s2, lit(0xffffffff)"),
        ("s_mov_b64 s[0:1], lit64(0x123456789)", "s_mov_b64 s[0:1], 0x123456789"),
        ("s_getreg_b32 s1, hwreg(1)", "s_getreg_b32 s1, hwreg(HW_REG_WAVE_MODE)"),
        ("v_add_f16_e32 v1, v2, v3", "v_add_f16_e32 v1.l, v2.h, v3.l"),
    ],
)
def test_texts_of_two_versions_of_llvm_have_the_same_registers(older: str, newer: str) -> None:
    assert registers(older) == registers(newer) != registers("")


@pytest.mark.parametrize(
    "text", ["", "; my_kernel", "s_endpgm", "v[9:2]", "s_waitcnt vmcnt(0)", "v_", ",,,", "é v"]
)
def test_no_registers(text: str) -> None:
    assert not any(one.registers for one in operands(text))


def test_words_hold_the_bits_of_a_set() -> None:
    sets = [bits("v1", "s3", "vcc"), bits("a255", "v[0:255]"), 0]
    assert [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in words(sets)] == sets


PROGRAM = (
    "; k",
    "v_mov_b32 v1, 0",
    "v_mov_b32 v2, v1",  # 2: the loop begins
    "buffer_load_dwordx2 v[4:5], v2, s[4:7], 0",
    "v_add_f32 v1, v5, v1",
    "v_mul_f32 v6, v3, v3",
    "v_mov_b32 v3, v6",  # 6: the loop ends
    "; other",
    "v_mov_b32 v5, v1",
)
REGION, LOOP = range(1, 7), range(2, 7)


def test_definitions_are_the_last_writers_above_then_those_of_the_iteration_before() -> None:
    def of(row: int, name: str, loop: range | None = LOOP) -> int:
        return definition(PROGRAM, row, bits(name), REGION, loop)

    assert of(4, "v5") == 3, "a register of a range"
    assert of(4, "v1") == 1
    assert of(5, "v3") == 6
    assert of(5, "v3", None) == -1
    assert of(3, "s4") == -1


def test_uses_are_the_next_readers_below_then_those_of_the_next_iteration() -> None:
    def of(row: int, name: str, loop: range | None = LOOP) -> int:
        return next_use(PROGRAM, row, bits(name), REGION, loop)

    assert of(3, "v[4:5]") == 4
    assert of(1, "v1") == 2
    assert of(2, "v1") == 4
    assert of(4, "v1") == 2, "around the loop, not into another kernel"
    assert of(4, "v1", None) == -1
    assert of(6, "v3") == 5
    assert of(4, "v5") == -1, "written anew at 3 before it is read again"
