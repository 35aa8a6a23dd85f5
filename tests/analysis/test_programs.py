"""What a program takes, from its instructions and its descriptor."""

import pytest

from rcv_py.analysis.compare.programs import program_facts
from rcv_py.model.kinds import TokenKind
from rcv_py.model.resources import AllocatedRegisters, RunFacts
from tests.support.code_samples import code_table, trace

# What clang 22 makes of the same spill for gfx90a and for gfx942, and accesses that are no spills.
BUFFERS = ("buffer_store_dword v7, off, s[8:11], 0 offset:572", "buffer_load_dword v7, off, s[8:11], 0")
SCRATCH = ("scratch_store_dwordx2 off, v[6:7], off offset:16",)
OTHERS = ("buffer_load_dword v1, v0, s[0:3], 0 offen", "global_load_dword v3, v[4:5], off")


@pytest.mark.parametrize(
    ("texts", "scratch", "spills"),
    [
        (BUFFERS + OTHERS, 2420, 2),
        (SCRATCH + OTHERS, 2436, 1),
        (SCRATCH + BUFFERS, 2436, 1),  # a GPU with instructions for scratch memory needs no buffers for it
        (BUFFERS + OTHERS, 0, 0),  # a buffer of the program
        (BUFFERS + OTHERS, -1, 0),
    ],
)
def test_accesses_of_scratch_memory_are_counted_on_all_gpus(
    texts: tuple[str, ...], scratch: int, spills: int
) -> None:
    code = code_table(tuple((text, TokenKind.VMEM, 0, 0, 0, 0, ()) for text in texts))
    facts = RunFacts(allocated=AllocatedRegisters(128, 16, 0, "k.co", scratch))
    assert program_facts(trace(code), facts).spills == spills
