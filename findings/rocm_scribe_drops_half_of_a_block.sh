#!/usr/bin/env bash
# Package: rocm-scribe 1.0.3 (translates CUDA to HIP, with fixes for waves of 64 lanes).
# Expected: NVIDIA's usual sum over a block, a shuffle loop per warp and one more over the warps, still sums the block.
#   The tool widens all of it to 64 lanes, or leaves it as it is. The latter is right on MI300 without any fix:
#   shuffles by 16, 8, 4, 2 and 1 sum each half of a wave for itself.
# Instead: it widens what it recognises. The loop begins at warpSize/2 then, and blockDim.x is divided by warpSize.
#   "threadIdx.x & 31" and "threadIdx.x >> 5", the usual spelling of lane and warp, stay as they are. So the second
#   half of a wave has a partial sum of its own, in which each element counts twice, as a shuffle beyond the wave
#   returns the lane's own value; and half of the partial sums are never added. There is no diagnostic. A block
#   of ones has the right sum by chance. With "% 32" and "/ 32" in the source all is widened, and right.
# Seen (256 threads, waves of 64; how often the sum has the elements 0-31, 32-63, 64-95, 96-127, 128-255; sum of ones):
#   & 31, >> 5, only masks removed:   1, 1, 1, 1, 1; 256
#   & 31, >> 5, translated:           1, 3, 1, 3, 0; 256
#   % 32, / 32, translated:           1, 1, 1, 1, 1; 256
# Why it matters: norms and softmax denominators are such sums. Test data of equal numbers passes. Real data give values
#   of plausible size, a trace shows nothing, and the kernel seems to need numerics. Search translated kernels
#   for 31 and 5.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps rocm-scribe==1.0.3
cat > "$dir/see.py" <<'PY'
import re

from cuda_scribe import hipify

KERNEL = """
__inline__ __device__ float warp_sum(float val) {
    for (int offset = 16; offset > 0; offset /= 2)
        val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}

__global__ void block_sum(const float* in, float* out) {
    __shared__ float partial[32];
    int lane = threadIdx.x LANE;
    int warp = threadIdx.x WARP;
    float val = warp_sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (lane == 0) partial[warp] = val;
    __syncthreads();
    val = threadIdx.x < blockDim.x / 32 ? partial[lane] : 0.0f;
    if (warp == 0) val = warp_sum(val);
    if (threadIdx.x == 0) out[blockIdx.x] = val;
}
"""
WAVE, BLOCK = 64, 256


def sizes(text):
    """First distance of the loop, lanes of what the kernel calls a warp, and partial sums that are added."""
    value = {"warpSize": WAVE, "32": 32, "31": 32, "5": 32}
    first = re.search(r"int offset = (warpSize/2|16);", text)[1]
    lane, warp = re.search(r"lane = threadIdx.x (.*);", text)[1], re.search(r"warp = threadIdx.x (.*);", text)[1]
    group = value[re.fullmatch(r"(?:&|%) (\w+)", lane)[1]]
    assert group == value[re.fullmatch(r"(?:>>|/) (\w+)", warp)[1]]
    added = BLOCK // value[re.search(r"blockDim.x / (\w+)", text)[1]]
    return WAVE // 2 if first == "warpSize/2" else int(first), group, added


def wave_sum(values, first):
    """The loop in lock step. A lane whose partner is beyond the wave is given its own value."""
    while first:
        values = [values[i] + values[i + first if i + first < WAVE else i] for i in range(WAVE)]
        first //= 2
    return values


def block_sum(text, data):
    first, group, added = sizes(text)
    sums = [one for start in range(0, BLOCK, WAVE) for one in wave_sum(data[start : start + WAVE], first)]
    partial = sums[::group]  # of each lane that calls itself 0
    return wave_sum(partial[:added] + [0] * (WAVE - added), first)[0]


def counted(text):
    """How often the sum has each element, by ranges, and the sum of ones."""
    each = [block_sum(text, [int(i == one) for i in range(BLOCK)]) for one in range(BLOCK)]
    ranges = [each[0:32], each[32:64], each[64:96], each[96:128], each[128:]]
    assert all(len(set(one)) == 1 for one in ranges)
    return [one[0] for one in ranges], block_sum(text, [1] * BLOCK)


SEEN = {
    ("& 31", ">> 5", False): ([1, 1, 1, 1, 1], 256),
    ("& 31", ">> 5", True): ([1, 3, 1, 3, 0], 256),
    ("% 32", "/ 32", True): ([1, 1, 1, 1, 1], 256),
}
for (lane, warp, translate), expected in SEEN.items():
    source = KERNEL.replace("LANE", lane).replace("WARP", warp)
    if translate:
        result = hipify(source)
        text = result.source
        assert not result.diagnostics and not result.warnings_count
    else:
        text = source.replace("__shfl_down_sync(0xffffffff, ", "__shfl_down(")
    assert "__shfl_down(val, offset)" in text
    found = counted(text)
    print(f"{lane}, {warp}, {'translated' if translate else 'only masks removed':18}: {found[0]}; {found[1]}")
    assert found == expected, expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
