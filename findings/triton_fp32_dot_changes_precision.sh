#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: tl.dot of two FP32 blocks, as written, multiplies in the same precision on MI300X and on its
#   successor MI355X, or says that it does not.
# Instead: the default is TF32 where the target has it. gfx942 has xf32 matrix instructions and takes them:
#   10 bits of mantissa. gfx950 no longer has them and multiplies all 24 bits, with twice the matrix
#   instructions. Nothing is printed. input_precision="tf32", which is what gfx942 did, is refused on
#   gfx950; "ieee" and "bf16x3" are taken by both.
# Seen (64x64x64, four waves): gfx942 16 v_mfma_f32_32x32x4_xf32; gfx950 32 v_mfma_f32_32x32x2_f32;
#   with "ieee" both 32 v_mfma_f32_32x32x2_f32; with "tf32" gfx950 raises CompilationError.
# Why it matters: results differ between two generations of one product line, by what 10 bits leave out, and
#   a comparison of their traces compares two algorithms: the newer device issues twice the matrix
#   instructions. State the precision before comparing.
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
from triton.compiler import ASTSource, CompilationError


@triton.jit
def multiply(a, b, c, HOW: tl.constexpr):
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    if HOW == "default":
        product = tl.dot(tl.load(a + at), tl.load(b + at))
    else:
        product = tl.dot(tl.load(a + at), tl.load(b + at), input_precision=HOW)
    tl.store(c + at, product)


def instructions(kernel, types, constants, target, wave, **options):
    """The instructions of a kernel whose arguments are aligned pointers to less than 2 GB."""
    types = {name: types.get(name, "constexpr") for name in kernel.arg_names}
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]]
             for place, kind in enumerate(types.values()) if kind.startswith("*")}
    source = ASTSource(kernel, types, constants, facts)
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options=options).asm["amdgcn"]
    return [" ".join(line.split(";")[0].split()) for line in text.splitlines() if re.match(r"\s+[a-z]+_\w+", line)]


def matrix(target, how):
    """The matrix instructions of the product, and how many there are; None if it is refused."""
    types = {name: "*fp32" for name in "abc"}
    try:
        code = instructions(multiply, types, {"HOW": how}, target, 64)
    except CompilationError:
        return None
    opcodes = [line.split()[0] for line in code if line.startswith("v_mfma")]
    return {opcode: opcodes.count(opcode) for opcode in opcodes}


XF32, FP32 = {"v_mfma_f32_32x32x4_xf32": 16}, {"v_mfma_f32_32x32x2_f32": 32}
SEEN = {"default": (XF32, FP32), "tf32": (XF32, None), "ieee": (FP32, FP32)}
for how, expected in SEEN.items():
    found = matrix("gfx942", how), matrix("gfx950", how)
    print(how, *found)
    assert found == expected, expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py" 2> /dev/null
