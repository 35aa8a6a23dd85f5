"""Words of the instruction set and of the linker: kinds by mnemonic, generations, names, source chains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.base.text import demangled
from rcv_py.formats.isa.program import Category, guessed_generation, guessed_target, kind_of, prefixes
from rcv_py.formats.uiout.code import chains, places
from rcv_py.model.architecture import architecture_of
from rcv_py.model.kinds import TokenKind


@pytest.mark.parametrize(
    ("words", "gfxip", "kind"),
    [
        ("s_load_dwordx2 s_buffer_load_dword s_dcache_wb s_store_dword", 9, TokenKind.SMEM),
        ("s_prefetch_inst s_prefetch_data", 12, TokenKind.SMEM),
        ("s_setpc_b64 s_swappc_b64 s_call_b64 s_memtime s_setprio_inc_wg", 9, TokenKind.SALU),
        ("s_monitor_sleep s_setvskip s_version s_setkill s_dcache_inv", 12, TokenKind.IMMED),
        ("s_add_u32 s_cmp_eq_i32 s_and_saveexec_b64 s_mov_b32 s_getpc_b64", 9, TokenKind.SALU),
        ("buffer_load_dword image_sample tbuffer_store_format_x", 9, TokenKind.VMEM),
        ("global_load_dword flat_store_dword scratch_load_dword", 9, TokenKind.FLAT),
        ("global_load_b32 scratch_store_b32", 11, TokenKind.VMEM),
        ("ds_read_b128 ds_bpermute_b32 lds_direct_load", 9, TokenKind.LDS),
        ("v_add_f32 v_cvt_pk_bf16_f32 v_dual_mov_b32", 11, TokenKind.VALU),
        ("v_mfma_f32_16x16x16_f16 v_smfmac_f32 v_wmma_f32 v_swmmac_f32", 12, TokenKind.MATRIX),
        ("s_branch s_cbranch_scc1", 9, TokenKind.JUMP),
        ("s_waitcnt s_wait_loadcnt s_nop s_setprio s_sleep s_barrier s_delay_alu", 9, TokenKind.IMMED),
        ("s_endpgm s_sendmsg s_ttracedata_imm", 9, TokenKind.MSG),
        ("s_barrier_signal s_barrier_join", 12, TokenKind.MSG),
        ("image_bvh_intersect_ray", 11, TokenKind.BVH),
        ("; kernel nonsense .long", 9, TokenKind.NONE),
    ],
)
def test_kinds_by_mnemonic(words, gfxip, kind):
    assert {kind_of(word, architecture_of(gfxip)) for word in words.split()} == {kind}


@pytest.mark.parametrize("gfxip", [9, 11, 12])
@pytest.mark.parametrize(("prefix", "category"), prefixes())
def test_readers_of_raw_and_decoded_captures_name_the_same_unit(prefix, category, gfxip):
    """Decoders tell more kinds apart: messages, matrix instructions, traps, and segments of gfx9."""
    kind = kind_of(f"{prefix}x", architecture_of(gfxip))
    finer = {
        TokenKind.MSG: Category.IMMED,
        TokenKind.TRAP: Category.IMMED,
        TokenKind.IMMED: Category.SKIP if category is Category.SKIP else Category.IMMED,
        TokenKind.FLAT: Category.VMEM if gfxip == 9 and prefix != "flat_" else Category.FLAT,
    }
    assert finer.get(kind, kind) == category


@pytest.mark.parametrize(
    ("words", "gfxip"),
    [
        ("s_nop", 9),
        ("", 9),
        ("s_waitcnt_vscnt", 10),
        ("s_delay_alu s_clause", 11),
        ("s_wait_kmcnt s_delay_alu", 12),
    ],
)
def test_generations_by_mnemonic(words, gfxip):
    assert guessed_generation(set(words.split())) == gfxip


def test_targets_by_mnemonic():
    assert guessed_target({"v_mfma_scale_f32_16x16x128_f8f6f4"}, 9) == "gfx950"
    assert guessed_target({"s_nop"}, 9) == ""
    # Real kernels of gfx942 have these; gfx90a spells them without the sign in front of the type.
    for name in ("v_mfma_f32_16x16x16_bf16", "v_mfma_f32_32x32x8_f16", "v_mfma_f32_16x16x8_xf32"):
        assert guessed_target({name, "s_nop", "v_lshl_add_u64"}, 9) == "gfx942"
    for name in ("v_mfma_f32_16x16x32_fp8_bf8", "v_smfmac_f32_16x16x64_bf8_fp8", "v_mfma_i32_16x16x32_i8"):
        assert guessed_target({name}, 9) == "gfx942"
    for name in ("v_mfma_f32_32x32x8f16", "v_mfma_f32_16x16x16bf16_1k", "v_mfma_f64_16x16x4f64"):
        assert guessed_target({name}, 9) == ""
    # What came with gfx950 decides, whatever else there is.
    for name in (
        "v_mfma_f32_16x16x32_f16", "v_mfma_f32_32x32x16_bf16", "v_mfma_i32_16x16x64_i8",
        "v_smfmac_f32_16x16x64_f16", "v_smfmac_f32_16x16x128_fp8_bf8", "ds_read_b64_tr_b16",
        "v_permlane16_swap_b32", "v_mfma_f32_16x16x128_f8f6f4",
    ):  # fmt: skip
        assert guessed_target({name, "v_mfma_f32_16x16x32_fp8_fp8"}, 9) == "gfx950"
    assert guessed_target({"v_bitop3_b32"}, 12) == ""
    for name in ("s_wait_xcnt", "s_monitor_sleep", "tensor_load_to_lds", "global_load_async_to_lds_b128"):
        assert guessed_target({name, "s_wait_loadcnt"}, 12) == "gfx1250"
        assert guessed_target({name}, 11) == ""


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("plain_kernel_0", "plain_kernel_0"),
        ("_ZN3foo3barEi", "foo::bar"),
        ("_ZNK8WaveTile4loadEPK6__halfi", "WaveTile::load"),
        ("_ZNVKO3foo3barEv", "foo::bar"),
        ("_Z14reference_gemmILi4EEvPKhS1_", "reference_gemm"),
        ("_ZN2ck6kernelILi256ELb1ENS_5tupleIJiEEEE3runEv", "ck::kernel::run"),
        ("_ZN12_GLOBAL__N_13addEv", "(anonymous)::add"),
        ("_ZTV3foo", "_ZTV3foo"),
        ("_Z99foo", "_Z99foo"),
        ("_Z", "_Z"),
    ],
)
def test_names_without_their_mangling(symbol, name):
    assert demangled(symbol) == name


@given(st.text("_ZNIELS0123abcJXF", max_size=40))
def test_any_symbol_has_a_name(symbol):
    assert demangled("_Z" + symbol)


paths = st.text("abc/.\\ü: -", min_size=1, max_size=12).map(str.strip).filter(bool)


@given(st.lists(st.tuples(paths, st.integers(0, 99999)), max_size=4))
def test_a_chain_is_split_where_it_was_joined(chain):
    assert places(" -> ".join(f"{path}:{line}" for path, line in chain)) == chain


@given(st.lists(st.text(":->/a1 ", max_size=20), max_size=8))
def test_columns_of_chains_hold_every_place(sources):
    found = chains(sources)
    for row, source in enumerate(sources):
        part = slice(found.first[row], found.first[row + 1])
        pairs = zip(found.file[part].tolist(), found.line[part].tolist(), strict=True)
        assert [(found.paths[file], line) for file, line in pairs] == places(source)
