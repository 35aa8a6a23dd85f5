"""The unit and the number type of each operation that peak rates are known for."""

from __future__ import annotations

import re

from rcv_py.analysis.program.matrix_forms import matrix_flops, matrix_types
from rcv_py.analysis.program.vector_forms import vector_flops
from rcv_py.model.code import CodeTable

MATRIX, VECTOR = "MFMA/WMMA", "VALU"

_FORMATS = re.compile(r"\b(?:cbsz:|blgp:|matrix_[ab]_fmt:MATRIX_FMT_)(\w+)")
_EIGHT_BITS = {"0", "1", "FP8", "BF8"}
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
    ("f4", "f6f4"),
)


def matrix_type(text: str) -> str:
    """Return the operand type of a matrix instruction, a key of the peaks; "" if it is none."""
    out, operands = matrix_types(text)
    if "f8f6f4" in operands:  # the first format is not printed
        formats = _FORMATS.findall(text)
        return "f6f4" if len(formats) == 2 and not {*formats} & _EIGHT_BITS else "f8"
    return next((name for part, name in _TYPES if part in operands), out)


def vector_type(text: str) -> str:
    """Return the type that a vector instruction computes with: the narrowest in its name; "" if none."""
    named = _VECTOR_TYPE.findall(text.split(" ", 1)[0])
    return named[-1] if named else ""


def kinds_of(code: CodeTable) -> list[tuple[str, str]]:
    """Return unit and type of the computation in each row; empty texts if it computes nothing."""
    return [_kind(text.strip()) for text in code.text]


def _kind(text: str) -> tuple[str, str]:
    if matrix_flops(text):
        return MATRIX, matrix_type(text)
    return (VECTOR, vector_type(text)) if vector_flops(text) else ("", "")
