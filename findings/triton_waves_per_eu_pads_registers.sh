#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one), pyelftools 0.33.
# Expected: waves_per_eu=N asks for at least N waves on a SIMD. A kernel that needs few registers
#   has room for more, so the option changes nothing for it.
# Instead: Triton hands LLVM the range "N,N". LLVM keeps the upper end by wasting registers: the
#   kernel descriptor allocates far more VGPRs than the code names. A kernel of 12 registers
#   gets 264 with waves_per_eu=1 and 176 with 2, and never more than 1 or 2 waves.
#   The metadata note keeps saying 12. On gfx1100 the values 1, 2 and 4 all give the same.
# Seen:
#   gfx942  waves_per_eu=0: metadata 12 VGPRs, descriptor allocates  16
#   gfx942  waves_per_eu=1: metadata 12 VGPRs, descriptor allocates 264
#   gfx942  waves_per_eu=2: metadata 12 VGPRs, descriptor allocates 176
#   gfx942  waves_per_eu=4: metadata 12 VGPRs, descriptor allocates 104
#   gfx942  waves_per_eu=8: metadata 12 VGPRs, descriptor allocates  16
#   gfx1100 waves_per_eu=1, 2 and 4: metadata 20 VGPRs, descriptor allocates 248
# Why it matters: a trace of such a kernel shows two waves a SIMD, and the metadata gives room for
#   eight. A reader that takes occupancy from .vgpr_count looks for a limit in LDS or in the grid, and one
#   that takes it from the dispatch looks for registers that no instruction uses.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0 pyelftools==0.33
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/kernel.py" <<'PY'
import io
import re
import struct

import triton
import triton.language as tl
from elftools.elf.elffile import ELFFile
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale_add(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(a + at, mask=inside)
    y = tl.load(b + at, mask=inside)
    tl.store(c + at, x * 2.0 + 1.0 + y, mask=inside)


def registers(target, wave, hint):
    types = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = ASTSource(fn=scale_add, signature=types, constexprs={"BLOCK": 1024})
    options = {"num_warps": 4, "waves_per_eu": hint}
    made = triton.compile(source, target=GPUTarget("hip", target, wave), options=options)
    reported = int(re.search(r"\.vgpr_count: +(\d+)", made.asm["amdgcn"])[1])
    elf = ELFFile(io.BytesIO(made.asm["hsaco"]))
    descriptor = elf.get_section_by_name(".rodata").data()
    granules = (struct.unpack_from("<I", descriptor, 48)[0] & 63) + 1  # COMPUTE_PGM_RSRC1
    return reported, granules * 8


seen = {}
for target, wave in (("gfx942", 64), ("gfx1100", 32)):
    for hint in (0, 1, 2, 4, 8):
        reported, allocated = seen[target, hint] = registers(target, wave, hint)
        print(f"{target:7} waves_per_eu={hint}: metadata {reported} VGPRs, descriptor allocates {allocated:3}")
assert len({reported for (target, _), (reported, _) in seen.items() if target == "gfx942"}) == 1
assert seen["gfx942", 0][1] < 32 and seen["gfx942", 8][1] < 32
assert [seen["gfx942", hint][1] for hint in (1, 2, 4)] == [264, 176, 104]
assert [seen["gfx1100", hint][1] for hint in (1, 2, 4)] == [248, 248, 248]
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
