#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: tl.atomic_max of int32 is the instruction that each GPU has for it, as tl.atomic_max of uint32 and
#   tl.atomic_add are. The sign of the type and the size of the tensor decide nothing.
# Instead: unsigned atomics on tensors below 2 GiB become buffer atomics, one instruction. Signed maximum and
#   minimum never do, and no atomic does where the tensor is larger. On gfx1100 each of those but an integer
#   addition is a loop of compare and swap, the FP32 addition of a large tensor among them. On gfx942 and
#   gfx950, if the addresses were loaded, code in front of it first sorts the lanes by address, with permutes
#   through LDS and branches, to combine those that agree. On gfx1201 and gfx1250 all are one instruction. On
#   gfx90a there are no buffer atomics, and each operation but an integer addition and an exchange is a loop.
# Seen (relaxed, at loaded addresses, one element a lane: instructions of the kernel):
#                                 gfx942                gfx1100    gfx1201
#   max of uint32, below 2 GiB    23                    22         22
#   max of int32,  below 2 GiB    155, 13 permutes      34, loop   24
#   max of uint32, 2 GiB or more  155, 13 permutes      34, loop   24
#   add of FP32,   below 2 GiB    23                    22         22
#   add of FP32,   2 GiB or more  155, 13 permutes      34, loop   24
# Why it matters: the same source line is one memory instruction or a hundred others around it. A trace of a small
#   test does not show what the large run does, and an index that is int32 by default pays what
#   uint32 does not. In the listing: global_atomic_cmpswap with a branch back, or ds_permute in a kernel
#   without LDS. For values that are not negative, .to(tl.uint32, bitcast=True) and a pointer of that type help.
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
def scatter(a, places, c, MAXIMUM: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    to = c + tl.load(places + at)
    if MAXIMUM:
        tl.atomic_max(to, tl.load(a + at), sem="relaxed")
    else:
        tl.atomic_add(to, tl.load(a + at), sem="relaxed")


@triton.jit
def scatter_as_unsigned(a, places, c, MAXIMUM: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    to = c.to(tl.pointer_type(tl.uint32)) + tl.load(places + at)
    tl.atomic_max(to, tl.load(a + at).to(tl.uint32, bitcast=True), sem="relaxed")


def found(operation, kind, large, target, wave, kernel=scatter):
    """Instructions of the kernel, the atomic's, permutes through LDS, and branches back."""
    types = {"a": f"*{kind}", "places": "*i32", "c": f"*{kind}", "MAXIMUM": "constexpr", "BLOCK": "constexpr"}
    facts = [["tt.divisibility", 16]] + ([] if large else [["tt.pointer_range", 32]])
    constants = {"MAXIMUM": operation == "max", "BLOCK": wave}
    source = ASTSource(kernel, types, constants, {(place,): facts for place in range(3)})
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options={"num_warps": 1}).asm["amdgcn"]
    lines = [" ".join(line.split(";")[0].split()) for line in text.splitlines()]
    code = [line for line in lines if re.match(r"[a-z]+_\w+( |$)", line)]
    atomic = next(line.split()[0] for line in code if "_atomic_" in line)
    permutes = sum(line.startswith(("ds_permute", "ds_bpermute")) for line in code)
    labels, back = set(), 0
    for line in lines:
        labels |= {line[:-1]} if line.startswith(".L") and line.endswith(":") else set()
        back += line.startswith("s_cbranch") and line.split()[1] in labels
    size = "2 GiB" if large else "below"
    print(f"{target:7} {operation} of {kind:4} {size} {len(code):3} {atomic} {permutes} {back}")
    return len(code), atomic, permutes, back


GPUS = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32, "gfx1250": 32}
for gpu in GPUS.items():
    unsigned, signed = (found("max", kind, False, *gpu) for kind in ("u32", "i32"))
    large = found("max", "u32", True, *gpu)
    add, large_add = (found("add", "fp32", is_large, *gpu) for is_large in (False, True))
    if gpu[0] == "gfx90a":
        assert all("cmpswap" in each[1] and each[3] == 1 for each in (unsigned, signed, large, add, large_add))
        assert found("add", "i32", False, *gpu)[1:] == ("global_atomic_add", 0, 0)
        continue
    assert all(each[1].startswith("buffer_atomic_") and each[2:] == (0, 0) for each in (unsigned, add))
    for each in signed, large, large_add:
        assert each[1].startswith("global_atomic_") and ("cmpswap" in each[1]) == (gpu[0] == "gfx1100")
        assert each[2] == (13 if gpu[1] == 64 else 0), each
    assert bool(signed[3]) == (gpu[0] in ("gfx942", "gfx950", "gfx1100"))
    if gpu[0] in ("gfx942", "gfx1100", "gfx1201"):
        expected = {"gfx942": (23, 155), "gfx1100": (22, 34), "gfx1201": (22, 24)}[gpu[0]]
        assert (unsigned[0], signed[0]) == (add[0], large_add[0]) == (unsigned[0], large[0]) == expected
    assert found("max", "i32", False, *gpu, kernel=scatter_as_unsigned) == unsigned
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
