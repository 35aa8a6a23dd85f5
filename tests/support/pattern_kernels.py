"""Small kernels, each with one pattern that costs cycles, under the name of the finding it must lead to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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
