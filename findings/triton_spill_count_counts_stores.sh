#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: .vgpr_spill_count of the metadata says how many VGPRs were spilled. A lane keeps 4 bytes of
#   each in scratch, so that it is about .private_segment_fixed_size / 4.
# Instead: it is the number of dwords that the spill stores of the code move, each instruction of the
#   text counted once. Values that are spilled at different places share a slot, so the number is
#   above that of slots, and above all registers that a wave can have.
# Seen (a matmul of 128 x 128 x 64, three stages, gfx1100):
#   metadata: 407 VGPRs spilled, of 256 in use
#   scratch: 700 bytes a lane, that is 175 dwords
#   dwords moved by all scratch stores of the text: 407
# Why it matters: "407 spilled registers" is read as 407 loads and stores a wave, or as registers to
#   save. It is neither: what a wave moves depends on which blocks run how often, and 175 dwords
#   would hold all. Of two builds the one with the higher number may well spill less.
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
def multiply(a, b, c, rows, columns, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    across = tl.cdiv(columns, N)
    row = tl.program_id(0) // across * M + tl.arange(0, M)
    column = tl.program_id(0) % across * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    left = a + row[:, None] * depth + inner[None, :]
    right = b + inner[:, None] * columns + column[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, depth, K):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += K
        right += K * columns
    tl.store(c + row[:, None] * columns + column[None, :], total.to(tl.float16))


types = {name: "*fp16" for name in "abc"} | {name: "i32" for name in ("rows", "columns", "depth")}
sizes = {"M": 128, "N": 128, "K": 64}
source = ASTSource(fn=multiply, signature=types | dict.fromkeys(sizes, "constexpr"), constexprs=sizes,
                   attrs={(place,): [["tt.divisibility", 16]] for place in range(6)})
made = triton.compile(source, target=GPUTarget("hip", "gfx1100", 32), options={"num_warps": 4, "num_stages": 3})
text = made.asm["amdgcn"]
spilled, used, scratch = (
    int(re.search(rf"\.{name}: +(\d+)", text)[1])
    for name in ("vgpr_spill_count", "vgpr_count", "private_segment_fixed_size")
)
moved = sum(int(bits) // 32 for bits in re.findall(r"\tscratch_store_b(\d+) ", text))
print(f"metadata: {spilled} VGPRs spilled, of {used} in use")
print(f"scratch: {scratch} bytes a lane, that is {scratch // 4} dwords")
print("dwords moved by all scratch stores of the text:", moved)
assert spilled == moved > used
assert scratch // 4 < spilled / 2
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
