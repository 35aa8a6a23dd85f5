; A sum over everything: strided loads, a butterfly with ds_bpermute, a barrier; the loop count is `n`.

.symbol _Z6reducePKfPfi
.demangled reduce(float const*, float*, int)
.generation 9
.address 0x1600

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
    s_cbranch_scc1 stride  // iterations=n
@ vector:value = wave_sum
    v_mbcnt_lo_u32_b32 v5, -1, 0
    v_mbcnt_hi_u32_b32 v5, -1, v5
@ hip:1021 -> vector:value += __shfl_xor -> vector:value = wave_sum
    v_xor_b32_e32 v6, 32, v5
    v_lshlrev_b32_e32 v6, 2, v6
    ds_bpermute_b32 v7, v6, v2
    s_waitcnt lgkmcnt(0)
@ vector:value += __shfl_xor -> vector:value = wave_sum
    v_add_f32_e32 v2, v2, v7
@ hip:1021 -> vector:value += __shfl_xor -> vector:value = wave_sum
    v_xor_b32_e32 v6, 16, v5
    v_lshlrev_b32_e32 v6, 2, v6
    ds_bpermute_b32 v7, v6, v2
    s_waitcnt lgkmcnt(0)
@ vector:value += __shfl_xor -> vector:value = wave_sum
    v_add_f32_e32 v2, v2, v7
@ hip:1021 -> vector:value += __shfl_xor -> vector:value = wave_sum
    v_xor_b32_e32 v6, 8, v5
    v_lshlrev_b32_e32 v6, 2, v6
    ds_bpermute_b32 v7, v6, v2
    s_waitcnt lgkmcnt(0)
@ vector:value += __shfl_xor -> vector:value = wave_sum
    v_add_f32_e32 v2, v2, v7
@ hip:1021 -> vector:value += __shfl_xor -> vector:value = wave_sum
    v_xor_b32_e32 v6, 4, v5
    v_lshlrev_b32_e32 v6, 2, v6
    ds_bpermute_b32 v7, v6, v2
    s_waitcnt lgkmcnt(0)
@ vector:value += __shfl_xor -> vector:value = wave_sum
    v_add_f32_e32 v2, v2, v7
@ hip:1021 -> vector:value += __shfl_xor -> vector:value = wave_sum
    v_xor_b32_e32 v6, 2, v5
    v_lshlrev_b32_e32 v6, 2, v6
    ds_bpermute_b32 v7, v6, v2
    s_waitcnt lgkmcnt(0)
@ vector:value += __shfl_xor -> vector:value = wave_sum
    v_add_f32_e32 v2, v2, v7
@ hip:1021 -> vector:value += __shfl_xor -> vector:value = wave_sum
    v_xor_b32_e32 v6, 1, v5
    v_lshlrev_b32_e32 v6, 2, v6
    ds_bpermute_b32 v7, v6, v2
    s_waitcnt lgkmcnt(0)
@ vector:value += __shfl_xor -> vector:value = wave_sum
    v_add_f32_e32 v2, v2, v7
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
