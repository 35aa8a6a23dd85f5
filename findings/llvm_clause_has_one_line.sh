#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: Loads on four source lines are four instructions with four lines on every GPU: the same compiler
#   makes the line table from the same source.
# Instead: RDNA and gfx1250 have s_clause, which announces a group of memory instructions that stay together.
#   LLVM gives the whole group the line of its first instruction, which is the first to issue and not the first
#   in the source. gfx90a, gfx942 and gfx950 have no clauses, and each load keeps its line.
# Seen (four loads on lines 2, 3, 4, 5, three stores on lines 3, 4, 5: their lines in order of addresses):
#   gfx90a, gfx942, gfx950   2 3 4 5   3 4 5
#   gfx1100, gfx1201         4 4 4 4   3 3 3
#   gfx1250                  2 2 2 2   3 3 3
# Why it matters: On a Radeon a trace shows all loads of a group on one line, three or four times as many as
#   that line can have, and none on its neighbours, as if those had been optimized away. The cost of a load goes
#   to the line of another array. Its registers, or the same source compiled for MI300, tell which array an
#   instruction loads.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
cat > "$dir/lines.hip" <<'HIP'
#define KERNEL(name) extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(256, 256))) \
    void name(const float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ c, \
              const float *__restrict__ d, float *__restrict__ out)
#define LANE __builtin_amdgcn_workitem_id_x()
#line 1
KERNEL(loads) { int i = LANE;
    float x = a[i];
    float y = b[i];
    float z = c[i];
    float w = d[i];
    out[i] = x * y + z * w; }
#line 1
KERNEL(stores) { int i = LANE;
    float x = a[i];
    out[i] = x;
    out[i + 1024] = x;
    out[i + 2048] = x; }
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])


def compiled(target):
    """Of each kernel its instructions, each with the line that the line table gives it."""
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", "-gline-tables-only", "-S", "-o", "-", folder / "lines.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    for name, body in re.findall(r"^([a-z]\w+):.*?\n(.*?)\.section", text, re.M | re.S):
        line, code = None, []
        for found in re.finditer(r"^\t(?:\.loc\t\d+ (\d+)|([a-z]+_\w+.*))", body, re.M):
            line = int(found[1]) if found[1] else line
            code += [(line, found[2])] if found[2] else []
        yield name, code


for target in "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250":
    kernels = dict(compiled(target))
    loads = [line for line, text in kernels["loads"] if text.startswith("global_load")]
    stores = [line for line, text in kernels["stores"] if text.startswith("global_store")]
    clauses = [sum(text.startswith("s_clause") for _, text in kernels[name]) for name in ("loads", "stores")]
    print(target, "loads", loads, "stores", stores, "clauses", clauses)
    if target.startswith("gfx9"):
        assert sorted(loads) == [2, 3, 4, 5] and stores == [3, 4, 5] and clauses == [0, 0]
    else:
        assert loads == [2 if target == "gfx1250" else 4] * 4 and stores == [3] * 3 and min(clauses) > 0
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
