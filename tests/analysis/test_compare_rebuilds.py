"""Builds that the simulator made from each other: how well they are aligned, and what is found in them.

A pair is right if the instruction of B was made from that of A, or from one of the same text close by: where one
of sixteen equal v_exp was removed, no text can tell which.
"""

from __future__ import annotations

import numpy as np
import pytest

from rcv_py.analysis.compare.align import Alignment, align
from rcv_py.analysis.compare.shapes import shape
from rcv_py.model.code import CodeTable
from rcv_py.synth.kernel_matmul import matmul_tiled
from rcv_py.synth.kernels import reduce, scale_rows
from rcv_py.synth.kernels_adverse import rivals
from rcv_py.synth.kernels_rdna import matmul_gfx11, matmul_gfx12
from rcv_py.synth.program import Kernel
from rcv_py.synth.rebuild import Edits, rebuilt
from tests.analysis.compare_cases import table

KERNELS = (matmul_tiled, reduce, scale_rows, rivals, matmul_gfx11, matmul_gfx12)
SEEDS = range(5)
NEAR = 16  # instructions


def code(kernel: Kernel) -> CodeTable:
    return table(["; " + kernel.demangled, *(one.text for one in kernel.instructions)])


def accuracy(edits: Edits, kernels: tuple[Callable[[], Kernel], ...] = KERNELS) -> tuple[float, float]:
    """Return precision and recall of the pairs, over some kernels and seeds."""
    good = found = true = 0
    for make in kernels:
        kernel = make()
        for seed in SEEDS:
            other = rebuilt(kernel, edits, seed)
            to_b = align(code(kernel), code(other.kernel)).to_b[1:] - 1
            origin = np.full(len(other.kernel.instructions), -1)
            kept = np.flatnonzero(other.to_b >= 0)
            origin[other.to_b[kept]] = kept
            rows = np.flatnonzero(to_b >= 0)
            good += sum(_is_right(kernel, row, int(origin[to_b[row]])) for row in rows.tolist())
            found, true = found + len(rows), true + len(kept)
    return good / found, good / true


def _is_right(kernel: Kernel, row: int, origin: int) -> bool:
    """Whether the partner of an instruction was made from it, or from its like nearby."""
    rows = kernel.instructions
    return origin >= 0 and abs(origin - row) <= NEAR and rows[origin].text == rows[row].text


@pytest.mark.parametrize(
    ("edits", "least"),
    [
        (Edits(), 1.0),
        (Edits(shift=4), 1.0),
        (Edits(inserted=6), 0.98),
        (Edits(removed=6), 0.98),
        (Edits(inserted=4, removed=4, shift=4), 0.96),
        (Edits(moved=2), 0.96),
        (Edits(inserted=3, removed=3, moved=1, shift=4), 0.93),
    ],
    ids=str,
)
def test_instructions_are_found_again_in_a_rebuild(edits: Edits, least: float) -> None:
    precision, recall = accuracy(edits)
    print(edits, round(precision, 4), round(recall, 4))
    assert precision >= least
    assert recall >= least
