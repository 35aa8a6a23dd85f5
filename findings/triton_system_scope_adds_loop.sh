#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: tl.atomic_add of FP32 is the add instruction that gfx942, gfx950, gfx1100 and gfx1201 have. Its
#   scope says who must see the sum; with sem="relaxed" a wider scope costs at most cache bits.
# Instead: with scope="sys" the add becomes a load and a loop of compare-and-swap, one round trip to memory
#   each time around and once more for each other wave that came between. An integer add stays one
#   instruction at every scope. And the default, sem="acq_rel" at scope "gpu", wraps each add of
#   gfx942 in a write-back of L2 and an invalidation of L1.
# Seen (gfx942): relaxed gpu   buffer_atomic_add_f32
#                relaxed sys   global_load_dword, global_atomic_cmpswap, s_cbranch_execnz back to it
#                default       buffer_wbl2, buffer_atomic_add_f32, buffer_inv
#   (all four targets) relaxed sys FP32: a loop; int32: one instruction.
# Why it matters: in a trace the line of one atomic has a loop of its own, and how often it runs depends on
#   how many waves compete for the address. A reduction across GPUs is where system scope is written; the
#   integer version of it shows nothing of the kind.
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
def add(a, b, SEM: tl.constexpr, SCOPE: tl.constexpr):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.atomic_add(a + at, tl.load(b + at), sem=SEM, scope=SCOPE)


def instructions(kernel, types, constants, target, wave, **options):
    """The instructions of a kernel whose arguments are aligned pointers to less than 2 GB."""
    types = {name: types.get(name, "constexpr") for name in kernel.arg_names}
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]]
             for place, kind in enumerate(types.values()) if kind.startswith("*")}
    source = ASTSource(kernel, types, constants, facts)
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options=options).asm["amdgcn"]
    return [" ".join(line.split(";")[0].split()) for line in text.splitlines() if re.match(r"\s+[a-z]+_\w+", line)]


def atomic(target, wave, kind, sem, scope):
    """The opcodes that belong to the atomic: its loop, its cache operations, and itself."""
    code = instructions(add, {"a": "*" + kind, "b": "*" + kind}, {"SEM": sem, "SCOPE": scope}, target, wave)
    wanted = r"\w+_atomic_\w+|buffer_(wbl2|inv)|s_cbranch_execnz"
    return [line.split()[0] for line in code if re.match(wanted, line)]


for target in (("gfx942", 64), ("gfx950", 64), ("gfx1100", 32), ("gfx1201", 32)):
    seen = {
        (kind, scope): atomic(*target, kind, "relaxed", scope)
        for kind in ("fp32", "i32") for scope in ("gpu", "sys")
    }
    print(*target, *seen.items(), sep="\n  ")
    loops = {key for key, code in seen.items() if "s_cbranch_execnz" in code}
    assert loops == {("fp32", "sys")}
    assert any("cmpswap" in opcode for opcode in seen["fp32", "sys"])
    assert any("atomic_add_f32" in opcode for opcode in seen["fp32", "gpu"])
default = atomic("gfx942", 64, "fp32", "acq_rel", "gpu")
print("default on gfx942:", default)
assert default == ["buffer_wbl2", "buffer_atomic_add_f32", "buffer_inv"]
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
