#!/usr/bin/env bash
# Packages: zse-compiler 2.0.1 (turns Python functions into kernels for HIP, CUDA and Metal), ziglang 0.17.1 (its clang
#   compiles the generated text for the CPU, one thread, so that it can be run without a GPU).
# Expected: an operator that the compiler does not know is an error, as other unknown syntax is ("Chained comparisons
#   not supported in kernels"). What it accepts means what it means in Python: / of two integers is a fraction, //
#   rounds down, range counts down if its step is negative.
# Instead: an operator that is missing in its table becomes "+". x ** 2 is x + 2, on all three backends, and total **= 2
#   is total + 2. A loop over range(n - 1, -1, -1) keeps its "less than", so it never runs; / of integers is C's, as is
#   // below 0. There is no warning and no error, also not from the GPU's compiler, since the text is valid.
# Seen (x is 1 to 8, n 8; what the line gives in Python, and what the kernel for HIP stores):
#   total += x[i] ** 2                      204     52
#   total += x[i] * x[i]                    204    204
#   for i in range(n - 1, -1, -1)            36      0
#   for i in range(n)                        36     36
#   out[0] = (n - 5) / n                  0.375      0
#   out[0] = (n - 15) // 2                   -4     -3
# Why it matters: a sum of squares is the heart of RMSNorm and LayerNorm, a loop from the end that of a scan, and k / d
#   the exponent of rotary positions. The kernel runs at full speed; its trace even looks better, with an addition less
#   costly than a power. Test such a kernel against Python itself: the same function, called with lists.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check zse-compiler==2.0.1 ziglang==0.17.1
mkdir -p "$dir/stub/hip"
echo '#define __global__' > "$dir/stub/hip/hip_runtime.h"
cat > "$dir/see.py" <<'PY'
import contextlib
import ctypes
import io
import re
import subprocess
import sys
from pathlib import Path

import zse_compiler as zse

FOLDER = Path(sys.argv[1])
LENGTH = 8


def power(x: zse.Tensor, out: zse.Tensor, n: int):
    total = 0.0
    for i in range(n):
        total += x[i] ** 2
    out[0] = total


def product(x: zse.Tensor, out: zse.Tensor, n: int):
    total = 0.0
    for i in range(n):
        total += x[i] * x[i]
    out[0] = total


def down(x: zse.Tensor, out: zse.Tensor, n: int):
    total = 0.0
    for i in range(n - 1, -1, -1):
        total += x[i]
    out[0] = total


def up(x: zse.Tensor, out: zse.Tensor, n: int):
    total = 0.0
    for i in range(n):
        total += x[i]
    out[0] = total


def fraction(x: zse.Tensor, out: zse.Tensor, n: int):
    out[0] = (n - 5) / n


def floor(x: zse.Tensor, out: zse.Tensor, n: int):
    out[0] = (n - 15) // 2


def square_again(x: zse.Tensor, out: zse.Tensor, n: int):
    total = x[0]
    total **= 2
    out[0] = total


def in_python(function):
    out = [None]
    function([float(one) for one in range(1, LENGTH + 1)], out, LENGTH)
    return out[0]


def in_kernel(function):
    """What the kernel's text for HIP stores, compiled for the CPU: it has one thread and asks for no index."""
    name = function.__name__
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        text = zse.kernel(function).source("rocm")
    assert not said.getvalue()
    (FOLDER / f"{name}.cpp").write_text(text)
    library = FOLDER / f"{name}.so"
    zig = [sys.executable, "-m", "ziglang", "cc", "-x", "c++", "-O1", "-fno-sanitize=undefined", "-shared", "-nostdlib",
           "-I", FOLDER / "stub", "-o", library, FOLDER / f"{name}.cpp"]
    subprocess.run(zig, check=True)
    x, out = (ctypes.c_float * LENGTH)(*range(1, LENGTH + 1)), (ctypes.c_float * 1)()
    getattr(ctypes.CDLL(str(library)), name)(x, out, LENGTH)
    return out[0]


SEEN = {
    power: (204, 52),
    product: (204, 204),
    down: (36, 0),
    up: (36, 36),
    fraction: (0.375, 0),
    floor: (-4, -3),
    square_again: (1, 3),
}
for function, expected in SEEN.items():
    found = in_python(function), in_kernel(function)
    print(f"{function.__name__:13} Python {found[0]:g}, kernel {found[1]:g}")
    assert found == expected, expected
for backend in ("rocm", "cuda", "metal"):
    assert re.search(r"\(x\[i\] \+ 2\)", zse.kernel(power).source(backend)), backend


def chained(x: zse.Tensor, out: zse.Tensor, n: int):
    out[0] = x[0] if 0 < n < 9 else x[1]


try:
    zse.kernel(chained)
except SyntaxError as error:
    print("a chained comparison:", error)
else:
    raise AssertionError("chained comparisons are accepted")
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
