"""Derive the unit of an instruction from its mnemonic: gfx9 to gfx12."""

from __future__ import annotations

import re
from collections.abc import Set

from rcv_py.model.architecture import Architecture
from rcv_py.model.kinds import MATRIX_PREFIXES, TokenKind

# By prefix of the mnemonic; the longest match decides.  Checked against decoded captures of gfx950, gfx1100
# and gfx1200.
_PREFIXES = {
    TokenKind.SALU: "s_",
    TokenKind.SMEM: "s_load s_store s_buffer_ s_scratch_ s_atomic_ s_dcache_ s_gl1_inv s_memtime"
    " s_memrealtime s_atc_probe s_prefetch_",
    TokenKind.IMMED: "s_wait s_barrier s_nop s_setprio s_sleep s_delay_alu s_clause s_inst_prefetch"
    " s_set_inst_prefetch s_sethalt s_wakeup s_icache_inv s_incperflevel s_decperflevel s_singleuse_vdst"
    " s_code_end",
    TokenKind.MSG: "s_ttracedata s_sendmsg s_endpgm",
    TokenKind.TRAP: "s_trap s_rfe",
    TokenKind.JUMP: "s_branch s_cbranch s_call s_setpc s_swappc s_subvector_loop",
    TokenKind.VALU: "v_",
    TokenKind.MATRIX: " ".join(MATRIX_PREFIXES),
    TokenKind.LDS: "ds_ lds_",
    TokenKind.VMEM: "buffer_ tbuffer_ image_ tensor_ cluster_load",
    TokenKind.BVH: "image_bvh",
    TokenKind.FLAT: "global_ flat_ scratch_",
}
# Later generations count the global segment as vector memory, and a barrier as a message.
_LATER = {TokenKind.VMEM: "global_ scratch_", TokenKind.MSG: "s_barrier", TokenKind.IMMED: "s_barrier_wait"}

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
_GFX12 = ("s_wait_loadcnt", "s_wait_kmcnt", "s_wait_dscnt", "s_barrier_signal")
_GFX11 = ("s_delay_alu", "v_dual_", "ds_load_b", "global_load_b32", "s_load_b")
_GFX10 = ("s_waitcnt_vscnt", "s_waitcnt_depctr", "s_clause", "s_inst_prefetch")


def _kinds(*tables: dict[TokenKind, str]) -> tuple[re.Pattern[str], dict[str, TokenKind]]:
    """A pattern of all prefixes, the longest first, and the kind of each; later tables win."""
    kinds = {prefix: kind for table in tables for kind, row in table.items() for prefix in row.split()}
    return re.compile("|".join(map(re.escape, sorted(kinds, key=len, reverse=True)))), kinds


_KINDS = {"vega": _kinds(_PREFIXES), "navi": _kinds(_PREFIXES, _LATER)}  # by layout of the trace


def kind_of(mnemonic: str, architecture: Architecture) -> TokenKind:
    """The token kind of this instruction; branches count as taken, NONE if unknown."""
    pattern, kinds = _KINDS[architecture.layout]
    match = pattern.match(mnemonic)
    return kinds[match.group()] if match else TokenKind.NONE


def guessed_target(mnemonics: Set[str], gfxip: int) -> str:
    """The target of these instructions, `gfx950` or `gfx942`; "" if they do not determine it.

    gfx942 is inferred: gfx950 has all of its matrix instructions except type xf32, and compilers for gfx950
    prefer its new forms.  gfx940 and gfx941 are not distinguished from gfx942.
    """
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
