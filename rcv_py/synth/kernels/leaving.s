; Tiles, but some waves have nothing to do, and some leave the loop and finish alone; the loop count is `n`.
; The others wait for such a wave at their next barrier until it ends.

.symbol _Z7leavingPK6__halfPS_i
.demangled leaving(__half const*, __half*, int)
.generation 9
.address 0x1600

@ matmul:const int lane
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_load_dwordx2 s[8:9], s[0:1], 0x10
    v_lshlrev_b32_e32 v1, 4, v0
    v_mov_b32_e32 v2, 0
    s_waitcnt lgkmcnt(0)
@ vector:if (i < n)
    v_cmp_gt_i32_e32 vcc, s4, v0
    s_cbranch_vccz out  // chance=0.2
loop:
@ matmul:a.fetch();
    global_load_dwordx4 v[8:11], v1, s[4:5]  // near=1
    v_add_u32_e32 v1, 0x400, v1
    s_cbranch_vccz near_0  // chance=0.8
    global_load_dwordx4 v[12:15], v1, s[6:7]
near_0:
    s_waitcnt vmcnt(0)
@ matmul:a.store(a_tile[half_of_lds]);
    ds_write_b128 v1, v[8:11]
    s_waitcnt lgkmcnt(0)
@ matmul:__syncthreads();
    s_barrier
@ matmul:read_fragment(fa
    ds_read_b128 v[16:19], v1
    ds_read_b128 v[20:23], v1 offset:2048  // conflict=2
    s_waitcnt lgkmcnt(0)
@ tile:return __builtin_amdgcn
    v_mfma_f32_32x32x8_f16 v[32:47], v[16:17], v[20:21], v[32:47]
    v_mfma_f32_32x32x8_f16 v[32:47], v[18:19], v[22:23], v[32:47]
@ vector:if (i < n)
    v_cmp_gt_i32_e32 vcc, s4, v1
    s_cbranch_vccz done  // chance=0.05
@ matmul:for (int k = 0
    s_sub_i32 s8, s8, 1
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 loop  // iterations=n
@ matmul:__global__ __launch_bounds__
    s_nop 7
    global_store_dwordx4 v1, v[32:35], s[6:7]
out:
    s_endpgm
@ vector:value += in[i]
done:
    global_load_dwordx4 v[12:15], v1, s[6:7]
    s_waitcnt vmcnt(0)
    v_add_f32_e32 v2, v12, v2
    global_load_dwordx4 v[12:15], v1, s[6:7] offset:64
    s_waitcnt vmcnt(0)
    v_add_f32_e32 v2, v12, v2
    global_store_dword v1, v2, s[6:7]
    s_endpgm
