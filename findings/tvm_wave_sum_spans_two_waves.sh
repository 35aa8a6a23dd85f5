#!/usr/bin/env bash
# Package: apache-tvm 0.27.0.post1 (generates code for AMD GPUs without one; linking needs ROCm and is left out).
# Expected: the target {"kind": "rocm", "mcpu": "gfx1100"} implies waves of 32 lanes, as it does for LLVM, which
#   TVM generates code with. A sum over 64 threads then spans two waves and goes through LDS.
# Instead: without a device to ask, thread_warp_size is 64 for every GPU. The sum over 64 threads becomes exchanges
#   between the lanes of a single wave, without a barrier, while LLVM compiles the kernel for waves of 32. The
#   first exchange, with the lane 32 places further, wraps around to the lane itself. The result is twice the
#   sum of elements 0 to 31; elements 32 to 63 are lost. TVM reports nothing. gfx1030 and gfx1201 behave the
#   same; gfx942 is right, and so are sums over 32 and over 128 threads, which go through LDS.
# Seen (64 threads: lanes of a wave, exchanges, barriers, bytes of LDS, result for elements of 1.0):
#   gfx942                         64, 7, 0,   0, 64.0
#   gfx1100, gfx1030, gfx1201      32, 7, 0,   0, 64.0, and still 64.0 if elements 32 to 63 are 1000.0
#   gfx1100, thread_warp_size 32   32, 0, 4, 256
# Why it matters: a test with equal elements passes. In a trace the wrong kernel looks better than the right one: it
#   has no LDS access and no barrier. Give thread_warp_size in every target that is written by hand, as
#   ahead-of-time builds do.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check apache-tvm==0.27.0.post1
cat > "$dir/see.py" <<'PY'
import re

import tvm
import tvm_ffi
from tvm.script import from_source
from tvm.script import ir as I
from tvm.script import tirx as T

# The code is wanted, not an object to load: no device library, no linker.
tvm_ffi.register_global_func("tvm_callback_rocm_bitcode_path", lambda *_: [], override=True)
tvm_ffi.register_global_func("tvm_callback_rocm_link", lambda made: made, override=True)
SUM = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(a: T.Buffer((16, 64), "float32"), b: T.Buffer((16,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for row in T.thread_binding(16, thread="blockIdx.x"):
            for thread in T.thread_binding(64, thread="threadIdx.x"):
                with T.sblock("sum"):
                    i = T.axis.spatial(16, row)
                    k = T.axis.reduce(64, thread)
                    with T.init():
                        b[i] = T.float32(0)
                    b[i] = b[i] + a[i, k]
"""


def code(chip, **options):
    """The kernel's assembly and its LLVM IR."""
    target = tvm.target.Target({"kind": "rocm", "mcpu": chip, **options})
    device = tvm.compile(from_source(SUM, {"T": T, "I": I}), target=target).mod.imports[0]
    return device.inspect_source("asm"), device.inspect_source("llvm")


def facts(text):
    """Lanes of a wave, exchanges between lanes, barriers, bytes of LDS."""
    text = text[: text.index(".end_amdhsa_kernel")]
    lanes = 32 if re.search(r"amdhsa_wavefront_size32 1", text) else 64
    lds = int(re.search(r"group_segment_fixed_size (\d+)", text)[1])
    return lanes, len(re.findall(r"^\s+ds_bpermute", text, re.M)), len(re.findall(r"^\s+s_barrier\b", text, re.M)), lds


def stored(ir, lanes, elements):
    """What lane 0 stores: the straight line of the IR, for the first wave, whose exchanges wrap at its lanes.

    No more is understood than the exchanges, sums, selections and integer arithmetic that the sum consists of."""
    body = ir[ir.index("define") : ir.index("br i1")]
    values = {}

    def of(word, lane):
        return values[word][lane] if word.startswith("%") else int(word)

    def signed(word):
        return word - (1 << 32) if word >= 1 << 31 else word

    binary = {
        "shl": lambda x, y: x << y, "add": lambda x, y: x + y, "or": lambda x, y: x | y, "and": lambda x, y: x & y,
    }
    for name, text in re.findall(r"^\s+(%\d+) = (.*)$", body, re.M):
        words = [word.strip(",()") for word in text.split()]
        row = []
        for lane in range(lanes):
            if "workgroup.id" in text:
                row += [0]
            elif "workitem.id" in text:
                row += [lane]
            elif "mbcnt" in text:  # the lane's number; of 64 lanes it is made of two halves
                row += [min(lane, 32) if "mbcnt.lo" in text else lane]
            elif "ds.bpermute" in text:
                at, what = re.search(r"i32 (%?-?\w+), i32 (%\w+)\)", text).groups()
                row += [values[what][of(at, lane) // 4 % lanes]]
            elif words[0] == "load":
                row += [elements[lane]]
            elif words[0] in ("bitcast", "sext", "zext", "getelementptr"):
                row += [of(next(word for word in words if word.startswith("%") and word in values), lane)
                        if words[0] != "getelementptr" else 0]
            elif words[0] == "fadd":
                row += [of(words[-2], lane) + of(words[-1], lane)]
            elif words[0] == "select":
                row += [of(words[4], lane) if of(words[2], lane) else of(words[6], lane)]
            elif words[0] == "icmp":
                x, y = of(words[-2], lane), of(words[-1], lane)
                row += [{"ugt": x > y, "ne": x != y, "eq": x == y}[next(w for w in words if w in ("ugt", "ne", "eq"))]]
            elif words[0] in binary:
                row += [signed(binary[words[0]](of(words[-2], lane), of(words[-1], lane)) & 0xFFFFFFFF)]
            else:
                raise ValueError(text)
        values[name] = row
    last = re.findall(r"(%\d+) = tail call i32 @llvm.amdgcn.ds.bpermute", body)[-1]
    return values[last][0]


ones, mixed = [1.0] * 64, [1.0] * 32 + [1000.0] * 32
for chip in "gfx942", "gfx1100", "gfx1030", "gfx1201":
    text, ir = code(chip)
    seen = facts(text)
    results = [stored(ir, seen[0], elements) for elements in (ones, mixed)]
    print(chip, *seen, "stores", *results)
    assert seen == (64 if chip == "gfx942" else 32, 7, 0, 0)
    assert results == [64.0, 32032.0 if chip == "gfx942" else 64.0]
seen = facts(code("gfx1100", thread_warp_size=32)[0])
print("gfx1100, thread_warp_size 32:", *seen)
assert seen == (32, 0, 4, 256)
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" 2> "$dir/warnings" || { cat "$dir/warnings"; exit 1; }
