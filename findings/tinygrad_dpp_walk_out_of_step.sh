#!/usr/bin/env bash
# Package: tinygrad 0.14.0 (its decoder of RDNA3 code), rocm-llvm-python 7.2.2.562.46 (holds ROCm's LLVM,
#   whose disassembler is called through ctypes, to say what the bytes are).
# Expected: an instruction that the decoder's tables do not have raises an error, as others do.
# Instead: forms with a DPP word are taken for forms without it, and come out 4 bytes too short. For
#   DPP8 the register is printed as DPP8, for a comparison with DPP in VOP3 as DPP. The next
#   instruction is then read from the DPP word. The word of dpp8:[7,6,5,4,3,2,1,0] with v4 for its
#   source is a valid instruction by itself, so a walk makes one up and raises nothing.
# Seen:
#   v_add_f32_dpp v0, v4, v2 dpp8:[7,6,5,4,3,2,1,0]     8 bytes, tinygrad: 4, v_add_f32_e32(v[0], DPP8, v[2])
#   v_cmp_eq_u32_e64_dpp s0, v1, v2 row_shr:1 ...      12 bytes, tinygrad: 8, v_cmp_eq_u32_e64(s[0], DPP, v[2])
#   v_add_f32_dpp v0, v1, v2 row_shr:1 ...              8 bytes, tinygrad: 8
#   walk over the first, then s_endpgm: LLVM 2 instructions, tinygrad 3, the second of them
#     v_dot2acc_f32_f16_e32(v[156], v[4], v[187])
# Why it matters: reductions across lanes are made of such code. Program counters of a trace are mapped
#   by such walks: from the first one on each instruction counts for its neighbour, and costs go to
#   instructions that are not in the kernel.
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
lib.LLVMCreateDisasmCPU.restype = ctypes.c_void_p
lib.LLVMDisasmInstruction.restype = ctypes.c_size_t
lib.LLVMDisasmInstruction.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64,
                                      ctypes.c_char_p, ctypes.c_size_t]
context = lib.LLVMCreateDisasmCPU(b"amdgcn-amd-amdhsa", b"gfx1100", None, 0, None, None)


def llvm(code):
    room = ctypes.create_string_buffer(512)
    size = lib.LLVMDisasmInstruction(context, code, len(code), 0, room, 512)
    return size, " ".join(room.value.decode().split())


def tinygrad(code):
    found = decode_inst(code + bytes(16), "rdna3")
    return found.size(), str(found)


def walk(read, code):
    at, texts = 0, []
    while at < len(code):
        size, text = read(code[at:])
        assert size
        texts.append(text)
        at += size
    return texts


WORDS = {  # first word or words, the DPP word
    "dpp8": (0x060004E9, 0x05397704),
    "comparison": (0xD44A0000, 0x000204FA, 0xFF011101),
    "row": (0x060004FA, 0xFF011101),
}
sizes = {}
for name, words in WORDS.items():
    code = b"".join(word.to_bytes(4, "little") for word in words)
    size, text = llvm(code)
    found, made = tinygrad(code)
    print(f"{text}\n  {size} bytes, tinygrad: {found}, {made}")
    sizes[name] = size, found
assert sizes == {"dpp8": (8, 4), "comparison": (12, 8), "row": (8, 8)}
code = b"".join(word.to_bytes(4, "little") for word in (*WORDS["dpp8"], 0xBFB00000))
right, wrong = walk(llvm, code), walk(tinygrad, code)
print("walk by LLVM:", *right, sep="\n  ")
print("walk by tinygrad:", *wrong, sep="\n  ")
assert len(right) == 2 and len(wrong) == 3
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
