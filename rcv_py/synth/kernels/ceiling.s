; Matrix products that leave the matrix unit hardly a cycle; the loop count is `n`.
; Two waves a SIMD want more of the matrix unit than there is.

.symbol _Z7ceilingPfi
.demangled ceiling(float*, int)
.generation 9
.address 0x1600

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
    s_cbranch_scc1 loop  // iterations=n
@ vector:__global__ void vector_add
    s_nop 15
    s_nop 3
    global_store_dwordx4 v1, v[32:35], s[6:7]
    s_endpgm
