#!/usr/bin/env bash
# Packages: Debian 12's gcc-12 and gcc-12-offload-amdgcn 12.2.0-14+deb12u1 (GCC's own code generator for AMD GPUs,
#   without LLVM), ziglang 0.17.1 (its clang 22.1, for comparison). Needs Debian 12 with apt and an assembler
#   (binutils).
# Expected: GCC computes addresses, issues the four loads of a loop one after the other, and waits where their values
#   are used, as LLVM does for these GPUs. How well it overlaps them depends on -O and on the loop.
# Instead: in GCC's code each load is one text with its wait. The next instruction is always a wait until nothing is
#   in flight, at -O1 as at -O3, for vector loads, scalar loads and flat ones. Never are two loads in flight, and no
#   arithmetic runs during one. "s_waitcnt 0" also waits for the store of the iteration before. What remains of a loop
#   behind the last full wave, up to 63 elements, runs in a loop of one lane and one element, waits included.
# Seen (y[i] = a[i] + b[i] * c[i] + d[i], "target teams distribute parallel for simd", -O3; of the loop for full waves:
#   loads, waits for everything, loads in flight at most | of the loop for the rest: lanes, loads, waits):
#   gfx900, gfx906, gfx908   4, 4, 1 | 1, 4, 4
#   clang, the same loop     4 loads in flight
# Why it matters: such a loop takes four latencies of memory, plus that of a store, for each 64 elements, so bandwidth
#   comes from the number of waves alone. In a trace nearly all time is waits, each right behind its load, which looks
#   like a memory that is too slow. A length of 64 * n + 63 adds 63 rounds of the same latencies for each thread that
#   has such a rest. The same source, built by an LLVM, does not have these waits.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/debs"
apt="apt-get -qq -o APT::Sandbox::User=root -o Dir::State::Lists=$dir/lists -o Dir::Cache=$dir/cache"
$apt update
version=12.2.0-14+deb12u1
(cd "$dir/debs" && $apt download "gcc-12=$version" "cpp-12=$version" "gcc-12-offload-amdgcn=$version" \
    libisl23=0.25-1.1 libmpc3=1.3.1-1 libmpfr6=4.2.0-1)
for package in "$dir"/debs/*.deb; do
    dpkg -x "$package" "$dir/root"
done
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
cat > "$dir/loop.c" <<'C'
void loop(float *restrict y, const float *restrict a, const float *restrict b, const float *restrict c,
          const float *restrict d, int n) {
#pragma omp target teams distribute parallel for simd map(tofrom : y[ : n]) map(to : a[ : n], b[ : n], c[ : n], d[ : n])
    for (int i = 0; i < n; i++) y[i] = a[i] + b[i] * c[i] + d[i];
}
C
cat > "$dir/loop.hip" <<'HIP'
extern "C" __attribute__((global)) void loop(float *__restrict__ y, const float *__restrict__ a,
                                             const float *__restrict__ b, const float *__restrict__ c,
                                             const float *__restrict__ d, int n) {
#pragma unroll 1
    for (int i = __builtin_amdgcn_workitem_id_x(); i < n; i += 64) y[i] = a[i] + b[i] * c[i] + d[i];
}
HIP
cat > "$dir/see.py" <<'PY'
import os
import re
import subprocess
import sys
from pathlib import Path

here = Path(sys.argv[1])
lib = here / "root/usr/lib"
ACCEL = lib / "gcc/x86_64-linux-gnu/12/accel/amdgcn-amdhsa/lto1"
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": str(lib / "x86_64-linux-gnu")}
LOAD = re.compile(r"(flat|global|s|ds)_(load|read)_")


def run(*command):
    return subprocess.run([str(each) for each in command], check=True, capture_output=True, text=True,
                          env=ENVIRONMENT).stdout


def loops(lines):
    """The instructions of each innermost loop: from a label to a branch back to it."""
    found = []
    for end, line in enumerate(lines):
        target = line.split()[1] + ":" if line.startswith("s_cbranch") else None
        if target in lines[:end]:
            body = lines[lines.index(target) + 1 : end + 1]
            if not any(each.endswith(":") for each in body):
                found.append(body)
    return found


def in_flight(body):
    """The most loads that are in flight at once; a wait is for all but as many as it names."""
    flying = most = 0
    for line in body:
        if LOAD.match(line):
            flying += 1
            most = max(most, flying)
        elif line.startswith("s_waitcnt"):
            left = re.search(r"vmcnt\((\d+)\)", line)
            flying = min(flying, int(left[1]) if left else 0)
    return most


def gcc(target, level):
    run(here / "root/usr/bin/gcc-12", level, "-ffast-math", "-fopenmp", "-foffload=amdgcn-amdhsa",
        "-fno-stack-protector", "-c", here / "loop.c", "-o", here / "loop.o")
    run(ACCEL, "-quiet", level, f"-march={target}", "-foffload-abi=lp64", "-fopenmp", here / "loop.o", "-o",
        here / "loop.s")
    lines = [" ".join(line.split(";")[0].split()) for line in (here / "loop.s").read_text().splitlines()]
    lines = [line for line in lines if re.match(r"[a-z]+_|\.L\w+:", line)]
    loads = [at for at, line in enumerate(lines) if LOAD.match(line)]
    without = [lines[at] for at in loads if not re.match(r"s_waitcnt (0|vmcnt\(0\)|lgkmcnt\(0\))$", lines[at + 1])]
    print(target, level, f"{len(loads)} loads, {len(without)} of them not followed by a wait for all")
    assert len(loads) > 10 and not without, without
    return [body for body in loops(lines) if any(line.startswith("flat_store") for line in body)]


for target in "gfx900", "gfx906", "gfx908":
    gcc(target, "-O1")
    whole, rest = gcc(target, "-O3")
    for body in whole, rest:
        facts = (sum(bool(LOAD.match(line)) for line in body), body.count("s_waitcnt 0"), in_flight(body))
        lanes = next(line.split()[-1] for line in body if line.startswith("s_mov_b64 exec,"))
        print(f"  loop with exec = {lanes}:", *facts)
        assert facts == (4, 4, 1) and lanes == ("-1" if body is whole else "1")
text = run(sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
           "--offload-arch=gfx908", "-O3", "-S", "-o", "-", here / "loop.hip")
lines = [" ".join(line.split(";")[0].split()) for line in text.splitlines()]
(body,) = loops([line for line in lines if re.match(r"[a-z]+_|\.LBB\w+:", line)])
print("clang gfx908: loads in flight", in_flight(body))
assert in_flight(body) == 4
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
