#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: sum += x[k] * y[k], unrolled, is one v_fma for each k: clang contracts product and sum of one expression.
#   MI200 and later also have v_pk_fma_f32, two of them in one instruction, so it can only get better there.
# Instead: On gfx90a, gfx942, gfx950 and gfx1250, which have packed FP32 instructions, the vectorizer takes the
#   products out of the sum: two products become one v_pk_mul_f32, and the sums, which must stay in order, remain
#   single additions. Product and sum are then two instructions, which nothing contracts any more: 12 for 8 terms
#   instead of 8. At most 12 terms of a sum are taken apart like this, the rest are v_fma. If the inputs are FP16 and
#   the sum is FP32, the conversions are single instructions as well, where one v_fma_mix_f32 did all of it. Four
#   independent sums (a tile) do become v_pk_fma_f32, and a loop that is not unrolled has v_fma. gfx1201 has v_fma
#   everywhere. With __builtin_fmaf or -fno-slp-vectorize each k is one v_fma on all targets.
# Seen (vector instructions without the two for addresses: packed products, additions, v_fma or v_fma_mix | all):
#                                gfx90a, gfx942, gfx950, gfx1250     gfx1201
#   4 terms                       2,  4,  0 |  6                      0, 0,  4 |  4
#   8 terms                       4,  8,  0 | 12                      0, 0,  8 |  8
#   16 terms                      6, 12,  4 | 22                      0, 0, 16 | 16
#   16 terms, by fmaf             0,  0, 16 | 16                      0, 0, 16 | 16
#   16 terms of FP16, gfx942      6, 12,  4 | 46                      0, 0,  4 | 10 (and 6 v_dot2)
#   the same, no vectorizer       0,  0, 16 | 16
# Why it matters: A sum of squares, a row of a matrix times a vector, and a distance are such sums. On MI300 they take
#   up to half as many instructions again as they need, and with FP16 inputs nearly three times as many. v_pk_mul_f32
#   in the listing looks like the fast path. The results differ, too: products of the packed terms are rounded, those
#   of the others are not.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
cat > "$dir/dot.hip" <<'HIP'
#define LANE __builtin_amdgcn_workitem_id_x()
#define KERNEL(name, type)                                                           \
    extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 256))) void name( \
        float *__restrict__ o, const type *__restrict__ a, const type *__restrict__ b)
#define DOT(name, type, terms)                                                             \
    KERNEL(name, type) {                                                                   \
        float sum = 0;                                                                     \
        for (int k = 0; k < terms; k++) sum += (float)a[LANE * terms + k] * (float)b[LANE * terms + k]; \
        o[LANE] = sum;                                                                     \
    }
DOT(four, float, 4)
DOT(eight, float, 8)
DOT(sixteen, float, 16)
DOT(halves, _Float16, 16)
KERNEL(explicitly, float) {
    float sum = 0;
    for (int k = 0; k < 16; k++) sum = __builtin_fmaf(a[LANE * 16 + k], b[LANE * 16 + k], sum);
    o[LANE] = sum;
}
extern "C" __attribute__((global)) void loop(float *__restrict__ o, const float *__restrict__ a,
                                             const float *__restrict__ b, int n) {
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) sum += a[k * 256 + LANE] * b[k * 256 + LANE];
    o[LANE] = sum;
}
KERNEL(tile, float) {
    float sum[4] = {};
    for (int k = 0; k < 16; k++)
        for (int j = 0; j < 4; j++) sum[j] += a[LANE * 16 + k] * b[j * 16 + k];
    for (int j = 0; j < 4; j++) o[LANE * 4 + j] = sum[j];
}
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])


def compiled(target, *options):
    """Of each kernel: packed products, additions, fused ones (scalar), packed fused ones, all vector instructions."""
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", *options, "-S", "-o", "-", folder / "dot.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    facts = {}
    for name, body in re.findall(r"^([a-z]+):.*?\n(.*?)\.section", text, re.M | re.S):
        code = [half for line in re.findall(r"^\t(v_.*)", body, re.M) for half in line.split(" :: ")]
        found = [sum(bool(re.match(kind, each)) for each in code) for kind in (
            r"v_pk_mul_f32", r"v_(dual_)?add_f32", r"v_(dual_)?(fma|fmac|fma_mix)_f32", r"v_pk_fma_f32")]
        facts[name] = *found, len(code)
    return facts


TERMS = {"four": 4, "eight": 8, "sixteen": 16, "explicitly": 16}
PACKED = {"four": (2, 4, 0, 0), "eight": (4, 8, 0, 0), "sixteen": (6, 12, 4, 0), "explicitly": (0, 0, 16, 0)}
for target in "gfx90a", "gfx942", "gfx950", "gfx1250", "gfx1201":
    facts, without = compiled(target), compiled(target, "-fno-slp-vectorize")
    print(target, facts, "without the vectorizer:", {name: without[name] for name in ("sixteen", "halves")}, sep="\n  ")
    for name, terms in TERMS.items():
        assert without[name][:4] == (0, 0, terms, 0), name
        assert facts[name][:4] == ((0, 0, terms, 0) if target == "gfx1201" else PACKED[name]), name
    assert facts["loop"][:4] == (0, 0, 1, 0), facts["loop"]
    if target == "gfx1201":
        assert facts["halves"][4] == 12 and facts["tile"][3] == 0
    else:
        assert facts["halves"][:2] == (6, 12) and facts["tile"][:4] == (0, 0, 0, 32)
        assert without["halves"][:4] == (0, 0, 16, 0)
        if target == "gfx942":
            assert (facts["halves"][4], without["halves"][4]) == (48, 18)
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
