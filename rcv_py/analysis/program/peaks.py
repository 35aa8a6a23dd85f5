"""Peak operations of a compute unit per cycle, by instruction set and number type.

They are peak rates of AMD's data sheets divided by compute units and peak engine clock, so a comparison needs
no clock: dense, a multiply-add counts as two operations.

```
gfx942   1,307.4 TFLOP/s of f16 / (304 CU x 2.1 GHz) = 2,048 per CU and cycle
gfx950   2,516.6 TFLOP/s of f16 / (256 CU x 2.4 GHz) = 4,096
gfx1100    122.8 TFLOP/s of f16 /  (96 CU x 2.5 GHz) =   512
```
"""

from __future__ import annotations

import re

import numpy as np

from rcv_py.analysis.program.matrix_forms import matrix_flops, matrix_types
from rcv_py.analysis.program.vector_forms import vector_flops
from rcv_py.model.code import CodeTable

MATRIX, VECTOR = "MFMA/WMMA", "VALU"

# Operations per compute unit and cycle of the matrix units, by operand type.
_CDNA1 = {"f32": 256, "f16": 1024, "bf16": 512, "i8": 1024}
_CDNA2 = {"f64": 256, "f32": 256, "f16": 1024, "bf16": 1024, "i8": 1024}
_CDNA3 = {"f64": 256, "f32": 256, "xf32": 1024, "f16": 2048, "bf16": 2048, "i8": 4096, "f8": 4096}
_CDNA4 = {"f64": 128, "f32": 256, "f16": 4096, "bf16": 4096, "i8": 8192, "f8": 8192, "f6f4": 16384}
_RDNA3 = {"f16": 512, "bf16": 512, "i8": 512, "i4": 1024}
_RDNA4 = {"f16": 1024, "bf16": 1024, "f8": 2048, "i8": 2048, "i4": 4096}
MATRIX_PEAKS = {
    "gfx908": _CDNA1,
    "gfx90a": _CDNA2,
    "gfx942": _CDNA3,
    "gfx950": _CDNA4,
    "gfx1100": _RDNA3,
    "gfx1101": _RDNA3,
    "gfx1102": _RDNA3,
    "gfx1200": _RDNA4,
    "gfx1201": _RDNA4,
}
# Vector arithmetic with all lanes active, including packed instructions and both halves of dual ones.
_OLD = {"f64": 64, "f32": 128, "f16": 256, "bf16": 256}
_RDNA = {"f64": 4, "f32": 256, "f16": 512, "bf16": 512}
VECTOR_PEAKS = {
    "gfx906": _OLD,
    "gfx908": _OLD,
    "gfx90a": {"f64": 128, "f32": 256, "f16": 256, "bf16": 256},
    "gfx942": {"f64": 128, "f32": 256, "f16": 256, "bf16": 256},
    "gfx950": {"f64": 128, "f32": 256, "f16": 256, "bf16": 256},
    "gfx1030": {"f64": 8, "f32": 128, "f16": 256, "bf16": 256},
    "gfx1100": _RDNA,
    "gfx1101": _RDNA,
    "gfx1102": _RDNA,
    "gfx1200": _RDNA,
    "gfx1201": _RDNA,
}
_SAME = {"gfx940": "gfx942", "gfx941": "gfx942", "gfx900": "gfx906"}

_FORMATS = re.compile(r"\b(?:cbsz|blgp):(\d)")
_VECTOR_TYPE = re.compile(r"_(f64|f32|bf16|f16)(?![a-z0-9])")
_TYPES = (  # operand types; the first that is in the mnemonic after the shape, else the result type
    ("xf32", "xf32"),
    ("fp8", "f8"),
    ("bf8", "f8"),
    ("bf16", "bf16"),
    ("f16", "f16"),
    ("f32", "f32"),
    ("f64", "f64"),
    ("i4", "i4"),
    ("u4", "i4"),
    ("i8", "i8"),
    ("u8", "i8"),
)


def matrix_type(text: str) -> str:
    """Return the operand type of a matrix instruction, a key of the peaks; "" if it is none."""
    out, operands = matrix_types(text)
    if "f8f6f4" in operands:  # formats 0 and 1 have eight bits; 0 is not printed
        formats = [int(digit) for digit in _FORMATS.findall(text)]
        return "f6f4" if len(formats) == 2 and min(formats) >= 2 else "f8"
    return next((name for part, name in _TYPES if part in operands), out)


def vector_type(text: str) -> str:
    """Return the type that a vector instruction computes with: the narrowest in its name; "" if none."""
    named = _VECTOR_TYPE.findall(text.split(" ", 1)[0])
    return named[-1] if named else ""


def matrix_peak(target: str, type_: str) -> float:
    """Return the matrix operations per compute unit and cycle, nan if unknown."""
    return float(MATRIX_PEAKS.get(_SAME.get(target, target), {}).get(type_, np.nan))


def vector_peak(target: str, type_: str) -> float:
    """Return the vector operations per compute unit and cycle, nan if unknown."""
    return float(VECTOR_PEAKS.get(_SAME.get(target, target), {}).get(type_, np.nan))


def kinds_of(code: CodeTable) -> list[tuple[str, str]]:
    """Return unit and type of the computation in each row; empty texts if it computes nothing."""
    return [_kind(text.strip()) for text in code.text]


def _kind(text: str) -> tuple[str, str]:
    if matrix_flops(text):
        return MATRIX, matrix_type(text)
    return (VECTOR, vector_type(text)) if vector_flops(text) else ("", "")
