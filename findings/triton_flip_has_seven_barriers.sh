#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: tl.flip reverses a block. Elements of other waves come through LDS: one write, a barrier, one
#   read, as tl.gather with reversed indices does it.
# Instead: the block is reversed bit by bit of its index, an exchange of all elements for each bit. For
#   four waves the two bits of the wave go through LDS one after the other, each there and back, with
#   seven barriers; the bits of the lane are DPP and permutes.
# Seen (256 elements, 4 waves of 64, gfx942: barriers, LDS writes, LDS reads, instructions):
#   flip 7, 4, 4, 110; gather 1, 1, 1, 28; load at reversed addresses 0, 0, 0, 21
# Why it matters: one innocent line of source has seven barriers in the listing, and whatever skew the waves
#   have is paid at each.
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
def reverse(a, b, HOW: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if HOW == "flip":
        reversed = tl.flip(tl.load(a + at))
    elif HOW == "gather":
        reversed = tl.gather(tl.load(a + at), BLOCK - 1 - at, 0)
    else:
        reversed = tl.load(a + BLOCK - 1 - at)
    tl.store(b + at, reversed)


def instructions(kernel, types, constants, target, wave, **options):
    """The instructions of a kernel whose arguments are aligned pointers to less than 2 GB."""
    types = {name: types.get(name, "constexpr") for name in kernel.arg_names}
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]]
             for place, kind in enumerate(types.values()) if kind.startswith("*")}
    source = ASTSource(kernel, types, constants, facts)
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options=options).asm["amdgcn"]
    return [" ".join(line.split(";")[0].split()) for line in text.splitlines() if re.match(r"\s+[a-z]+_\w+", line)]


def counts(target, wave, how):
    """Barriers, LDS writes, LDS reads and all instructions for four waves of one element a lane."""
    types, constants = {"a": "*fp32", "b": "*fp32"}, {"HOW": how, "BLOCK": 4 * wave}
    code = instructions(reverse, types, constants, target, wave, num_warps=4)
    opcodes = [line.split()[0] for line in code]
    barriers = opcodes.count("s_barrier") + opcodes.count("s_barrier_wait")
    writes, reads = (sum(map(bool, map(re.compile(name).match, opcodes))) for name in
                     (r"ds_(write|store)", r"ds_(read|load)"))
    return barriers, writes, reads, len(opcodes)


for target in (("gfx942", 64), ("gfx950", 64), ("gfx1100", 32), ("gfx1201", 32)):
    seen = {how: counts(*target, how) for how in ("flip", "gather", "load")}
    print(*target, seen)
    assert [seen[how][:3] for how in seen] == [(7, 4, 4), (1, 1, 1), (0, 0, 0)]
    assert seen["flip"][3] > 3 * seen["gather"][3]
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
