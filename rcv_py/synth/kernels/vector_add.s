; c = a + b, an element a lane; some waves have nothing to do.

.symbol _Z10vector_addPKfS0_Pfi
.demangled vector_add(float const*, float const*, float*, int)
.generation 9
.address 0x1600

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
