#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: A small array of a thread, indexed by a number that differs from lane to lane, lies in scratch. Whoever
#   wants it small and cheap takes the smallest type: 64 counters of a byte are 64 bytes, a quarter of 64 ints. The
#   array in registers, where the compiler manages it, is the fast case.
# Instead: Up to 128 bytes LLVM keeps the array in registers, one element to a register however small it is, on most
#   targets. The ISA has no register number that differs between lanes, so each read compares the index with all
#   numbers and selects one element after the other, and each write selects for every element. The cost of one access
#   is that of the number of elements, not of bytes: counts[k]++ on 128 bytes takes 1210 vector instructions, and
#   spills. From 129 bytes on it takes a load and a store of scratch. The smaller type is the slower one: 64 ints are
#   256 bytes and take four vector instructions, at the latency of scratch.
# Seen (for (...) counts[at[i]]++; vector instructions and scratch accesses of the loop, VGPRs of the kernel):
#   elements      int, gfx942     char, gfx942      int, gfx1201    char, gfx1201
#     16           50,  0,  22      81,  0,  21       52, 0,  21      98, 0,  21
#     32           98,  0,  38     161,  0,  37      100, 0,  37     194, 0,  37
#     64            3,  2,  57     376,  0,  74        4, 2,  65     388, 0,  69
#    128            3,  2          1210, 50, 128       4, 2          817, 0, 135
#    129            3,  2           2,  2               4, 2           3, 2
#   with -mllvm -amdgpu-promote-alloca-to-vector-limit=1 all of them take at most 5 vector instructions
# Why it matters: Histograms, small stacks, lookup tables and radix sorts of a thread have such arrays, and making
#   their type smaller is the usual advice. The trace shows no memory instruction on the line, only v_cmp and
#   v_cndmask by the hundred, and VGPRs that grow with the array. In the listing, many v_cndmask in a row with v_cmp
#   of one register against 0, 1, 2 and so on are an array. Make it larger than 128 bytes, put it in LDS, or give the
#   option.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
cat > "$dir/count.hip" <<'HIP'
#define LANE __builtin_amdgcn_workitem_id_x()
template <class T, int N>
__attribute__((device)) inline void count(T *__restrict__ out, const int *__restrict__ at, int n) {
    T counts[N] = {};
#pragma unroll 1
    for (int i = 0; i < n; i++) counts[at[LANE + i * 256]]++;
    for (int i = 0; i < N; i++) out[LANE * N + i] = counts[i];
}
#define COUNT(T, N)                                                                                      \
    extern "C" __attribute__((global)) void T##_##N(T *__restrict__ out, const int *__restrict__ at, int n) { \
        count<T, N>(out, at, n);                                                                         \
    }
COUNT(int, 16) COUNT(int, 32) COUNT(int, 33) COUNT(int, 64) COUNT(int, 128) COUNT(int, 129)
COUNT(char, 16) COUNT(char, 32) COUNT(char, 64) COUNT(char, 128) COUNT(char, 129)
COUNT(short, 64) COUNT(short, 65) COUNT(long, 16) COUNT(long, 17)
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
BYTES = {"char": 1, "short": 2, "int": 4, "long": 8}


def compiled(target, *options):
    """Of each kernel the vector instructions and scratch accesses of its loop, and its VGPRs."""
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", *options, "-S", "-o", "-", folder / "count.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    facts = {}
    for name, body in re.findall(r"^([a-z]+_\d+):.*?\n(.*?)\.section", text, re.M | re.S):
        lines = [" ".join(line.split(";")[0].split()) for line in body.splitlines()]
        loops = []
        for end, line in enumerate(lines):
            target_label = line.split()[1] + ":" if line.startswith("s_cbranch") else None
            if target_label in lines[:end]:
                loops.append(lines[lines.index(target_label) : end])
        (loop,) = loops
        vector = sum(line.startswith("v_") for line in loop)
        scratch = sum(bool(re.match(r"scratch_|buffer_(load|store)", line)) for line in loop)
        registers = re.search(rf"\.amdhsa_kernel {name}\n.*?next_free_vgpr (\d+)", text, re.S)
        facts[name] = vector, scratch, int(registers[1])
    return facts


SEEN = {
    "gfx942": {"int_16": (50, 0, 22), "char_16": (81, 0, 21), "int_32": (98, 0, 38), "char_32": (161, 0, 37),
               "int_64": (3, 2, 57), "char_64": (376, 0, 74), "char_128": (1210, 50, 128)},
    "gfx1201": {"int_16": (52, 0, 21), "char_16": (98, 0, 21), "int_32": (100, 0, 37), "char_32": (194, 0, 37),
                "int_64": (4, 2, 65), "char_64": (388, 0, 69), "char_128": (817, 0, 135)},
}
for target in "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250":
    facts = compiled(target)
    print(target, *(f"{name} {seen}" for name, seen in facts.items()), sep="  ")
    for name, seen in SEEN.get(target, {}).items():
        assert facts[name] == seen, name
    for name, (vector, scratch, _) in facts.items():
        kind, count = name.split("_")
        if BYTES[kind] * int(count) > 128:
            assert vector <= 5 and scratch <= 4, name
        else:
            assert vector > 2.5 * int(count), name
    without = compiled(target, "-mllvm", "-amdgpu-promote-alloca-to-vector-limit=1")
    assert all(vector <= 5 for vector, _, _ in without.values()), without
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
