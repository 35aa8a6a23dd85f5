"""Floating-point (or integer) operations of matrix instructions, from the shape in the mnemonic.

One execution of `v_mfma_f32_MxNxK_Bb_type` multiplies B pairs of an M x K by a K x N matrix:
2 * M * N * K * B operations of the whole wave (AMD CDNA 3 ISA guide, MFMA).  Mnemonics spelled as on gfx908
and gfx90a leave the number of blocks out; the table has theirs.  Sparse
forms (`smfmac`, `swmmac`) count as the dense product they stand for.
"""

from __future__ import annotations

import re

import numpy as np

from rcv_py.model.code import CodeTable

_SHAPE = re.compile(
    r"v_s?(?:mfmac?|wmmac?)_(?:scale(?:16)?_)?[a-z0-9]+_"
    r"(?P<m>\d{1,4})x(?P<n>\d{1,4})x(?P<k>\d{1,4})(?P<is_new>_)?(?:(?P<blocks>\d{1,3})b_)?(?P<type>[a-z0-9_]*)"
)
_BLOCKS_BY_M = {32: 2, 16: 4, 4: 16}
# (K, type) of the forms with several blocks where the old spelling does not say so, at every M of the table.
_SEVERAL = {(1, "f32"), (4, "f16"), (4, "i8"), (2, "bf16"), (4, "bf16_1k")}


def matrix_flops(text: str) -> int:
    """Return the operations of one execution by a wave; 0 for what is no matrix instruction."""
    shape = _SHAPE.match(text)
    if shape is None:
        return 0
    m, n, k = int(shape["m"]), int(shape["n"]), int(shape["k"])
    return 2 * m * n * k * _blocks(shape, m, k)


def _blocks(shape: re.Match[str], m: int, k: int) -> int:
    if shape["blocks"]:
        return int(shape["blocks"])
    if shape["is_new"]:
        return 1
    if (m, k, shape["type"]) == (4, 4, "f64"):
        return 4
    return _BLOCKS_BY_M.get(m, 1) if (k, shape["type"]) in _SEVERAL else 1


def flops_of(code: CodeTable) -> np.ndarray:
    """Return the operations of one execution of each instruction, float64 [code rows]."""
    return np.array([matrix_flops(text.strip()) for text in code.text], dtype=np.float64)
