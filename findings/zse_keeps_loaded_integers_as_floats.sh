#!/usr/bin/env bash
# Packages: zse-compiler 2.0.1 (turns Python functions into kernels for HIP, CUDA and Metal), ziglang 0.17.1 (its clang
#   compiles the generated text for the CPU, one thread, so that it can be run without a GPU).
# Expected: a variable has the type of what is assigned to it. word = packed[i] of a parameter that is declared
#   "uint32_tensor", which the kernel's signature has as unsigned int*, is an unsigned int. Naming a value that is used
#   twice changes nothing.
# Instead: each load from a parameter is taken for a float, and the variable is declared as one, whatever the tensor's
#   type. Assignment converts, and a float keeps 24 bits. Without a name, the value stays an integer. So does it with a
#   type written at the variable, word: zse.uint32 = packed[i].
# Seen (a word with the eight 4-bit numbers 15, 14, 13, 12, 11, 10, 9, 8 from the top, unpacked, lowest first; row
#   number 20000001 of an index tensor, stored again):
#   unpack_uint4(packed[i], ...)            8 9 10 11 12 13 14 15     ids stored without a name  20000001
#   word = packed[i], then unpack_uint4     0 0 11 11 12 13 14 15     row = ids[i]               20000000
#   word: zse.uint32 = packed[i]            8 9 10 11 12 13 14 15     row: zse.int32 = ids[i]    20000001
# Why it matters: these are the weights of a 4-bit model. Two of eight lose all of their value and one is off by 1
#   where the word is large, while small words, as tests have them, are exact. In the kernel's ISA it shows as
#   v_cvt_f32_u32 and v_cvt_u32_f32 for each word, in a kernel whose source has no conversion.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check zse-compiler==2.0.1 ziglang==0.17.1
mkdir -p "$dir/cpu/hip" "$dir/gpu/hip"
cat > "$dir/cpu/hip/hip_runtime.h" <<'H'
#define __global__
static struct { int x; } blockIdx, blockDim, threadIdx;
H
cat > "$dir/gpu/hip/hip_runtime.h" <<'H'
#define __global__ __attribute__((global))
#define blockIdx (Index{(int)__builtin_amdgcn_workgroup_id_x()})
#define blockDim (Index{(int)__builtin_amdgcn_workgroup_size_x()})
#define threadIdx (Index{(int)__builtin_amdgcn_workitem_id_x()})
struct Index { int x; };
H
cat > "$dir/see.py" <<'PY'
import ctypes
import re
import subprocess
import sys
from pathlib import Path

import zse_compiler as zse

FOLDER = Path(sys.argv[1])
WORD = 0xFEDCBA98
ROW = 20_000_001


@zse.kernel
def weights_direct(packed: "uint32_tensor", out: "int32_tensor"):
    i = zse.global_id(0)
    numbers = zse.local_array(8, zse.int32)
    zse.unpack_uint4(packed[i], numbers, 0)
    for j in range(8):
        out[i * 8 + j] = numbers[j]


@zse.kernel
def weights_named(packed: "uint32_tensor", out: "int32_tensor"):
    i = zse.global_id(0)
    numbers = zse.local_array(8, zse.int32)
    word = packed[i]
    zse.unpack_uint4(word, numbers, 0)
    for j in range(8):
        out[i * 8 + j] = numbers[j]


@zse.kernel
def weights_typed(packed: "uint32_tensor", out: "int32_tensor"):
    i = zse.global_id(0)
    numbers = zse.local_array(8, zse.int32)
    word: zse.uint32 = packed[i]
    zse.unpack_uint4(word, numbers, 0)
    for j in range(8):
        out[i * 8 + j] = numbers[j]


@zse.kernel
def rows_direct(ids: "int32_tensor", out: "int32_tensor"):
    i = zse.global_id(0)
    out[i] = ids[i]


@zse.kernel
def rows_named(ids: "int32_tensor", out: "int32_tensor"):
    i = zse.global_id(0)
    row = ids[i]
    out[i] = row


@zse.kernel
def rows_typed(ids: "int32_tensor", out: "int32_tensor"):
    i = zse.global_id(0)
    row: zse.int32 = ids[i]
    out[i] = row


def run(kernel, value, count):
    """What the kernel's text for HIP stores, compiled for the CPU, where all indices are 0."""
    name, source = kernel.name, FOLDER / f"{kernel.name}.cpp"
    source.write_text(kernel.source("rocm"))
    library = FOLDER / f"{name}.so"
    zig = [sys.executable, "-m", "ziglang", "cc", "-x", "c++", "-O1", "-fno-sanitize=undefined", "-shared", "-nostdlib",
           "-I", FOLDER / "cpu", "-o", library, source]
    subprocess.run(zig, check=True)
    out = (ctypes.c_int32 * count)()
    getattr(ctypes.CDLL(str(library)), name)((ctypes.c_uint32 * 1)(value), out)
    return list(out)


def conversions(kernel):
    """Conversions between integers and floats in the kernel's code for gfx942."""
    zig = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
           "--offload-arch=gfx942", "-O3", "-I", FOLDER / "gpu", "-S", "-o", "-", FOLDER / f"{kernel.name}.cpp"]
    text = subprocess.run(zig, check=True, capture_output=True, text=True).stdout
    return re.findall(r"^\t(v_cvt_\w+?)(?:_e32)? ", text, re.M)


EXACT = [8, 9, 10, 11, 12, 13, 14, 15]
SEEN = {
    weights_direct: (EXACT, []),
    weights_named: ([0, 0, 11, 11, 12, 13, 14, 15], ["v_cvt_f32_u32", "v_cvt_u32_f32"]),
    weights_typed: (EXACT, []),
    rows_direct: ([ROW], []),
    rows_named: ([ROW - 1], ["v_cvt_f32_i32", "v_cvt_i32_f32"]),
    rows_typed: ([ROW], []),
}
for kernel, expected in SEEN.items():
    weights = kernel.name.startswith("weights")
    stored = run(kernel, WORD if weights else ROW, len(expected[0]))
    found = stored, conversions(kernel)
    print(f"{kernel.name:15}", *stored, *found[1])
    assert found == expected, expected
signature = weights_named.source("rocm")
assert "unsigned int* __restrict__ packed" in signature and "float word = packed[i]" in signature
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
