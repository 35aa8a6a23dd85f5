#!/usr/bin/env bash
# Package: locomp 1.0.0 (compiles Python kernels to Metal, CUDA C and HIP C), numpy 2.4.1.
# Expected: one kernel means the same for each backend. simd_sum and simd_max are Metal's functions of that name, whose
#   result all lanes have, so a softmax over a wave divides by simd_sum in each lane. The HIP code is meant for waves of
#   64 and of 32 lanes.
# Instead: for HIP and CUDA both functions are a loop of __shfl_down, whose result is in lane 0 only. Another lane adds
#   up what lies above it, and its own value again wherever that is beyond the wave. For HIP the loop begins at 32 on
#   each GPU. In a wave of 32 lanes that step adds each value to itself, so on RDNA lane 0 has twice the sum, too.
#   Equal values give the right result in every lane, but for that factor.
# Seen (lanes with the right sum, sum of lane 0 by the true sum, sum of the softmax; values 0, 0.1, 0.2, ...):
#   HIP, waves of 64:    1 of 64, 1.0, 0.27
#   HIP, waves of 32:    0 of 32, 2.0, 0.24
#   CUDA:                1 of 32, 1.0, 0.47
#   equal values: HIP, waves of 32:  0 of 32, 2.0, 0.5;  CUDA:  32 of 32, 1.0, 1.0
# Why it matters: the source shows none of it, and the kernel is right on the developer's Mac. Each GPU gives numbers
#   of plausible size, so that the first guess is precision. simd_broadcast after each sum and maximum makes MI300
#   right and costs little; on RDNA the sum itself is wrong.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check locomp==1.0.0 numpy==2.4.1
cat > "$dir/see.py" <<'PY'
import math
import re

import locomp


def softmax(X: locomp.Tensor, O: locomp.Tensor):
    i = locomp.local_id(0)
    x = locomp.load(X + i)
    e = locomp.exp(x - locomp.simd_max(x))
    locomp.store(O + i, e / locomp.simd_sum(e))


def source(backend):
    kernel = locomp.kernel(softmax, backend=backend)
    return kernel.msl  # the generated source of any backend


LOOP = re.compile(
    r"for \(int _off = (\d+); _off > 0; _off >>= 1\)\s+"
    r"(\w+) (?:\+= |= fmaxf\(\2, )__shfl_down(?:_sync\(0xffffffff, |\()\2, _off\)\)?;"
)


def reduced(values, first, combine):
    """The loop in lock step. A lane whose partner is beyond the wave is given its own value."""
    size = len(values)
    while first:
        values = [combine(values[i], values[i + first if i + first < size else i]) for i in range(size)]
        first //= 2
    return values


def seen(backend, values):
    """Lanes with the right sum, the sum of lane 0 by the true sum, and the sum of the softmax."""
    text = source(backend)
    (largest, _), (added, _) = LOOP.findall(text)
    assert int(largest) == int(added) and re.search(r"= math_\d+ / ssum_\d+;", text)
    most = reduced(values, int(largest), max)
    each = [math.exp(one - top) for one, top in zip(values, most)]
    sums = reduced(each, int(added), lambda a, b: a + b)
    right = sum(math.isclose(one, sum(each)) for one in sums)
    return right, round(sums[0] / sum(each), 2), round(sum(one / total for one, total in zip(each, sums)), 2)


metal = source("metal")
assert "simd_max(" in metal and "simd_sum(" in metal and "shuffle" not in metal
SEEN = {
    ("rocm", 64, 0.1): (1, 1.0, 0.27),
    ("rocm", 32, 0.1): (0, 2.0, 0.24),
    ("cuda", 32, 0.1): (1, 1.0, 0.47),
    ("rocm", 32, 0.0): (0, 2.0, 0.5),
    ("cuda", 32, 0.0): (32, 1.0, 1.0),
}
for (backend, size, step), expected in SEEN.items():
    found = seen(backend, [step * lane for lane in range(size)])
    print(f"{backend}, {size} lanes, step {step}: {found[0]} of {size} lanes, {found[1]}, {found[2]}")
    assert found == expected, expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
