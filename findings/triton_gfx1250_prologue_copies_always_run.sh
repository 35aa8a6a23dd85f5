#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: of a pipelined loop the loads that are issued before it follow a check that the loop
#   has so many iterations, or have their lanes off. So a loop of one iteration loads one tile.
# Instead, for gfx1250: all copies to LDS that stand before the loop are in the entry's straight line
#   and run with all lanes. Where an iteration does not exist only the LDS address is replaced, by
#   0x7fffffff, which lies outside of LDS and drops the data. With num_stages=4 a loop of one
#   iteration copies three tiles for one. For gfx950 the same kernel has branches around them.
# Seen (matmul of 64 x 64 x 32):
#   gfx950  num_stages=4: 4 copies before the loop, 0 LDS addresses replaced, branches before or between: yes
#   gfx1250 num_stages=2: 4 copies before the loop, 4 LDS addresses replaced, branches before or between: no
#   gfx1250 num_stages=4: 12 copies before the loop, 12 LDS addresses replaced, branches before or between: no
# Why it matters: with small K the trace of a pipelined kernel shows memory traffic that has no
#   consumer: copies whose wait and whose data are not needed. Bytes that are counted by executed
#   instructions are up to num_stages - 1 times what the algorithm reads, with no mask to see.
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


def look(target, wave, stages):
    types = {name: "*fp16" for name in "abc"} | {name: "i32" for name in ("rows", "columns", "depth")}
    sizes = {"M": 64, "N": 64, "K": 32}
    source = ASTSource(fn=multiply, signature=types | dict.fromkeys(sizes, "constexpr"), constexprs=sizes,
                       attrs={(place,): [["tt.divisibility", 16]] for place in range(6)})
    options = {"num_warps": 4, "num_stages": stages}
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options=options).asm["amdgcn"]
    before = text[text.index("\nmultiply:") :]
    before = before[: re.search(r"\tv_(wmma|mfma)_", before).start()]
    # the loop's own block begins at the last label before the first matrix instruction
    before = before[: before.rindex("\n.LBB")]
    copies = list(re.finditer(r"\tglobal_load_(async_to_)?lds_", before))
    replaced = before.count("0x7fffffff")
    before = before[: copies[-1].end()]
    branches = "\ts_cbranch" in before
    print(f"{target:7} num_stages={stages}: {len(copies)} copies before the loop, {replaced} LDS addresses replaced,",
          "branches before or between:", "yes" if branches else "no")
    return len(copies), replaced, branches, bool(re.search(r"\bexec(_lo)?\b", before))


print("matmul of 64 x 64 x 32")
copies, replaced, branches, _ = look("gfx950", 64, 4)
assert copies and not replaced and branches
for stages in (2, 4):
    copies, replaced, branches, lanes_change = look("gfx1250", 32, stages)
    assert copies == replaced == 4 * (stages - 1) and not branches and not lanes_change
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
