; Barriers before which now and then a wave takes long; the loop count is `n`.

.symbol _Z9stragglerPKfi
.demangled straggler(float const*, int)
.generation 9
.address 0x1600

@ vector:for (int i = blockIdx
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    s_waitcnt lgkmcnt(0)
loop:
    global_load_dword v3, v1, s[4:5]  // near=1
    v_add_u32_e32 v1, 0x400, v1
    s_cbranch_vccz meet  // chance=0.6
@ vector:value += in[i]
    s_waitcnt vmcnt(0)
    v_add_f32_e32 v2, v2, v3
    global_load_dword v3, v1, s[4:5]
    s_waitcnt vmcnt(0)
meet:
@ hip:386 -> vector:__syncthreads
    s_barrier
@ vector:for (int i = blockIdx
    s_waitcnt vmcnt(0)
    v_add_f32_e32 v2, v2, v3
    s_sub_i32 s8, s8, 1
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 loop  // iterations=n
    s_endpgm
