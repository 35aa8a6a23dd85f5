#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: A reduction over the 64 lanes of a wave with __builtin_amdgcn_update_dpp takes six instructions,
#   each of which fetches a neighbour's value and combines it: v_add_f32_dpp or v_max_f32_dpp. The first
#   argument is what a lane without a neighbour gets: the neutral element of the operation, or for a maximum the
#   lane's own value. All of these are right and cost the same.
# Instead: That argument decides. LLVM folds the fetch into the operation if it recognizes a neutral element,
#   which it does for integers but not for floating point. An FP32 sum with 0 takes one instruction for each of
#   the four steps in which all rows take part, because the hardware itself supplies that 0, and three for the
#   other two; with -0.0, the neutral element of a sum, it takes three for each. An integer maximum takes one
#   for each step with the smallest integer, and three with the lane's own value. An FP32 maximum takes four,
#   whatever is given, because it also quiets signalling NaNs, and three with -fno-honor-nans.
# Seen (gfx90a, gfx942 and gfx950, vector instructions of the six steps):
#   sum of int32, 0               6       maximum of int32, the smallest     6
#   sum of FP32, 0               10       maximum of int32, own value       18
#   sum of FP32, -0.0            18       maximum of FP32, -infinity        25 (18 with -fno-honor-nans)
#                                         maximum of FP32, own value        24 (18 with -fno-honor-nans)
# Why it matters: A softmax has a maximum and a sum per row, and the maximum takes more than twice the
#   instructions of the sum. In a trace, v_mov_b32, v_mov_b32_dpp and the v_max_f32 of a register with itself
#   look like the work of another line. For numbers that are not negative, a maximum of their bits as integers
#   takes six instructions.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
cat > "$dir/wave.hip" <<'HIP'
#define KERNEL(name, Type, combined) \
    extern "C" __attribute__((global)) void name(Type *a) { \
        int lane = __builtin_amdgcn_workitem_id_x(); \
        Type x = a[lane]; \
        STEP(Type, combined, 0x111, 0xf) STEP(Type, combined, 0x112, 0xf) STEP(Type, combined, 0x114, 0xf) \
        STEP(Type, combined, 0x118, 0xf) STEP(Type, combined, 0x142, 0xa) STEP(Type, combined, 0x143, 0xc) \
        a[lane] = x; \
    }
#define STEP(Type, combined, control, rows) { \
        Type none = NONE(x), y = __builtin_bit_cast(Type, __builtin_amdgcn_update_dpp( \
            __builtin_bit_cast(int, none), __builtin_bit_cast(int, x), control, rows, 0xf, false)); \
        x = combined; \
    }
#define GREATER (x > y ? x : y)

#define NONE(x) 0
KERNEL(int_sum_0, int, x + y)
#undef NONE
#define NONE(x) 0.f
KERNEL(float_sum_0, float, x + y)
#undef NONE
#define NONE(x) -0.f
KERNEL(float_sum_negative_0, float, x + y)
#undef NONE
#define NONE(x) (-2147483647 - 1)
KERNEL(int_max_smallest, int, GREATER)
#undef NONE
#define NONE(x) x
KERNEL(int_max_own, int, GREATER)
KERNEL(float_max_own, float, __builtin_fmaxf(x, y))
#undef NONE
#define NONE(x) -__builtin_inff()
KERNEL(float_max_infinity, float, __builtin_fmaxf(x, y))
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])


def compiled(target, *options):
    """Of each kernel the vector instructions, without the one that computes the address."""
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", *options, "-S", "-o", "-", folder / "wave.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    for name, body in re.findall(r"^([a-z]\w+):.*?\n(.*?)\.section", text, re.M | re.S):
        code = re.findall(r"^\t(v_\w+)", body, re.M)
        assert sum("_dpp" in each for each in code) == 6
        code.remove("v_lshlrev_b32_e32")
        yield name, len(code)


SEEN = {
    "int_sum_0": 6, "float_sum_0": 10, "float_sum_negative_0": 18, "int_max_smallest": 6, "int_max_own": 18,
    "float_max_own": 24, "float_max_infinity": 25,
}
for target in "gfx90a", "gfx942", "gfx950":
    seen = dict(compiled(target))
    fast = dict(compiled(target, "-fno-honor-nans"))
    print(target, seen, "without NaN:", fast)
    assert seen == SEEN
    assert fast == SEEN | {"float_max_own": 18, "float_max_infinity": 18}
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
