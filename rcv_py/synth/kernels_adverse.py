"""Kernels that make it hard to tell why a wave stalls: causes that compete, and some that no file tells."""

from __future__ import annotations

from rcv_py.synth.program import Kernel, assemble
from rcv_py.synth.sources import SOURCES

# A store that needs a matrix result while the queue is full, a branch target that needs one while it is
# fetched, matrix instructions of both waves of a SIMD, a wait for a load that was back long before.
_RIVALS = """
@ vector:const int i = blockIdx
s_load_dwordx4 s[4:7], s[0:1], 0x0
s_load_dwordx2 s[8:9], s[0:1], 0x10
v_lshlrev_b32_e32 v1, 4, v0
v_mov_b32_e32 v2, 0
s_waitcnt lgkmcnt(0)
loop:
@ vector:c[i] = a[i]
v_add_f32_e32 v2, v48, v2
global_load_dwordx4 v[8:11], v1, s[4:5]  // near=1
global_load_dwordx4 v[12:15], v1, s[4:5] offset:1024  // near=1
ds_read_b128 v[16:19], v1  // conflict=4
ds_read_b128 v[20:23], v1 offset:2048  // conflict=4
v_mfma_f32_32x32x8_f16 v[32:47], v[24:25], v[26:27], v[32:47]
v_mfma_f32_32x32x8_f16 v[64:79], v[24:25], v[26:27], v[64:79]
v_add_f32_e32 v3, v32, v2
v_exp_f32_e32 v4, v3
v_add_f32_e32 v5, v6, v7
s_waitcnt lgkmcnt(0)
global_store_dwordx4 v1, v[64:67], s[6:7]
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
v_exp_f32_e32 v28, v29
s_waitcnt vmcnt(1)
v_mfma_f32_32x32x8_f16 v[48:63], v[24:25], v[26:27], v[48:63]
s_sub_i32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 loop  // rounds=n
@ vector:__global__ void vector_add
s_nop 7
global_store_dwordx4 v1, v[48:51], s[6:7]
s_endpgm
"""


def rivals(address: int = 0x1600) -> Kernel:
    """Loads, LDS reads, matrix products and stores that get into each other's way; rounds `n`."""
    return assemble(_RIVALS, "_Z6rivalsPKfPfi", 9, SOURCES, demangled="rivals(float*, int)", address=address)


_STRAGGLER = """
@ vector:for (int i = blockIdx
s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
s_waitcnt lgkmcnt(0)
round:
global_load_dword v3, v1, s[4:5]  // near=1
v_add_u32_e32 v1, 0x400, v1
s_cbranch_vccz meet  // chance=0.6
@ vector:value += in[i]
s_waitcnt vmcnt(0)
v_add_f32_e32 v2, v2, v3
global_load_dword v3, v1, s[4:5]
s_waitcnt vmcnt(0)
meet:
@ hip:386 -> vector:__syncthreads
s_barrier
@ vector:for (int i = blockIdx
s_waitcnt vmcnt(0)
v_add_f32_e32 v2, v2, v3
s_sub_i32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 round  // rounds=n
s_endpgm
"""


def straggler(address: int = 0x1600) -> Kernel:
    """Barriers before which now and then a wave takes long; rounds `n`."""
    text = "straggler(float const*, int)"
    return assemble(_STRAGGLER, "_Z9stragglerPKfi", 9, SOURCES, demangled=text, address=address)


# Each counter alone, so that latencies can be seen; then both with the load much older, of one age, and older
# by about the difference of their latencies; then scalar loads of which now this and now that one is last.
_COMBINED = """
@ vector:const int i = blockIdx
s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 4, v0
v_mov_b32_e32 v2, 0
s_waitcnt lgkmcnt(0)
loop:
@ vector:c[i] = a[i]
global_load_dwordx4 v[8:11], v1, s[4:5]  // near=1
s_waitcnt vmcnt(0)
ds_read_b128 v[12:15], v1
ds_read_b128 v[16:19], v1 offset:2048
s_waitcnt lgkmcnt(0)
ds_read_b64 v[20:21], v1 offset:4096
s_waitcnt lgkmcnt(0)
ds_read_b32 v22, v1 offset:6144
s_waitcnt lgkmcnt(0)
s_load_dword s10, s[0:1], 0x20
s_waitcnt lgkmcnt(0)
global_load_dwordx4 v[24:27], v1, s[4:5] offset:1024  // near=1
s_nop 15
s_nop 15
s_nop 15
s_nop 15
s_nop 15
s_nop 15
s_nop 15
s_nop 15
s_nop 15
s_nop 15
s_nop 15
s_nop 15
ds_read_b128 v[28:31], v1 offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
v_add_f32_e32 v2, v24, v28
global_load_dwordx4 v[32:35], v1, s[4:5] offset:2048  // near=1
ds_read_b128 v[36:39], v1 offset:3072
s_waitcnt vmcnt(0) lgkmcnt(0)
v_add_f32_e32 v2, v32, v36
global_load_dwordx4 v[40:43], v1, s[4:5] offset:3072  // near=1
s_nop 15
s_nop 15
s_nop 15
s_nop 15
s_nop 15
s_nop 7
ds_read_b128 v[44:47], v1 offset:1024
s_waitcnt vmcnt(0) lgkmcnt(0)
v_add_f32_e32 v2, v40, v44
s_load_dword s11, s[0:1], 0x24
s_nop 7
ds_read_b128 v[48:51], v1 offset:2048
s_waitcnt lgkmcnt(0)
s_load_dwordx2 s[12:13], s[0:1], 0x28
s_load_dwordx2 s[14:15], s[0:1], 0x30
s_waitcnt lgkmcnt(0)
s_load_dwordx2 s[16:17], s[0:1], 0x38  // slow=2
s_load_dwordx2 s[18:19], s[0:1], 0x40
s_waitcnt lgkmcnt(0)
s_load_dwordx2 s[20:21], s[0:1], 0x48
s_nop 15
s_nop 15
s_nop 15
s_load_dwordx2 s[22:23], s[0:1], 0x50
s_waitcnt lgkmcnt(0)
s_sub_i32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 loop  // rounds=n
@ vector:__global__ void vector_add
global_store_dwordx4 v1, v[8:11], s[6:7]
s_endpgm
"""


def combined(address: int = 0x1600) -> Kernel:
    """Waits on two counters, and on scalar loads that return in any order; rounds `n`."""
    text = "combined(float*, int)"
    return assemble(_COMBINED, "_Z8combinedPfi", 9, SOURCES, demangled=text, address=address)


# Independent products back to back: two waves a SIMD want more of the matrix unit than there is.
_CEILING = """
@ vector:const int i = blockIdx
s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 4, v0
s_waitcnt lgkmcnt(0)
loop:
@ vector:c[i] = a[i]
global_load_dwordx4 v[2:5], v1, s[4:5]  // near=1
ds_read_b128 v[6:9], v1
v_mfma_f32_32x32x8_f16 v[32:47], v[10:11], v[14:15], v[32:47]
v_mfma_f32_32x32x8_f16 v[48:63], v[10:11], v[16:17], v[48:63]
v_mfma_f32_32x32x8_f16 v[64:79], v[12:13], v[14:15], v[64:79]
v_mfma_f32_32x32x8_f16 v[80:95], v[12:13], v[16:17], v[80:95]
ds_read_b128 v[18:21], v1 offset:2048
v_mfma_f32_32x32x8_f16 v[96:111], v[10:11], v[14:15], v[96:111]
v_mfma_f32_32x32x8_f16 v[112:127], v[10:11], v[16:17], v[112:127]
v_mfma_f32_32x32x8_f16 v[128:143], v[12:13], v[14:15], v[128:143]
v_mfma_f32_32x32x8_f16 v[144:159], v[12:13], v[16:17], v[144:159]
v_add_u32_e32 v1, 0x40, v1
s_waitcnt lgkmcnt(0)
s_waitcnt vmcnt(0)
v_mfma_f32_16x16x16_f16 v[160:163], v[6:7], v[18:19], v[160:163]
v_mfma_f32_16x16x16_f16 v[164:167], v[8:9], v[20:21], v[164:167]
s_sub_i32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 loop  // rounds=n
@ vector:__global__ void vector_add
s_nop 15
s_nop 3
global_store_dwordx4 v1, v[32:35], s[6:7]
s_endpgm
"""


def ceiling(address: int = 0x1600) -> Kernel:
    """Matrix products that leave the matrix unit hardly a cycle; rounds `n`."""
    text = "ceiling(float*, int)"
    return assemble(_CEILING, "_Z7ceilingPfi", 9, SOURCES, demangled=text, address=address)


# More operations at once than any queue takes: scalar loads, LDS reads with conflicts, loads and stores.
_CROWDED = """
@ vector:const int i = blockIdx
s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 4, v0
s_waitcnt lgkmcnt(0)
loop:
@ vector:c[i] = a[i]
s_load_dword s12, s[0:1], 0x20
s_load_dword s13, s[0:1], 0x24
s_load_dword s14, s[0:1], 0x28
s_load_dword s15, s[0:1], 0x2c
s_load_dword s16, s[0:1], 0x30
s_load_dword s17, s[0:1], 0x34
s_load_dword s18, s[0:1], 0x38
s_load_dword s19, s[0:1], 0x3c
s_waitcnt lgkmcnt(0)
global_load_dwordx4 v[8:11], v1, s[4:5]  // near=1
global_load_dwordx4 v[12:15], v1, s[4:5] offset:1024  // near=1
global_load_dwordx4 v[16:19], v1, s[4:5] offset:2048
global_load_dwordx2 v[20:21], v1, s[4:5] offset:3072  // near=1
global_load_dword v22, v1, s[4:5] offset:3584  // near=1
global_load_dwordx4 v[24:27], v1, s[4:5] offset:4000
ds_read_b128 v[28:31], v1  // conflict=2
ds_read_b64 v[32:33], v1 offset:2048  // conflict=4
ds_read_b128 v[36:39], v1 offset:4096
ds_write_b128 v1, v[40:43] offset:8192  // conflict=2
ds_read_b32 v44, v1 offset:6144  // conflict=8
v_add_f32_e32 v2, v3, v2
s_waitcnt lgkmcnt(0)
s_waitcnt vmcnt(2)
global_store_dwordx4 v1, v[8:11], s[6:7]
global_store_dwordx4 v1, v[12:15], s[6:7] offset:1024
s_waitcnt vmcnt(0)
s_sub_i32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 loop  // rounds=n
@ vector:__global__ void vector_add
s_endpgm
"""


def crowded(address: int = 0x1600) -> Kernel:
    """Bursts of scalar loads, LDS accesses, loads and stores of many waves at once; rounds `n`."""
    text = "crowded(float*, int)"
    return assemble(_CROWDED, "_Z7crowdedPfi", 9, SOURCES, demangled=text, address=address)
