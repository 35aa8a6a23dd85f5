#!/usr/bin/env bash
# Package: tritonparse 0.6.0 (Meta's viewer of Triton's compilations: source beside IR and assembly), triton 3.9.0,
#   zstandard 0.25.0.
# Expected: an instruction inlined from tl.sum belongs to the line of the kernel that calls tl.sum, or to its line in
#   Triton's standard.py. Data belongs to no line. AMD's assembly is treated like NVIDIA's.
# Instead: for PTX, tritonparse finds the line of the call. For AMD's assembly it keeps the line number of standard.py
#   and takes it for one of the kernel's file: its map has lines 287 and 314 of a file of 12 lines. The line
#   of tl.sum has only the instructions that square its argument. The map also covers the end of the text: the
#   kernel descriptor, which is not code, belongs to the "def" line of the kernel.
# Seen (instructions that the map has for each line of the kernel's file):
#   gfx942: def 5 and 40 lines of the descriptor, arange 4, load 20, tl.sum 2, division 49, store 8,
#           line 287 of 12: 18, line 314 of 12: 19
#   sm_90:  def 2, arange 10, load 34, tl.sum 35, division 9, store 16
# Why it matters: the reduction is the part of such a kernel with LDS and a barrier. The viewer shows it beside no line, or,
#   in a file of more than 300 lines, beside an unrelated one. By its counts, the sum takes two instructions and
#   "def" 45. The same kernel for CUDA is shown correctly.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0 zstandard==0.25.0
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps tritonparse==0.6.0
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/kernel.py" <<'PY'
import triton
import triton.language as tl


@triton.jit
def norm(a, b, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n)
    total = tl.sum(x * x, 0)
    y = x / tl.sqrt(total)
    tl.store(b + i, y, mask=i < n)
PY
cat > "$dir/see.py" <<'PY'
import re
from pathlib import Path

import kernel
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from tritonparse.parse.ir_parser import extract_ptx_amdgcn_mappings
from tritonparse.parse.mapper import create_python_mapping

SOURCE = Path(kernel.__file__).read_text().split("\n")


def assembly(target, kind):
    source = ASTSource(fn=kernel.norm, signature={"a": "*fp32", "b": "*fp32", "n": "i32"}, constexprs={"BLOCK": 1024})
    return triton.compile(source, target=target, options={"num_warps": 4}).asm[kind]


def counted(target, kind):
    """For each line of the kernel's file its instructions, and the other lines of the text that it got."""
    text = assembly(target, kind)
    lines = text.split("\n")
    instruction = r"\s+(v|s|ds|buffer|global)_\w+" if kind == "amdgcn" else r"\s+(@%p\d+ )?[a-z]\w*[\w.]*\s.*;"
    found = {}
    mapping = create_python_mapping([(kind, extract_ptx_amdgcn_mappings(text, [], kind))])
    for line, places in mapping.items():
        of = [lines[int(place) - 1] for place in places[f"{kind}_lines"]]
        code = sum(bool(re.match(instruction, one)) for one in of)
        other = sum(bool(re.match(r"\s+\.(amdhsa_|end_amdhsa)", one)) for one in of)
        found[line] = code, other
    return dict(sorted(found.items()))


def named(word):
    return next(number for number, text in enumerate(SOURCE, 1) if word in text)


print(f"the kernel's file has {len(SOURCE)} lines; tl.sum is in line {named('tl.sum')}")
amd = counted(GPUTarget("hip", "gfx942", 64), "amdgcn")
print("gfx942 (instructions, lines of the descriptor):", amd)
assert amd == {6: (5, 40), 7: (4, 0), 8: (20, 0), 9: (2, 0), 10: (49, 0), 11: (8, 0), 287: (18, 0), 314: (19, 0)}
nvidia = counted(GPUTarget("cuda", 90, 32), "ptx")
print("sm_90:", nvidia)
assert nvidia == {6: (2, 0), 7: (10, 0), 8: (34, 0), 9: (35, 0), 10: (9, 0), 11: (16, 0)}
assert max(amd) > len(SOURCE) == 12 and max(nvidia) < len(SOURCE) and named("tl.sum") == 9
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
