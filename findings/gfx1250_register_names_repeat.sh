#!/usr/bin/env bash
# Package: triton 3.9.0 (compiles for AMD GPUs without one), rocm-llvm-python 7.2.2.562.46 (holds ROCm's
#   LLVM with its disassembler, which is called through ctypes), pyelftools 0.33.
# Expected: gfx1250 has up to 1024 VGPRs, so a disassembly names v0 to v1023.
# Instead: an operand has 8 bits. The upper two bits are state of the wave, set by s_set_vgpr_msb, for
#   each operand position on its own. The disassembler prints the 8 bits: of a kernel with 298 VGPRs
#   no register begins above v255. Triton's own assembly text gives the rest, but in comments:
#   v[2:5] /*v[258:261]*/. Two instructions of the same bytes and the same text write different
#   registers. And a tuple may cross the border: v[254:257] is printed without any comment.
# Seen:
#   metadata: 298 VGPRs
#   Triton's text:  ds_load_tr16_b128 v[254:257], v38 /*v294*/ offset:4736
#                   ds_load_tr16_b128 v[2:5] /*v[258:261]*/, v38 /*v294*/ offset:192
#   disassembly:    ds_load_tr16_b128 v[254:257], v38 offset:4736
#                   ds_load_tr16_b128 v[2:5], v38 offset:192
#   highest register that an operand begins with: v254 in the disassembly, v294 with the comments
# Why it matters: thread traces come with the disassembler's text. A reader that finds the cause
#   of a wait or a stall by register names takes v38 for v38 where it is v294. Without
#   following s_set_vgpr_msb through the code, every dependency and liveness from there on is wrong.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0 rocm-llvm-python==7.2.2.562.46 \
    pyelftools==0.33
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/kernel.py" <<'PY'
import triton
import triton.language as tl


@triton.jit
def multiply(a, b, c, rows, columns, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    across = tl.cdiv(columns, N)
    row = tl.program_id(0) // across * M + tl.arange(0, M)
    column = tl.program_id(0) % across * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    left = a + row[:, None] * depth + inner[None, :]
    right = b + inner[:, None] * columns + column[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, depth, K):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += K
        right += K * columns
    tl.store(c + row[:, None] * columns + column[None, :], total.to(tl.float16))
PY
cat > "$dir/see.py" <<'PY'
import ctypes
import io
import re
import sysconfig
from pathlib import Path

import triton
from elftools.elf.elffile import ELFFile
from kernel import multiply
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

types = {name: "*fp16" for name in "abc"} | {name: "i32" for name in ("rows", "columns", "depth")}
sizes = {"M": 128, "N": 128, "K": 64}
source = ASTSource(fn=multiply, signature=types | dict.fromkeys(sizes, "constexpr"), constexprs=sizes,
                   attrs={(place,): [["tt.divisibility", 16]] for place in range(6)})
made = triton.compile(source, target=GPUTarget("hip", "gfx1250", 32), options={"num_warps": 4, "num_stages": 3})
written = made.asm["amdgcn"]
count = int(re.search(r"\.vgpr_count: +(\d+)", written)[1])

folder = Path(sysconfig.get_path("platlib"))
lib = ctypes.CDLL(str(folder / "rocm" / "llvm" / "librocmllvm.so"))
for part in ("TargetInfo", "TargetMC", "Disassembler"):
    getattr(lib, f"LLVMInitializeAMDGPU{part}")()
lib.LLVMCreateDisasmCPU.restype = ctypes.c_void_p
lib.LLVMDisasmInstruction.restype = ctypes.c_size_t
lib.LLVMDisasmInstruction.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64,
                                      ctypes.c_char_p, ctypes.c_size_t]
context = lib.LLVMCreateDisasmCPU(b"amdgcn-amd-amdhsa", b"gfx1250", None, 0, None, None)
elf = ELFFile(io.BytesIO(made.asm["hsaco"]))
text = elf.get_section_by_name(".text")
symbol = next(one for one in elf.get_section_by_name(".symtab").iter_symbols() if one.name == "multiply")
start = symbol["st_value"] - text["sh_addr"]
code = text.data()[start : start + symbol["st_size"]]
read, at, room = [], 0, ctypes.create_string_buffer(512)
while at < len(code):
    size = lib.LLVMDisasmInstruction(context, code[at:], len(code) - at, at, room, 512)
    read.append(" ".join(room.value.decode().split()) if size else "?")
    at += size or 4


def highest(lines):
    return max(int(number) for line in lines for number in re.findall(r"\bv\[?(\d+)", line))


def wide_loads(lines):
    return [" ".join(line.split()) for line in lines if "ds_load_tr16_b128" in line]


body = [line.split(";")[0].strip() for line in written[written.index("\nmultiply:") :].splitlines()
        if line.startswith("\t") and not line.startswith("\t.")]
# the first load whose destination has a comment, and the one before it
after = next(place for place, line in enumerate(wide_loads(body)) if re.match(r"\S+ v\S+ /\*", line))
ours, theirs = wide_loads(body)[after - 1 : after + 1], wide_loads(read)[after - 1 : after + 1]
print("metadata:", count, "VGPRs")
print("Triton's text:", *ours, sep="\n  ")
print("disassembly:", *theirs, sep="\n  ")
print(f"highest register that an operand begins with: v{highest(read)} in the disassembly,",
      f"v{highest(body)} with the comments")
assert count > 256 and highest(read) < 256 <= highest(body) < count
assert [re.sub(r" ?/\*.*?\*/", "", line) for line in ours] == theirs
assert "s_set_vgpr_msb" in " ".join(read)
assert not any("/*" in line for line in read)
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
