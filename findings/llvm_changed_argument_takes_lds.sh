#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: A struct that is passed to a kernel by value lies in the kernel's arguments, which scalar loads read. A
#   kernel that assigns one of its members changes a copy in registers; the others are read as before. LDS is what is
#   declared __shared__.
# Instead: That holds for single members. If the struct has an array that is indexed by a variable, also by one that
#   is equal in all lanes, one assignment to an element copies the whole struct, once for each thread: to scratch on
#   gfx90a and gfx942, and to LDS on gfx950, gfx1100, gfx1201 and gfx1250 if the number of that element is fixed.
#   Without __launch_bounds__ the LDS is for 1024 threads, 40 KB for a struct of 40 bytes, whatever the launch's size
#   is. The pointers of the struct come from there, too, so the compiler no longer knows that they are global: loads
#   and stores through them become flat ones, which also count as LDS accesses in waits. A plain copy (S t = s) that
#   is changed instead is the same code. Reading the element into a variable and changing that costs nothing.
# Seen (if (s.n < 4) s.stride[0] = 1; bytes of LDS with bounds of 256 | without bounds, bytes of scratch, vector
#   instructions, accesses of memory):
#   gfx942    unchanged     0 |     0,  0, 10  global_load, global_store
#             element       0 |     0, 48, 18  flat_load, flat_store, 9 of scratch
#   gfx950    element   10240 | 40960,  0, 36  flat_load, flat_store, 9 of LDS
#   gfx1100   unchanged     0 |     0,  0,  8  global_load, global_store
#             element   10240 | 40960,  0, 26  flat_load, flat_store, 8 of LDS
#   gfx1201   element   10240 | 40960,  0, 27  flat_load, flat_store, 8 of LDS
#   a member (s.a *= 2), a pointer (s.x += ...), the element in a variable: as unchanged
# Why it matters: Shapes and strides are passed like this. One line that corrects a stride costs three times the
#   vector instructions, and LDS for which no line asks: on MI350, with 160 KB, four workgroups fit on a compute unit,
#   also if they have 64 threads each. So occupancy falls with the size of a struct. In the trace, waits for LDS stand
#   in a kernel without __shared__, and flat_load where the source has plain pointers.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
cat > "$dir/strides.hip" <<'HIP'
#define KERNEL extern "C" __attribute__((global)) BOUNDS void
#define WORK(s)                                    \
    int i = __builtin_amdgcn_workitem_id_x();      \
    for (int d = 0; d < dims; d++) i += s.stride[d]; \
    s.x[i] = s.a * s.y[i];
struct S {
    float *x;
    const float *y;
    float a;
    int n, stride[4];
};

KERNEL unchanged(S s, int dims) { WORK(s) }
KERNEL member(S s, int dims) {
    s.a *= 2;
    WORK(s)
}
KERNEL pointer(S s, int dims) {
    s.x += __builtin_amdgcn_workgroup_id_x() * 256;
    WORK(s)
}
KERNEL variable(S s, int dims) {
    int first = s.n < 4 ? 1 : s.stride[0];
    int i = __builtin_amdgcn_workitem_id_x();
    for (int d = 0; d < dims; d++) i += d ? s.stride[d] : first;
    s.x[i] = s.a * s.y[i];
}
KERNEL element(S s, int dims) {
    if (s.n < 4) s.stride[0] = 1;
    WORK(s)
}
KERNEL copy(S s, int dims) {
    S t = s;
    if (t.n < 4) t.stride[0] = 1;
    WORK(t)
}
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
BOUNDS = "__attribute__((amdgpu_flat_work_group_size(1,256)))"


def compiled(target, bounds):
    """Of each kernel: bytes of LDS and scratch, vector instructions, accesses of each kind."""
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", f"-DBOUNDS={bounds}", "-S", "-o", "-", folder / "strides.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    facts = {}
    for name, body in re.findall(r"^([a-z]+):.*?\n(.*?)\.section", text, re.M | re.S):
        code = re.findall(r"^\t([a-z]+_\w+)", body, re.M)
        memory = [each for each in code if re.search("_(load|store|read|write)", each)]
        kinds = [each.split("_")[0].replace("buffer", "scratch") for each in memory]
        lds, scratch = (int(re.search(rf"\.amdhsa_kernel {name}\n.*?{key}_segment_fixed_size (\d+)", text, re.S)[1])
                        for key in ("group", "private"))
        counts = {kind: kinds.count(kind) for kind in ("global", "flat", "ds", "scratch")}
        facts[name] = lds, scratch, sum(each.startswith("v_") for each in code), counts
    return facts


SEEN = {  # vector instructions unchanged and with the element, accesses of the copy
    "gfx90a": (14, 27, 21), "gfx942": (10, 18, 9), "gfx950": (10, 36, 9), "gfx1100": (8, 26, 8), "gfx1201": (8, 27, 8),
    "gfx1250": (5, 35, 9),
}
for target, (plain, changed, accesses) in SEEN.items():
    place = "scratch" if target in ("gfx90a", "gfx942") else "ds"
    for bounds, threads in (BOUNDS, 256), ("", 1024):
        facts = compiled(target, bounds)
        for name, seen in facts.items():
            print(f"{target:7} {threads:4} {name:9} LDS {seen[0]:5}, scratch {seen[1]:2}, vector {seen[2]:2}", seen[3])
            lds, scratch, vector, counts = seen
            if name in ("element", "copy"):
                assert (lds, scratch) == ((0, 48) if place == "scratch" else (40 * threads, 0))
                assert vector == changed
                assert counts == {"global": 0, "flat": 2, "ds": 0, "scratch": 0} | {place: accesses}
            else:
                assert (lds, scratch) == (0, 0) and abs(vector - plain) <= 1
                assert counts == {"global": 2, "flat": 0, "ds": 0, "scratch": 0}
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
