"""Accesses of scratch memory: what LLVM makes of stacks and spills, and how findings and Compare count them.

The texts are those of llc 14 for kernels with an array on the stack, with a function that has one, and with
spilled registers beside buffers of the program.  `*` marks what llc's comments and the source call the stack.
"""

import numpy as np
import pytest

from rcv_py.analysis.compare.programs import program_facts
from rcv_py.analysis.program.scratch import scratch_accesses
from rcv_py.model.code import CodeTable
from rcv_py.model.kinds import TokenKind
from tests.support.code_samples import code_table, trace

ARRAY = """
 s_load_dword s6, s[4:5], 0x8
 s_add_u32 s0, s0, s9
 s_addc_u32 s1, s1, 0
*buffer_store_dword v2, v0, s[0:3], 0 offen
*buffer_load_dword v0, v0, s[0:3], 0 offen glc
*buffer_load_dword v1, off, s[0:3], 0 offset:32 glc
 s_load_dwordx2 s[4:5], s[4:5], 0x0
 s_endpgm
"""
FUNCTION = """
*buffer_store_dword v40, off, s[0:3], s32 offset:260
 s_mov_b32 s33, s32
*buffer_store_dword v41, off, s[0:3], s33
*buffer_store_dword v1, v0, s[0:3], 0 offen
 s_load_dwordx2 s[16:17], s[16:17], 0x0
 s_swappc_b64 s[30:31], s[16:17]
*buffer_load_dword v41, off, s[0:3], s33
 s_setpc_b64 s[30:31]
"""
SPILLING = """
 s_mov_b64 s[10:11], s[2:3]
 s_mov_b64 s[8:9], s[0:1]
 s_load_dwordx4 s[0:3], s[4:5], 0x10
 s_load_dword s6, s[4:5], 0x20
 s_add_u32 s8, s8, s7
 s_addc_u32 s9, s9, 0
 buffer_load_dwordx4 v[0:3], v30, s[0:3], 0 offen
*buffer_store_dword v0, off, s[8:11], 0 offset:4
 buffer_load_dwordx4 v[0:3], off, s[0:3], s6
*buffer_load_dword v1, off, s[8:11], 0 offset:20
 buffer_store_dword v0, off, s[0:3], s6
 s_endpgm
"""
UNOPTIMIZED = """
 s_load_dwordx4 s[24:27], s[16:17], 0x10
 buffer_load_dwordx4 v[3:6], v3, s[24:27], s8 offen
*buffer_store_dword v3, off, s[0:3], 0 offset:8
 s_mov_b64 s[26:27], s[2:3]
 s_mov_b64 s[24:25], s[0:1]
 s_mov_b64 s[0:1], s[24:25]
 s_mov_b64 s[2:3], s[26:27]
 s_swappc_b64 s[30:31], s[16:17]
*buffer_load_dword v1, off, s[0:3], 0 offset:8
 s_endpgm
"""
CLEAN = """
 s_load_dword s6, s[4:5], 0x20
 s_load_dwordx4 s[0:3], s[4:5], 0x10
 buffer_load_dwordx4 v[0:3], v5, s[0:3], 0 offen
 buffer_load_dwordx4 v[1:4], off, s[0:3], s6
 s_cbranch_scc1 2
 s_endpgm
 buffer_store_dword v0, off, s[0:3], s6
 s_endpgm
"""
BUILT = """
 s_mov_b32 s2, -1
 s_mov_b32 s3, 0x27000
 buffer_load_dword v0, off, s[0:3], 0
 s_endpgm
"""
NEWER = """
*scratch_store_dword off, v0, s32 offset:4
*scratch_load_dword v0, v1, off
 buffer_load_dword v0, v1, s[0:3], 0 offen
 global_load_dword v3, v[4:5], off
 s_endpgm
"""
RAW = """
 s_unknown 0xbf8c0070
 buffer_load_dword v0, off, s[0:3], 0
"""


def drawn(*pictures: str) -> tuple[CodeTable, list[bool]]:
    lines = [line for picture in pictures for line in picture.strip("\n").split("\n")]
    rows = tuple((line[1:], TokenKind.VMEM, 0, 0, 0, 0, ()) for line in lines)
    return code_table(rows), [line[0] == "*" for line in lines]


@pytest.mark.parametrize(
    "pictures",
    [
        *((one,) for one in (ARRAY, FUNCTION, SPILLING, UNOPTIMIZED, CLEAN, BUILT, NEWER, RAW)),
        (CLEAN, FUNCTION[:-1].replace("*", " ;function\n*", 1)),
        (FUNCTION, ARRAY, CLEAN),
    ],
)
def test_accesses_of_scratch_memory_are_told_from_buffers_of_the_program(pictures: tuple[str, ...]) -> None:
    code, expected = drawn(*pictures)
    assert scratch_accesses(code).tolist() == expected
    facts = program_facts(trace(code), None)
    assert facts.spills == np.count_nonzero(expected)
