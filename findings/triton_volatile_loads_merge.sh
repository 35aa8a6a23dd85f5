#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: tl.load(..., volatile=True) is one load of its own, past the caches, each time that it is
#   executed. The size of the tensor has nothing to do with it.
# Instead: where the tensor is smaller than 2 GiB, which a launch tells the compiler as a property of the
#   pointer, loads of blocks become buffer loads, and these keep nothing of volatile: no bit of the
#   instruction goes past a cache, two loads of an address become one, and a load in a loop moves in front
#   of it. The code is that of a plain load. Where the tensor is larger, both loads stay, with their
#   bits; and so do loads of single elements in either case.
# Seen (two volatile loads of a block at the same addresses; then one in a loop):
#   gfx942  2 GiB or more: global_load_dword .. sc0 sc1, global_load_dword .. sc0 sc1; in the loop
#   gfx942  below 2 GiB:   buffer_load_dword ..; in front of the loop
#   gfx1100 2 GiB or more: global_load_b32 .. glc dlc, global_load_b32 .. glc dlc; in the loop
#   gfx1100 below 2 GiB:   buffer_load_b32 ..; in front of the loop
#   gfx90a, gfx950, gfx1201 and gfx1250: the same
# Why it matters: a kernel that reads again what another workgroup wrote gets the first value again, and a
#   benchmark that marks its loads volatile so that they stay measures a loop without loads. A kernel that
#   is compiled without tensors, to look at its code, shows the loads that a launch does not have.
#   AMDGCN_USE_BUFFER_OPS=0 keeps them.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
unset AMDGCN_USE_BUFFER_OPS
cat > "$dir/kernel.py" <<'PY'
import re

import triton
import triton.language as tl
from triton.backends.amd.compiler import HIPBackend
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def twice(a, b, n, VOLATILE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    first = tl.load(a + at, volatile=VOLATILE)
    second = tl.load(a + at, volatile=VOLATILE)
    tl.store(b + at, first + second)


@triton.jit
def again(a, b, n, VOLATILE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(n):
        total += tl.load(a + at, volatile=VOLATILE)
    tl.store(b + at, total)


class Tensor:
    """What a launch sees of a tensor: an aligned address and a size."""

    def __init__(self, size):
        self.size = size

    def data_ptr(self):
        return 1 << 20

    def ptr_range(self):
        return self.size


def assembly(kernel, target, wave, size, volatile=True):
    """The text that a launch with tensors of this size makes of the kernel."""
    known = HIPBackend.parse_attr(HIPBackend.get_tensor_specialization(Tensor(size), align=True))
    types = {"a": "*fp32", "b": "*fp32", "n": "i32", "VOLATILE": "constexpr", "BLOCK": "constexpr"}
    values = {"VOLATILE": volatile, "BLOCK": wave}
    source = ASTSource(fn=kernel, signature=types, constexprs=values, attrs={(0,): known, (1,): known})
    made = triton.compile(source, target=GPUTarget("hip", target, wave), options={"num_warps": 1})
    return made.asm["amdgcn"].split(".section")[0]


def loads(text):
    """The vector loads in order: name, and what stands behind the address."""
    address = r"[^\n;]*?(?:off(?:en)?|\])"
    return re.findall(rf"^\s+((?:buffer|global)_load_\w+) {address}((?: (?:[a-z_]+:)?\w+)*)\s*$", text, re.M)


def in_a_loop(text):
    """Whether a load stands between a label and a branch back to it."""
    bodies = re.findall(r"^(\.LBB\w+):(.*?)^\s+s_cbranch_\w+ \1\b", text, re.M | re.S)
    return any(re.search(r"(?:buffer|global)_load", body) for _, body in bodies)


GIB = 1 << 30
WAVES = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32, "gfx1250": 32}
for target, wave in WAVES.items():
    large, small = (loads(assembly(twice, target, wave, size)) for size in (2 * GIB, 2 * GIB - 1))
    plain = loads(assembly(twice, target, wave, 2 * GIB - 1, volatile=False))
    inside = [in_a_loop(assembly(again, target, wave, size)) for size in (2 * GIB, 2 * GIB - 1)]
    where = ["in the loop" if loop else "in front of the loop" for loop in inside]
    for name, found, place in ("2 GiB or more", large, where[0]), ("below 2 GiB", small, where[1]):
        print(f"{target:7} {name:13}:", ", ".join(f"{load} ..{bits}" for load, bits in found) + "; " + place)
    assert len(large) == 2 and all(re.search(r"sc1|glc|SCOPE_SYS", bits) for _, bits in large), large
    assert len(small) == 1 and small == plain and not small[0][1].strip(), (small, plain)
    assert inside == [True, False]
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
