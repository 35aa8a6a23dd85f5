#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: a GPU without FP8 instructions multiplies all four FP8 types in the same way: they are widened
#   to FP16, which holds each value of them, and go to the matrix cores. So on MI100 and MI200 the choice
#   of the type decides about the conversion only.
# Instead: it decides about the matrix cores. fp8e4nv and fp8e5 are multiplied by v_mfma of FP16. The
#   types that MI300 has, fp8e4b8 and fp8e5b16 (called fnuz elsewhere), are multiplied by v_fma of FP32,
#   one product a lane, or two in a packed one: an eighth of the peak of the matrix cores on MI100, and
#   a quarter on MI200. gfx950, which lacks these two types as well, widens them and uses matrix instructions.
# Seen (a matmul of 64 x 64 x 64, instructions of the text):
#   gfx908  fp8e4nv   8 v_mfma,    0 FMA    gfx90a  fp8e4nv   8 v_mfma,   0 FMA
#   gfx908  fp8e5     8 v_mfma,    0 FMA    gfx90a  fp8e5     8 v_mfma,   0 FMA
#   gfx908  fp8e4b8   0 v_mfma, 1024 FMA    gfx90a  fp8e4b8   0 v_mfma, 512 packed FMA
#   gfx908  fp8e5b16  0 v_mfma, 1024 FMA    gfx90a  fp8e5b16  0 v_mfma, 512 packed FMA
#   gfx942  fp8e4b8   4 v_mfma,    0 FMA    gfx950  fp8e4b8   8 v_mfma,   0 FMA
# Why it matters: weights in the types of MI300 multiply on MI250 at a quarter of the speed that the same
#   bytes have in the other types, with no warning. The trace of a kernel that is all tl.dot shows no
#   matrix instruction, which looks like a wrong tile. A cast to FP16 before tl.dot brings them back.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/kernel.py" <<'PY'
import re
import warnings

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

warnings.simplefilter("ignore")  # gfx950 deprecates two of the types


@triton.jit
def product(a, b, c, k, stride, WIDEN: tl.constexpr, SIZE: tl.constexpr):
    row = tl.arange(0, SIZE)[:, None]
    column = tl.arange(0, SIZE)[None, :]
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for start in range(0, k, SIZE):
        left = tl.load(a + row * stride + start + column)
        right = tl.load(b + (start + row) * stride + column)
        if WIDEN:
            left, right = left.to(tl.float16), right.to(tl.float16)
        total = tl.dot(left, right, total)
    tl.store(c + row * stride + column, total)


def counts(target, kind, widen=False):
    """Matrix instructions and multiply-adds of the text."""
    types = {"a": f"*{kind}", "b": f"*{kind}", "c": "*fp32", "k": "i32", "stride": "i32"}
    types |= {"WIDEN": "constexpr", "SIZE": "constexpr"}
    source = ASTSource(fn=product, signature=types, constexprs={"WIDEN": widen, "SIZE": 64})
    made = triton.compile(source, target=GPUTarget("hip", target, 64), options={"num_warps": 4})
    text = made.asm["amdgcn"]
    return len(re.findall(r"\bv_mfma_", text)), len(re.findall(r"\bv_(?:pk_)?fma(?:c|_mix)?_f", text))


seen = {}
for target in "gfx908", "gfx90a", "gfx942", "gfx950":
    for kind in "fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16":
        matrix, fma = seen[target, kind] = counts(target, kind)
        print(f"{target:7} {kind:8} {matrix:2} matrix instructions, {fma:4} multiply-adds")
for (target, kind), (matrix, fma) in seen.items():
    lacks = target in ("gfx908", "gfx90a") and kind in ("fp8e4b8", "fp8e5b16")
    assert (matrix == 0 and fma >= 512) if lacks else (matrix > 0 and fma < 100), (target, kind, matrix, fma)
matrix, fma = counts("gfx90a", "fp8e4b8", widen=True)
print(f"gfx90a  fp8e4b8 cast to FP16 before tl.dot: {matrix} matrix instructions, {fma} multiply-adds")
assert matrix == seen["gfx90a", "fp8e4nv"][0] and fma == 0
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
