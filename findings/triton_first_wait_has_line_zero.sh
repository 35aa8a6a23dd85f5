#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: copies of one source line, made because each thread has several elements, all carry that
#   line. At worst all lose it.
# Instead: the first copy loses it and the others keep it. A kernel that does four or eight masked
#   elements a thread has that many equal blocks: wait for loads, v_fma, store. In the first block
#   the wait and the v_fma have line 0, in all others the line of the helper that is computed.
# Seen (line of each wait for the loads and of its v_fma, in order of addresses; 8 is the helper):
#   gfx942  (0, 0) (8, 8) (8, 8) (8, 8)
#   gfx950  (0, 0) (8, 8) (8, 8) (8, 8)
#   gfx1100 (0, 0) (8, 8) (8, 8) (8, 8) (8, 8) (8, 8) (8, 8) (8, 8)
#   gfx1201 (0, 0) (8, 8) (8, 8) (8, 8) (8, 8) (8, 8) (8, 8) (8, 8)
# Why it matters: of the equal waits the first is the one that waits for the loads: after it they are
#   all there. So the largest stall of such a kernel has no source line, while line 8 seems cheap.
#   A view by lines that leaves line 0 out leaves the hot spot out.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/kernel.py" <<'PY'
import triton
import triton.language as tl


@triton.jit
def helper(x):
    # this is line 7, and what is computed is line 8
    return x * 2.0 + 1.0


@triton.jit
def scale_add(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(a + at, mask=inside)
    y = tl.load(b + at, mask=inside)
    tl.store(c + at, helper(x) + y, mask=inside)
PY
cat > "$dir/see.py" <<'PY'
import re

import triton
from kernel import scale_add
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

for target, wave in (("gfx942", 64), ("gfx950", 64), ("gfx1100", 32), ("gfx1201", 32)):
    types = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = ASTSource(fn=scale_add, signature=types, constexprs={"BLOCK": 1024})
    made = triton.compile(source, target=GPUTarget("hip", target, wave), options={"num_warps": 4})
    line, waited, pairs = None, None, []
    for text in made.asm["amdgcn"].splitlines():
        if found := re.match(r"\s+\.loc\s+\d+ (\d+) ", text):
            line = int(found[1])
        elif re.match(r"\ts_waitcnt vmcnt|\ts_wait_loadcnt", text):
            waited = line
        elif re.match(r"\tv_fma_f32 ", text):
            pairs.append((waited, line))
    print(f"{target:7}", *pairs)
    assert pairs[0] == (0, 0)
    assert len(pairs) == 1024 // 4 // wave and set(pairs[1:]) == {(8, 8)}
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
