"""What operations compute: their unit and number type, and floating-point operations of vector instructions.

```
v_add, v_sub, v_mul                      1        of AMD's metric "VALU FLOPs": add + mul + trans + 2 fma
v_exp, log, rcp, rsq, sqrt, sin, cos     1
v_fma, v_fmac, v_mad, v_mac, v_div_fmas  2
v_dotN                                  2 N       N products, each added
v_pk_                                    times the number of parts: 2
v_dual_a :: v_dual_b                     both
```
per lane, for the types f16, bf16, f32, f64 and mixes of them.  Comparisons, conversions, minima, maxima and
integers count 0.  ROCm Compute Profiler has the same rule: it counts all lanes of a wave whatever the
execution mask is, which is an upper bound: a capture does not have the mask.
"""

import re

import numpy as np

from rcv_py.analysis.program.matrix_forms import matrix_flops, matrix_types
from rcv_py.base.text import number
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
    found = []
    for text in map(str.strip, code.text):
        if matrix_flops(text):
            found.append((MATRIX, matrix_type(text)))
        else:
            found.append((VECTOR, vector_type(text)) if vector_flops(text) else ("", ""))
    return found


_FORM = re.compile(
    r"v_(?:dual_)?(?P<packed>pk_)?(?:"
    r"(?P<fused>fma|fmac|fmaak|fmamk|mad|mac|madak|madmk|fma_mix|fma_mixlo|fma_mixhi|mad_mix|mad_mixlo|mad_mixhi"
    r"|div_fmas)(?:_legacy)?"
    r"|dot(?P<pairs>\d)c?"
    r"|(?:add|sub|subrev|mul|mul_dx9_zero|exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos)(?:_legacy)?"
    r")_(?:f16|bf16|f32|f64)(?![a-z])"
)
_HALVES = re.compile(r"\s*::\s*")


def vector_flops(text: str) -> int:
    """Return the floating-point operations of one execution by a lane; 0 if the mnemonic states none."""
    total = 0
    for form in filter(None, map(_FORM.match, _HALVES.split(text.strip()))):
        each = 2 * number(form["pairs"]) if form["pairs"] else 2 if form["fused"] else 1
        total += each * (2 if form["packed"] else 1)
    return total


def lane_flops_of(code: CodeTable) -> np.ndarray:
    """Return the operations of a lane in one execution of each instruction, float64 [code rows]."""
    return np.array([vector_flops(text) for text in code.text], dtype=np.float64)
