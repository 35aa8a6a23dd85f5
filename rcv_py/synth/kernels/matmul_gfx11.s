; A wave's tile with v_wmma and three counters; the loop count is `K`.

.symbol _Z11matmul_wmmaPK6__halfS1_Pfii
.demangled matmul_wmma(__half const*, __half const*, float*, int, int)
.generation 11
.address 0x1800

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
    s_cbranch_scc1 loop  // iterations=K
@ wave:to[(2 * i + lane -> wmma:tile.write
    v_lshrrev_b32_e32 v6, 4, v2
    v_and_b32_e32 v7, 15, v2
    v_mad_u32_u24 v6, v6, s10, v7
    v_lshlrev_b32_e32 v6, 2, v6
    s_lshl_b32 s13, s10, 3
    global_store_b32 v6, v40, s[8:9]
    v_add_nc_u32_e32 v6, s13, v6
    global_store_b32 v6, v41, s[8:9]
    v_add_nc_u32_e32 v6, s13, v6
    global_store_b32 v6, v42, s[8:9]
    v_add_nc_u32_e32 v6, s13, v6
    global_store_b32 v6, v43, s[8:9]
    v_add_nc_u32_e32 v6, s13, v6
    global_store_b32 v6, v44, s[8:9]
    v_add_nc_u32_e32 v6, s13, v6
    global_store_b32 v6, v45, s[8:9]
    v_add_nc_u32_e32 v6, s13, v6
    global_store_b32 v6, v46, s[8:9]
    v_add_nc_u32_e32 v6, s13, v6
    global_store_b32 v6, v47, s[8:9]
    s_waitcnt_vscnt null, 0x0
    s_endpgm
