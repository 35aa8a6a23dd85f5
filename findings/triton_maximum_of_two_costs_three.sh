#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: tl.maximum of two numbers is v_max, one instruction. To ask that NaN comes through,
#   propagate_nan=tl.PropagateNan.ALL, is an extra demand, and costs at least as much. A maximum of three
#   numbers costs more than one of two.
# Instead: without the demand each operand that was loaded first goes through a v_max with itself, which quiets
#   a signalling NaN: three instructions for two numbers, two for tl.maximum(x, 0.0). A maximum of three is one
#   instruction, v_max3, with no such step, and a result of arithmetic needs none. With the demand gfx950,
#   gfx1201 and gfx1250 have one instruction for each of these, and for two numbers of FP16 gfx950 has a
#   packed one. On gfx90a, gfx942 and gfx1100 the demand costs a comparison and a selection, as expected.
# Seen (vector instructions of FP32, default | with NaN; x and y are loaded):
#                     gfx942  gfx950  gfx1201
#   max(x, y)         3 | 4   3 | 1   2 | 1   (2: of gfx1201's a pair is one v_dual_max_num)
#   max(x, 0)         2 | 4   2 | 1   2 | 1
#   max(max(x, y), 1) 1 | 7   1 | 1   1 | 1
#   max(x * y, 0)     2 | 5   2 | 2   2 | 2
# Why it matters: a ReLU or a running maximum is two or three times the vector instructions that its line has in
#   the mind of its author, and the listing shows v_max_f32 v1, v1, v1, which looks like dead code. On
#   MI350 and RDNA4 the careful spelling is the cheap one; taken over to MI300 it doubles the cost.
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


@triton.jit
def largest(a, b, c, WHICH: tl.constexpr, NAN: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y = tl.load(a + at), tl.load(b + at)
    if WHICH == "max(x, y)":
        z = tl.maximum(x, y, NAN)
    elif WHICH == "max(x, 0)":
        z = tl.maximum(x, 0.0, NAN)
    elif WHICH == "max(max(x, y), 1)":
        z = tl.maximum(tl.maximum(x, y, NAN), 1.0, NAN)
    else:
        z = tl.maximum(x * y, 0.0, NAN)
    tl.store(c + at, z)


def arithmetic(kind, which, nan, target, wave):
    """The vector instructions between the loads and the store of one element a lane."""
    types = {name: "constexpr" for name in largest.arg_names} | dict.fromkeys("abc", f"*{kind}")
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for place in range(3)}
    source = ASTSource(largest, types, {"WHICH": which, "NAN": nan, "BLOCK": wave}, facts)
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options={"num_warps": 1}).asm["amdgcn"]
    code = [" ".join(line.split(";")[0].split()) for line in text.splitlines() if re.match(r"\s+v_\w+", line)]
    return [line for line in code if not re.match(r"v_lshl|v_nop", line)]  # addresses


GPUS = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32, "gfx1250": 32}
COSTLY = {"max(x, y)": (3, 4), "max(x, 0)": (2, 4), "max(max(x, y), 1)": (1, 7), "max(x * y, 0)": (2, 5)}
CHEAP = {"max(x, y)": (3, 1), "max(x, 0)": (2, 1), "max(max(x, y), 1)": (1, 1), "max(x * y, 0)": (2, 2)}
for target, wave in GPUS.items():
    for which in COSTLY:
        default = arithmetic("fp32", which, tl.PropagateNan.NONE, target, wave)
        careful = arithmetic("fp32", which, tl.PropagateNan.ALL, target, wave)
        print(f"{target:7} {which:18} {len(default)} | {len(careful)}")
        expected = (CHEAP if target in ("gfx950", "gfx1201", "gfx1250") else COSTLY)[which]
        if target.startswith("gfx1"):  # two maxima in one dual instruction, NaN as a literal of the selection
            expected = (2 if which == "max(x, y)" else expected[0], expected[1] - (target == "gfx1100"))
        assert (len(default), len(careful)) == expected, (default, careful)
        if which == "max(x, y)":
            itself = r"v_(dual_)?max(_num)?_f32(_e32)? (v\d+), \4, \4"
            assert re.match(itself, default[0]), default
            assert not any(re.match(itself, line) for line in careful), careful
half = arithmetic("fp16", "max(x, y)", tl.PropagateNan.ALL, "gfx950", 64)
assert len(half) == 1 and half[0].startswith("v_pk_maximum3_f16"), half
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
