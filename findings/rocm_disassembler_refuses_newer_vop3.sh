#!/usr/bin/env bash
# Package: triton 3.9.0 (its LLVM assembles for AMD GPUs), rocm-llvm-python 7.2.2.562.46 (holds ROCm 7.2's
#   LLVM with its disassembler, which is called through ctypes), pyelftools 0.33.
# Expected: gfx1100 is years old and both know it. What one assembles the other disassembles.
# Instead: Triton's LLVM fills the unused third source of a VOP3 or VOP3P instruction with the code of
#   the constant 0, as it does for gfx1201 and gfx1250 too. ROCm 7.2's disassembler knows only the
#   encoding with zero bits there and takes no such instruction: v_add_f32_e64, v_mul_lo_u32,
#   v_cmp_gt_i32_e64, v_pk_mul_f16. With the bits cleared by hand it reads every one of them.
#   For gfx942 Triton's LLVM keeps the bits at zero, and all can be read.
# Seen:
#   gfx1100 v_add_f32_e64 v0, v1, v2       000003d501050202: refused, third source cleared: read
#   gfx1100 v_mul_lo_u32 v0, v1, v2        00002cd701050202: refused, third source cleared: read
#   gfx1100 v_cmp_gt_i32_e64 s2, s6, v4    020044d406080202: refused, third source cleared: read
#   gfx1100 v_pk_mul_f16 v0, v1, v2        004010cc0105021a: refused, third source cleared: read
#   gfx1201 and gfx1250: the same
#   gfx942  v_add_f32_e64 v0, v1, v2       000001d101050200: read
# Why it matters: a profiler disassembles with the ROCm that is installed, a kernel comes from the
#   compiler in a Python wheel. Then listings have holes at the commonest instructions. A tool that
#   goes on 4 bytes later, as is usual, takes the second half of the instruction for a v_cndmask
#   that is not in the code, and counts instructions that never ran.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0 rocm-llvm-python==7.2.2.562.46 \
    pyelftools==0.33
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/assemble.py" <<'PY'
import io
import sys

from elftools.elf.elffile import ELFFile
from triton.backends.amd.compiler import assemble_amdgcn

for line in sys.stdin:
    target, text = line.strip().split(" ", 1)
    made = assemble_amdgcn(text + "\n", target, "")
    print(target, ELFFile(io.BytesIO(made)).get_section_by_name(".text").data().hex(), text)
PY
cat > "$dir/read.py" <<'PY'
import ctypes
import sys
import sysconfig
from pathlib import Path

folder = Path(sysconfig.get_path("platlib"))
lib = ctypes.CDLL(str(folder / "rocm" / "llvm" / "librocmllvm.so"))
for part in ("TargetInfo", "TargetMC", "Disassembler"):
    getattr(lib, f"LLVMInitializeAMDGPU{part}")()
lib.LLVMCreateDisasmCPU.restype = ctypes.c_void_p
lib.LLVMDisasmInstruction.restype = ctypes.c_size_t
lib.LLVMDisasmInstruction.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64,
                                      ctypes.c_char_p, ctypes.c_size_t]
contexts = {}


def read(target, code):
    if target not in contexts:
        contexts[target] = lib.LLVMCreateDisasmCPU(b"amdgcn-amd-amdhsa", target.encode(), None, 0, None, None)
    room = ctypes.create_string_buffer(512)
    size = lib.LLVMDisasmInstruction(contexts[target], code, len(code), 0, room, 512)
    return " ".join(room.value.decode().split()) if size == len(code) else None


THIRD = 511 << 50  # bits 50 to 58 of VOP3 and VOP3P
count = 0
for line in sys.stdin:
    target, digits, text = line.strip().split(" ", 2)
    code = bytes.fromhex(digits)
    value = int.from_bytes(code, "little")
    found = read(target, code)
    if target == "gfx942":
        print(f"{target:7} {text:32} {digits}: {'read' if found else 'refused'}")
        assert found and not value & THIRD
    else:
        cleared = read(target, (value & ~THIRD).to_bytes(8, "little"))
        print(f"{target:7} {text:32} {digits}: {'read' if found else 'refused'},",
              f"third source cleared: {'read' if cleared else 'refused'}")
        assert (value & THIRD) >> 50 == 128 and found is None
        assert cleared and cleared.split()[0] == text.split()[0]
    count += 1
assert count == 16
print("as described")
PY
for target in gfx1100 gfx1201 gfx1250 gfx942; do
    printf '%s\n' "$target v_add_f32_e64 v0, v1, v2" "$target v_mul_lo_u32 v0, v1, v2" \
        "$target v_pk_mul_f16 v0, v1, v2"
    if [ "$target" = gfx942 ]; then
        echo "$target v_cmp_gt_i32_e64 s[2:3], s6, v4"
    else
        echo "$target v_cmp_gt_i32_e64 s2, s6, v4"
    fi
done | "$dir/venv/bin/python" "$dir/assemble.py" > "$dir/bytes"
"$dir/venv/bin/python" "$dir/read.py" < "$dir/bytes"
