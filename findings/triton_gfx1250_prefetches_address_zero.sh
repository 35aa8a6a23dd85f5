#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: the smallest kernel, one that only stores a constant, has no memory instruction but its
#   store, and needs a handful of SGPRs.
# Instead, for gfx1250: every kernel begins with s_mov_b64 s[64:65], 0 and global_prefetch_b8 v0,
#   s[64:65], a vector memory instruction on address zero plus the lane's number. No line of the source
#   asks for it. As it uses s64 and s65, the metadata of each kernel reports at least 66 SGPRs. For gfx1201
#   neither is there.
# Seen:
#   gfx1201: SGPRs reported  3, memory instructions: global_store_b32
#   gfx1250: SGPRs reported 66, memory instructions: global_prefetch_b8 global_store_b32
#   gfx1250 begins:
#     s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 1
#     s_mov_b64 s[64:65], 0
#     v_nop
#     global_prefetch_b8 v0, s[64:65] scope:SCOPE_SE
# Why it matters: in a trace the first memory access of each wave is one of the compiler's own, to an
#   address that no buffer has. It spoils counts of accesses by kind and "time to the first load",
#   looks like a null pointer, and 66 SGPRs look like pressure that is not there.
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
def one(a):
    tl.store(a, 1.0)


def look(target):
    made = triton.compile(ASTSource(fn=one, signature={"a": "*fp32"}), target=GPUTarget("hip", target, 32),
                          options={"num_warps": 1})
    text = made.asm["amdgcn"]
    reported = int(re.search(r"\.sgpr_count: +(\d+)", text)[1])
    body = text[text.index("\none:") : text.index("s_endpgm")]
    code = [line.split(";")[0].strip() for line in body.splitlines() if re.match(r"\t[a-z]", line)]
    memory = [line.split()[0] for line in code if line.startswith(("global_", "flat_", "buffer_", "scratch_"))]
    print(f"{target}: SGPRs reported {reported:2}, memory instructions:", *memory)
    return reported, memory, code


reported, memory, _ = look("gfx1201")
assert memory == ["global_store_b32"] and reported < 16
reported, memory, code = look("gfx1250")
print("gfx1250 begins:", *(" ".join(line.split()) for line in code[:4]), sep="\n  ")
assert memory == ["global_prefetch_b8", "global_store_b32"] and reported == 66
assert any(line.split(None, 1) == ["s_mov_b64", "s[64:65], 0"] for line in code[:4])
assert any(line.split()[:3] == ["global_prefetch_b8", "v0,", "s[64:65]"] for line in code[:4])
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
