#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one), pyelftools 0.33.
# Expected: a helper that is inlined into a kernel is a DW_TAG_inlined_subroutine of the helper's name,
#   so that a call stack reads kernel -> outer -> inner.
# Instead: the code object has one subprogram, the kernel, and every inlined call says that it is an
#   inlined copy of the kernel. The kernel is inlined into itself, here four times over. Line and
#   file numbers are right, those of other files too. The names outer, inner and sum are in no section.
# Seen:
#   softmax_like called at line 12 of kernel.py
#   softmax_like called at line 314 of standard.py
#   softmax_like called at line 10 of kernel.py
#   softmax_like called at line 9 of helpers.py
#   bytes "outer" in the code object: 0 "inner": 0
# Why it matters: a flame graph or call stack made from DWARF shows a recursive kernel, and costs of
#   all helpers are added up under one name. Only file and line of a frame tell which helper it is.
#   A tool that cuts recursion short loses the stack.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0 pyelftools==0.33
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/helpers.py" <<'PY'
import triton


@triton.jit
def inner(x):
    return x * x + 3.0
@triton.jit
def outer(x):
    return inner(x) * 0.5
PY
cat > "$dir/kernel.py" <<'PY'
import triton
import triton.language as tl
from helpers import outer


@triton.jit
def softmax_like(a, c, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + at)
    y = outer(x)
    y = tl.maximum(y, 0.0)
    total = tl.sum(y, axis=0)
    tl.store(c + at, y / total)
PY
cat > "$dir/see.py" <<'PY'
import io

import triton
from elftools.elf.elffile import ELFFile
from kernel import softmax_like
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

types = {"a": "*fp32", "c": "*fp32", "BLOCK": "constexpr"}
source = ASTSource(fn=softmax_like, signature=types, constexprs={"BLOCK": 256})
code = triton.compile(source, target=GPUTarget("hip", "gfx942", 64), options={"num_warps": 4}).asm["hsaco"]
dwarf = ELFFile(io.BytesIO(code)).get_dwarf_info()
names = set()
files_called_from = set()
for unit in dwarf.iter_CUs():
    files = dwarf.line_program_for_CU(unit).header.file_entry
    for die in unit.iter_DIEs():
        if die.tag != "DW_TAG_inlined_subroutine":
            continue
        name = die.get_DIE_from_attribute("DW_AT_abstract_origin").attributes["DW_AT_name"].value.decode()
        file = files[die.attributes["DW_AT_call_file"].value - 1].name.decode()
        print(name, "called at line", die.attributes["DW_AT_call_line"].value, "of", file)
        names.add(name)
        files_called_from.add(file)
print('bytes "outer" in the code object:', code.count(b"outer"), '"inner":', code.count(b"inner"), sep=" ")
assert names == {"softmax_like"}
assert files_called_from == {"kernel.py", "helpers.py", "standard.py"}
assert not code.count(b"outer") and not code.count(b"inner")
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
