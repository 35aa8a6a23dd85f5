"""Kernels whose workgroups are large, meet at different barriers, or lose waves on the way.

`s_barrier` counts: it lets a wave pass when as many have arrived as the workgroup still has waves, whichever
`s_barrier` each of them is at.  Two halves of a workgroup that run one phase apart make use of that: one half
has a barrier more at the start, the other at the end.  On gfx12 a barrier is two instructions: a wave arrives
with `s_barrier_signal`, may work on, and `s_barrier_wait` holds it only if others have not signalled by then.
"""

from __future__ import annotations

from rcv_py.synth.program import Kernel, assemble
from rcv_py.synth.sources import SOURCES

_HEAD = """
@ matmul:const int lane
s_load_dwordx4 s[4:7], s[0:1], 0x0
s_load_dwordx2 s[8:9], s[0:1], 0x10
v_lshlrev_b32_e32 v1, 4, v0
v_mov_b32_e32 v2, 0
s_waitcnt lgkmcnt(0)
"""
# Fetches of uneven length: now and then a wave misses the cache and all others wait for it.
_FETCH = """
@ matmul:a.fetch();
global_load_dwordx4 v[8:11], v1, s[4:5]  // near=1
v_add_u32_e32 v1, 0x400, v1
s_cbranch_vccz near_{n}  // chance=0.8
global_load_dwordx4 v[12:15], v1, s[6:7]
near_{n}:
s_waitcnt vmcnt(0)
"""
_STAGE = """
@ matmul:a.store(a_tile[half_of_lds]);
ds_write_b128 v1, v[8:11]
s_waitcnt lgkmcnt(0)
@ matmul:__syncthreads();
s_barrier
"""
_READ = """
@ matmul:read_fragment(fa
ds_read_b128 v[16:19], v1
ds_read_b128 v[20:23], v1 offset:2048  // conflict=2
s_waitcnt lgkmcnt(0)
"""
_MULTIPLY = """
@ tile:return __builtin_amdgcn
v_mfma_f32_32x32x8_f16 v[32:47], v[16:17], v[20:21], v[32:47]
v_mfma_f32_32x32x8_f16 v[32:47], v[18:19], v[22:23], v[32:47]
"""
_ROUND = """
@ matmul:for (int k = 0
s_sub_i32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 round  // rounds=n
"""
_TAIL = """
@ matmul:__global__ __launch_bounds__
s_nop 7
global_store_dwordx4 v1, v[32:35], s[6:7]
"""


def tiles(address: int = 0x1600) -> Kernel:
    """A product with tiles in LDS and two barriers a round, by any number of waves; rounds `n`."""
    text = (
        _HEAD
        + "round:"
        + _FETCH.format(n=0)
        + _STAGE
        + _READ
        + _MULTIPLY
        + "@ matmul:__syncthreads();\ns_barrier\n"
        + _ROUND
        + _TAIL
        + "s_endpgm\n"
    )
    return _assembled(text, "tiles", address)


def ping_pong(address: int = 0x1600) -> Kernel:
    """Eight waves in two halves: one fetches while the other multiplies; rounds `n`."""
    text = (
        _HEAD
        + """
@ matmul:const int wave =
s_cmp_lt_u32 s9, 4
s_cbranch_scc1 first  // waves=0-3
s_barrier
first:
round:
"""
        + _FETCH.format(n=0)
        + _READ
        + """
@ matmul:__syncthreads();
s_barrier
s_setprio 1
"""
        + _MULTIPLY
        + """
@ matmul:__syncthreads();
s_setprio 0
s_barrier
"""
        + _ROUND
        + """
@ matmul:const int wave =
s_cmp_lt_u32 s9, 4
s_cbranch_scc0 last  // waves=4-7
s_barrier
last:
"""
        + _TAIL
        + "s_endpgm\n"
    )
    return _assembled(text, "ping_pong", address)


def leaving(address: int = 0x1600) -> Kernel:
    """Tiles, but some waves have nothing to do, and some leave the loop and finish alone; rounds `n`.

    The others wait for such a wave at their next barrier until it ends.
    """
    text = (
        _HEAD
        + """
@ vector:if (i < n)
v_cmp_gt_i32_e32 vcc, s4, v0
s_cbranch_vccz out  // chance=0.2
round:
"""
        + _FETCH.format(n=0)
        + _STAGE
        + _READ
        + _MULTIPLY
        + """
@ vector:if (i < n)
v_cmp_gt_i32_e32 vcc, s4, v1
s_cbranch_vccz done  // chance=0.05
"""
        + _ROUND
        + _TAIL
        + """
out:
s_endpgm
@ vector:value += in[i]
done:
global_load_dwordx4 v[12:15], v1, s[6:7]
s_waitcnt vmcnt(0)
v_add_f32_e32 v2, v12, v2
global_load_dwordx4 v[12:15], v1, s[6:7] offset:64
s_waitcnt vmcnt(0)
v_add_f32_e32 v2, v12, v2
global_store_dword v1, v2, s[6:7]
s_endpgm
"""
    )
    return _assembled(text, "leaving", address)


_SPLIT = """
@ wmma:half16 b
s_load_b128 s[4:7], s[0:1], 0x0
s_load_b64 s[8:9], s[0:1], 0x10
v_lshlrev_b32_e32 v1, 4, v0
v_mov_b32_e32 v2, 0
s_wait_kmcnt 0x0
round:
@ wmma:half16 b
global_load_b128 v[8:11], v1, s[4:5]  // near=1
s_cbranch_vccz near  // chance=0.8
global_load_b128 v[12:15], v1, s[6:7]
near:
s_wait_loadcnt 0x0
ds_store_b128 v1, v[8:11]
s_wait_dscnt 0x0
@ wmma:a = tile.turn
s_barrier_signal -1
@ wmma:sum = tile.multiply
v_wmma_f32_16x16x16_f16 v[40:47], v[24:31], v[16:23], v[40:47]
s_cbranch_vccz meet  // chance=0.5
v_wmma_f32_16x16x16_f16 v[48:55], v[24:31], v[16:23], v[48:55]
v_wmma_f32_16x16x16_f16 v[56:63], v[24:31], v[16:23], v[56:63]
v_wmma_f32_16x16x16_f16 v[64:71], v[24:31], v[16:23], v[64:71]
meet:
@ wmma:a = tile.turn
s_barrier_wait 0xffff
ds_load_b128 v[24:27], v1
ds_load_b128 v[28:31], v1 offset:16
s_wait_dscnt 0x0
s_barrier_signal -1
s_barrier_wait 0xffff
@ wmma:for (int k
s_sub_co_i32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 round  // rounds=n
@ wmma:tile.write
s_endpgm
"""


def split_tiles(address: int = 0x1800) -> Kernel:
    """The tiles on gfx12: waves signal, multiply what they have, and wait; rounds `n`."""
    demangled = "split_tiles(_Float16 const*, float*, int)"
    return assemble(_SPLIT, "_Z11split_tilesPKDF16_Pfi", 12, SOURCES, demangled=demangled, address=address)


def _assembled(text: str, name: str, address: int) -> Kernel:
    symbol = f"_Z{len(name)}{name}PK6__halfPS_i"
    demangled = f"{name}(__half const*, __half*, int)"
    return assemble(text, symbol, 9, SOURCES, demangled=demangled, address=address)
