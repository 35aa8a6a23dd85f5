"""Blocks, branches and loops of real kernels, and of the captures with reference results."""

import numpy as np
import pytest

from rcv_py.analysis.program.blocks import blocks
from rcv_py.analysis.program.loops import loops
from rcv_py.model.kinds import TokenKind
from tests.analysis.in_memory import jumps, kind_latency
from tests.analysis.test_blocks import (
    test_blocks_are_run_as_a_whole,  # noqa: F401
    test_branches_of_all_waves_tell_what_became_of_every_execution,  # noqa: F401
)
from tests.real.captures import real_trace
from tests.support.read_twice import GoldenCase


@pytest.mark.parametrize(
    ("name", "first", "stop", "rounds", "entries"),
    [("preshuffle_gemm", 206, 347, 1020, 68), ("flash_attn_small_after", 471, 1911, 32, 8)],
)
def test_the_loop_of_a_real_kernel(name: str, first: int, stop: int, rounds: int, entries: int) -> None:
    trace = real_trace(name)
    found = jumps([trace.reader.read(list(range(len(trace.waves))))], trace.code)
    ring = loops(blocks(trace.code, found), found)
    assert (ring.first.tolist(), ring.stop.tolist()) == ([first], [stop])
    assert (ring.rounds.tolist(), ring.entries.tolist()) == ([rounds], [entries])


def test_cycles_by_kind_add_up(case: GoldenCase) -> None:
    code = case.trace.code
    kinds = kind_latency(case.batches, len(code)).cycles
    np.testing.assert_array_equal(kinds.sum(axis=1), code.latency)
    total = np.zeros(16, dtype=np.int64)
    for row in case.golden["waves"]:
        total += row["type_cycles"]
    assert kinds.sum(axis=0).tolist() == total[: kinds.shape[1]].tolist()
    assert kinds[:, TokenKind.JUMP].sum() == total[TokenKind.JUMP]
