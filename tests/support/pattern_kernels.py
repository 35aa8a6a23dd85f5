"""Small kernels, each with one pattern that costs cycles, under the name of the finding it must lead to."""

from pathlib import Path

from msgspec.structs import replace

from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.synth.build import Plan, build
from rcv_py.synth.hardware import CDNA
from rcv_py.synth.program import assemble
from rcv_py.synth.wave_state import SyntheticLaunch
from rcv_py.synth.write import write_folder

ROUNDS = 24
ARITHMETIC = "\n".join(f"v_add_u32_e32 v{40 + i}, v{60 + i}, v{80 + i}" for i in range(12))


def loop(body: str, before: str = "", after: str = "") -> str:
    """A kernel that runs a body a number of times."""
    return f"""
{before}
again:
{body}
s_sub_i32 s8, s8, 1
s_cmp_lg_u32 s8, 0
s_cbranch_scc1 again  // iterations=n
{after}
s_endpgm
"""


PATTERNS = {
    "exposed-vector-load": loop(
        "global_load_dwordx4 v[4:7], v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v2, v4, v5"
    ),
    "exposed-lds": loop("ds_read_b128 v[4:7], v1\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v2, v4, v5"),
    "exposed-lds-dma": loop("buffer_load_dword v1, s[4:7], 0 offen lds\ns_waitcnt vmcnt(0)\n" + ARITHMETIC),
    "exposed-scalar-load": "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
    "s_load_dwordx2 s[6:7], s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\ns_add_u32 s8, s6, s7\ns_endpgm",
    "serial-cross-lane-chain": loop(
        "\n".join(["ds_bpermute_b32 v7, v6, v2\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v2, v2, v7"] * 4)
    ),
    "exposed-cross-lane": loop("ds_bpermute_b32 v7, v6, v3\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v2, v2, v7"),
    "waits-for-stores": loop("global_store_dword v1, v2, s[4:5]\ns_waitcnt vmcnt(0)\n" + ARITHMETIC),
    "hazard-nops": loop("v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]\ns_nop 15\ns_nop 1"),
    "atomics": loop("global_atomic_add v3, v1, v2, s[4:5] glc\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v4, v3, v2"),
    "cache-maintenance": loop("buffer_wbl2 sc1\ns_waitcnt vmcnt(0)\n" + ARITHMETIC),
    "scratch-spills": loop(
        "scratch_store_dword off, v2, s32 offset:16\nscratch_load_dword v3, off, s32 offset:16\n"
        "s_waitcnt vmcnt(0)\nv_add_u32_e32 v2, v3, v2"
    ),
    "redundant-wait": loop(
        "global_load_dwordx4 v[4:7], v1, s[4:5]\nglobal_load_dwordx4 v[8:11], v1, s[6:7]\n"
        "s_waitcnt vmcnt(0)\nv_add_f32_e32 v2, v4, v5\n" + ARITHMETIC + "\nv_add_f32_e32 v3, v8, v9"
    ),
    "memory-back-pressure": loop(
        "\n".join(f"global_load_dwordx4 v[{4 * i}:{4 * i + 3}], v1, s[4:5]" for i in range(1, 15))
    ),
    "lds-back-pressure": loop(
        "\n".join(f"ds_read_b128 v[{4 * i}:{4 * i + 3}], v1  // conflict=8" for i in range(1, 12))
    ),
    "matrix-unit-busy": loop(
        "\n".join(
            f"v_mfma_f32_32x32x8_f16 v[{16 * i}:{16 * i + 15}], v[4:5], v[6:7], v[{16 * i}:{16 * i + 15}]"
            for i in range(1, 6)
        )
    ),
    "long-prologue": loop(
        ARITHMETIC,
        before="s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nglobal_load_dword v4, v1, s[4:5]\n"
        "s_waitcnt vmcnt(0)",
    ),
    "matrix-ceiling": loop("v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]\n" + ARITHMETIC),
    "low-occupancy": loop(
        "global_load_dwordx4 v[200:203], v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_f32_e32 v2, v200, v201"
    ),
    "drain-at-end": loop("v_add_u32_e32 v3, v1, v2", after="global_store_dword v1, v2, s[4:5]"),
}
_TILE = """\
buffer_load_dwordx4 v[8:11], v1, s[4:7], 0 offen
buffer_load_dwordx4 v[12:15], v1, s[4:7], 0 offen offset:16
s_waitcnt vmcnt(0)
ds_write_b128 v1, v[8:11]
ds_write_b128 v1, v[12:15] offset:16
{between}
buffer_load_dwordx4 {first}, {address}, s[4:7], {offset} offen
buffer_load_dwordx4 {second}, {address}, s[4:7], {offset} offen offset:16
{after}
s_waitcnt vmcnt(0)
ds_write_b128 v1, {first} offset:64
ds_write_b128 v1, {second} offset:80
s_waitcnt lgkmcnt(0)
s_barrier"""


def tile(
    between: str = "", after: str = "", *, first: int = 16, address: str = "v1", offset: str = "0"
) -> str:
    """Two tiles that are loaded and written to LDS one after the other, the second from v`first` on."""
    second = f"v[{first + 4}:{first + 7}]"
    texts = {"between": between, "after": after, "address": address, "offset": offset}
    body = _TILE.format(first=f"v[{first}:{first + 3}]", second=second, **texts)
    start = "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
    return loop(ARITHMETIC, before="\n".join(line for line in (start + body).splitlines() if line))


TILES = {  # the second tile: may its loads be issued before the wait for the first?
    "next tile": tile(),
    "next tile in other registers": tile(first=8),
    "next tile, advanced address": tile("s_add_u32 s9, s8, 64", offset="s9"),
    "next tile, wrapped address": tile(
        "s_sub_u32 s12, s12, 1\ns_cmp_eq_u32 s12, 0\ns_cselect_b32 s9, s10, s11\ns_add_u32 s4, s4, s9\n"
        "s_addc_u32 s5, s5, 0\ns_sub_u32 s6, s6, s9"
    ),
    "next tile, vector address": tile("v_add_u32_e32 v2, 64, v1", address="v2"),
    "next tile, address in use": tile("v_add_u32_e32 v1, 64, v1"),
    "next tile, loaded address": tile("v_add_u32_e32 v2, v8, v1", address="v2"),
    "next tile behind a store": tile("global_store_dword v1, v3, s[4:5]"),
    "next tile behind a barrier": tile("s_waitcnt lgkmcnt(0)\ns_barrier"),
    "next tile behind a barrier, after a store": tile("s_barrier").replace(
        "buffer_load", "global_store_dword v1, v3, s[4:5]\nbuffer_load", 1
    ),
    "next tile behind a barrier, after a flag": tile("s_barrier").replace(
        "buffer_load", "global_load_dword v3, v1, s[4:5] glc\nbuffer_load", 1
    ),
    "next tile behind a copy": tile("buffer_load_dword v1, s[4:7], 0 offen lds"),
    "next tile, other lanes": tile("s_mov_b64 exec, s[10:11]"),
    "next tile behind waits": tile("s_waitcnt lgkmcnt(0)\ns_waitcnt vmcnt(0)"),
    "next tile in two parts": tile(after="s_waitcnt vmcnt(1)\nv_add_f32_e32 v3, v16, v17"),
    "next tile of LDS": "s_load_dword s9, s[0:1], 0x0\n"
    "ds_read_b128 v[8:11], v1\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v2, v8, v9\n"
    "ds_read_b128 v[12:15], v1 offset:16\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v3, v12, v13\n"
    "ds_read_b128 v[16:19], v1 offset:32\ns_waitcnt lgkmcnt(0)\nv_add_f32_e32 v4, v16, v17\ns_endpgm",
    "next tile of LDS behind a barrier": "ds_read_b128 v[8:11], v1\ns_waitcnt lgkmcnt(0)\n"
    "v_add_f32_e32 v2, v8, v9\ns_barrier\nds_read_b128 v[12:15], v1\ns_waitcnt lgkmcnt(0)\n"
    "v_add_f32_e32 v3, v12, v13\ns_endpgm",
}
CALM = loop(ARITHMETIC)  # no pattern: arithmetic that depends on nothing


def captured(
    text: str,
    folder: Path,
    *,
    waves: int = 1,
    rounds: tuple[int, ...] = (ROUNDS,),
    groups: int = 1,
    skips: tuple[int, ...] = (1,),
) -> tuple[Trace, WaveBatch]:
    """Simulate a kernel with so many waves a SIMD, write it, and read it back.

    `rounds` are the iterations of the loops marked `n`, and `skips` those marked `skip`, by workgroup.
    """
    kernel = assemble(text, "_Z4testv", 9, {}, demangled="test()")
    launch = SyntheticLaunch(kernel, groups, {"n": rounds, "skip": skips}, resident=waves)
    simulated = build(Plan(replace(CDNA, slots=max(2, waves)), (launch,)))
    write_folder(simulated.capture, folder)
    trace = open_trace(folder)
    return trace, trace.reader.read(list(range(len(trace.waves))))
