"""Small kernels for gfx9: row scaling, vector sum, reduction."""

from __future__ import annotations

from rcv_py.synth.program import Kernel, assemble
from rcv_py.synth.sources import SOURCES

_SCALE_ROWS = """
@ matmul:const int row = blockIdx
s_load_dwordx4 s[4:7], s[0:1], 0x0
s_load_dwordx2 s[8:9], s[0:1], 0x10
s_load_dword s10, s[0:1], 0x18
s_ashr_i32 s3, s2, 31
s_lshl_b64 s[12:13], s[2:3], 2
@ matmul:for (int column
v_lshlrev_b32_e32 v1, 3, v0
s_waitcnt lgkmcnt(0)
@ matmul:const float f
s_add_u32 s14, s6, s12
s_addc_u32 s15, s7, s13
s_load_dword s11, s[14:15], 0x0
@ matmul:half8 value = load8
s_mul_i32 s16, s2, s10
v_add_lshl_u32 v2, v1, s16, 1
global_load_dwordx4 v[4:7], v2, s[4:5]
@ tile:return value * half8 -> matmul:value = scale8
s_waitcnt lgkmcnt(0)
v_cvt_f16_f32_e32 v3, s11
v_pack_b32_f16 v3, v3, v3
row:
@ matmul:value = scale8
s_waitcnt vmcnt(0)
@ tile:return value * half8 -> matmul:value = scale8
v_pk_mul_f16 v4, v4, v3
v_pk_mul_f16 v5, v5, v3
v_pk_mul_f16 v6, v6, v3
v_pk_mul_f16 v7, v7, v3
@ tile:*reinterpret_cast<half8*>(to) = value -> matmul:store8(out
global_store_dwordx4 v2, v[4:7], s[8:9]
@ matmul:for (int column
v_add_u32_e32 v1, 0x800, v1
v_cmp_gt_i32_e32 vcc, s10, v1
s_cbranch_vccz done  // last=columns
@ tile:return *reinterpret_cast<const half8*> -> matmul:half8 value = load8
v_add_u32_e32 v2, 0x1000, v2
global_load_dwordx4 v[4:7], v2, s[4:5]
@ matmul:for (int column
s_branch row
done:
s_endpgm
"""


def scale_rows(address: int = 0x1600) -> Kernel:
    """A stream over rows: load, multiply, store; rounds `columns`."""
    return assemble(
        _SCALE_ROWS,
        "_Z10scale_rowsPK6__halfPKfPS_i",
        9,
        SOURCES,
        demangled="scale_rows(__half const*, float const*, __half*, int)",
        address=address,
    )


_VECTOR_ADD = """
@ vector:const int i = blockIdx
s_load_dword s3, s[0:1], 0x2c
s_load_dword s4, s[0:1], 0x18
s_waitcnt lgkmcnt(0)
@ hip:302 -> vector:const int i = blockIdx
s_and_b32 s3, s3, 0xffff
s_mul_i32 s2, s2, s3
v_add_u32_e32 v0, s2, v0
@ vector:if (i < n)
v_cmp_gt_i32_e32 vcc, s4, v0
s_and_saveexec_b64 s[6:7], vcc
s_cbranch_execz out  // chance=0.06
@ vector:c[i] = a[i]
s_load_dwordx4 s[8:11], s[0:1], 0x0
s_load_dwordx2 s[12:13], s[0:1], 0x10
v_ashrrev_i32_e32 v1, 31, v0
v_lshlrev_b64 v[0:1], 2, v[0:1]
s_waitcnt lgkmcnt(0)
v_mov_b32_e32 v3, s9
v_add_co_u32_e32 v2, vcc, s8, v0
v_addc_co_u32_e32 v3, vcc, v3, v1, vcc
v_mov_b32_e32 v5, s11
v_add_co_u32_e32 v4, vcc, s10, v0
v_addc_co_u32_e32 v5, vcc, v5, v1, vcc
global_load_dword v6, v[2:3], off
global_load_dword v7, v[4:5], off
v_mov_b32_e32 v2, s13
v_add_co_u32_e32 v0, vcc, s12, v0
v_addc_co_u32_e32 v1, vcc, v2, v1, vcc
s_waitcnt vmcnt(0)
v_add_f32_e32 v2, v6, v7
global_store_dword v[0:1], v2, off
out:
@ vector:__global__ void vector_add
s_endpgm
"""


def vector_add(address: int = 0x1600) -> Kernel:
    """c = a + b, an element a lane; some waves have nothing to do."""
    symbol, text = "_Z10vector_addPKfS0_Pfi", "vector_add(float const*, float const*, float*, int)"
    return assemble(_VECTOR_ADD, symbol, 9, SOURCES, demangled=text, address=address)


_REDUCE_HEAD = """
@ vector:for (int i = blockIdx
s_load_dwordx4 s[4:7], s[0:1], 0x0
s_load_dwordx2 s[8:9], s[0:1], 0x10
v_lshlrev_b32_e32 v1, 2, v0
s_lshl_b32 s3, s2, 10
v_add_u32_e32 v1, s3, v1
v_mov_b32_e32 v2, 0
s_waitcnt lgkmcnt(0)
stride:
@ vector:value += in[i]
global_load_dword v3, v1, s[4:5]
global_load_dword v4, v1, s[4:5] offset:1024  // near=1
v_add_u32_e32 v1, 0x10000, v1
s_waitcnt vmcnt(1)
v_add_f32_e32 v2, v2, v3
s_waitcnt vmcnt(0)
v_add_f32_e32 v2, v2, v4
@ vector:for (int i = blockIdx
s_sub_i32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 stride  // rounds=n
@ vector:value = wave_sum
v_mbcnt_lo_u32_b32 v5, -1, 0
v_mbcnt_hi_u32_b32 v5, -1, v5
"""
_REDUCE_STEP = """
@ hip:1021 -> vector:value += __shfl_xor -> vector:value = wave_sum
v_xor_b32_e32 v6, {distance}, v5
v_lshlrev_b32_e32 v6, 2, v6
ds_bpermute_b32 v7, v6, v2
s_waitcnt lgkmcnt(0)
@ vector:value += __shfl_xor -> vector:value = wave_sum
v_add_f32_e32 v2, v2, v7
"""
_REDUCE_TAIL = """
@ vector:if ((threadIdx.x & 63) == 0)
v_and_b32_e32 v8, 63, v0
v_cmp_eq_u32_e32 vcc, 0, v8
s_and_saveexec_b64 s[10:11], vcc
@ vector:partial[threadIdx.x >> 6] = value
v_lshrrev_b32_e32 v9, 4, v0
ds_write_b32 v9, v2
s_or_b64 exec, exec, s[10:11]
@ hip:386 -> vector:__syncthreads
s_waitcnt lgkmcnt(0)
s_barrier
@ vector:if (threadIdx.x == 0)
v_cmp_eq_u32_e32 vcc, 0, v0
s_and_saveexec_b64 s[10:11], vcc
s_cbranch_execz idle  // chance=0.75
@ vector:atomicAdd
v_mov_b32_e32 v10, 0
ds_read_b128 v[12:15], v10
s_waitcnt lgkmcnt(0)
v_add_f32_e32 v12, v12, v13
v_add_f32_e32 v14, v14, v15
v_add_f32_e32 v12, v12, v14
global_atomic_add_f32 v10, v12, s[6:7]
idle:
@ vector:__global__ void reduce
s_endpgm
"""


def reduce(address: int = 0x1600) -> Kernel:
    """A sum over everything: strided loads, a butterfly with ds_bpermute, a barrier; rounds `n`."""
    steps = "".join(_REDUCE_STEP.format(distance=1 << bit) for bit in range(5, -1, -1))
    text = _REDUCE_HEAD + steps + _REDUCE_TAIL
    demangled = "reduce(float const*, float*, int)"
    return assemble(text, "_Z6reducePKfPfi", 9, SOURCES, demangled=demangled, address=address)
