#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: libdevice.log1p(x) is the logarithm and a few instructions that keep the digits of a small x, as
#   libdevice.expm1 is the exponential and some more, and log10 costs what log does. A power with a constant
#   exponent, libdevice.pow(x, 2.0), becomes a multiplication, as clang makes of pow.
# Instead: log1p costs eight times as much as log(1 + x), as much as sinh. It never uses v_log_f32, and computes
#   an exponent in FP64, also on RDNA. pow(x, 2.0) takes 153 vector instructions, and so does pow(x, 0.5): the
#   general function of the device library, inlined as it is. (With the integer 2 it takes 139.)
# Seen (of FP32: vector instructions beyond those of a copy, FP64 ones among them; gfx942 | gfx1201):
#   log 13, 0 | 12, 0    log(1 + x)   14, 0 | 13, 0     log1p       115, 2 |  95, 2    log10 13, 0 | 12, 0
#   exp  9, 0 |  7, 0    exp(x) - 1   10, 0 |  8, 0     expm1        26, 0 |  22, 0    sinh 114, 0 | 95, 0
#   x * x 1, 0 | 1, 0    sqrt          1, 0 |  1, 0     pow(x, 2.0) 153, 2 | 133, 2    pow(x, 0.5) the same
#   softplus as log(1 + exp(x)) 23, 0 | 20, 0; as log1p(exp(x)) 118, 2 | 100, 2
# Why it matters: State-space models and losses use softplus, norms use a power of 2 or 0.5; it is one line in a
#   kernel that otherwise only loads and stores. In a trace it can be the hottest line, all plain vector
#   instructions where one expects an instruction of the transcendental unit. Where 1 + x keeps enough digits,
#   use log(1 + x); write x * x and tl.sqrt yourself.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/kernel.py" <<'PY'
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra import libdevice


@triton.jit
def of(a, b, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(a + at)
    if WHAT == "copy":
        y = x
    elif WHAT == "log":
        y = tl.log(x)
    elif WHAT == "log(1 + x)":
        y = tl.log(1 + x)
    elif WHAT == "log1p":
        y = libdevice.log1p(x)
    elif WHAT == "log10":
        y = libdevice.log10(x)
    elif WHAT == "exp":
        y = tl.exp(x)
    elif WHAT == "exp(x) - 1":
        y = tl.exp(x) - 1
    elif WHAT == "expm1":
        y = libdevice.expm1(x)
    elif WHAT == "sinh":
        y = libdevice.sinh(x)
    elif WHAT == "x * x":
        y = x * x
    elif WHAT == "sqrt":
        y = tl.sqrt(x)
    elif WHAT == "pow(x, 2.0)":
        y = libdevice.pow(x, 2.0)
    elif WHAT == "pow(x, 0.5)":
        y = libdevice.pow(x, 0.5)
    elif WHAT == "pow(x, 2)":
        y = libdevice.pow(x, 2)
    elif WHAT == "log(1 + exp(x))":
        y = tl.log(1 + tl.exp(x))
    elif WHAT == "log1p(exp(x))":
        y = libdevice.log1p(tl.exp(x))
    tl.store(b + at, y)


def vector_code(what, target, wave):
    """The vector instructions of the kernel."""
    types = {"a": "*fp32", "b": "*fp32", "WHAT": "constexpr", "BLOCK": "constexpr"}
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for place in range(2)}
    source = ASTSource(of, types, {"WHAT": what, "BLOCK": wave}, facts)
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options={"num_warps": 1}).asm["amdgcn"]
    return re.findall(r"^\s+(v_\w+)", text, re.M)


SEEN = {
    "log": (13, 0, 12, 0), "log(1 + x)": (14, 0, 13, 0), "log1p": (115, 2, 95, 2), "log10": (13, 0, 12, 0),
    "exp": (9, 0, 7, 0), "exp(x) - 1": (10, 0, 8, 0), "expm1": (26, 0, 22, 0), "sinh": (114, 0, 95, 0),
    "x * x": (1, 0, 1, 0), "sqrt": (1, 0, 1, 0), "pow(x, 2.0)": (153, 2, 133, 2),
    "pow(x, 0.5)": (153, 2, 133, 2), "pow(x, 2)": (139, 2, 119, 2),
    "log(1 + exp(x))": (23, 0, 20, 0), "log1p(exp(x))": (118, 2, 100, 2),
}
copies = [len(vector_code("copy", "gfx942", 64)), len(vector_code("copy", "gfx1201", 32))]
for what, expected in SEEN.items():
    codes = vector_code(what, "gfx942", 64), vector_code(what, "gfx1201", 32)
    found = ()
    for code, copy in zip(codes, copies):
        found += len(code) - copy, sum("f64" in each for each in code)
    print(f"{what:16} gfx942 {found[:2]} gfx1201 {found[2:]}")
    assert found == expected
    if what == "log1p":
        assert not any("v_log_f32" in each for code in codes for each in code)
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
