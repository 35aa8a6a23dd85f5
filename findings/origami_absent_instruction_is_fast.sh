#!/usr/bin/env bash
# Packages: rocm-origami 0.0.3 (AMD's model of the time of matrix products, to rank kernels by; its C++ is built here
#   with a stand-in for the one HIP header, which only asks a device for its sizes), ziglang 0.17.1 (its clang 22.1, as
#   a second opinion). Needs g++ 12 or later.
# Expected: get_mi_latency has the cycles of a matrix instruction. Equal instructions have equal cycles: FP16 and BF16
#   have one peak on MI200, and the RDNA3.5 chips one compute unit. What is not in the table is "really slow", as the
#   library's warning says.
# Instead: on gfx90a v_mfma_f32_32x32x8 takes 64 cycles for FP16 and 32 for BF16, each shared by four SIMDs. LLVM lets
#   the result of either wait equally long. What is not in the table takes 32, the fewest that an instruction of
#   32x32 has. So FP8, which MI200 lacks, is twice as fast as FP16, and a size that exists on no GPU beats both types.
#   XF32 of MI300 is in the table as 16x16x32; the instruction is 16x16x8. A compute unit of Strix Point (gfx1150) works
#   on 16 such instructions at once, one of Strix Halo (gfx1151) on 2.
# Seen (cycles for each instruction of a compute unit; the model's cycles for a product of 4096 x 4096 x 4096 with tiles
#   of 256 x 256 x 32 and 104 units; LLVM's wait states between the instruction and a use of its result):
#   gfx90a 32x32x8 FP16        16    1855404    18
#   gfx90a 32x32x8 BF16         8    1085801    18
#   gfx90a 32x32x8 FP8, absent  8
#   gfx90a 64x64x64 FP16, absent 8   1074857
#   gfx942 XF32: 16x16x8 8, 16x16x32 4, which is also the recommended one; clang has no builtin for it
#   16x16x16 FP16: gfx1150 2, gfx1151 16, gfx1152 8, gfx1153 16
# Why it matters: the model ranks tiles. At 16 cycles the product in FP16 is bound by arithmetic, at 8 that in BF16 is
#   bound by memory, though the GPU does equal work. A wrong instruction in a list of candidates is not seen: it wins.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
python3 -m venv "$dir/venv"
pip=("$dir/venv/bin/pip" --quiet --disable-pip-version-check)
"${pip[@]}" install ziglang==0.17.1
"${pip[@]}" download --no-deps --no-binary rocm-origami -d "$dir" rocm-origami==0.0.3
mkdir -p "$dir/origami" "$dir/stub/hip"
tar -xf "$dir"/rocm_origami-0.0.3.tar.gz -C "$dir/origami" --strip-components 1
cat > "$dir/stub/hip/hip_runtime.h" <<'H'
#pragma once
#include <cstddef>
struct hipDeviceProp_t {
    char gcnArchName[256];
    size_t sharedMemPerBlock;
    int multiProcessorCount, l2CacheSize, clockRate, memoryClockRate;
};
enum hipError_t { hipSuccess };
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t *, int) { return hipSuccess; }
inline const char *hipGetErrorString(hipError_t) { return ""; }
H
cat > "$dir/see.cpp" <<'CPP'
#include "origami/gemm.hpp"
#include "origami/hardware.hpp"
#include <cstdio>
using namespace origami;
using Gpu = hardware_t::architecture_t;
using Type = data_type_t;

static hardware_t gpu(Gpu name, size_t units) {
    return hardware_t::get_hardware_for_arch(name, units, 65536, 8 << 20, 1700000);
}

static void product(const hardware_t &on, Type type, dim3_t instruction) {
    problem_t problem;
    problem.size = {4096, 4096, 4096};
    problem.a_transpose = transpose_t::T;
    problem.a_dtype = problem.b_dtype = problem.c_dtype = problem.d_dtype = problem.mi_dtype = type;
    config_t config;
    config.mt = {256, 256, 32};
    config.mi = instruction;
    config.occupancy = 1;
    printf("%.0f\n", compute_total_latency(problem, on, config, on.N_CU));
}

int main() {
    auto mi200 = gpu(Gpu::gfx90a, 104), mi300 = gpu(Gpu::gfx942, 304);
    for (auto type : {Type::Half, Type::BFloat16, Type::Float8_fnuz})
        printf("%zu ", mi200.get_mi_latency(32, 32, 8, type));
    printf("%zu\n", mi200.get_mi_latency(64, 64, 64, Type::Half));
    product(mi200, Type::Half, {32, 32, 8});
    product(mi200, Type::BFloat16, {32, 32, 8});
    product(mi200, Type::Half, {64, 64, 64});
    auto best = mi300.get_recommended_matrix_instruction(Type::XFloat32);
    printf("%zu %zu %zux%zux%zu\n", mi300.get_mi_latency(16, 16, 8, Type::XFloat32),
           mi300.get_mi_latency(16, 16, 32, Type::XFloat32), best.m, best.n, best.k);
    for (auto name : {Gpu::gfx1150, Gpu::gfx1151, Gpu::gfx1152, Gpu::gfx1153})
        printf("%zu ", gpu(name, 16).get_mi_latency(16, 16, 16, Type::Half));
    puts("");
}
CPP
cd "$dir"
g++ -std=c++20 -O1 -w -I stub -I origami/include see.cpp origami/src/origami/*.cpp \
    origami/src/simulator/tensilelite/*.cpp -o see
./see > seen
cat > mfma.hip <<'HIP'
typedef float Sums __attribute__((ext_vector_type(16)));
typedef float Few __attribute__((ext_vector_type(4)));
typedef float Two __attribute__((ext_vector_type(2)));
typedef _Float16 Halves __attribute__((ext_vector_type(4)));
typedef short Shorts __attribute__((ext_vector_type(4)));
#ifdef FP16
typedef Halves Four;
#define MFMA __builtin_amdgcn_mfma_f32_32x32x8f16
#else
typedef Shorts Four;
#define MFMA __builtin_amdgcn_mfma_f32_32x32x8bf16_1k
#endif
#ifdef XF32
extern "C" __attribute__((global)) void kernel(Few *out, Two a, Few c) { *out = XF32(a, a, c, 0, 0, 0); }
#else
extern "C" __attribute__((global)) void kernel(Sums *out, Four a) { *out = MFMA(a, a, Sums{}, 0, 0, 0); }
#endif
HIP
cat > see.py <<'PY'
import re
import subprocess
import sys
from pathlib import Path


def clang(target, *options):
    zig = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
           f"--offload-arch={target}", "-O3", *options, "-S", "-o", "-", "mfma.hip"]
    return subprocess.run(zig, capture_output=True, text=True)


def wait_states(*options):
    """States that s_nop spends between the product and the stores of it."""
    done = clang("gfx90a", *options)
    assert not done.returncode, done.stderr
    after = re.search(r"v_mfma_f32_32x32x8\w+ (.*?)global_store", done.stdout, re.S)[1]
    return sum(1 + int(count) for count in re.findall(r"s_nop (\d+)", after))


EXPECTED = """\
16 8 8 8
1855404
1085801
1074857
8 4 16x16x32
2 16 8 16
"""
seen = "".join(line.rstrip() + "\n" for line in Path("seen").read_text().splitlines())
print(seen, end="")
assert seen == EXPECTED
waits = wait_states("-DFP16"), wait_states()
print("wait states", *waits)
assert waits == (18, 18)
assert not clang("gfx942", "-DXF32=__builtin_amdgcn_mfma_f32_16x16x8_xf32").returncode
assert "undeclared" in clang("gfx942", "-DXF32=__builtin_amdgcn_mfma_f32_16x16x32_xf32").stderr
print("as described")
PY
"$dir/venv/bin/python" see.py
