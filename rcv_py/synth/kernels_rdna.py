"""Matrix products for gfx11 and gfx12: v_wmma, split wait counters, markers."""

from __future__ import annotations

from rcv_py.synth.program import Kernel, assemble
from rcv_py.synth.sources import SOURCES

_SYMBOL = "_Z11matmul_wmmaPK6__halfS1_Pfii"
_DEMANGLED = "matmul_wmma(__half const*, __half const*, float*, int, int)"

_GFX11 = """
@ wmma:WaveTile tile(
s_clause 0x1
s_load_b128 s[4:7], s[0:1], 0x0
s_load_b128 s[8:11], s[0:1], 0x10
@ wave:explicit WaveTile -> wmma:WaveTile tile(
v_lshrrev_b32_e32 v1, 5, v0
v_and_b32_e32 v2, 31, v0
@ wave:return *reinterpret_cast<const half16*>(from -> wmma:half16 a
v_lshlrev_b32_e32 v3, 5, v2
@ wave:*reinterpret_cast<half16*>(staged -> wmma:a = tile.turn
v_lshl_or_b32 v4, v1, 10, v3
v_xor_b32_e32 v5, 0x200, v4
@ wmma:float8 sum
v_mov_b32_e32 v40, 0
v_dual_mov_b32 v41, 0 :: v_dual_mov_b32 v42, 0
v_dual_mov_b32 v43, 0 :: v_dual_mov_b32 v44, 0
v_dual_mov_b32 v45, 0 :: v_dual_mov_b32 v46, 0
v_mov_b32_e32 v47, 0
@ wmma:for (int k
s_mov_b32 s12, 0
s_waitcnt lgkmcnt(0)
loop:
@ wave:return *reinterpret_cast<const half16*>(from -> wmma:half16 a
s_clause 0x3
global_load_b128 v[8:11], v3, s[4:5]
global_load_b128 v[12:15], v3, s[4:5] offset:16
@ wave:return *reinterpret_cast<const half16*>(from -> wmma:half16 b
global_load_b128 v[16:19], v3, s[6:7]
global_load_b128 v[20:23], v3, s[6:7] offset:16
@ wmma:for (int k
v_add_nc_u32_e32 v3, 32, v3
s_add_i32 s12, s12, 16
@ wave:*reinterpret_cast<half16*>(staged -> wmma:a = tile.turn
s_waitcnt vmcnt(3)
ds_store_b128 v4, v[8:11]
s_waitcnt vmcnt(2)
ds_store_b128 v4, v[12:15] offset:16
@ wave:__syncthreads -> wmma:a = tile.turn
s_waitcnt lgkmcnt(0)
s_barrier
@ wave:return *reinterpret_cast<const half16*>(staged -> wmma:a = tile.turn
ds_load_b128 v[24:27], v5
ds_load_b128 v[28:31], v5 offset:16
@ wave:return __builtin_amdgcn_wmma -> wmma:sum = tile.multiply
s_waitcnt vmcnt(0) lgkmcnt(0)
v_wmma_f32_16x16x16_f16 v[40:47], v[24:31], v[16:23], v[40:47]
@ wmma:for (int k
s_cmp_lt_i32 s12, s11
s_cbranch_scc1 loop  // rounds=K
@ wave:to[(2 * i + lane -> wmma:tile.write
v_lshrrev_b32_e32 v6, 4, v2
v_and_b32_e32 v7, 15, v2
v_mad_u32_u24 v6, v6, s10, v7
v_lshlrev_b32_e32 v6, 2, v6
s_lshl_b32 s13, s10, 3
"""

_GFX12 = """
@ wmma:WaveTile tile(
s_load_b128 s[4:7], s[0:1], 0x0
s_load_b128 s[8:11], s[0:1], 0x10
s_mov_b32 m0, 0x6
s_ttracedata  // marker=0x6
@ wave:explicit WaveTile -> wmma:WaveTile tile(
v_lshrrev_b32_e32 v1, 5, v0
v_and_b32_e32 v2, 31, v0
@ wave:return *reinterpret_cast<const half16*>(from -> wmma:half16 a
v_lshlrev_b32_e32 v3, 5, v2
@ wave:*reinterpret_cast<half16*>(staged -> wmma:a = tile.turn
v_lshl_or_b32 v4, v1, 10, v3
v_xor_b32_e32 v5, 0x200, v4
@ wmma:float8 sum
v_dual_mov_b32 v40, 0 :: v_dual_mov_b32 v41, 0
v_dual_mov_b32 v42, 0 :: v_dual_mov_b32 v43, 0
v_dual_mov_b32 v44, 0 :: v_dual_mov_b32 v45, 0
v_dual_mov_b32 v46, 0 :: v_dual_mov_b32 v47, 0
@ wmma:for (int k
s_mov_b32 s12, 0
s_wait_kmcnt 0x0
loop:
@ wave:return *reinterpret_cast<const half16*>(from -> wmma:half16 a
s_mov_b32 m0, 0xa
s_ttracedata  // marker=0xa
global_load_b128 v[8:11], v3, s[4:5]
global_load_b128 v[12:15], v3, s[4:5] offset:16
@ wave:return *reinterpret_cast<const half16*>(from -> wmma:half16 b
global_load_b128 v[16:19], v3, s[6:7]
global_load_b128 v[20:23], v3, s[6:7] offset:16
s_mov_b32 m0, 0x10
s_ttracedata  // marker=0x10
@ wmma:for (int k
v_add_nc_u32_e32 v3, 32, v3
s_add_co_i32 s12, s12, 16
@ wave:*reinterpret_cast<half16*>(staged -> wmma:a = tile.turn
s_wait_loadcnt 0x3
ds_store_b128 v4, v[8:11]
s_wait_loadcnt 0x2
ds_store_b128 v4, v[12:15] offset:16
@ wave:__syncthreads -> wmma:a = tile.turn
s_wait_dscnt 0x0
s_barrier_signal -1
s_barrier_wait 0xffff
@ wave:return *reinterpret_cast<const half16*>(staged -> wmma:a = tile.turn
ds_load_b128 v[24:27], v5
ds_load_b128 v[28:31], v5 offset:16
@ wave:return __builtin_amdgcn_wmma -> wmma:sum = tile.multiply
s_wait_loadcnt_dscnt 0x0
s_mov_b32 m0, 0xf
s_ttracedata  // marker=0xf
v_wmma_f32_16x16x16_f16 v[40:47], v[24:31], v[16:23], v[40:47]
s_mov_b32 m0, 0x1
s_ttracedata  // marker=0x1
@ wmma:for (int k
s_cmp_lt_i32 s12, s11
s_cbranch_scc1 loop  // rounds=K
@ wave:to[(2 * i + lane -> wmma:tile.write
v_lshrrev_b32_e32 v6, 4, v2
v_and_b32_e32 v7, 15, v2
v_mad_u32_u24 v6, v6, s10, v7
v_lshlrev_b32_e32 v6, 2, v6
s_lshl_b32 s13, s10, 3
"""

# Marker ids of the gfx12 kernel: the top bits of the values above.
MARKERS = (
    (1, "K", "matmul_wmma", "/src/wmma/matmul_wmma.hip:7"),
    (2, "F", "_ZNK8WaveTile4loadEPK6__halfi", "/src/wmma/wave_tile.h:9"),
    (3, "U", "multiply", "/src/wmma/matmul_wmma.hip:15"),
    (4, "P", "vmem issued", None),
)


def _stores(wait: str) -> str:
    lines = []
    for register in range(40, 48):
        lines += [f"global_store_b32 v6, v{register}, s[8:9]", "v_add_nc_u32_e32 v6, s13, v6"]
    return "\n".join([*lines[:-1], wait])


def matmul_gfx11(address: int = 0x1800) -> Kernel:
    """A wave's tile with v_wmma and three counters; rounds `K`."""
    text = _GFX11 + _stores("s_waitcnt_vscnt null, 0x0") + "\ns_endpgm"
    return assemble(text, _SYMBOL, 11, SOURCES, demangled=_DEMANGLED, address=address)


def matmul_gfx12(address: int = 0x1800) -> Kernel:
    """The same with a counter a kind of memory, and markers written with s_ttracedata; rounds `K`."""
    leave = "\ns_mov_b32 m0, 0x1\ns_ttracedata  // marker=0x1\ns_endpgm"
    text = _GFX12 + _stores("s_wait_storecnt 0x0") + leave
    return assemble(text, _SYMBOL, 12, SOURCES, demangled=_DEMANGLED, address=address)
