"""The tiled matrix product for gfx9, staged in LDS, on the matrix unit."""

from __future__ import annotations

from rcv_py.synth.program import Kernel, assemble
from rcv_py.synth.sources import SOURCES

_TILE_STORE = "tile:*reinterpret_cast<half8*>(to) = value -> tile:store8(tile + swizzle(threadIdx.x / 4"
_TILE_LOAD = "tile:return *reinterpret_cast<const half8*> -> tile:held["
_READ = "tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment("
_ADDRESS = "tile:return row * 32 -> tile:f[block].part -> matmul:read_fragment("
_MMA = "tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part]."

_PROLOGUE = f"""
@ matmul:TileReader<STEP> a(
s_load_dwordx4 s[4:7], s[0:1], 0x0
s_load_dwordx2 s[8:9], s[0:1], 0x10
s_load_dwordx4 s[12:15], s[0:1], 0x18
@ hip:259 -> matmul:const int lane
v_and_b32_e32 v1, 63, v0
@ hip:259 -> matmul:const int wave =
v_lshrrev_b32_e32 v2, 6, v0
@ matmul:const int wave_row
v_and_b32_e32 v3, 2, v2
v_lshlrev_b32_e32 v3, 5, v3
@ matmul:const int wave_column
v_and_b32_e32 v4, 1, v2
v_lshlrev_b32_e32 v4, 6, v4
@ hip:259 -> tile:place = matrix -> matmul:TileReader<STEP> a(
v_lshrrev_b32_e32 v5, 2, v0
v_and_b32_e32 v6, 3, v0
v_lshlrev_b32_e32 v6, 4, v6
@ matmul:const int tile_row
s_lshl_b32 s16, s2, 7
@ matmul:const int tile_column
s_lshl_b32 s17, s3, 7
@ tile:return row * 32 -> tile:store8(tile + swizzle(threadIdx.x / 4, -> matmul:a.store(
v_lshrrev_b32_e32 v7, 1, v5
v_xor_b32_e32 v7, v7, v0
v_and_b32_e32 v7, 3, v7
v_lshlrev_b32_e32 v7, 4, v7
v_lshl_or_b32 v7, v5, 6, v7
@ {_ADDRESS}fa
v_and_b32_e32 v8, 31, v1
v_or_b32_e32 v9, v3, v8
v_lshrrev_b32_e32 v11, 5, v1
v_lshrrev_b32_e32 v12, 1, v8
v_xor_b32_e32 v13, v11, v12
v_and_b32_e32 v13, 3, v13
v_lshlrev_b32_e32 v13, 4, v13
v_lshl_or_b32 v14, v9, 6, v13
v_xor_b32_e32 v15, 32, v14
@ {_ADDRESS}fb
v_or_b32_e32 v10, v4, v8
v_lshl_or_b32 v16, v10, 6, v13
v_add_u32_e32 v16, 0x4000, v16
v_xor_b32_e32 v17, 32, v16
@ tile:place = matrix -> matmul:TileReader<STEP> a(
s_waitcnt lgkmcnt(0)
s_lshl_b32 s18, s14, 1
s_lshl_b32 s19, s18, 6
v_add_u32_e32 v18, s16, v5
v_mul_lo_u32 v18, v18, s18
v_add_u32_e32 v18, v18, v6
@ {_TILE_LOAD}1 -> matmul:a.fetch
v_add_u32_e32 v19, s19, v18
@ {_TILE_LOAD}0 -> matmul:a.fetch
global_load_dwordx4 v[32:35], v18, s[4:5]
@ {_TILE_LOAD}1 -> matmul:a.fetch
global_load_dwordx4 v[36:39], v19, s[4:5]
@ tile:place = matrix -> matmul:TileReader<STEP> b(
v_add_u32_e32 v20, s17, v5
v_mul_lo_u32 v20, v20, s18
v_add_u32_e32 v20, v20, v6
@ {_TILE_LOAD}0 -> matmul:b.fetch
v_add_u32_e32 v21, s19, v20
global_load_dwordx4 v[40:43], v20, s[6:7]
@ {_TILE_LOAD}1 -> matmul:b.fetch
global_load_dwordx4 v[44:47], v21, s[6:7]
@ matmul:float16 sum
"""

_LOOP = f"""
@ matmul:for (int k = 0
s_mov_b32 s20, 0
s_mov_b32 s21, 0
loop:
@ {_TILE_STORE}, threadIdx -> matmul:a.store(
v_add_u32_e32 v22, s21, v7
s_waitcnt vmcnt(3)
ds_write_b128 v22, v[32:35]
s_waitcnt vmcnt(2)
@ {_TILE_STORE} + 64 -> matmul:a.store(
ds_write_b128 v22, v[36:39] offset:4096
@ {_TILE_STORE}, threadIdx -> matmul:b.store(
s_waitcnt vmcnt(1)
ds_write_b128 v22, v[40:43] offset:16384
s_waitcnt vmcnt(0)
@ {_TILE_STORE} + 64 -> matmul:b.store(
ds_write_b128 v22, v[44:47] offset:20480
@ matmul:if (k + STEP
s_add_i32 s20, s20, 32
s_cmp_ge_i32 s20, s14
s_cbranch_scc1 last  // last=K
@ tile:place += STEP -> matmul:a.advance
v_add_u32_e32 v18, 64, v18
v_add_u32_e32 v19, 64, v19
@ tile:place += STEP -> matmul:b.advance
v_add_u32_e32 v20, 64, v20
v_add_u32_e32 v21, 64, v21
@ {_TILE_LOAD}0 -> matmul:            a.fetch
global_load_dwordx4 v[32:35], v18, s[4:5]
@ {_TILE_LOAD}1 -> matmul:            a.fetch
global_load_dwordx4 v[36:39], v19, s[4:5]
@ {_TILE_LOAD}0 -> matmul:            b.fetch
global_load_dwordx4 v[40:43], v20, s[6:7]
@ {_TILE_LOAD}1 -> matmul:            b.fetch
global_load_dwordx4 v[44:47], v21, s[6:7]
last:
@ hip:386 -> matmul:__syncthreads
s_waitcnt lgkmcnt(0)
s_barrier
@ {_READ}fa
v_add_u32_e32 v23, s21, v14
v_add_u32_e32 v24, s21, v15
@ {_READ}fb
v_add_u32_e32 v25, s21, v16
v_add_u32_e32 v26, s21, v17
@ {_READ}fa
ds_read_b128 v[128:131], v23
@ {_READ}fb
ds_read_b128 v[144:147], v25
@ {_READ}fa
ds_read_b128 v[136:139], v23 offset:2048
@ {_READ}fb
ds_read_b128 v[152:155], v25 offset:2048  // conflict=2
@ {_READ}fa
ds_read_b128 v[132:135], v24
@ {_READ}fb
ds_read_b128 v[148:151], v26
@ {_READ}fa
ds_read_b128 v[140:143], v24 offset:2048
@ {_READ}fb
ds_read_b128 v[156:159], v26 offset:2048  // conflict=2
@ matmul:multiply(
s_waitcnt lgkmcnt(6)
s_setprio 1
"""

_LOOP_END = """
@ matmul:multiply(
s_setprio 0
@ matmul:for (int k = 0
s_xor_b32 s21, s21, 0x2000
s_cmp_lt_i32 s20, s14
s_cbranch_scc1 loop  // rounds=K
@ matmul:const int row = tile_row
v_and_b32_e32 v27, 31, v1
v_or_b32_e32 v27, v3, v27
v_add_u32_e32 v27, s16, v27
@ matmul:const int column = tile_column
v_lshrrev_b32_e32 v28, 5, v1
v_lshl_or_b32 v28, v28, 2, v4
v_add_u32_e32 v28, s17, v28
@ matmul:half* target
v_mul_lo_u32 v29, v27, s13
v_add_lshl_u32 v30, v29, v28, 1
s_lshl_b32 s22, s13, 6
v_add_u32_e32 v31, s22, v30
@ matmul:write_block(
s_load_dword s23, s[0:1], 0x24
s_waitcnt lgkmcnt(0)
s_nop 7
"""


def _products() -> str:
    """The sixteen matrix instructions of a round; (part, half) of the operands, then the block of C."""
    lines = []
    waits = {(0, 1, 0): 5, (0, 0, 1): 4, (1, 0, 0): 0}
    for part in range(2):
        for j in range(2):
            for i in range(2):
                if (part, i, j) in waits:
                    lines += ["@ matmul:multiply(", f"s_waitcnt lgkmcnt({waits[part, i, j]})"]
                for half, name in enumerate(("lo", "hi")):
                    a, b, c = 128 + 8 * i + 4 * part, 144 + 8 * j + 4 * part, 64 + 32 * i + 16 * j
                    a, b = a + 2 * half, b + 2 * half
                    lines += [
                        f"@ {_MMA}{name} -> matmul:multiply(",
                        f"v_mfma_f32_32x32x8_f16 v[{c}:{c + 15}], v[{b}:{b + 1}], v[{a}:{a + 1}],"
                        f" v[{c}:{c + 15}]",
                    ]
    return "\n".join(lines)


def _stores() -> str:
    lines = []
    for i in range(2):
        for j in range(2):
            for group in range(4):
                c = 64 + 32 * i + 16 * j + 4 * group
                offset = f" offset:{64 * j + 16 * group}" if j or group else ""
                lines += [
                    "@ tile:four[i] = _Float16 -> matmul:write_block(",
                    f"v_pk_mul_f32 v[{c}:{c + 1}], v[{c}:{c + 1}], s[22:23] op_sel:[0,1]",
                    f"v_pk_mul_f32 v[{c + 2}:{c + 3}], v[{c + 2}:{c + 3}], s[22:23] op_sel:[0,1]",
                    f"v_cvt_pkrtz_f16_f32 v{c}, v{c}, v{c + 1}",
                    f"v_cvt_pkrtz_f16_f32 v{c + 1}, v{c + 2}, v{c + 3}",
                    "@ tile:*reinterpret_cast<half4*> -> matmul:write_block(",
                    f"global_store_dwordx2 v{30 + i}, v[{c}:{c + 1}], s[8:9]{offset}",
                ]
    return "\n".join(lines)


def matmul_tiled(address: int = 0x1C00) -> Kernel:
    """C = alpha·A·B with tiles staged in two halves of LDS; rounds `K`; four waves a workgroup."""
    zeros = "\n".join(f"v_mov_b64_e32 v[{c}:{c + 1}], 0" for c in range(64, 128, 2))
    text = "\n".join((_PROLOGUE, zeros, _LOOP, _products(), _LOOP_END, _stores()))
    return assemble(
        text + "\n@ matmul:write_block(\ns_endpgm",
        "_Z12matmul_tiledPK6__halfS1_PS_iiif",
        9,
        SOURCES,
        demangled="matmul_tiled(__half const*, __half const*, __half*, int, int, int, float)",
        address=address,
    )
