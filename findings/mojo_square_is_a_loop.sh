#!/usr/bin/env bash
# Package: mojo 1.2.0 with the libraries of MAX 26.7.0 (compiles for AMD GPUs without one).
# Expected: x ** 2.0 of FP32 is x * x, as x ** 2 is, and as other compilers make of both. x ** 0.5 is a square root. An
#   exponent that stands in the source is a constant for the compiler in either spelling.
# Instead: x ** 2 and x ** 3 are multiplications. With a decimal point, and from x ** 4 on also without one, the
#   exponent is a number at run time: a loop tests its bits one by one, with a scalar branch, two multiplications
#   and a selection per bit, and begins with a multiplication by 1. LLVM does not unroll it. x ** 0.5 is a
#   logarithm by a polynomial and an exponential, three times the cost of sqrt.
# Seen (gfx942: instructions between load and store, a loop counted once | backward branches):
#   x * x     1 | 0    x ** 2    1 | 0    x ** 3    2 | 0    x ** 0.5  58 | 0    sqrt(x) 17 | 0
#   x ** 2.0  9 | 1    x ** 3.0  9 | 1    x ** 4    9 | 1    x ** 10    9 | 1
#   gfx1201: the same loops
# Why it matters: norms and variances are sums of squares. The trace shows a loop of two rounds on a source line without
#   one, and the loop around it is no longer innermost, so LLVM does not unroll it either. x * x and x ** 2 are
#   one instruction.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps mojo==1.2.0 mojo-compiler==1.2.0 \
    mojo-compiler-mojo-libs==1.2.0 max-core==26.7.0 max-mojo-libs==26.7.0
export HOME="$dir" XDG_CACHE_HOME="$dir/cache" XDG_DATA_HOME="$dir/data" XDG_STATE_HOME="$dir/state"
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
BODIES = {
    "times": "x * x", "two": "x ** 2", "three": "x ** 3", "four": "x ** 4", "ten": "x ** 10", "two_point": "x ** 2.0",
    "three_point": "x ** 3.0", "half": "x ** 0.5", "root": "sqrt(x)",
}
KERNEL = """
def of_{name}(a: Numbers, b: Numbers):
    var at = thread_idx.x
    var x = a[unsafe_offset=at]
    b[unsafe_offset=at] = {body}
"""
source = [
    "from max.gpu import thread_idx",
    "from max.gpu.host import DeviceContext",
    "from std.math import sqrt",
    "comptime Numbers = Pointer[Float32, MutAnyOrigin]",
    *(KERNEL.format(name=name, body=body) for name, body in BODIES.items()),
    "def main() raises:",
    "    with DeviceContext() as device:",
    "        var a = device.enqueue_create_buffer[DType.float32](256)",
    "        var b = device.enqueue_create_buffer[DType.float32](256)",
]
start = "        device.enqueue_function[of_{}](a.unsafe_ptr(), b.unsafe_ptr(), grid_dim=1, block_dim=256)"
(folder / "of.mojo").write_text("\n".join([*source, *(start.format(name) for name in BODIES)]))


def compiled(target):
    """The text of each kernel for a GPU."""
    made = folder / target
    made.mkdir()
    mojo = [folder / "venv/bin/mojo", "build", "--emit", "asm", "--target-accelerator", target]
    subprocess.run([*mojo, folder / "of.mojo", "-o", made / "host.s"], check=True, stderr=subprocess.DEVNULL)
    texts = [path.read_text() for path in made.iterdir() if path.suffix == ".amdgcn"]
    return {name: next(text for text in texts if f"of_{name}_Pointer" in text) for name in BODIES}


def work(text):
    """Instructions between load and store, without waits and nops; branches that go back."""
    body = text[text.index("global_load") : text.index("global_store")].split("\n")[1:]
    labels, count, back = set(), 0, 0
    for line in body:
        if label := re.match(r"(\.L\w+):", line):
            labels.add(label[1])
        elif name := re.match(r"\s+([sv]_\w+)(?:\s+(\S+))?", line):
            count += not re.match(r"s_(wait\w*|nop|delay_alu)$", name[1])
            back += name[1].startswith("s_cbranch") and name[2] in labels
    return count, back


SEEN = {
    "times": (1, 0), "two": (1, 0), "three": (2, 0), "four": (9, 1), "ten": (9, 1), "two_point": (9, 1),
    "three_point": (9, 1), "half": (58, 0), "root": (17, 0),
}
for target in "gfx942", "gfx1201":
    found = {name: work(text) for name, text in compiled(target).items()}
    print(target, *(f"{BODIES[name]}: {count} | {back};" for name, (count, back) in found.items()))
    assert {name: back for name, (_, back) in found.items()} == {name: back for name, (_, back) in SEEN.items()}
    assert target != "gfx942" or found == SEEN
    assert found["half"][0] > 2.5 * found["root"][0]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
