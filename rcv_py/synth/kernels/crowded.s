; Bursts of scalar loads, LDS accesses, loads and stores of many waves at once; the loop count is `n`.

.symbol _Z7crowdedPfi
.demangled crowded(float*, int)
.generation 9
.address 0x1600

@ vector:const int i = blockIdx
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 4, v0
    s_waitcnt lgkmcnt(0)
loop:
@ vector:c[i] = a[i]
    s_load_dword s12, s[0:1], 0x20
    s_load_dword s13, s[0:1], 0x24
    s_load_dword s14, s[0:1], 0x28
    s_load_dword s15, s[0:1], 0x2c
    s_load_dword s16, s[0:1], 0x30
    s_load_dword s17, s[0:1], 0x34
    s_load_dword s18, s[0:1], 0x38
    s_load_dword s19, s[0:1], 0x3c
    s_waitcnt lgkmcnt(0)
    global_load_dwordx4 v[8:11], v1, s[4:5]  // near=1
    global_load_dwordx4 v[12:15], v1, s[4:5] offset:1024  // near=1
    global_load_dwordx4 v[16:19], v1, s[4:5] offset:2048
    global_load_dwordx2 v[20:21], v1, s[4:5] offset:3072  // near=1
    global_load_dword v22, v1, s[4:5] offset:3584  // near=1
    global_load_dwordx4 v[24:27], v1, s[4:5] offset:4000
    ds_read_b128 v[28:31], v1  // conflict=2
    ds_read_b64 v[32:33], v1 offset:2048  // conflict=4
    ds_read_b128 v[36:39], v1 offset:4096
    ds_write_b128 v1, v[40:43] offset:8192  // conflict=2
    ds_read_b32 v44, v1 offset:6144  // conflict=8
    v_add_f32_e32 v2, v3, v2
    s_waitcnt lgkmcnt(0)
    s_waitcnt vmcnt(2)
    global_store_dwordx4 v1, v[8:11], s[6:7]
    global_store_dwordx4 v1, v[12:15], s[6:7] offset:1024
    s_waitcnt vmcnt(0)
    s_sub_i32 s8, s8, 1
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 loop  // iterations=n
@ vector:__global__ void vector_add
    s_endpgm
