#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: the barriers of a kernel order its accesses to LDS by a wait and s_barrier. Triton places them
#   for LDS, and its loads and stores of global memory exchange nothing within a workgroup.
# Instead, for RDNA3 and RDNA4: each barrier is followed by buffer_gl0_inv or global_inv scope:SCOPE_SE,
#   which empties the vector cache (L0) of the compute unit. A workgroup may lie on both compute units of
#   a WGP, each with a cache of its own, and the barrier is compiled as one of all memory. With the
#   compile option wgp_cu_mode="cu" the same kernels have none; for MI300 and gfx1250 they have none either.
# Seen (barriers, and instructions that empty the cache; a matmul, in all and in its loop, and a softmax):
#   gfx942  wgp  matmul  4 barriers  0 emptied   in the loop 4 and 0   softmax 3 and 0
#   gfx1100 wgp  matmul  3 barriers  3 emptied   in the loop 2 and 2   softmax 3 and 3
#   gfx1100 cu   matmul  3 barriers  0 emptied   in the loop 2 and 0   softmax 3 and 0
#   gfx1151 and gfx1201: as gfx1100, gfx1250: none in both modes
# Why it matters: what the next iteration would find in the 32 KB beside the compute unit is fetched again.
#   A trace shows a vector memory instruction at each barrier that no source line asks for and that moves
#   no byte, so that accesses counted by their instructions are too many. And a change of hit rates
#   between the two modes looks like the placement of waves, where it may be this.
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
def matmul(a, b, c, k, stride, SIZE: tl.constexpr):
    row = tl.arange(0, SIZE)[:, None]
    column = tl.arange(0, SIZE)[None, :]
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for start in range(0, k, SIZE):
        left = tl.load(a + row * stride + start + column)
        right = tl.load(b + (start + row) * stride + column)
        total = tl.dot(left, right, total)
    tl.store(c + row * stride + column, total)


@triton.jit
def softmax(a, b, c, k, stride, SIZE: tl.constexpr):
    at = tl.program_id(0) * stride + tl.arange(0, SIZE)
    inside = tl.arange(0, SIZE) < k
    values = tl.load(a + at, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(c + at, powers / tl.sum(powers, 0), mask=inside)


def counts(text):
    """Barriers of the text, and instructions that empty the vector cache."""
    barriers = re.findall(r"^\s+s_barrier(?:_wait\b|\s*$)", text, re.M)
    return len(barriers), len(re.findall(r"^\s+(?:buffer_gl0_inv|global_inv scope:SCOPE_SE)\b", text, re.M))


def assembly(kernel, size, target, wave, mode):
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32", "stride": "i32", "SIZE": "constexpr"}
    source = ASTSource(fn=kernel, signature=types, constexprs={"SIZE": size})
    options = {"num_warps": 4, "wgp_cu_mode": mode}
    made = triton.compile(source, target=GPUTarget("hip", target, wave), options=options)
    return made.asm["amdgcn"].split("\t.section")[0]


EMPTIES = "gfx1100", "gfx1151", "gfx1201"
for target, wave in ("gfx942", 64), ("gfx1100", 32), ("gfx1151", 32), ("gfx1201", 32), ("gfx1250", 32):
    for mode in "wgp", "cu":
        text = assembly(matmul, 64, target, wave, mode)
        loops = re.findall(r"^(\.LBB\w+):(.*?)^\s+s_cbranch_\w+ \1\b", text, re.M | re.S)
        loop = max(counts(body) for _, body in loops)
        whole, other = counts(text), counts(assembly(softmax, 4096, target, wave, mode))
        print(f"{target:7} {mode:3}  matmul {whole[0]:2} barriers {whole[1]:2} emptied  ", end="")
        print(f" in the loop {loop[0]} and {loop[1]}   softmax {other[0]} and {other[1]}")
        for barriers, emptied in whole, loop, other:
            assert barriers >= 2 and emptied == (barriers if mode == "wgp" and target in EMPTIES else 0)
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
