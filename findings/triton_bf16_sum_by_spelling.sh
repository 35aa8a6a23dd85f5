#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: x + y of two BF16 blocks, and the same sum written out, (x.to(tl.float32) + y.to(tl.float32)).to(
#   tl.bfloat16), are one thing: where a GPU has no BF16 addition, the first is compiled as the second. Both
#   round in the same way, so the spelling is a matter of taste.
# Instead: it is so on gfx942 and gfx1201. gfx950 has an instruction that rounds two numbers to BF16, and
#   only the sum written out gets it: of x + y, x - y and x * y each result is rounded by integer
#   instructions and a check for NaN, as on gfx942, which has no such instruction. tl.fma of BF16 gets it, x * y
#   + x does not, and is rounded twice. On gfx1250 it is the other way round: x + y is a packed BF16
#   addition, and the sum written out unpacks, adds FP32 and packs again.
# Seen (vector instructions of 8 elements a lane, all in registers: x + y | written out | x * y + x | tl.fma):
#   gfx942  66 | 66 | 111 | 68
#   gfx950  66 | 24 | 111 | 28
#   gfx1201 67 | 67 | 116 | 72
#   gfx1250  4 | 25 |   4 |  4
# Why it matters: residual additions, gates and biases of BF16 models are written as x + y. On MI355X such a
#   kernel has nearly three times the vector instructions that it needs, and a trace of it looks like that of
#   MI300X, so the new instruction seems to bring nothing. The cure, to write the casts out, is six times
#   the cost on MI455X. Look for v_add3_u32 beside v_cndmask in the listing.
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

SPELLINGS = "x + y", "written out", "x * y + x", "tl.fma"


@triton.jit
def combine(a, b, c, SPELLING: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y = tl.load(a + at), tl.load(b + at)
    if SPELLING == "x + y":
        z = x + y
    elif SPELLING == "written out":
        z = (x.to(tl.float32) + y.to(tl.float32)).to(tl.bfloat16)
    elif SPELLING == "x * y + x":
        z = x * y + x
    else:
        z = tl.fma(x, y, x)
    tl.store(c + at, z)


def arithmetic(spelling, target, wave):
    """The vector instructions but for that of the address; one wave with 8 elements a lane."""
    types = {name: "constexpr" for name in combine.arg_names} | dict.fromkeys("abc", "*bf16")
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for place in range(3)}
    source = ASTSource(combine, types, {"SPELLING": spelling, "BLOCK": 8 * wave}, facts)
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options={"num_warps": 1}).asm["amdgcn"]
    code = [" ".join(line.split(";")[0].split()) for line in text.splitlines() if re.match(r"\s+v_\w+", line)]
    code = [line for line in code if line != "v_nop"]
    assert re.match(r"v_lshlrev_b32_e32 v\d+, 4, v0", code[0]), code  # 16 bytes a lane
    return code[1:]


SEEN = {
    ("gfx942", 64): (66, 66, 111, 68),
    ("gfx950", 64): (66, 24, 111, 28),
    ("gfx1201", 32): (67, 67, 116, 72),
    ("gfx1250", 32): (4, 25, 4, 4),
}
for target, expected in SEEN.items():
    found = {spelling: arithmetic(spelling, *target) for spelling in SPELLINGS}
    print(target[0], " | ".join(str(len(code)) for code in found.values()))
    assert tuple(len(code) for code in found.values()) == expected
    hardware = {name: sum("_bf16" in line for line in code) for name, code in found.items()}
    by_hand = {name: sum(line.startswith("v_add3_u32") for line in code) for name, code in found.items()}
    has_bf16 = {"gfx950": ("written out", "tl.fma"), "gfx1250": SPELLINGS}.get(target[0], ())
    for name in SPELLINGS:
        rounded = 0 if name in has_bf16 else 16 if name == "x * y + x" else 8
        assert (hardware[name], by_hand[name]) == (4 if name in has_bf16 else 0, rounded), name
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
