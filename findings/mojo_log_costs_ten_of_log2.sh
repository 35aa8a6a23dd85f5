#!/usr/bin/env bash
# Package: mojo 1.2.0 with the libraries of MAX 26.7.0 (compiles for AMD GPUs without one).
# Expected: log(x) of FP32 is log2(x) and a multiplication, as exp(x) is exp2 and one, and as Triton's and HIP's
#   fast forms are: the GPU has v_log_f32 and v_exp_f32. A library that takes these approximations for one
#   function takes them for its neighbours.
# Instead: exp, exp2, log2, sin and cos are the hardware's instruction and a multiplication at most. log is a
#   polynomial with its own handling of exponent, zero, infinity and NaN, and never v_log_f32; log10 is
#   longer still. sqrt is refined behind its instruction, and a division is the full sequence. For NVIDIA
#   log is lg2.approx and a multiplication, and sqrt the approximation.
# Seen (gfx942, vector instructions between load and store | transcendental ones among them):
#   exp 2 | 1    exp2 1 | 1    log2 1 | 1    sin  2 | 1    rsqrt 1 | 1
#   log 46 | 0   log10 69 | 1 (a reciprocal)  sqrt 17 | 1   1 / x 11 | 1
#   gfx1201: the same choice (log 38 | 0); sm_90: log is lg2.approx.ftz.f32 and a multiplication
# Why it matters: a cross-entropy or a log-softmax has one log beside its exps, and in a trace of it the log is
#   the line with the most vector instructions, with none of the transcendental unit. Costs that are
#   carried over from NVIDIA, or from log2, are off by more than ten. log2(x) * ln 2 gives two instructions.
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
FUNCTIONS = "exp", "exp2", "log2", "sin", "rsqrt", "log", "log10", "sqrt", "one_over", "by_log2"
BODIES = {"one_over": "1 / x", "by_log2": "log2(x) * 0.6931472"}
KERNEL = """
def of_{name}(a: Numbers, b: Numbers):
    var at = thread_idx.x
    var x = a[unsafe_offset=at]
    b[unsafe_offset=at] = {body}
"""
source = [
    "from max.gpu import thread_idx",
    "from max.gpu.host import DeviceContext",
    "from std.math import exp, exp2, log, log2, log10, rsqrt, sin, sqrt",
    "comptime Numbers = Pointer[Float32, MutAnyOrigin]",
    *(KERNEL.format(name=name, body=BODIES.get(name, f"{name}(x)")) for name in FUNCTIONS),
    "def main() raises:",
    "    with DeviceContext() as device:",
    "        var a = device.enqueue_create_buffer[DType.float32](256)",
    "        var b = device.enqueue_create_buffer[DType.float32](256)",
]
start = "        device.enqueue_function[of_{}](a.unsafe_ptr(), b.unsafe_ptr(), grid_dim=1, block_dim=256)"
(folder / "of.mojo").write_text("\n".join([*source, *(start.format(name) for name in FUNCTIONS)]))


def compiled(target):
    """The text of each kernel for a GPU."""
    made = folder / target
    made.mkdir()
    mojo = [folder / "venv/bin/mojo", "build", "--emit", "asm", "--target-accelerator", target]
    subprocess.run([*mojo, folder / "of.mojo", "-o", made / "host.s"], check=True, stderr=subprocess.DEVNULL)
    texts = [path.read_text() for path in made.iterdir() if path.suffix in (".amdgcn", ".ptx")]
    return {name: next(text for text in texts if f"of_{name}_Pointer" in text) for name in FUNCTIONS}


def arithmetic(text):
    """The vector instructions but for that of the address, and how many of them are transcendental."""
    code = re.findall(r"^\s+(v_\w+)", text, re.M)
    code.remove("v_lshlrev_b32_e32")
    return len(code), sum(bool(re.match(r"v_(exp|log|sin|cos|sqrt|rsq|rcp)_f32", name)) for name in code)


SEEN = {
    "exp": (2, 1), "exp2": (1, 1), "log2": (1, 1), "sin": (2, 1), "rsqrt": (1, 1), "log": (46, 0),
    "log10": (69, 1), "sqrt": (17, 1), "one_over": (11, 1), "by_log2": (2, 1),
}
for target in "gfx942", "gfx1201":
    texts = compiled(target)
    found = {name: arithmetic(text) for name, text in texts.items()}
    print(target, found)
    assert target != "gfx942" or found == SEEN
    assert target != "gfx1201" or found["log"] == (38, 0)
    assert "v_log_f32" not in texts["log"] and found["exp"] == found["by_log2"] == (2, 1)
    assert "v_div_fixup_f32" in texts["one_over"] and found["sqrt"][0] > 10
texts = compiled("sm_90")
assert len(re.findall("lg2.approx.ftz.f32", texts["log"])) == 1 and "fma" not in texts["log"]
assert "sqrt.approx.ftz.f32" in texts["sqrt"]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
