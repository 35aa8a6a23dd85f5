#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: A load of global memory can take its base from SGPRs and a 32-bit offset from a VGPR. The compiler uses
#   that for a[i] if it knows that 4 * i fits 32 bits. An unsigned index and a promise about its size are enough for
#   that: __builtin_assume, an unreachable branch, an if around the access, or a maximum for the number of workgroups.
#   An additional i & mask is an instruction more.
# Instead: None of the promises is used. Each array gets a 64-bit address of its own in VGPRs, by a shift and an
#   addition of two halves for each access, whether the index is signed, unsigned or of 64 bits. Only an operation
#   that cuts off the upper bits helps, and the best one is free: i & 0x3fffffff needs no instruction, as the shift to
#   bytes drops these bits anyway, and all 64-bit arithmetic is gone. A number of the workgroup that is cut to 16 bits
#   helps, too. gfx1250 has a load that scales a 32-bit index itself, and needs none of this.
# Seen (o[i] = a[i] + b[i], i = workgroup * 256 + lane; vector instructions of the kernel, one of them the addition):
#                                                    gfx90a  gfx942, gfx950  gfx1100, gfx1201  gfx1250
#   int, unsigned                                      13         7                10             2
#   size_t, also with __builtin_assume                 12         6                 9             6
#   unsigned, each of the four promises                13 (if: 14) 7 (8)           10 (11)        2 (3)
#   unsigned, i & 0x3fffffff                            3         3                 3             3
#   unsigned, workgroup & 0xffff                        3         3                 3             2
#   in a loop, unsigned, of gfx1100 and gfx1201: 13; with i & 0x3fffffff: 6
# Why it matters: In elementwise kernels and gathers most vector instructions are such addresses, and so are the
#   registers: two for each array. A trace shows v_lshl_add_u64, or v_add_co_u32 and v_add_co_ci_u32 with a dependency
#   between them, on the line of each access, where the listing of another kernel has global_load with an SGPR pair.
#   For arrays below 4 GB write the AND, at the index or at the number of the workgroup.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
cat > "$dir/index.hip" <<'HIP'
#define GLOBAL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 256)))
#define ARRAYS float *__restrict__ o, const float *__restrict__ a, const float *__restrict__ b
#define LANE __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define ADD(i) o[i] = a[i] + b[i]

GLOBAL void sint(ARRAYS) { int i = GROUP * 256 + LANE; ADD(i); }
GLOBAL void uint(ARRAYS) { unsigned i = GROUP * 256 + LANE; ADD(i); }
GLOBAL void size(ARRAYS) { unsigned long i = GROUP * 256ul + LANE; ADD(i); }
GLOBAL void assume(ARRAYS) { unsigned i = GROUP * 256 + LANE; __builtin_assume(i < 1u << 28); ADD(i); }
GLOBAL void unreachable(ARRAYS) { unsigned i = GROUP * 256 + LANE; if (i >= 1u << 28) __builtin_unreachable(); ADD(i); }
GLOBAL void test(ARRAYS) { unsigned i = GROUP * 256 + LANE; if (i < 1u << 28) ADD(i); }
GLOBAL __attribute__((amdgpu_max_num_work_groups(65536, 1, 1)))
void groups(ARRAYS) { unsigned i = GROUP * 256 + LANE; ADD(i); }
GLOBAL void sizeassume(ARRAYS) { unsigned long i = GROUP * 256ul + LANE; __builtin_assume(i < 1u << 28); ADD(i); }
GLOBAL void mask(ARRAYS) { unsigned i = GROUP * 256 + LANE & 0x3fffffff; ADD(i); }
GLOBAL void maskgroup(ARRAYS) { unsigned i = (GROUP & 0xffff) * 256 + LANE; ADD(i); }
GLOBAL void loop(ARRAYS, unsigned n) {
#pragma unroll 1
    for (unsigned i = GROUP * 256 + LANE; i < n; i += 65536) ADD(i);
}
GLOBAL void loopmask(ARRAYS, unsigned n) {
#pragma unroll 1
    for (unsigned i = GROUP * 256 + LANE; i < n; i += 65536) ADD(i & 0x3fffffff);
}
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
NAMES = ("sint", "uint", "size", "assume", "unreachable", "groups", "test", "mask", "maskgroup", "loop", "loopmask")
SEEN = {
    "gfx90a": (13, 13, 12, 13, 13, 13, 14, 3, 3),
    "gfx942": (7, 7, 6, 7, 7, 7, 8, 3, 3),
    "gfx950": (7, 7, 6, 7, 7, 7, 8, 3, 3),
    "gfx1100": (10, 10, 9, 10, 10, 10, 11, 3, 3, 13, 6),
    "gfx1201": (10, 10, 9, 10, 10, 10, 11, 3, 3, 13, 6),
    "gfx1250": (2, 2, 6, 2, 2, 2, 3, 3, 2),
}
for target, seen in SEEN.items():
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", "-S", "-o", "-", folder / "index.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    codes = {name: re.findall(r"^\t([a-z]\w+_.*)", body, re.M)
             for name, body in re.findall(r"^([a-z]+):.*?\n(.*?)\.section", text, re.M | re.S)}
    vector = tuple(sum(line.startswith("v_") for line in codes[name]) for name in NAMES)
    print(target, *(f"{name} {count}" for name, count in zip(NAMES, vector)))
    assert vector[: len(seen)] == seen
    assert sum(line.startswith("v_") for line in codes["sizeassume"]) == seen[NAMES.index("size")]
    for name, code in codes.items():
        memory = [line for line in code if line.startswith("global_")]
        scalar_base = all(re.search(r", s\[\d+:\d+\]", line) for line in memory)
        assert len(memory) >= 3, name
        if name.startswith(("mask", "loopmask")):
            assert scalar_base, memory
        elif target != "gfx1250" and not name.startswith("loop"):
            assert all(line.rstrip().endswith(", off") for line in memory), memory
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
