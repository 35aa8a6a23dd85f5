"""Where above its place an instruction could stand, and what says why not."""

import re

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.waits.hoisting import BELOW, HERE, NEVER, STAYS, room_above, why_not_before
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support.opened import sample_trace

PROGRAM = (
    "; kernel",
    "v_mov_b32_e32 v0, 1",
    "v_mov_b32_e32 v9, v3",
    "global_load_dword v2, v0, s[4:5]",
    "s_waitcnt vmcnt(0)",
    "v_mul_f32_e32 v5, v6, v6",
    "global_load_dword v7, v0, s[4:5]",
    "global_store_dword v[10:11], v5, off",
    "s_endpgm",
)


def program() -> Trace:
    table = build.code(PROGRAM, hits=[0, *[4] * (len(PROGRAM) - 1)])
    return build.trace(replace(table, hits=np.where(np.arange(len(PROGRAM)) == 2, 0, table.hits)), [])


def test_a_load_stays_behind_what_writes_its_address() -> None:
    trace = program()
    reason = "Instruction 1, v_mov_b32_e32: its address or the execution mask is written there."
    assert room_above(trace, 6).top == 2
    assert why_not_before(trace, 6, 4) == ""
    assert why_not_before(trace, 6, 1) == reason


def test_what_cannot_be_tried_anywhere_says_so() -> None:
    trace = program()
    assert why_not_before(trace, 2, 1) == NEVER
    for stays in (4, 5, 7):
        assert why_not_before(trace, stays, 3) == STAYS
    assert why_not_before(trace, 6, 6) == why_not_before(trace, 6, 7) == HERE
    assert why_not_before(trace, 3, 6) == BELOW


def reads_and_writes(text: str) -> tuple[set[str], set[str]]:
    """Registers: the first operand is what it writes, unless it is a store."""
    _, _, rest = text.partition(" ")
    operands = [
        {f"{kind}{n}" for kind, low, high in re.findall(r"\b([vas])\[?(\d+)(?::(\d+))?", part)
         for n in range(int(low), int(high or low) + 1)}
        for part in rest.split(",")
    ]  # fmt: skip
    is_store = "store" in text or "write" in text
    written = set() if is_store else operands[0]
    return set().union(*operands[0 if is_store else 1 :]), written


@pytest.mark.parametrize("name", ["matmul_small", "tutorial_before", "gfx12"])
def test_nothing_passes_what_it_depends_on(name: str) -> None:
    trace = sample_trace(name)
    seen = 0
    for row in np.flatnonzero(trace.code.hits)[::3].tolist():
        room = room_above(trace, row)
        assert 0 <= room.top <= row
        assert room.why
        reads, writes = reads_and_writes(trace.code.text[row])
        for passed in range(room.top, row):
            text = trace.code.text[passed]
            assert not text.startswith(("s_barrier", "s_cbranch", "s_branch")), (row, passed)
            assert "load" in trace.code.text[row] or not text.startswith("s_wait"), (row, passed)
            other_reads, other_writes = reads_and_writes(text)
            assert not other_writes & reads, (row, passed)
            assert not {*other_reads, *other_writes} & writes, (row, passed)
            assert why_not_before(trace, row, passed) == ""
            seen += 1
    assert seen
