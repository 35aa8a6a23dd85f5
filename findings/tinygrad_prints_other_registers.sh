#!/usr/bin/env bash
# Package: tinygrad 0.14.0 (its decoder of AMD code), rocm-llvm-python 7.2.2.562.46 (holds ROCm's LLVM,
#   whose disassembler is called through ctypes, to say what the bytes are).
# Expected: a decoder that reads the bytes right also prints the registers that they name.
# Instead: three kinds of operands are printed as other registers that exist as well. Accumulation
#   registers of CDNA are printed as VGPRs of the same number, for MFMA, loads and moves; for two of the
#   three only a bare 1 further on shows it, for moves nothing does. A load of CDNA without a scalar
#   base has EXEC_HI for one. The upper half of a 16-bit register of RDNA4 is printed as the register
#   128 above.
# Seen:
#   gfx942  v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]
#           v_mfma_f32_16x16x16_f16(v[0:3], v[0:1], v[2:3], v[0:3], ...)
#   gfx942  v_accvgpr_read_b32 v34, a242
#           v_accvgpr_read(v[34], v[242])
#   gfx942  global_load_dwordx4 a[0:3], v[0:1], off
#           global_load_dwordx4(v[0:3], v[0], v[0], EXEC_HI, 0, 1)
#   gfx1201 v_mov_b16_e32 v0.h, v1.l
#           v_mov_b16_e32(v[128], v[1])
# Why it matters: the texts are used to find the instruction whose result a wait needs, and how many registers
#   are live. Here the MFMA seems to overwrite its own operands, and the load seems to read the
#   mask of active lanes, which every saveexec writes.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check tinygrad==0.14.0 rocm-llvm-python==7.2.2.562.46
cat > "$dir/see.py" <<'PY'
import ctypes
import sysconfig
from pathlib import Path

from tinygrad.renderer.amd import decode_inst

folder = Path(sysconfig.get_path("platlib"))
lib = ctypes.CDLL(str(folder / "rocm" / "llvm" / "librocmllvm.so"))
for part in ("TargetInfo", "TargetMC", "Disassembler"):
    getattr(lib, f"LLVMInitializeAMDGPU{part}")()
lib.LLVMCreateDisasmCPUFeatures.restype = ctypes.c_void_p
lib.LLVMDisasmInstruction.restype = ctypes.c_size_t
lib.LLVMDisasmInstruction.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64,
                                      ctypes.c_char_p, ctypes.c_size_t]


def llvm(target, code):
    features = b"+real-true16" if target == "gfx1201" else b""
    context = lib.LLVMCreateDisasmCPUFeatures(b"amdgcn-amd-amdhsa", target.encode(), features, None, 0, None, None)
    room = ctypes.create_string_buffer(512)
    size = lib.LLVMDisasmInstruction(context, code, len(code), 0, room, 512)
    assert size == len(code)
    return " ".join(room.value.decode().split())


SEEN = (  # target, tables of tinygrad, bytes, what LLVM and tinygrad say
    ("gfx942", "cdna", "0080cdd300050204", "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]",
     "v_mfma_f32_16x16x16_f16(v[0:3], v[0:1], v[2:3], v[0:3]"),
    ("gfx942", "cdna", "2240d8d3f2010018", "v_accvgpr_read_b32 v34, a242", "v_accvgpr_read(v[34], v[242])"),
    ("gfx942", "cdna", "00805cdc0000ff00", "global_load_dwordx4 a[0:3], v[0:1], off",
     "global_load_dwordx4(v[0:3], v[0], v[0], EXEC_HI"),
    ("gfx1201", "rdna4", "0139007f", "v_mov_b16_e32 v0.h, v1.l", "v_mov_b16_e32(v[128], v[1])"),
)
for target, tables, digits, expected, other in SEEN:
    code = bytes.fromhex(digits)
    right = llvm(target, code)
    found = decode_inst(code + bytes(16), tables)
    print(f"{target:7} {right}\n        {found}")
    assert right == expected
    assert found.size() == len(code) and str(found).startswith(other)
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
