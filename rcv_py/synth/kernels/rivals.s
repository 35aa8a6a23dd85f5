; Loads, LDS reads, matrix products and stores that get into each other's way; the loop count is `n`.
; A store that needs a matrix result while the queue is full, a branch target that needs one while it is
; fetched, matrix instructions of both waves of a SIMD, a wait for a load that was back long before.

.symbol _Z6rivalsPKfPfi
.demangled rivals(float*, int)
.generation 9
.address 0x1600

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
    s_cbranch_scc1 loop  // iterations=n
@ vector:__global__ void vector_add
    s_nop 7
    global_store_dwordx4 v1, v[48:51], s[6:7]
    s_endpgm
