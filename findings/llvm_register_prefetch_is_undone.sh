#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: In a loop that loads for a later iteration (next = a[k + 1]; use(x); x = next) that load is in
#   flight during the arithmetic. Four values ahead are four loads in flight from one iteration to the next,
#   whether the four have names or are an array with known indices. A load before a loop, for what follows the
#   loop, is in flight while the loop runs.
# Instead: If nothing after the loop uses the last values, LLVM carries the address from iteration to iteration,
#   not the value, and loads where it is used: nothing is in flight, however far ahead the source loads. With
#   such a use one load is in flight, even for two, three and four values ahead: x = y; y = z are register
#   copies, and a copy waits for its load. Unrolled by four, so that each of four names is loaded in turn, all
#   four are in flight; the same ring as an array of four is copied as well, and on CDNA no load outlives the
#   iteration. A load before a loop that writes no memory is issued after the loop.
# Seen (loads in flight at the branch back; values ahead in the source):
#                               1 and 4, no use after   1   2   3   4   ring of 4 names   ring in an array
#   gfx90a, gfx942, gfx950      0                       1   1   1   1   4                 0
#   gfx1100, gfx1201, gfx1250   0                       1   1   1   1   4                 3
#   a load in front of the loop, all six: behind the loop; in front of it if the loop writes LDS
# Why it matters: In a trace the iterations wait for memory as if nothing, or one value, had been loaded ahead.
#   More values ahead cost registers and copies and hide no more. The listing shows it: a wait for 0 loads,
#   usually followed by a copy, in an iteration that issues one. Unrolling by hand, names instead of an array,
#   and a use after the loop bring the overlap back.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
cat > "$dir/stream.hip" <<'HIP'
#define KERNEL(name) extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(64, 64))) \
    void name(const float *__restrict__ a, float *__restrict__ out, int n)
#define LANE __builtin_amdgcn_workitem_id_x()
#define USE(x) (s = s * s + (x), s = s * s + (x))

KERNEL(one_unused) {
    int i = LANE; float s = 0, x = a[i];
    for (int k = 1; k < n; k++) { float next = a[k * 64 + i]; USE(x); x = next; }
    out[i] = s;
}
KERNEL(four_unused) {
    int i = LANE; float s = 0, x = a[i], y = a[i + 64], z = a[i + 128], w = a[i + 192];
    for (int k = 4; k < n; k++) { float next = a[k * 64 + i]; USE(x); x = y; y = z; z = w; w = next; }
    out[i] = s;
}
KERNEL(one) {
    int i = LANE; float s = 0, x = a[i];
    for (int k = 1; k < n; k++) { float next = a[k * 64 + i]; USE(x); x = next; }
    USE(x); out[i] = s;
}
KERNEL(two) {
    int i = LANE; float s = 0, x = a[i], y = a[i + 64];
    for (int k = 2; k < n; k++) { float next = a[k * 64 + i]; USE(x); x = y; y = next; }
    USE(x); USE(y); out[i] = s;
}
KERNEL(three) {
    int i = LANE; float s = 0, x = a[i], y = a[i + 64], z = a[i + 128];
    for (int k = 3; k < n; k++) { float next = a[k * 64 + i]; USE(x); x = y; y = z; z = next; }
    USE(x); USE(y); USE(z); out[i] = s;
}
KERNEL(four) {
    int i = LANE; float s = 0, x = a[i], y = a[i + 64], z = a[i + 128], w = a[i + 192];
    for (int k = 4; k < n; k++) { float next = a[k * 64 + i]; USE(x); x = y; y = z; z = w; w = next; }
    USE(x); USE(y); USE(z); USE(w); out[i] = s;
}
KERNEL(ring) {
    int i = LANE; float s = 0, x = a[i], y = a[i + 64], z = a[i + 128], w = a[i + 192], old;
    for (int k = 4; k < n; k += 4) {
        old = x; x = a[k * 64 + i]; USE(old);
        old = y; y = a[k * 64 + 64 + i]; USE(old);
        old = z; z = a[k * 64 + 128 + i]; USE(old);
        old = w; w = a[k * 64 + 192 + i]; USE(old);
    }
    USE(x); USE(y); USE(z); USE(w); out[i] = s;
}
KERNEL(ring_in_array) {
    int i = LANE; float s = 0, ring[4], old;
    for (int j = 0; j < 4; j++) ring[j] = a[j * 64 + i];
    for (int k = 4; k < n; k += 4) {
        _Pragma("unroll") for (int j = 0; j < 4; j++) { old = ring[j]; ring[j] = a[(k + j) * 64 + i]; USE(old); }
    }
    for (int j = 0; j < 4; j++) USE(ring[j]);
    out[i] = s;
}
KERNEL(in_front) {
    int i = LANE; float s = 1, x = a[i];
    for (int k = 0; k < n; k++) s = s * s + 0.5f;
    out[i] = s * x;
}
KERNEL(in_front_of_writes) {
    __attribute__((shared)) static float lds[64];
    int i = LANE; float s = 1, x = a[i];
    lds[i] = s;
    for (int k = 0; k < n; k++) { s = s * s + lds[(i + k) & 63]; lds[i] = s; }
    out[i] = s * x;
}
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
LOAD = re.compile(r"global_load_")
LEFT = re.compile(r"vmcnt\((\d+)\)|s_wait_loadcnt (0x\w+)|s_wait_loadcnt_dscnt (0x\w+)")


def compiled(target):
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", "-S", "-o", "-", folder / "stream.hip"]
    return subprocess.run(clang, check=True, capture_output=True, text=True).stdout


def kernel(text, name):
    """The instructions and labels of a kernel."""
    body = text.split(f"\n{name}:")[1].split(".section")[0]
    lines = (" ".join(line.split(";")[0].split()) for line in body.splitlines())
    return [line for line in lines if line]


def rounds(lines):
    """The loops: from a label to a branch back to it."""
    places = {line[:-1]: place for place, line in enumerate(lines) if line.endswith(":")}
    for place, line in enumerate(lines):
        to = places.get(line.split()[-1]) if line.startswith(("s_cbranch", "s_branch")) else None
        if to is not None and to < place:
            yield lines[to:place + 1]


def in_flight(loop):
    """Loads that are issued and not waited for, at the branch back of a loop that runs for long."""
    flying = 0
    for line in loop * 20:
        flying += bool(LOAD.match(line))
        if found := LEFT.search(line):
            left = int(found[1] or found[2] or found[3], 0)
            flying = min(flying, left >> 8 if found[3] else left)
    return flying


STREAMS = "one_unused", "four_unused", "one", "two", "three", "four", "ring", "ring_in_array"
for target in "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250":
    text = compiled(target)
    seen = {}
    for name in STREAMS:
        loop, = (loop for loop in rounds(kernel(text, name)) if any(map(LOAD.match, loop)))
        assert sum(bool(LOAD.match(line)) for line in loop) == (4 if "ring" in name else 1)
        seen[name] = in_flight(loop)
        if name in ("two", "three", "four"):  # the values are copied, behind a wait
            first = next(place for place, line in enumerate(loop) if LEFT.search(line))
            assert any("mov_b" in line for line in loop[first:]), loop
    places = {}
    for name in "in_front", "in_front_of_writes":
        lines = kernel(text, name)
        load, = (place for place, line in enumerate(lines) if LOAD.match(line))
        first = next(place for place, line in enumerate(lines) if line.startswith("s_cbranch"))
        back = max(lines.index(loop[-1]) for loop in rounds(lines))
        places[name] = "behind" if load > back else "in front" if load < first else "between"
    print(target, seen, places)
    assert list(seen.values()) == [0, 0, 1, 1, 1, 1, 4, 0 if target.startswith("gfx9") else 3]
    assert list(places.values()) == ["behind", "in front"]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
