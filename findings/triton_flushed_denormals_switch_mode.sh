#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: allow_flush_denorm=True lets the GPU take denormal FP32 numbers for zero. It can only drop work:
#   what handles denormals goes away, and other instructions stay as they are.
# Instead: tl.exp and tl.log do get cheaper. But each division of FP32 switches the mode of the wave to
#   keep denormals, and six instructions later it switches back. A lane with four elements does it four
#   times: the divisions stand one after the other and share nothing. On RDNA the pairs of dual instructions,
#   which four divisions without the option have, are gone as well. tl.fdiv, with and without ieee_rounding, is the
#   same code: a division is correctly rounded, whatever is asked.
# Seen (one wave, four elements a lane: vector instructions, mode switches; without | with the option):
#             gfx942            gfx1201
#   exp        28, 0 |  6, 0    24, 0 |  6, 0
#   division   44, 0 | 44, 8    38, 0 | 44, 8
#   sigmoid    74, 0 | 52, 8    64, 0 | 52, 8
#   softmax, e / sum          109, 0 | 87, 8     97, 0 | 80, 8
#   softmax, e * (1 / sum)     78, 0 | 56, 2     70, 0 | 49, 2
# Why it matters: the option is set to make a softmax fast. Its trace then has s_setreg_imm32_b32 or s_denorm_mode
#   between the vector instructions, which no line of the source asks for. A kernel that mostly divides
#   issues more instructions with the option than without. One reciprocal for all elements of a row takes
#   three of four switches away, and more vector instructions than the option does (31 to 22 on gfx942).
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
def compute(a, b, c, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(a + at)
    if WHAT == "exp":
        z = tl.exp(x)
    elif WHAT == "division":
        z = x / tl.load(b + at)
    elif WHAT == "fdiv":
        z = tl.fdiv(x, tl.load(b + at))
    elif WHAT == "fdiv, rounded":
        z = tl.fdiv(x, tl.load(b + at), ieee_rounding=True)
    elif WHAT == "sigmoid":
        z = tl.sigmoid(x)
    else:
        e = tl.exp(x - tl.max(x, 0))
        total = tl.sum(e, 0)
        z = e / total if WHAT == "softmax" else e * (1.0 / total)
    tl.store(c + at, z)


def compiled(what, flush, target, wave):
    """The vector instructions but for the address, those of two in one, and switches of the denormal mode."""
    types = {name: "constexpr" for name in compute.arg_names} | dict.fromkeys("abc", "*fp32")
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for place in range(3)}
    source = ASTSource(compute, types, {"WHAT": what, "BLOCK": 4 * wave}, facts)
    options = {"num_warps": 1, "allow_flush_denorm": flush}
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options=options).asm["amdgcn"]
    code = [" ".join(line.split(";")[0].split()) for line in text.splitlines()]
    vector = [line for line in code if line.startswith("v_") and line != "v_nop"]
    assert any(re.match(r"v_lshlrev_b32_e32 v\d+, 4, v0", line) for line in vector), vector
    dual = sum(line.startswith("v_dual_") for line in vector)
    switches = [line for line in code if re.match(r"s_denorm_mode|s_setreg_imm32_b32 hwreg\(HW_REG_MODE, 4, 2\)", line)]
    for on, off in zip(switches[::2], switches[1::2]):
        assert on.endswith((" 15", " 3")) and off.endswith((" 12", " 0")), switches
    return len(vector) - 1, dual, len(switches)


SEEN = {
    "exp": {"gfx942": ((28, 0), (6, 0)), "gfx1201": ((24, 0), (6, 0))},
    "division": {"gfx942": ((44, 0), (44, 8)), "gfx1201": ((38, 0), (44, 8))},
    "sigmoid": {"gfx942": ((74, 0), (52, 8)), "gfx1201": ((64, 0), (52, 8))},
    "softmax": {"gfx942": ((109, 0), (87, 8)), "gfx1201": ((97, 0), (80, 8))},
    "one reciprocal": {"gfx942": ((78, 0), (56, 2)), "gfx1201": ((70, 0), (49, 2))},
}
for what, by_target in SEEN.items():
    for target, expected in by_target.items():
        wave = 64 if target == "gfx942" else 32
        found = [compiled(what, flush, target, wave) for flush in (False, True)]
        print(f"{target:7} {what:14} without {found[0]}, with {found[1]}")
        assert tuple((each[0], each[2]) for each in found) == expected
        if what == "division":
            assert (found[0][1] > 0) == (target == "gfx1201") and found[1][1] == 0
            for spelling in "fdiv", "fdiv, rounded":
                assert [compiled(spelling, flush, target, wave) for flush in (False, True)] == found
for target, wave in {"gfx90a": 64, "gfx950": 64, "gfx1100": 32, "gfx1250": 32}.items():
    assert compiled("division", True, target, wave)[2] == 8 and compiled("division", False, target, wave)[2] == 0
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
