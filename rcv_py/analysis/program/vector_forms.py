"""Floating-point operations per lane of a vector instruction (VALU), as far as its mnemonic states them.

```
v_add, v_sub, v_mul                      1        of AMD's metric "VALU FLOPs": add + mul + trans + 2 fma
v_exp, log, rcp, rsq, sqrt, sin, cos     1
v_fma, v_fmac, v_mad, v_mac, v_div_fmas  2
v_dotN                                  2 N       N products, each added
v_pk_                                    times the number of parts: 2
v_dual_a :: v_dual_b                     both
```
for the types f16, bf16, f32, f64 and mixes of them.  Comparisons, conversions, minima, maxima and integers
count 0.  ROCm Compute Profiler has the same rule: it counts all lanes of a wave whatever the execution mask
is, which is an upper bound: a capture does not have the mask.
"""

from __future__ import annotations

import re

import numpy as np

from rcv_py.base.text import number
from rcv_py.model.code import CodeTable

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
    return sum(_half(half) for half in _HALVES.split(text.strip()))


def _half(text: str) -> int:
    form = _FORM.match(text)
    if form is None:
        return 0
    each = 2 * number(form["pairs"]) if form["pairs"] else 2 if form["fused"] else 1
    return each * (2 if form["packed"] else 1)


def lane_flops_of(code: CodeTable) -> np.ndarray:
    """Return the operations of a lane in one execution of each instruction, float64 [code rows]."""
    return np.array([vector_flops(text) for text in code.text], dtype=np.float64)
