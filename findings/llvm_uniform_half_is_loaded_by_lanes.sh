#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: A scale that is one number for the whole workgroup, scale[blockIdx.x], is a scalar load. Up to RDNA3 the
#   scalar unit loads whole dwords only, so 16 bits need a vector load or a shift; RDNA4 and gfx1250 have s_load_u16
#   and s_load_u8, so every type is scalar there. How many of the neighbours are read as well does not matter.
# Instead: On RDNA4 and gfx1250 it depends on the type: short, char and bfloat16 are scalar loads, and _Float16 is a
#   vector load, in which all lanes read one address, also if the 16 bits are loaded as an unsigned short and cast. A
#   readfirstlane of these bits turns it into the scalar load. On all targets a half of an aligned pair (scale and
#   zero point) is a vector load if it is read alone, and the pair a scalar load if both are read. An array of eight
#   halves is one vector load of 16 bytes, on all targets and also if it is aligned to 16; the same bytes as a vector
#   type (half8) are one scalar load.
# Seen (how the uniform value is loaded; s: scalar, v: vector):
#                                            gfx942, gfx950, gfx1100   gfx1201, gfx1250
#   float                                            s                        s
#   short, bfloat16, unsigned char                   v                        s
#   _Float16                                         v                        v
#   readfirstlane of its bits                        v                        s
#   one _Float16 of an aligned pair                  v                        v
#   both                                             s                        s
#   an array of eight, of any alignment              v                        v
#   a vector type of eight                           s                        s
# Why it matters: Quantized and normalizing kernels begin with such a scale. As a vector load it takes VGPRs and the
#   latency of the vector memory, and its wait is one for vector memory, so it also waits for every load of the tile
#   that was issued before. In a trace the FP16 model waits where the BF16 model does not. Read scale and zero
#   together, and rows through a vector type: that costs nothing and makes the loads scalar.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
cat > "$dir/scale.hip" <<'HIP'
#define LANE __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define KERNEL(name, type) \
    extern "C" __attribute__((global)) void name(float *__restrict__ o, const float *__restrict__ a, \
                                                 const type *__restrict__ w)
#define SCALE(name, type) KERNEL(name, type) { o[LANE] = a[LANE] * (float)w[GROUP]; }
typedef _Float16 half;
typedef unsigned char byte;
typedef unsigned short bits;
struct __attribute__((aligned(4))) Pair { half scale, zero; };
struct Row { half w[8]; };
struct RowB { __bf16 w[8]; };
struct __attribute__((aligned(16))) RowA { half w[8]; };
typedef half half8 __attribute__((ext_vector_type(8)));
struct Vector { half8 w; };

SCALE(floats, float)
SCALE(shorts, short)
SCALE(bfloats, __bf16)
SCALE(bytes, byte)
SCALE(halves, half)
KERNEL(cast, bits) { o[LANE] = a[LANE] * (float)__builtin_bit_cast(half, w[GROUP]); }
KERNEL(first, bits) {
    o[LANE] = a[LANE] * (float)__builtin_bit_cast(half, (bits)__builtin_amdgcn_readfirstlane(w[GROUP]));
}
KERNEL(one, Pair) { o[LANE] = a[LANE] * (float)w[GROUP].scale; }
KERNEL(both, Pair) { o[LANE] = (a[LANE] - (float)w[GROUP].zero) * (float)w[GROUP].scale; }
#define SUM(name, type)                                                        \
    KERNEL(name, type) {                                                       \
        float sum = 0;                                                         \
        for (int k = 0; k < 8; k++) sum += a[k * 64 + LANE] * (float)w[GROUP].w[k]; \
        o[LANE] = sum;                                                         \
    }
SUM(row, Row)
SUM(rowb, RowB)
SUM(rowaligned, RowA)
KERNEL(rowvector, Vector) {
    half8 all = w[GROUP].w;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += a[k * 64 + LANE] * (float)all[k];
    o[LANE] = sum;
}
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
OLD = {"floats": "s", "shorts": "v", "bfloats": "v", "bytes": "v", "halves": "v", "cast": "v", "first": "v",
       "one": "v", "both": "s", "row": "v", "rowb": "v", "rowaligned": "v", "rowvector": "s"}
NEW = OLD | {"shorts": "s", "bfloats": "s", "bytes": "s", "first": "s"}
for target, expected in {"gfx942": OLD, "gfx950": OLD, "gfx1100": OLD, "gfx1201": NEW, "gfx1250": NEW}.items():
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", "-S", "-o", "-", folder / "scale.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    seen = {}
    for name, body in re.findall(r"^([a-z]+):.*?\n(.*?)\.section", text, re.M | re.S):
        loads = re.findall(r"^\t(global_load|s_load)_\w+", body, re.M)
        own = 8 if name.startswith("row") else 1
        assert loads.count("global_load") in (own, own + 1), loads
        seen[name] = "v" if loads.count("global_load") == own + 1 else "s"
    print(f"{target:7}", *(f"{name} {kind}" for name, kind in seen.items()), sep="  ")
    assert seen == expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
