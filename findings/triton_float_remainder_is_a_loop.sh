#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: x % y of FP32 is x - y * trunc(x / y): a division, a rounding and a multiplication, about 15 vector
#   instructions. x % 1.0, which wraps a phase or an angle, needs no division and is two or three. No branch depends
#   on the data.
# Instead: % is the exact remainder of C's fmod, and LLVM computes it with a loop: each round takes 12 bits of the
#   difference of the exponents beyond the last 12, so 1e3 % 1.0 runs none, 1e6 % 1.0 one and 1e30 % 1.0 eight. Around
#   it stand regions with masked lanes, one of them for |x| below |y|. A divisor of 1.0 saves the division, not the
#   loop. A lane with four elements has four such loops one after the other, and each runs as often as the worst lane
#   of the wave needs. libdevice.fmod is another loop of this kind.
# Seen (one element a lane, vector instructions beyond those of a copy, branches | four elements):
#                            gfx942            gfx1201
#   x % y                     52, 3 | 208, 12   49, 3 | 199, 12
#   libdevice.fmod(x, y)      44, 3 | 176, 12   40, 3 | 163, 12
#   x % 1.0                   35, 3 | 140, 12   31, 3 | 127, 12
#   x - y * floor(x / y)      13, 0 |  52, 0    13, 0 |  46, 0
#   x - floor(x)               2, 0 |   8, 0     2, 0 |   6, 0
# Why it matters: random numbers, rotary embeddings and periodic signals take x % 1.0 or x % (2 * pi). In a trace the
#   line has branches, and its time depends on the data: on numbers below the divisor it is a comparison, and one
#   large number makes its wave loop. Write x - floor(x): for x of at least 0 that is exactly x % 1.0, and for
#   negative x it has the sign of y, as % of Python has.
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
from triton.language.extra import libdevice


@triton.jit
def copy(out, a, b, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(a + at))


@triton.jit
def remainder(out, a, b, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(a + at) % tl.load(b + at))


@triton.jit
def library(out, a, b, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, libdevice.fmod(tl.load(a + at), tl.load(b + at)))


@triton.jit
def of_one(out, a, b, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(a + at) % 1.0)


@triton.jit
def by_hand(out, a, b, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    x, y = tl.load(a + at), tl.load(b + at)
    tl.store(out + at, x - y * tl.floor(x / y))


@triton.jit
def fraction(out, a, b, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    x = tl.load(a + at)
    tl.store(out + at, x - tl.floor(x))


def compiled(kernel, target, lanes, elements):
    """Vector instructions, branches, branches back."""
    source = ASTSource(fn=kernel, signature={"out": "*fp32", "a": "*fp32", "b": "*fp32", "SIZE": "constexpr"},
                       constexprs={"SIZE": lanes * elements})
    text = triton.compile(source, target=GPUTarget("hip", target, lanes), options={"num_warps": 1}).asm["amdgcn"]
    lines = [" ".join(line.split(";")[0].split()) for line in text.splitlines()]
    branches = [(at, line.split()[1] + ":") for at, line in enumerate(lines) if line.startswith("s_cbranch")]
    back = sum(label in lines[:at] for at, label in branches)
    if kernel in (remainder, of_one):
        assert any(re.match(r"v_ldexp_f32 .*, 12$", line) for line in lines)  # the bits of a round
    return sum(line.startswith("v_") for line in lines), len(branches), back


SEEN = {
    "gfx942": {remainder: (52, 208), library: (44, 176), of_one: (35, 140), by_hand: (13, 52), fraction: (2, 8)},
    "gfx1201": {remainder: (49, 199), library: (40, 163), of_one: (31, 127), by_hand: (13, 46), fraction: (2, 6)},
    "gfx950": {}, "gfx1100": {},
}
for target, seen in SEEN.items():
    lanes = 64 if target.startswith("gfx9") else 32
    for kernel in remainder, library, of_one, by_hand, fraction:
        facts = []
        for elements in 1, 4:
            vector, branches, back = compiled(kernel, target, lanes, elements)
            loops = kernel in (remainder, library, of_one)
            facts.append(vector - compiled(copy, target, lanes, elements)[0])
            assert (branches, back) == ((3 * elements, elements) if loops else (0, 0)), (branches, back)
        print(f"{target:7} {kernel.fn.__name__:9}", *facts)
        if seen:
            assert tuple(facts) == seen[kernel]
        elif kernel in (of_one, fraction):
            assert (facts[0] > 30) if kernel is of_one else (facts[0] == 2)
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
