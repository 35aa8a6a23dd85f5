; C = alpha·A·B with tiles staged in two halves of LDS; the loop count is `K`; four waves a workgroup.

.symbol _Z12matmul_tiledPK6__halfS1_PS_iiif
.demangled matmul_tiled(__half const*, __half const*, __half*, int, int, int, float)
.generation 9
.address 0x1c00

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
@ tile:return row * 32 -> tile:f[block].part -> matmul:read_fragment(fa
    v_and_b32_e32 v8, 31, v1
    v_or_b32_e32 v9, v3, v8
    v_lshrrev_b32_e32 v11, 5, v1
    v_lshrrev_b32_e32 v12, 1, v8
    v_xor_b32_e32 v13, v11, v12
    v_and_b32_e32 v13, 3, v13
    v_lshlrev_b32_e32 v13, 4, v13
    v_lshl_or_b32 v14, v9, 6, v13
    v_xor_b32_e32 v15, 32, v14
@ tile:return row * 32 -> tile:f[block].part -> matmul:read_fragment(fb
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
@ tile:return *reinterpret_cast<const half8*> -> tile:held[1 -> matmul:a.fetch
    v_add_u32_e32 v19, s19, v18
@ tile:return *reinterpret_cast<const half8*> -> tile:held[0 -> matmul:a.fetch
    global_load_dwordx4 v[32:35], v18, s[4:5]
@ tile:return *reinterpret_cast<const half8*> -> tile:held[1 -> matmul:a.fetch
    global_load_dwordx4 v[36:39], v19, s[4:5]
@ tile:place = matrix -> matmul:TileReader<STEP> b(
    v_add_u32_e32 v20, s17, v5
    v_mul_lo_u32 v20, v20, s18
    v_add_u32_e32 v20, v20, v6
@ tile:return *reinterpret_cast<const half8*> -> tile:held[0 -> matmul:b.fetch
    v_add_u32_e32 v21, s19, v20
    global_load_dwordx4 v[40:43], v20, s[6:7]
@ tile:return *reinterpret_cast<const half8*> -> tile:held[1 -> matmul:b.fetch
    global_load_dwordx4 v[44:47], v21, s[6:7]
@ matmul:float16 sum
    v_mov_b64_e32 v[64:65], 0
    v_mov_b64_e32 v[66:67], 0
    v_mov_b64_e32 v[68:69], 0
    v_mov_b64_e32 v[70:71], 0
    v_mov_b64_e32 v[72:73], 0
    v_mov_b64_e32 v[74:75], 0
    v_mov_b64_e32 v[76:77], 0
    v_mov_b64_e32 v[78:79], 0
    v_mov_b64_e32 v[80:81], 0
    v_mov_b64_e32 v[82:83], 0
    v_mov_b64_e32 v[84:85], 0
    v_mov_b64_e32 v[86:87], 0
    v_mov_b64_e32 v[88:89], 0
    v_mov_b64_e32 v[90:91], 0
    v_mov_b64_e32 v[92:93], 0
    v_mov_b64_e32 v[94:95], 0
    v_mov_b64_e32 v[96:97], 0
    v_mov_b64_e32 v[98:99], 0
    v_mov_b64_e32 v[100:101], 0
    v_mov_b64_e32 v[102:103], 0
    v_mov_b64_e32 v[104:105], 0
    v_mov_b64_e32 v[106:107], 0
    v_mov_b64_e32 v[108:109], 0
    v_mov_b64_e32 v[110:111], 0
    v_mov_b64_e32 v[112:113], 0
    v_mov_b64_e32 v[114:115], 0
    v_mov_b64_e32 v[116:117], 0
    v_mov_b64_e32 v[118:119], 0
    v_mov_b64_e32 v[120:121], 0
    v_mov_b64_e32 v[122:123], 0
    v_mov_b64_e32 v[124:125], 0
    v_mov_b64_e32 v[126:127], 0
@ matmul:for (int k = 0
    s_mov_b32 s20, 0
    s_mov_b32 s21, 0
loop:
@ tile:*reinterpret_cast<half8*>(to) = value -> tile:store8(tile + swizzle(threadIdx.x / 4, threadIdx -> matmul:a.store(
    v_add_u32_e32 v22, s21, v7
    s_waitcnt vmcnt(3)
    ds_write_b128 v22, v[32:35]
    s_waitcnt vmcnt(2)
@ tile:*reinterpret_cast<half8*>(to) = value -> tile:store8(tile + swizzle(threadIdx.x / 4 + 64 -> matmul:a.store(
    ds_write_b128 v22, v[36:39] offset:4096
@ tile:*reinterpret_cast<half8*>(to) = value -> tile:store8(tile + swizzle(threadIdx.x / 4, threadIdx -> matmul:b.store(
    s_waitcnt vmcnt(1)
    ds_write_b128 v22, v[40:43] offset:16384
    s_waitcnt vmcnt(0)
@ tile:*reinterpret_cast<half8*>(to) = value -> tile:store8(tile + swizzle(threadIdx.x / 4 + 64 -> matmul:b.store(
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
@ tile:return *reinterpret_cast<const half8*> -> tile:held[0 -> matmul:            a.fetch
    global_load_dwordx4 v[32:35], v18, s[4:5]
@ tile:return *reinterpret_cast<const half8*> -> tile:held[1 -> matmul:            a.fetch
    global_load_dwordx4 v[36:39], v19, s[4:5]
@ tile:return *reinterpret_cast<const half8*> -> tile:held[0 -> matmul:            b.fetch
    global_load_dwordx4 v[40:43], v20, s[6:7]
@ tile:return *reinterpret_cast<const half8*> -> tile:held[1 -> matmul:            b.fetch
    global_load_dwordx4 v[44:47], v21, s[6:7]
last:
@ hip:386 -> matmul:__syncthreads
    s_waitcnt lgkmcnt(0)
    s_barrier
@ tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment(fa
    v_add_u32_e32 v23, s21, v14
    v_add_u32_e32 v24, s21, v15
@ tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment(fb
    v_add_u32_e32 v25, s21, v16
    v_add_u32_e32 v26, s21, v17
@ tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment(fa
    ds_read_b128 v[128:131], v23
@ tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment(fb
    ds_read_b128 v[144:147], v25
@ tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment(fa
    ds_read_b128 v[136:139], v23 offset:2048
@ tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment(fb
    ds_read_b128 v[152:155], v25 offset:2048  // conflict=2
@ tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment(fa
    ds_read_b128 v[132:135], v24
@ tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment(fb
    ds_read_b128 v[148:151], v26
@ tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment(fa
    ds_read_b128 v[140:143], v24 offset:2048
@ tile:return *reinterpret_cast<const half8*> -> tile:f[block].part -> matmul:read_fragment(fb
    ds_read_b128 v[156:159], v26 offset:2048  // conflict=2
@ matmul:multiply(
    s_waitcnt lgkmcnt(6)
    s_setprio 1
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].lo -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[64:79], v[144:145], v[128:129], v[64:79]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].hi -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[64:79], v[146:147], v[130:131], v[64:79]
@ matmul:multiply(
    s_waitcnt lgkmcnt(5)
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].lo -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[96:111], v[144:145], v[136:137], v[96:111]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].hi -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[96:111], v[146:147], v[138:139], v[96:111]
@ matmul:multiply(
    s_waitcnt lgkmcnt(4)
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].lo -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[80:95], v[152:153], v[128:129], v[80:95]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].hi -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[80:95], v[154:155], v[130:131], v[80:95]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].lo -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[112:127], v[152:153], v[136:137], v[112:127]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].hi -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[112:127], v[154:155], v[138:139], v[112:127]
@ matmul:multiply(
    s_waitcnt lgkmcnt(0)
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].lo -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[64:79], v[148:149], v[132:133], v[64:79]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].hi -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[64:79], v[150:151], v[134:135], v[64:79]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].lo -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[96:111], v[148:149], v[140:141], v[96:111]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].hi -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[96:111], v[150:151], v[142:143], v[96:111]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].lo -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[80:95], v[156:157], v[132:133], v[80:95]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].hi -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[80:95], v[158:159], v[134:135], v[80:95]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].lo -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[112:127], v[156:157], v[140:141], v[112:127]
@ tile:return __builtin_amdgcn -> tile:sum[i][j] = mma(a[i].part[part].hi -> matmul:multiply(
    v_mfma_f32_32x32x8_f16 v[112:127], v[158:159], v[142:143], v[112:127]
@ matmul:multiply(
    s_setprio 0
@ matmul:for (int k = 0
    s_xor_b32 s21, s21, 0x2000
    s_cmp_lt_i32 s20, s14
    s_cbranch_scc1 loop  // iterations=K
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
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[64:65], v[64:65], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[66:67], v[66:67], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v64, v64, v65
    v_cvt_pkrtz_f16_f32 v65, v66, v67
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v30, v[64:65], s[8:9]
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[68:69], v[68:69], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[70:71], v[70:71], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v68, v68, v69
    v_cvt_pkrtz_f16_f32 v69, v70, v71
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v30, v[68:69], s[8:9] offset:16
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[72:73], v[72:73], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[74:75], v[74:75], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v72, v72, v73
    v_cvt_pkrtz_f16_f32 v73, v74, v75
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v30, v[72:73], s[8:9] offset:32
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[76:77], v[76:77], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[78:79], v[78:79], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v76, v76, v77
    v_cvt_pkrtz_f16_f32 v77, v78, v79
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v30, v[76:77], s[8:9] offset:48
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[80:81], v[80:81], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[82:83], v[82:83], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v80, v80, v81
    v_cvt_pkrtz_f16_f32 v81, v82, v83
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v30, v[80:81], s[8:9] offset:64
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[84:85], v[84:85], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[86:87], v[86:87], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v84, v84, v85
    v_cvt_pkrtz_f16_f32 v85, v86, v87
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v30, v[84:85], s[8:9] offset:80
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[88:89], v[88:89], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[90:91], v[90:91], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v88, v88, v89
    v_cvt_pkrtz_f16_f32 v89, v90, v91
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v30, v[88:89], s[8:9] offset:96
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[92:93], v[92:93], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[94:95], v[94:95], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v92, v92, v93
    v_cvt_pkrtz_f16_f32 v93, v94, v95
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v30, v[92:93], s[8:9] offset:112
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[96:97], v[96:97], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[98:99], v[98:99], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v96, v96, v97
    v_cvt_pkrtz_f16_f32 v97, v98, v99
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v31, v[96:97], s[8:9]
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[100:101], v[100:101], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[102:103], v[102:103], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v100, v100, v101
    v_cvt_pkrtz_f16_f32 v101, v102, v103
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v31, v[100:101], s[8:9] offset:16
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[104:105], v[104:105], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[106:107], v[106:107], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v104, v104, v105
    v_cvt_pkrtz_f16_f32 v105, v106, v107
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v31, v[104:105], s[8:9] offset:32
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[108:109], v[108:109], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[110:111], v[110:111], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v108, v108, v109
    v_cvt_pkrtz_f16_f32 v109, v110, v111
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v31, v[108:109], s[8:9] offset:48
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[112:113], v[112:113], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[114:115], v[114:115], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v112, v112, v113
    v_cvt_pkrtz_f16_f32 v113, v114, v115
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v31, v[112:113], s[8:9] offset:64
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[116:117], v[116:117], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[118:119], v[118:119], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v116, v116, v117
    v_cvt_pkrtz_f16_f32 v117, v118, v119
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v31, v[116:117], s[8:9] offset:80
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[120:121], v[120:121], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[122:123], v[122:123], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v120, v120, v121
    v_cvt_pkrtz_f16_f32 v121, v122, v123
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v31, v[120:121], s[8:9] offset:96
@ tile:four[i] = _Float16 -> matmul:write_block(
    v_pk_mul_f32 v[124:125], v[124:125], s[22:23] op_sel:[0,1]
    v_pk_mul_f32 v[126:127], v[126:127], s[22:23] op_sel:[0,1]
    v_cvt_pkrtz_f16_f32 v124, v124, v125
    v_cvt_pkrtz_f16_f32 v125, v126, v127
@ tile:*reinterpret_cast<half4*> -> matmul:write_block(
    global_store_dwordx2 v31, v[124:125], s[8:9] offset:112
@ matmul:write_block(
    s_endpgm
