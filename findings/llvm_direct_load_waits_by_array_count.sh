#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: The compiler waits for a load from memory straight into LDS, __builtin_amdgcn_global_load_lds,
#   before the wave reads the bytes, as LLVM documents for this form (in another form the author writes the
#   waits). How many LDS arrays the kernel has does not matter.
# Instead: It does matter. In a kernel with one array, of fixed size or sized by the launch, there is no wait:
#   the read follows the load and may get the old contents. With a second array that neither of them touches,
#   the same two source lines have s_waitcnt vmcnt(0) between them, and with two loads the right count. One
#   array with -fno-strict-aliasing, which hides the type of the read from the compiler, also gets the wait. A
#   fence with a barrier, as in __syncthreads(), always waits.
# Seen (gfx90a, gfx942 and gfx950; waits for memory between the load and the read of LDS):
#   one array, of a fixed size or the launch's            none
#   the same, -fno-strict-aliasing                        s_waitcnt vmcnt(0)
#   one array, and a second one elsewhere in the kernel   s_waitcnt vmcnt(0)
#   two arrays, each with a load, the first is read       s_waitcnt vmcnt(1)
#   both halves of one array, the first is read           none
#   one array, with fence and barrier                     s_waitcnt vmcnt(0)
# Why it matters: A kernel in which each wave reads only what it loaded itself needs no barrier. It is right
#   while it has two arrays, and wrong once they are joined into one double buffer. In the trace the wait for
#   memory has left the loop, which looks like a success. Conversely, a second array, for example for a final
#   reduction, brings a wait for memory into the loop. With one array, write the wait yourself:
#   __builtin_amdgcn_s_waitcnt.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
cat > "$dir/direct.hip" <<'HIP'
#define KERNEL(name) extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(128, 128))) \
    void name(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out)
#define LDS __attribute__((shared)) static float
#define LOAD(from, to) __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), \
    (__attribute__((address_space(3))) void *)(to), 4, 0, 0)
#define LANE __builtin_amdgcn_workitem_id_x()
#define FIRST __builtin_amdgcn_readfirstlane(LANE & ~63)  // of the wave: the load adds the lane
#define SYNC() (__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"), __builtin_amdgcn_s_barrier(), \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"))
extern __attribute__((shared)) float launched[];

KERNEL(one) { LDS x[128]; LOAD(a + LANE, x + FIRST); out[LANE] = x[LANE ^ 1]; }
KERNEL(of_launch) { LOAD(a + LANE, launched + FIRST); out[LANE] = launched[LANE ^ 1]; }
KERNEL(and_another) {
    LDS x[128], y[128];
    y[LANE] = out[LANE];
    out[128 + LANE] = y[LANE ^ 1];
    LOAD(a + LANE, x + FIRST);
    out[LANE] = x[LANE ^ 1];
}
KERNEL(two) {
    LDS x[128], y[128];
    LOAD(a + LANE, x + FIRST);
    LOAD(b + LANE, y + FIRST);
    out[LANE] = x[LANE ^ 1];
}
KERNEL(joined) {
    LDS xy[256];
    LOAD(a + LANE, xy + FIRST);
    LOAD(b + LANE, xy + 128 + FIRST);
    out[LANE] = xy[LANE ^ 1];
}
KERNEL(one_synced) { LDS x[128]; LOAD(a + LANE, x + FIRST); SYNC(); out[LANE] = x[127 - LANE]; }
KERNEL(of_launch_synced) { LOAD(a + LANE, launched + FIRST); SYNC(); out[LANE] = launched[127 - LANE]; }
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
LINE = re.compile(r"\t(global_load_\w+|ds_read\w+|s_barrier|s_waitcnt) ?(.*)")


def compiled(target, *options):
    """Of each kernel the loads to LDS, the reads, barriers, and waits for vector memory."""
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", *options, "-S", "-o", "-",
             folder / "direct.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    for name, body in re.findall(r"^([a-z]\w+):.*?\n(.*?)\.section", text, re.M | re.S):
        order = []
        for what, rest in LINE.findall(body):
            if what.startswith("global"):
                order.append("load" if "lds" in what + rest else "to register")
            elif what == "s_waitcnt":
                order += re.findall(r"vmcnt\(\d+\)", rest)
            else:
                order.append("read" if what.startswith("ds") else "barrier")
        yield name, order


SEEN = {
    "one": ["load", "read"],
    "of_launch": ["load", "read"],
    "two": ["load", "load", "vmcnt(1)", "read"],
    "joined": ["load", "load", "read"],
    "one_synced": ["load", "vmcnt(0)", "barrier", "read"],
    "of_launch_synced": ["load", "vmcnt(0)", "barrier", "read"],
}
for target in "gfx90a", "gfx942", "gfx950":
    seen = dict(compiled(target))
    print(target, seen)
    assert {name: seen[name] for name in SEEN} == SEEN
    order = seen["and_another"]  # the read of the second array needs no wait, and has none
    assert order[order.index("load"):] == ["load", "read", "vmcnt(0)", "read"], order
    untyped = dict(compiled(target, "-fno-strict-aliasing"))
    print(target, "-fno-strict-aliasing:", {name: untyped[name] for name in ("one", "of_launch")})
    assert untyped["one"] == untyped["of_launch"] == ["load", "vmcnt(0)", "read"]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
