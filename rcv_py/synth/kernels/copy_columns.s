; A copy through LDS, built with the compiler pass that records addresses: before each memory instruction a
; header, EXEC, and a loop over the words of the lanes; the loop count is `rows`.

.symbol _Z12copy_columnsPKfPfi
.demangled copy_columns(float const*, float*, int)
.generation 9
.address 0x1600

@ columns:__global__ void
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_lshlrev_b32_e32 v2, 8, v0
    s_mov_b32 s8, 0
    s_waitcnt lgkmcnt(0)
loop:
@ columns:tile[row][lane] = in
    s_mov_b32 m0, 4
    s_nop 0
    s_ttracedata  // marker=4 block=load
    s_mov_b32 m0, exec_lo
    s_nop 0
    s_ttracedata  // word=1
    s_mov_b32 m0, exec_hi
    s_nop 0
    s_ttracedata  // word=1
    s_mov_b32 s12, 0
load_words:
    v_readlane_b32 s13, v4, s12
    s_mov_b32 m0, s13
    s_nop 0
    s_ttracedata  // word=1
    v_readlane_b32 s13, v5, s12
    s_mov_b32 m0, s13
    s_nop 0
    s_ttracedata  // word=1
    s_add_i32 s12, s12, 1
    s_cmp_lg_u32 s12, 64
    s_cbranch_scc1 load_words  // iterations=64
    global_load_dword v6, v[4:5], off
    s_waitcnt vmcnt(0)
    s_mov_b32 m0, 8
    s_nop 0
    s_ttracedata  // marker=8 block=lds_store
    s_mov_b32 m0, exec_lo
    s_nop 0
    s_ttracedata  // word=1
    s_mov_b32 m0, exec_hi
    s_nop 0
    s_ttracedata  // word=1
    s_mov_b32 s12, 0
lds_store_words:
    v_readlane_b32 s13, v1, s12
    s_mov_b32 m0, s13
    s_nop 0
    s_ttracedata  // word=1
    s_add_i32 s12, s12, 1
    s_cmp_lg_u32 s12, 64
    s_cbranch_scc1 lds_store_words  // iterations=64
    ds_write_b32 v1, v6
    s_waitcnt lgkmcnt(0)
@ columns:out[lane * pitch + row]
    s_mov_b32 m0, 12
    s_nop 0
    s_ttracedata  // marker=12 block=lds_load
    s_mov_b32 m0, exec_lo
    s_nop 0
    s_ttracedata  // word=1
    s_mov_b32 m0, exec_hi
    s_nop 0
    s_ttracedata  // word=1
    s_mov_b32 s12, 0
lds_load_words:
    v_readlane_b32 s13, v2, s12
    s_mov_b32 m0, s13
    s_nop 0
    s_ttracedata  // word=1
    s_add_i32 s12, s12, 1
    s_cmp_lg_u32 s12, 64
    s_cbranch_scc1 lds_load_words  // iterations=64
    ds_read_b32 v7, v2  // conflict=32
    s_waitcnt lgkmcnt(0)
@ columns:out[lane * pitch + row]
    s_mov_b32 m0, 16
    s_nop 0
    s_ttracedata  // marker=16 block=store
    s_mov_b32 m0, exec_lo
    s_nop 0
    s_ttracedata  // word=1
    s_mov_b32 m0, exec_hi
    s_nop 0
    s_ttracedata  // word=1
    s_mov_b32 s12, 0
store_words:
    v_readlane_b32 s13, v8, s12
    s_mov_b32 m0, s13
    s_nop 0
    s_ttracedata  // word=1
    v_readlane_b32 s13, v9, s12
    s_mov_b32 m0, s13
    s_nop 0
    s_ttracedata  // word=1
    s_add_i32 s12, s12, 1
    s_cmp_lg_u32 s12, 64
    s_cbranch_scc1 store_words  // iterations=64
    global_store_dword v[8:9], v7, off
@ columns:for (int row
    s_add_i32 s8, s8, 1
    s_cmp_lg_u32 s8, 64
    s_cbranch_scc1 loop  // iterations=rows
@ columns:__global__ void
    s_endpgm
