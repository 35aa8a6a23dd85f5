#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: The sum of the products of four bytes with four others is one instruction, v_dot4, on MI100 and all
#   later Instincts, RDNA3 and RDNA4. LLVM either finds it in plain code or does not; whether the bytes are
#   signed, and whether they come from a word by shifts or from a vector of chars, makes no difference.
# Instead: Unsigned bytes taken by shifts become the one instruction. Signed bytes by shifts are found too, but
#   their operands are first assembled byte by byte, with shifts and byte permutes, into the words that the
#   source already had: 8 or 10 more instructions. From a vector of chars, which quantized code uses, neither
#   sign is found, because the vectorizer of the optimizer runs first; with -fno-slp-vectorize both become the
#   one instruction.
# Seen (vector instructions of the kernel, with that of the address | v_dot4 among them):
#                                  gfx90a, gfx942, gfx950   gfx1100, gfx1201   gfx1250
#   unsigned, by shifts             2 | 1                    2 | 1              1 | 1
#   signed, by shifts              12 | 1                   12 | 1              9 | 1
#   unsigned, vector of chars      10 | 0                   16 | 0             14 | 0
#   signed, vector of chars        12 | 0                   16 | 0             14 | 0
#   both, -fno-slp-vectorize        2 | 1                    2 | 1              1 | 1
#   the builtin, signed             2 | 1                    2 | 1              1 | 1
# Why it matters: People judge an int8 kernel by whether its listing has v_dot4, and the version that spends ten
#   more vector instructions on each has it. In a trace, v_perm_b32 and shifts are on the line of the product,
#   like an unpacking that the source asks for. The builtin is one instruction in each case.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
cat > "$dir/dot.hip" <<'HIP'
#define KERNEL(name, Word) extern "C" __attribute__((global)) void name(const Word *a, const Word *b, int *out)
#define LANE __builtin_amdgcn_workitem_id_x()
typedef unsigned char uchars __attribute__((ext_vector_type(4)));
typedef signed char chars __attribute__((ext_vector_type(4)));

KERNEL(unsigned_by_shifts, unsigned) {
    unsigned x = a[LANE], y = b[LANE], sum = out[LANE];
    for (int at = 0; at < 32; at += 8) sum += (x >> at & 255) * (y >> at & 255);
    out[LANE] = sum;
}
KERNEL(signed_by_shifts, int) {
    int x = a[LANE], y = b[LANE], sum = out[LANE];
    for (int at = 0; at < 32; at += 8) sum += (signed char)(x >> at) * (signed char)(y >> at);
    out[LANE] = sum;
}
KERNEL(unsigned_vector, uchars) {
    uchars x = a[LANE], y = b[LANE];
    unsigned sum = out[LANE];
    for (int at = 0; at < 4; at++) sum += x[at] * y[at];
    out[LANE] = sum;
}
KERNEL(signed_vector, chars) {
    chars x = a[LANE], y = b[LANE];
    int sum = out[LANE];
    for (int at = 0; at < 4; at++) sum += x[at] * y[at];
    out[LANE] = sum;
}
KERNEL(builtin, int) {
#if defined(__GFX11__) || defined(__GFX12__)
    out[LANE] = __builtin_amdgcn_sudot4(true, a[LANE], true, b[LANE], out[LANE], false);
#else
    out[LANE] = __builtin_amdgcn_sdot4(a[LANE], b[LANE], out[LANE], false);
#endif
}
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])


def compiled(target, *options):
    """Of each kernel the vector instructions, and how many of them are v_dot4; the text of signed_by_shifts."""
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", *options, "-S", "-o", "-", folder / "dot.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    codes = {name: re.findall(r"^\t(v_\w+)", body, re.M)
             for name, body in re.findall(r"^([a-z]\w+):.*?\n(.*?)\.section", text, re.M | re.S)}
    facts = {name: (len(code), sum(each.startswith("v_dot4") for each in code)) for name, code in codes.items()}
    return facts, codes["signed_by_shifts"]


SEEN = {
    "gfx9": {"unsigned_by_shifts": (2, 1), "signed_by_shifts": (12, 1), "unsigned_vector": (10, 0),
             "signed_vector": (12, 0), "builtin": (2, 1)},
    "gfx11": {"unsigned_by_shifts": (2, 1), "signed_by_shifts": (12, 1), "unsigned_vector": (16, 0),
              "signed_vector": (16, 0), "builtin": (2, 1)},
    "gfx1250": {"unsigned_by_shifts": (1, 1), "signed_by_shifts": (9, 1), "unsigned_vector": (14, 0),
                "signed_vector": (14, 0), "builtin": (1, 1)},
}
LIKE = {"gfx90a": "gfx9", "gfx942": "gfx9", "gfx950": "gfx9", "gfx1100": "gfx11", "gfx1201": "gfx11",
        "gfx1250": "gfx1250"}
for target, like in LIKE.items():
    facts, code = compiled(target)
    unvectorized, _ = compiled(target, "-fno-slp-vectorize")
    print(target, facts, {name: unvectorized[name] for name in ("unsigned_vector", "signed_vector")})
    assert facts == SEEN[like]
    assert sum(each.startswith("v_perm") for each in code) >= 4
    assert unvectorized["unsigned_vector"] == unvectorized["signed_vector"] == facts["builtin"]
    assert unvectorized["signed_by_shifts"] == facts["signed_by_shifts"]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
