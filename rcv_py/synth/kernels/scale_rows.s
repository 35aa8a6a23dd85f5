; A stream over rows: load, multiply, store; the loop count is `columns`.

.symbol _Z10scale_rowsPK6__halfPKfPS_i
.demangled scale_rows(__half const*, float const*, __half*, int)
.generation 9
.address 0x1600

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
