; out = A·W with weights of 8 bits; the scale of a block is loaded before its weights are worked on; the loop count is `n`; one wave a SIMD.

.symbol _Z14dequant_matmulPK6__halfPKcPKfPS_i
.demangled dequant_matmul(__half const*, char const*, float const*, __half*, int)
.generation 9
.address 0x1800

@ early:const half8* a = fragments_of
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_load_dwordx4 s[8:11], s[0:1], 0x10
    v_and_b32_e32 v1, 63, v0
    v_lshlrev_b32_e32 v2, 4, v1
@ early:const uint4* next
    v_lshrrev_b32_e32 v3, 6, v0
    v_lshlrev_b32_e32 v4, 7, v3
    v_add_u32_e32 v5, v4, v2
@ early:const float* block_scale
    v_lshlrev_b32_e32 v6, 2, v3
@ early:const half8* a = fragments_of
    s_waitcnt lgkmcnt(0)
    global_load_dwordx4 v[240:243], v2, s[4:5]  // near=1
    global_load_dwordx4 v[244:247], v2, s[4:5] offset:1024  // near=1
    global_load_dwordx4 v[248:251], v2, s[4:5] offset:2048  // near=1
    global_load_dwordx4 v[252:255], v2, s[4:5] offset:3072  // near=1
@ early:uint4 packed = *next
    global_load_dwordx4 v[8:11], v5, s[6:7]  // slow=0.4
@ early:float16 sum
    v_mov_b32_e32 v32, 0
    v_mov_b32_e32 v33, 0
    v_mov_b32_e32 v34, 0
    v_mov_b32_e32 v35, 0
    v_mov_b32_e32 v36, 0
    v_mov_b32_e32 v37, 0
    v_mov_b32_e32 v38, 0
    v_mov_b32_e32 v39, 0
    v_mov_b32_e32 v40, 0
    v_mov_b32_e32 v41, 0
    v_mov_b32_e32 v42, 0
    v_mov_b32_e32 v43, 0
    v_mov_b32_e32 v44, 0
    v_mov_b32_e32 v45, 0
    v_mov_b32_e32 v46, 0
    v_mov_b32_e32 v47, 0
@ early:for (int k = 0
    s_mov_b32 s20, 0
loop:
@ early:unpack(weights
    s_waitcnt vmcnt(0)
    v_cvt_f32_ubyte0_e32 v80, v8
    v_cvt_f32_ubyte1_e32 v81, v8
    v_cvt_f32_ubyte2_e32 v82, v8
    v_cvt_f32_ubyte3_e32 v83, v8
    v_cvt_f32_ubyte0_e32 v84, v9
    v_cvt_f32_ubyte1_e32 v85, v9
    v_cvt_f32_ubyte2_e32 v86, v9
    v_cvt_f32_ubyte3_e32 v87, v9
    v_cvt_f32_ubyte0_e32 v88, v10
    v_cvt_f32_ubyte1_e32 v89, v10
    v_cvt_f32_ubyte2_e32 v90, v10
    v_cvt_f32_ubyte3_e32 v91, v10
    v_cvt_f32_ubyte0_e32 v92, v11
    v_cvt_f32_ubyte1_e32 v93, v11
    v_cvt_f32_ubyte2_e32 v94, v11
    v_cvt_f32_ubyte3_e32 v95, v11
    v_cvt_pkrtz_f16_f32 v16, v80, v81
    v_cvt_pkrtz_f16_f32 v17, v82, v83
    v_cvt_pkrtz_f16_f32 v18, v84, v85
    v_cvt_pkrtz_f16_f32 v19, v86, v87
    v_cvt_pkrtz_f16_f32 v20, v88, v89
    v_cvt_pkrtz_f16_f32 v21, v90, v91
    v_cvt_pkrtz_f16_f32 v22, v92, v93
    v_cvt_pkrtz_f16_f32 v23, v94, v95
@ early:const float scale
    global_load_dword v12, v6, s[8:9]  // near=1 slow=1.15
@ early:block_scale += 32
    v_add_u32_e32 v6, 0x80, v6
@ early:next += 64
    v_add_u32_e32 v5, 0x400, v5
@ early:        packed = *next
    global_load_dwordx4 v[8:11], v5, s[6:7]  // slow=0.4
@ early:sum = mfma
    v_mfma_f32_32x32x8_f16 v[32:47], v[240:241], v[16:17], v[32:47]
    v_mfma_f32_32x32x8_f16 v[32:47], v[242:243], v[18:19], v[32:47]
    v_mfma_f32_32x32x8_f16 v[32:47], v[244:245], v[20:21], v[32:47]
    v_mfma_f32_32x32x8_f16 v[32:47], v[246:247], v[22:23], v[32:47]
    v_mfma_f32_32x32x8_f16 v[32:47], v[248:249], v[16:17], v[32:47]
    v_mfma_f32_32x32x8_f16 v[32:47], v[250:251], v[18:19], v[32:47]
    v_mfma_f32_32x32x8_f16 v[32:47], v[252:253], v[20:21], v[32:47]
    v_mfma_f32_32x32x8_f16 v[32:47], v[254:255], v[22:23], v[32:47]
@ early:sum[i] = softclip
    s_waitcnt vmcnt(1)
    v_mul_f32_e32 v32, v32, v12
    v_mul_f32_e32 v33, v33, v12
    v_mul_f32_e32 v34, v34, v12
    v_mul_f32_e32 v35, v35, v12
    v_mul_f32_e32 v36, v36, v12
    v_mul_f32_e32 v37, v37, v12
    v_mul_f32_e32 v38, v38, v12
    v_mul_f32_e32 v39, v39, v12
    v_mul_f32_e32 v40, v40, v12
    v_mul_f32_e32 v41, v41, v12
    v_mul_f32_e32 v42, v42, v12
    v_mul_f32_e32 v43, v43, v12
    v_mul_f32_e32 v44, v44, v12
    v_mul_f32_e32 v45, v45, v12
    v_mul_f32_e32 v46, v46, v12
    v_mul_f32_e32 v47, v47, v12
    v_exp_f32_e32 v48, v32
    v_exp_f32_e32 v49, v33
    v_exp_f32_e32 v50, v34
    v_exp_f32_e32 v51, v35
    v_exp_f32_e32 v52, v36
    v_exp_f32_e32 v53, v37
    v_exp_f32_e32 v54, v38
    v_exp_f32_e32 v55, v39
    v_exp_f32_e32 v56, v40
    v_exp_f32_e32 v57, v41
    v_exp_f32_e32 v58, v42
    v_exp_f32_e32 v59, v43
    v_exp_f32_e32 v60, v44
    v_exp_f32_e32 v61, v45
    v_exp_f32_e32 v62, v46
    v_exp_f32_e32 v63, v47
    v_add_f32_e32 v48, 1.0, v48
    v_add_f32_e32 v49, 1.0, v49
    v_add_f32_e32 v50, 1.0, v50
    v_add_f32_e32 v51, 1.0, v51
    v_add_f32_e32 v52, 1.0, v52
    v_add_f32_e32 v53, 1.0, v53
    v_add_f32_e32 v54, 1.0, v54
    v_add_f32_e32 v55, 1.0, v55
    v_add_f32_e32 v56, 1.0, v56
    v_add_f32_e32 v57, 1.0, v57
    v_add_f32_e32 v58, 1.0, v58
    v_add_f32_e32 v59, 1.0, v59
    v_add_f32_e32 v60, 1.0, v60
    v_add_f32_e32 v61, 1.0, v61
    v_add_f32_e32 v62, 1.0, v62
    v_add_f32_e32 v63, 1.0, v63
    v_rcp_f32_e32 v48, v48
    v_rcp_f32_e32 v49, v49
    v_rcp_f32_e32 v50, v50
    v_rcp_f32_e32 v51, v51
    v_rcp_f32_e32 v52, v52
    v_rcp_f32_e32 v53, v53
    v_rcp_f32_e32 v54, v54
    v_rcp_f32_e32 v55, v55
    v_rcp_f32_e32 v56, v56
    v_rcp_f32_e32 v57, v57
    v_rcp_f32_e32 v58, v58
    v_rcp_f32_e32 v59, v59
    v_rcp_f32_e32 v60, v60
    v_rcp_f32_e32 v61, v61
    v_rcp_f32_e32 v62, v62
    v_rcp_f32_e32 v63, v63
    v_mul_f32_e32 v32, v32, v48
    v_mul_f32_e32 v33, v33, v49
    v_mul_f32_e32 v34, v34, v50
    v_mul_f32_e32 v35, v35, v51
    v_mul_f32_e32 v36, v36, v52
    v_mul_f32_e32 v37, v37, v53
    v_mul_f32_e32 v38, v38, v54
    v_mul_f32_e32 v39, v39, v55
    v_mul_f32_e32 v40, v40, v56
    v_mul_f32_e32 v41, v41, v57
    v_mul_f32_e32 v42, v42, v58
    v_mul_f32_e32 v43, v43, v59
    v_mul_f32_e32 v44, v44, v60
    v_mul_f32_e32 v45, v45, v61
    v_mul_f32_e32 v46, v46, v62
    v_mul_f32_e32 v47, v47, v63
@ early:for (int k = 0
    s_add_i32 s20, s20, 64
    s_cmp_lt_i32 s20, s12
    s_cbranch_scc1 loop  // iterations=n
@ early:store_tile
    v_lshlrev_b32_e32 v7, 3, v1
    global_store_dwordx4 v7, v[32:35], s[10:11]
    global_store_dwordx4 v7, v[36:39], s[10:11] offset:16
    s_endpgm
