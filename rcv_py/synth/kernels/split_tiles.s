; The tiles on gfx12: waves signal, multiply what they have, and wait; the loop count is `n`.
; On gfx12 a barrier is two instructions: a wave arrives with `s_barrier_signal`, may work on, and
; `s_barrier_wait` holds it only if others have not signalled by then.

.symbol _Z11split_tilesPKDF16_Pfi
.demangled split_tiles(_Float16 const*, float*, int)
.generation 12
.address 0x1800

@ wmma:half16 b
    s_load_b128 s[4:7], s[0:1], 0x0
    s_load_b64 s[8:9], s[0:1], 0x10
    v_lshlrev_b32_e32 v1, 4, v0
    v_mov_b32_e32 v2, 0
    s_wait_kmcnt 0x0
loop:
    global_load_b128 v[8:11], v1, s[4:5]  // near=1
    s_cbranch_vccz near  // chance=0.8
    global_load_b128 v[12:15], v1, s[6:7]
near:
    s_wait_loadcnt 0x0
    ds_store_b128 v1, v[8:11]
    s_wait_dscnt 0x0
@ wmma:a = tile.turn
    s_barrier_signal -1
@ wmma:sum = tile.multiply
    v_wmma_f32_16x16x16_f16 v[40:47], v[24:31], v[16:23], v[40:47]
    s_cbranch_vccz meet  // chance=0.5
    v_wmma_f32_16x16x16_f16 v[48:55], v[24:31], v[16:23], v[48:55]
    v_wmma_f32_16x16x16_f16 v[56:63], v[24:31], v[16:23], v[56:63]
    v_wmma_f32_16x16x16_f16 v[64:71], v[24:31], v[16:23], v[64:71]
meet:
@ wmma:a = tile.turn
    s_barrier_wait 0xffff
    ds_load_b128 v[24:27], v1
    ds_load_b128 v[28:31], v1 offset:16
    s_wait_dscnt 0x0
    s_barrier_signal -1
    s_barrier_wait 0xffff
@ wmma:for (int k
    s_sub_co_i32 s8, s8, 1
    s_cmp_lg_u32 s8, 0
    s_cbranch_scc1 loop  // iterations=n
@ wmma:tile.write
    s_endpgm
