#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: tl.atomic_add(c + at, tl.load(a + at)) adds what each lane has loaded. Nothing is exchanged between
#   lanes, so the kernel has no LDS and no barrier, as tl.store at the same addresses has none.
# Instead: where a lane holds several elements they are written to LDS, a barrier follows, and each lane
#   reads others, so that an atomic of a wave covers neighbouring addresses. That happens on each target and
#   for each type. Addresses that were loaded take the same way, behind barriers of their own.
#   tl.atomic_max of FP32, which Triton makes of two integer atomics, takes the sign as bytes through LDS,
#   too. With one element a lane there is no LDS.
# Seen (gfx942, 4 waves, FP32: bytes of LDS, barriers, LDS writes, LDS reads):
#   store, 1024 elements                      0, 0,  0, 0
#   atomic add, 256 elements                  0, 0,  0, 0
#   atomic add, 1024 elements              4096, 1,  4, 2
#   atomic add at loaded addresses, 1024   4096, 3,  8, 4
#   atomic add at loaded addresses, 256       0, 0,  0, 0
#   atomic max, 1024 elements              4096, 5, 12, 4
# Why it matters: four elements a lane are common. A scatter whose source exchanges nothing takes 4 KB of LDS for
#   each workgroup, and its trace waits at barriers and for lgkmcnt on the line of the atomic, which looks
#   like contention in L2. A block of as many elements as there are lanes takes the way out.
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
def update(a, places, c, HOW: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(a + at)
    if HOW == "store":
        tl.store(c + at, x)
    elif HOW == "add":
        tl.atomic_add(c + at, x, sem="relaxed")
    elif HOW == "add at loaded addresses":
        tl.atomic_add(c + tl.load(places + at), x, sem="relaxed")
    else:
        tl.atomic_max(c + at, x, sem="relaxed")


def exchanged(how, block, target, wave, kind="fp32"):
    """Bytes of LDS, barriers, writes to LDS and reads of it, in a kernel of 4 waves."""
    types = {"a": f"*{kind}", "places": "*i32", "c": f"*{kind}", "HOW": "constexpr", "BLOCK": "constexpr"}
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for place in range(3)}
    source = ASTSource(update, types, {"HOW": how, "BLOCK": block}, facts)
    kernel = triton.compile(source, target=GPUTarget("hip", target, wave), options={"num_warps": 4})
    text = kernel.asm["amdgcn"]
    patterns = r"s_barrier(_signal)?\b", r"ds_(write|store)", r"ds_(read|load)"
    found = (kernel.metadata.shared, *(len(re.findall(rf"^\s+{pattern}", text, re.M)) for pattern in patterns))
    print(f"{target:7} {kind:5} {how}, {block} elements:", *found)
    return found


GPUS = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32, "gfx1250": 32}
for target, wave in GPUS.items():
    for kind in "fp32", "i32", "i64":
        assert exchanged("store", 1024, target, wave, kind) == (0, 0, 0, 0)
        assert exchanged("add", 4 * wave, target, wave, kind) == (0, 0, 0, 0)
        lds, barriers, writes, reads = exchanged("add", 1024, target, wave, kind)
        assert lds > 0 and min(barriers, writes, reads) > 0
gpu = "gfx942", 64
assert exchanged("add", 1024, *gpu) == (4096, 1, 4, 2)
assert exchanged("add at loaded addresses", 1024, *gpu) == (4096, 3, 8, 4)
assert exchanged("add at loaded addresses", 256, *gpu) == (0, 0, 0, 0)
assert exchanged("max", 1024, *gpu) == (4096, 5, 12, 4)
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
