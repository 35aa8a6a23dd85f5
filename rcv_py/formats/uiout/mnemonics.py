"""Derive the GPU from the mnemonics of its instructions: gfx9 to gfx12."""

import re
from collections.abc import Set

# Only gfx950 has these; other members of gfx9 do not.
_GFX950 = (
    "ds_read_b64_tr_b", "ds_read_b96_tr_b6", "v_permlane16_swap", "v_permlane32_swap", "v_bitop3",
    "v_mfma_scale_", "v_maximum3", "v_minimum3", "v_cvt_pk_bf16_f32", "v_ashr_pk_", "v_prng_b32",
    "v_cvt_scalef32_", "v_dot2c_f32_bf16", "v_pk_maximum3", "v_pk_minimum3", "global_load_lds_dwordx",
)  # fmt: skip
# Matrix instructions of twice the depth: 16x16x32 and 32x32x16 of 16 bits, 16x16x64 and 32x32x32 of 8 bits
# with integers, and the sparse ones of twice that.
_MATRIX_GFX950 = re.compile(
    r"v_mfma_f32_(?:16x16x32|32x32x16)_(?:f16|bf16)"
    r"|v_mfma_f32_(?:16x16x128|32x32x64)_f8f6f4"
    r"|v_mfma_i32_(?:16x16x64|32x32x32)_i8"
    r"|v_smfmac_f32_(?:16x16x64|32x32x32)_(?:f16|bf16)"
    r"|v_smfmac_f32_(?:16x16x128|32x32x64)_(?:fp8|bf8)_(?:fp8|bf8)"
    r"|v_smfmac_i32_(?:16x16x128|32x32x64)_i8"
)
# Matrix instructions in the spelling since gfx940, with separated types, and sparse ones.  gfx950 has them
# too, except `xf32`; a program with them and without new instructions of gfx950 is assumed to be for gfx942.
_MATRIX_GFX942 = re.compile(r"v_mfma_[a-z0-9]+_\d+x\d+x\d+_\w+|v_smfmac_\w+")
_GFX1250 = (
    "s_wait_xcnt", "s_wait_asynccnt", "s_wait_tensorcnt", "s_set_vgpr_msb", "s_monitor_sleep", "tensor_load",
    "tensor_store", "cluster_load", "global_load_async_to_lds", "global_store_async_from_lds", "v_wmma_scale",
)  # fmt: skip
_GFX12 = ("s_wait_loadcnt", "s_wait_kmcnt", "s_wait_dscnt", "s_barrier_signal")
_GFX11 = ("s_delay_alu", "v_dual_", "ds_load_b", "global_load_b32", "s_load_b")
_GFX10 = ("s_waitcnt_vscnt", "s_waitcnt_depctr", "s_clause", "s_inst_prefetch")


def guessed_target(mnemonics: Set[str], gfxip: int) -> str:
    """The target of these instructions, `gfx950`, `gfx942` or `gfx1250`; "" if they do not determine it.

    gfx942 is inferred: gfx950 has all of its matrix instructions except type xf32, and compilers for gfx950
    prefer its new forms.  gfx940 and gfx941 are not distinguished from gfx942.
    """
    if gfxip == 12 and any(name.startswith(_GFX1250) for name in mnemonics):
        return "gfx1250"
    if gfxip != 9:
        return ""
    if any(name.startswith(_GFX950) or _MATRIX_GFX950.fullmatch(name) for name in mnemonics):
        return "gfx950"
    return "gfx942" if any(map(_MATRIX_GFX942.fullmatch, mnemonics)) else ""


def guessed_generation(mnemonics: set[str]) -> int:
    """The major version of the graphics IP with these instructions; 9 if undetermined."""
    for gfxip, prefixes in ((12, _GFX12), (11, _GFX11), (10, _GFX10)):
        if any(name.startswith(prefixes) for name in mnemonics):
            return gfxip
    return 9
