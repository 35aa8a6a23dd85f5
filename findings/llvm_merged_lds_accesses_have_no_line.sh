#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: When the compiler merges two accesses from two source lines into one instruction, it has one of the
#   two lines, and so has the wait before it. All kinds of memory behave alike, and writing both accesses on one
#   line of the file changes only the number.
# Instead: It depends on the memory. Two loads of global or constant memory keep the line of the first, two
#   stores to global memory that of one of them. Two LDS accesses (ds_read2, ds_write2) and two buffer loads
#   that are merged get line 0, which means none. The wait before them loses its line too; for a write to LDS
#   that is the wait for global memory. If both are written on one line of the file, the pair and its wait keep
#   that line.
# Seen (gfx90a, gfx942, gfx950, gfx1100, gfx1201, gfx1250; lines in the source: line of the instruction):
#   writes to LDS on lines 4 and 5: 0, and 0 for the wait for the loads; both on line 4: 4, and 4 for the wait
#   reads of LDS on lines 7 and 8:  0; both on line 7: 7
#   buffer loads on lines 3 and 4:  0
#   global loads on lines 2 and 3:  2; stores on lines 4 and 5: 4 or 5; scalar loads on lines 2 and 3: 2
# Why it matters: The wait for a tile before the write to LDS is often the longest of a kernel. A table by
#   source line charges it to no line, and the two lines that write LDS have no instruction, as if they had been
#   optimized away. While you measure, write the two statements on one line.
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
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define SYNC() (__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"), __builtin_amdgcn_s_barrier(), \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"))
#line 1
KERNEL(two_lines) { __attribute__((shared)) static float lds[512]; int i = LANE;
    float x = a[i];
    float y = b[i];
    lds[i] = x;
    lds[i + 256] = y;
    SYNC();
    float u = lds[i ^ 1];
    float v = lds[(i ^ 1) + 256];
    out[i] = u * v; }
#line 1
KERNEL(one_line) { __attribute__((shared)) static float lds[512]; int i = LANE;
    float x = a[i];
    float y = b[i];
    lds[i] = x; lds[i + 256] = y;

    SYNC();
    float u = lds[i ^ 1]; float v = lds[(i ^ 1) + 256];
    out[i] = u * v; }
#line 1
KERNEL(of_global) { int i = LANE;
    float x = a[2 * i];
    float y = a[2 * i + 1];
    out[2 * i] = x + 3;
    out[2 * i + 1] = y + 5; }
#line 1
KERNEL(of_scalars) { int i = LANE;
    float x = a[2 * GROUP];
    float y = a[2 * GROUP + 1];
    out[i] = x * y; }
#line 1
KERNEL(of_buffer) { int i = LANE;
    __amdgpu_buffer_rsrc_t all = __builtin_amdgcn_make_buffer_rsrc((void *)a, 0, -1, 0);
    unsigned x = __builtin_amdgcn_raw_buffer_load_b32(all, 8 * i, 0, 0);
    unsigned y = __builtin_amdgcn_raw_buffer_load_b32(all, 8 * i + 4, 0, 0);
    out[i] = x + y; }
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


def line_of(code, pattern):
    """The line of the one instruction that is like this."""
    line, = (line for line, text in code if re.match(pattern, text))
    return line


for target in "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250":
    kernels = dict(compiled(target))
    seen = {}
    for name in "two_lines", "one_line":
        code = kernels[name]
        place, = (place for place, (_, text) in enumerate(code) if re.match("ds_(write2|store_2addr)", text))
        wait = max(at for at in range(place) if re.match(r"s_waitcnt vmcnt\(0\)|s_wait_loadcnt 0x0", code[at][1]))
        seen[name] = code[place][0], code[wait][0], line_of(code, "ds_(read2|load_2addr)")
    seen["buffer"] = line_of(kernels["of_buffer"], "buffer_load_")
    seen["loads"] = line_of(kernels["of_global"], "global_load_(dwordx2|b64)")
    seen["stores"] = line_of(kernels["of_global"], "global_store_(dwordx2|b64)")
    scalars = [(line, text) for line, text in kernels["of_scalars"] if re.match("s_load_(dwordx2|b64)", text)]
    seen["scalars"] = scalars[-1][0]
    print(target, seen)
    assert seen.pop("stores") in (4, 5)
    assert seen == {"two_lines": (0, 0, 0), "one_line": (4, 4, 7), "buffer": 0, "loads": 2, "scalars": 2}
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
