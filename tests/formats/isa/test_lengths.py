from __future__ import annotations

import numpy as np
import orjson
import pytest

from rcv_py.formats.isa.categories import category_of, mnemonic
from rcv_py.formats.isa.lengths import FAMILIES, encodings, family_of, read, word_lengths
from tests.support.assembler import assembled
from tests.support.captures import THREAD_TRACES, trace_path
from tests.support.golden_sqtt import NAMES, golden
from tests.support.raw_captures import code_object, need_llvm


@pytest.mark.parametrize("name", NAMES)
def test_lengths_and_categories_of_the_golden_code(name: str) -> None:
    for number, code in golden(name)["code"].items():
        found = code_object(name, int(number))
        assert found.image is not None
        for region in found.image.regions:
            own = read(region.data, found.target)
            start = dict(
                zip(
                    (region.address + np.cumsum(own.size, dtype=int) - own.size).tolist(),
                    own.text,
                    strict=True,
                )
            )
            size = dict(zip(start, own.size.tolist(), strict=True))
            for address, length, text in code["isa"]:
                assert size[address] == length, text
                assert category_of(mnemonic(start[address])) == category_of(mnemonic(text)), text


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_lengths_and_categories_of_real_kernels(name: str) -> None:
    """The texts of a capture, assembled again: each instruction begins where the capture says."""
    rows = orjson.loads((trace_path(name) / "code.json").read_bytes())["code"]
    rows = sorted((row for row in rows if not row[0].startswith(";")), key=lambda row: row[5])
    data = assembled(need_llvm().library, "gfx950", [row[0] for row in rows])
    own = read(data, "gfx950")
    starts = rows[0][5] + np.cumsum(own.size, dtype=int) - own.size
    assert starts[: len(rows)].tolist() == [row[5] for row in rows]
    for text, row in zip(own.text, rows, strict=False):
        assert category_of(mnemonic(text)) == category_of(mnemonic(row[0])), row[0]


# One instruction or more of every encoding, and of what adds words to it.
SCALAR = ["s_mov_b32 s0, s1", "s_mov_b32 s0, 0x12345678", "s_add_u32 s0, s1, 0x12345678", "s_nop 3"]
SCALAR += ["s_cmp_eq_u32 s0, 0x12345678", "s_movk_i32 s0, 0x1234", "s_endpgm", "s_mul_i32 s0, s1, s2"]
SCALAR += ["s_setreg_imm32_b32 hwreg(1, 0, 8), 0x12345678", "s_call_b64 s[0:1], 4", "s_branch 65530"]
VECTOR = ["v_mov_b32_e32 v0, v1", "v_mov_b32_e32 v0, 0x12345678", "v_add_f32_e32 v0, 0x12345678, v1"]
VECTOR += ["v_add_f32_e64 v0, v1, v2", "v_cmp_eq_u32_e32 vcc, 0x12345678, v1", "v_fma_f32 v0, v1, v2, v3"]
WAVE_32 = [text.replace("vcc,", "vcc_lo,") for text in VECTOR]
RDNA = ["v_fma_f32 v0, 0x12345678, v2, v3", "v_add_f32_e64 v0, v1, 0x12345678"]
RDNA += ["v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"]
RDNA += ["v_mov_b32_dpp v0, v1 dpp8:[1,0,3,2,5,4,7,6]", "v_fmaak_f32 v0, v1, v2, 0x12345678"]
RDNA_3 = ["v_add_f32_e64_dpp v0, v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"]
RDNA_3 += [
    "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2",
    "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[8:15], v[0:7]",
]
RDNA_3 += ["v_dual_mov_b32 v0, 0x12345678 :: v_dual_mov_b32 v3, v2", "s_delay_alu instid0(VALU_DEP_1)"]
RDNA_3 += ["v_dual_fmaak_f32 v0, v1, v2, 0x12345678 :: v_dual_mov_b32 v3, v4", "lds_direct_load v1"]
CASES = {
    "gfx90a": [
        *(*SCALAR, *VECTOR, "v_mov_b32_sdwa v0, v1 dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:DWORD"),
        *(
            "v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
            "s_barrier",
            "s_memtime s[0:1]",
        ),
        *("v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]", "v_pk_add_f32 v[0:1], v[2:3], v[4:5]"),
        *("s_load_dwordx2 s[0:1], s[2:3], 0x0", "ds_read_b32 v0, v1", "flat_load_dword v0, v[2:3]"),
        *(
            "global_load_dword v0, v[2:3], off",
            "scratch_load_dword v0, v1, off",
            "s_dcache_inv",
            "s_dcache_wb",
        ),
        *("buffer_load_dword v0, v1, s[0:3], 0 offen", "s_set_gpr_idx_off", "s_waitcnt vmcnt(3) lgkmcnt(0)"),
        *("tbuffer_load_format_x v0, v1, s[0:3], 0 format:1 offen", "s_cbranch_g_fork s[0:1], s[2:3]"),
    ],
    "gfx950": [
        "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[4:11], v[0:3], v1, v2 op_sel_hi:[0,0,0]",
        *("v_mfma_f32_16x16x32_f16 a[0:3], v[0:3], v[4:7], a[0:3]", "ds_read_b64_tr_b16 v[0:1], v2"),
    ],
    "gfx1030": [
        *(*SCALAR, *WAVE_32, *RDNA, "s_clause 0x2", "s_waitcnt_depctr 0xfffe", "s_waitcnt_vscnt null, 0x0"),
        *("s_load_dwordx2 s[0:1], s[2:3], 0x0", "ds_read_b32 v0, v1", "global_load_dword v0, v[2:3], off"),
        *(
            "flat_load_dword v0, v[2:3]",
            "scratch_load_dword v0, v1, off",
            "buffer_load_dword v0, v1, s[0:3], 0 offen",
        ),
        "image_sample v[0:3], v[0:1], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D",
        "image_sample v[0:3], [v0, v7], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D",
        "v_mov_b32_sdwa v0, v1 dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:DWORD",
    ],
    "gfx1100": [
        *(
            *SCALAR,
            *WAVE_32,
            *RDNA,
            *RDNA_3,
            "s_clause 0x2",
            "s_waitcnt_vscnt null, 0x0",
            "s_sendmsg_rtn_b32 s0, 1",
        ),
        *("s_load_b64 s[0:1], s[2:3], 0x0", "ds_load_b32 v0, v1", "flat_load_b32 v0, v[2:3]"),
        *("global_load_b32 v0, v[2:3], off", "scratch_load_b32 v0, v1, off", "s_waitcnt vmcnt(3) expcnt(1)"),
        "image_sample v[0:3], [v0, v7], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D",
        "buffer_load_b32 v0, v1, s[0:3], 0 offen",
    ],
    "gfx1200": [
        *(
            *(
                text
                for text in [*SCALAR, *WAVE_32, *RDNA, *RDNA_3]
                if "direct" not in text and "wmma" not in text
            ),
        ),
        *(
            "s_load_b64 s[0:1], s[2:3], 0x0",
            "ds_load_b32 v0, v1",
            "flat_load_b32 v0, v[2:3]",
            "s_wait_alu 0xfffe",
        ),
        *("global_load_b32 v0, v[2:3], off", "scratch_load_b32 v0, v1, off", "s_wait_loadcnt 0x3"),
        *("buffer_load_b32 v0, v1, s[0:3], null offen", "s_barrier_signal -1", "s_barrier_wait -1"),
        "image_sample v[0:3], [v0, v7], s[0:7], s[8:11] dmask:0xf dim:SQ_RSRC_IMG_2D",
        *("s_fmaak_f32 s0, s1, s2, 0x12345678", "ds_direct_load v1", "s_prefetch_inst_pc_rel 100, s10, 7"),
    ],
    "gfx1250": [
        *("v_mov_b64_e32 v[0:1], 0x1234567812345678", "s_wait_tensorcnt 0x1", "s_set_vgpr_msb 5"),
        *("v_fmamk_f64 v[0:1], v[2:3], 0x1234567812345678, v[4:5]", "s_mov_b64 s[0:1], 0x1234567812345678"),
        *("s_monitor_sleep 1", "s_setprio_inc_wg 1", "global_load_b32 v0, v[2:3], off"),
    ],
}


@pytest.mark.parametrize("target", CASES)
def test_lengths_and_categories_of_every_encoding(target: str) -> None:
    lines = [line for text in CASES[target] for line in (text, "s_endpgm")]
    own = read(assembled(need_llvm().library, target, lines), target)
    for at, text in enumerate(CASES[target]):
        assert own.text[2 * at + 1] == "s_endpgm", f"{text}: {own.text[2 * at :][:3]}"
        shown = own.text[2 * at]
        assert category_of(mnemonic(shown)) == category_of(mnemonic(text)), shown
        if "unknown" not in shown:
            assert mnemonic(shown) == mnemonic(text)


def test_waits_have_their_counters() -> None:
    assert read(bytes.fromhex("730f8cbf"), "gfx942").text == ["s_waitcnt vmcnt(3)"]
    assert read(bytes.fromhex("7f c0 8c bf"), "gfx942").text == ["s_waitcnt lgkmcnt(0)"]
    assert read(bytes.fromhex("f70f89bf"), "gfx1100").text == ["s_waitcnt vmcnt(3)"]


@pytest.mark.parametrize("target", [*FAMILIES, ""])
def test_any_words_have_a_length(target: str) -> None:
    words = np.random.default_rng(5).integers(0, 1 << 32, 20_000, dtype=np.uint64).astype("<u4")
    family = family_of(target)
    lengths = word_lengths(words.tobytes(), family)
    assert len(lengths) == len(words)
    assert set((lengths % 4).tolist()) == {0}
    assert 4 <= int(lengths.min()) <= int(lengths.max()) <= 20
    own = read(words.tobytes(), target)
    assert int(own.size.sum(dtype=int)) == 4 * len(words), "the last one ends with the bytes"
    if family is not None:
        assert (encodings(words, family) < len(family.encodings)).all()
    assert read(b"", target).text == []
