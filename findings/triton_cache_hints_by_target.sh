#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one).
# Expected: eviction_policy and cache_modifier of tl.load and tl.store become the cache bits that the
#   target has. "evict_first" streams, ".cg" and ".cs" differ, as their names do on NVIDIA.
# Instead: eviction_policy is accepted and dropped on every AMD target: the code is the same to the
#   byte. On gfx90a every cache_modifier is dropped, too, ".cv" and ".wt" among them, which ask to see
#   and to show memory as it is. On gfx942 and gfx950 a ".cg" load is a ".cs" load ("sc0 nt"), so
#   that "keep it in L2 only" says "do not keep it", while a ".cg" store is an ordinary store; on
#   gfx1201 ".cg" is a scope and ".cs" a hint.
# Seen (load | store):
#   gfx90a  any          none            | none
#   gfx942  evict_*      none            | none
#   gfx942  .cg          sc0 nt          | none
#   gfx942  .cs          sc0 nt          | sc0 nt
#   gfx942  .cv, .wt     sc0 sc1         | sc0 sc1
#   gfx1100 .cg          glc             | none
#   gfx1100 .cs          glc slc dlc     | glc slc dlc
#   gfx1201 .cg          scope:SCOPE_DEV | scope:SCOPE_DEV
#   gfx1201 .cs          th:TH_LOAD_NT   | th:TH_STORE_NT
# Why it matters: autotuning over eviction policies on AMD compares a kernel with itself and picks noise.
#   A ".cg" taken over from a CUDA kernel to keep a tile in L2 for the next workgroup marks it as
#   not to be kept. Read the bits in the ISA listing before believing a hint.
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
def copy(a, b, POLICY: tl.constexpr, LOAD: tl.constexpr, STORE: tl.constexpr):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(b + at, tl.load(a + at, eviction_policy=POLICY, cache_modifier=LOAD),
             eviction_policy=POLICY, cache_modifier=STORE)


def instructions(kernel, types, constants, target, wave, **options):
    """The instructions of a kernel whose arguments are aligned pointers to less than 2 GB."""
    types = {name: types.get(name, "constexpr") for name in kernel.arg_names}
    facts = {(place,): [["tt.divisibility", 16], ["tt.pointer_range", 32]]
             for place, kind in enumerate(types.values()) if kind.startswith("*")}
    source = ASTSource(kernel, types, constants, facts)
    text = triton.compile(source, target=GPUTarget("hip", target, wave), options=options).asm["amdgcn"]
    return [" ".join(line.split(";")[0].split()) for line in text.splitlines() if re.match(r"\s+[a-z]+_\w+", line)]


def bits(target, wave, policy="", load="", store=""):
    """The cache bits of the load and of the store."""
    constants = {"POLICY": policy, "LOAD": load, "STORE": store}
    code = instructions(copy, {"a": "*fp32", "b": "*fp32"}, constants, target, wave)
    accesses = [line for line in code if line.startswith(("buffer_load", "buffer_store"))]
    return tuple(line.split("offen", 1)[1].strip() for line in accesses)


SEEN = {
    ("gfx90a", 64): {".cg": ("", ""), ".cs": ("", ""), ".cv": ("", "")},
    ("gfx942", 64): {".cg": ("sc0 nt", ""), ".cs": ("sc0 nt", "sc0 nt"), ".cv": ("sc0 sc1", "sc0 sc1")},
    ("gfx950", 64): {".cg": ("sc0 nt", ""), ".cs": ("sc0 nt", "sc0 nt"), ".cv": ("sc0 sc1", "sc0 sc1")},
    ("gfx1100", 32): {".cg": ("glc", ""), ".cs": ("glc slc dlc", "glc slc dlc")},
    ("gfx1201", 32): {".cg": ("scope:SCOPE_DEV", "scope:SCOPE_DEV"), ".cs": ("th:TH_LOAD_NT", "th:TH_STORE_NT")},
}
for target, modifiers in SEEN.items():
    for policy in ("", "evict_first", "evict_last"):
        assert bits(*target, policy=policy) == ("", ""), (target, policy)
    for modifier, expected in modifiers.items():
        found = bits(*target, load=modifier, store=".wt" if modifier == ".cv" else modifier)
        print(*target, modifier, *map(repr, found))
        assert found == expected, expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
