#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: a sum and a running sum over the lanes of one wave are the same kind of work. tl.sum shifts values
#   between lanes in the vector unit (DPP), so tl.cumsum does, too; neither touches LDS.
# Instead: tl.cumsum sends each of its steps through the LDS unit, as ds_bpermute, and waits for it: log2 of
#   the lanes in a row, each depending on the one before. The kernel has no LDS of its own. tl.argmax
#   does so on gfx942 and has permutes of the vector unit on gfx950.
# Seen (one wave, one element a lane: permutes of LDS, moves by DPP or permlane):
#   gfx942 sum 0, 6; cumsum 6, 0. gfx950 sum 0, 6; cumsum 6, 0. gfx1100 and gfx1201 sum 0, 5; cumsum 5, 0
#   1024 elements a wave of gfx942: cumsum has 28 permutes and 29 waits
# Why it matters: a trace of a scan shows a chain of waits for lgkmcnt or dscnt in a kernel whose LDS size
#   is 0. No layout of LDS is to blame; fewer steps across lanes are the remedy.
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
def across(a, b, HOW: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(a + at)
    tl.store(b + at, tl.cumsum(x, 0) if HOW == "cumsum" else x * tl.sum(x, 0))


def instructions(kernel, types, constants, target, wave, **options):
    """The instructions of a kernel whose arguments are aligned pointers to less than 2 GB."""
    types = {name: types.get(name, "constexpr") for name in kernel.arg_names}
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]]
             for place, kind in enumerate(types.values()) if kind.startswith("*")}
    source = ASTSource(kernel, types, constants, facts)
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options=options).asm["amdgcn"]
    return [" ".join(line.split(";")[0].split()) for line in text.splitlines() if re.match(r"\s+[a-z]+_\w+", line)]


def steps(target, wave, how, block):
    """Permutes through LDS, moves between lanes in the vector unit, and waits for LDS."""
    types, constants = {"a": "*fp32", "b": "*fp32"}, {"HOW": how, "BLOCK": block}
    code = instructions(across, types, constants, target, wave, num_warps=1)
    permutes = sum(line.startswith("ds_bpermute") for line in code)
    moves = sum(bool(re.search(r"row_|quad_perm|v_permlane", line)) for line in code)
    waits = sum(bool(re.match(r"s_wait\w* .*lgkmcnt|s_wait_\w*dscnt", line)) for line in code)
    return permutes, moves, waits


for target, expected in {("gfx942", 64): 6, ("gfx950", 64): 6, ("gfx1100", 32): 5, ("gfx1201", 32): 5}.items():
    total, running = (steps(*target, how, target[1]) for how in ("sum", "cumsum"))
    print(*target, "sum", total, "cumsum", running)
    assert total[:2] == (0, expected) and running[:2] == (expected, 0)
long = steps("gfx942", 64, "cumsum", 1024)
print("1024 elements on gfx942", long)
assert long == (28, 0, 29)
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
