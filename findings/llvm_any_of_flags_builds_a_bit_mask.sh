#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: "Is any of these 16 numbers above t?" costs a comparison for each number and an OR of lane masks, which
#   the scalar unit does for 64 lanes at once. Counting them costs more, as each lane has to add. Numbers that lie
#   side by side in memory are the better case, since they are loaded together.
# Instead: Where they lie side by side, the vectorizer makes one vector comparison of them, and a vector of flags is a
#   number with a bit for each flag. So every flag goes from the lane mask to a VGPR, is shifted to its bit, and ORed:
#   more than four vector instructions a number, twice as many as counting takes. It does not matter whether the flag
#   is a bool or an int, combined by |= or set in an if, and "all of them" (&=) is the same. With -fno-slp-vectorize
#   LLVM takes the maximum first and compares once: less than one instruction a number. If the numbers are 256 apart,
#   that happens without the option. "s = s || ..." is neither: it is a branch, and a load, for each number.
# Seen (vector instructions of the kernel, branches; numbers side by side):
#                                        gfx942      gfx1201
#   16: any = any | (x[k] > t)            71,  0      71,  0
#   16: if (x[k] > t) any = true          71,  0      71,  0
#   16: all = all & (x[k] > t)            71,  0      71,  0
#   16: any = any || x[k] > t             36, 15      36, 15
#   16: count += x[k] > t                 34,  0      34,  0
#   16: any, -fno-slp-vectorize           13,  0      13,  0
#    8: any                               38,  0      38,  0
#    8: any, 256 apart                    12,  0       8,  0
#   maximum, then one comparison          14,  0      13,  0
# Why it matters: Checks for an overflow or a hit among a lane's elements are such lines, often in the innermost loop.
#   In a trace they are v_cndmask, v_lshlrev_b16 and v_or by the dozen, though the source has no shift. Take the
#   maximum yourself, or count.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
cat > "$dir/any.hip" <<'HIP'
#define KERNEL(name, ...)                                                                                     \
    extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 256))) void name(        \
        int *__restrict__ o, const float *__restrict__ x, float t) {                                          \
        int lane = __builtin_amdgcn_workitem_id_x();                                                          \
        __VA_ARGS__                                                                                           \
    }
#define EACH(count) for (int k = 0; k < count; k++)
KERNEL(any, x += lane * 16; bool s = false; EACH(16) s |= x[k] > t; o[lane] = s;)
KERNEL(integer, x += lane * 16; int s = 0; EACH(16) s |= x[k] > t; o[lane] = s;)
KERNEL(branch, x += lane * 16; bool s = false; EACH(16) if (x[k] > t) s = true; o[lane] = s;)
KERNEL(all, x += lane * 16; bool s = true; EACH(16) s &= x[k] > t; o[lane] = s;)
KERNEL(logical, x += lane * 16; bool s = false; EACH(16) s = s || x[k] > t; o[lane] = s;)
KERNEL(count, x += lane * 16; int s = 0; EACH(16) s += x[k] > t; o[lane] = s;)
KERNEL(maximum, x += lane * 16; float s = x[0]; EACH(16) s = __builtin_fmaxf(s, x[k]); o[lane] = s > t;)
KERNEL(eight, x += lane * 8; bool s = false; EACH(8) s |= x[k] > t; o[lane] = s;)
KERNEL(apart, x += lane; bool s = false; EACH(8) s |= x[k * 256] > t; o[lane] = s;)
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])


def compiled(target, *options):
    """Of each kernel the vector instructions, and the branches."""
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", *options, "-S", "-o", "-", folder / "any.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    facts = {}
    for name, body in re.findall(r"^([a-z]+):.*?\n(.*?)\.section", text, re.M | re.S):
        code = re.findall(r"^\t([a-z]+_\w+)", body, re.M)
        facts[name] = sum(each.startswith("v_") for each in code), sum(each.startswith("s_cbranch") for each in code)
    return facts


SEEN = {
    "gfx942": {"any": 71, "integer": 71, "branch": 71, "all": 71, "logical": 36, "count": 34, "maximum": 14,
               "eight": 38, "apart": 12},
    "gfx1201": {"any": 71, "integer": 71, "branch": 71, "all": 71, "logical": 36, "count": 34, "maximum": 13,
                "eight": 38, "apart": 8},
}
for target in "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250":
    facts, without = compiled(target), compiled(target, "-fno-slp-vectorize")
    print(f"{target:7}", *(f"{name} {seen}" for name, seen in facts.items()), "| any, no vectorizer", without["any"])
    for name, (vector, branches) in facts.items():
        assert branches == (15 if name == "logical" else 0), name
        if target in SEEN:
            assert vector == SEEN[target][name], name
    assert facts["any"][0] > 1.5 * facts["count"][0] and facts["any"][0] > 4 * without["any"][0]
    if target in SEEN:
        assert without["any"] == (13, 0)
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
