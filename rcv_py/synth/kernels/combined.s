; Waits on two counters, and on scalar loads that return in any order; the loop count is `n`.
; Each counter alone, so that latencies can be seen; then both with the load much older, of one age, and older
; by about the difference of their latencies; then scalar loads of which now this and now that one is last.

.symbol _Z8combinedPfi
.demangled combined(float*, int)
.generation 9
.address 0x1600

@ vector:const int i = blockIdx
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 4, v0
    v_mov_b32_e32 v2, 0
    s_waitcnt lgkmcnt(0)
loop:
@ vector:c[i] = a[i]
    global_load_dwordx4 v[8:11], v1, s[4:5]  // near=1
    s_waitcnt vmcnt(0)
    ds_read_b128 v[12:15], v1
    ds_read_b128 v[16:19], v1 offset:2048
    s_waitcnt lgkmcnt(0)
    ds_read_b64 v[20:21], v1 offset:4096
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v22, v1 offset:6144
    s_waitcnt lgkmcnt(0)
    s_load_dword s10, s[0:1], 0x20
    s_waitcnt lgkmcnt(0)
    global_load_dwordx4 v[24:27], v1, s[4:5] offset:1024  // near=1
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    ds_read_b128 v[28:31], v1 offset:1024
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_add_f32_e32 v2, v24, v28
    global_load_dwordx4 v[32:35], v1, s[4:5] offset:2048  // near=1
    ds_read_b128 v[36:39], v1 offset:3072
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_add_f32_e32 v2, v32, v36
    global_load_dwordx4 v[40:43], v1, s[4:5] offset:3072  // near=1
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 15
    s_nop 7
    ds_read_b128 v[44:47], v1 offset:1024
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_add_f32_e32 v2, v40, v44
    s_load_dword s11, s[0:1], 0x24
    s_nop 7
    ds_read_b128 v[48:51], v1 offset:2048
    s_waitcnt lgkmcnt(0)
    s_load_dwordx2 s[12:13], s[0:1], 0x28
    s_load_dwordx2 s[14:15], s[0:1], 0x30
    s_waitcnt lgkmcnt(0)
    s_load_dwordx2 s[16:17], s[0:1], 0x38  // slow=2
    s_load_dwordx2 s[18:19], s[0:1], 0x40
    s_waitcnt lgkmcnt(0)
    s_load_dwordx2 s[20:21], s[0:1], 0x48
    s_nop 15
    s_nop 15
    s_nop 15
    s_load_dwordx2 s[22:23], s[0:1], 0x50
    s_waitcnt lgkmcnt(0)
    s_sub_i32 s8, s8, 1
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 loop  // iterations=n
@ vector:__global__ void vector_add
    global_store_dwordx4 v1, v[8:11], s[6:7]
    s_endpgm
