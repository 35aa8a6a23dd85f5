"""Captures for comparisons, with a truth that is known: what each execution of each line costs."""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.model.code import CodeTable, Kernel
from rcv_py.model.tokens import Tokens
from tests.analysis import build
from tests.analysis.in_memory import capture_costs

PROGRAM = (
    "; kernel",
    "s_load_dwordx2 s[0:1], s[2:3], 0x0",
    "v_add_u32_e32 v1, v2, v3",
    "s_waitcnt vmcnt(0)",
    "v_mul_f32_e32 v4, v5, v6",
    "ds_read_b32 v7, v8",
    "s_endpgm",
)
STALLS = (0, 8, 0, 100, 4, 12, 40)  # cycles an execution of each line


def table(text: Sequence[str] = PROGRAM, kernel: str = "kernel") -> CodeTable:
    """A program of one kernel with words of 4 bytes."""
    code = build.code(list(text))
    address = np.arange(len(text), dtype=np.uint64) * np.uint64(4)
    return replace(code, address=address, kernels=(Kernel(kernel, kernel, 0, len(text)),))


def tokens(lines: Sequence[int], stalls: Sequence[int], begin: int) -> Tokens:
    """Executions one behind the other, each 4 cycles of issue after its stall."""
    stall = np.array(stalls)
    return build.tokens(begin, np.cumsum(stall + 4) - stall - 4, stall, 4, line=lines)


def costs(
    code: CodeTable,
    stalls: Sequence[int],
    *,
    rounds: Sequence[int] = (3,) * 16,
    spread: float = 0.02,
    seed: int = 1,
    has_launch: bool = False,
) -> CaptureCosts:
    """A capture of one wave a workgroup, each started on its own; all lines but the label run `rounds` times.

    A line's stall is that of `stalls`, longer or shorter by `spread` from one wave to the other.  Unless
    `has_launch` the capture does not say when waves of the device began and ended.
    """
    rng = np.random.default_rng(seed)
    waves = []
    for row, turns in enumerate(rounds):
        lines = [line for _ in range(turns) for line in range(1, len(code) - 1)] + [len(code) - 1]
        factor = 1 + spread * rng.standard_normal()
        each = [max(0, round(stalls[line] * factor)) for line in lines]
        begin = 100 + 128 * row
        one = tokens(lines, each, begin)
        end = int(one.end.max())
        waves.append(build.of_tokens(one, row=row, begin=begin, end=end, place=(row % 2, 0, row, 0)))
    trace = build.trace(code, waves)
    found = capture_costs(trace, [build.batch(*waves)] if waves else [])
    return found if has_launch else replace(found, launch=None)
