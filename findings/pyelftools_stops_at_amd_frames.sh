#!/usr/bin/env bash
# Package: pyelftools 0.33, with a code object that triton 3.9.0 compiles.
# Expected: pyelftools reads unwind tables (.debug_frame) of any DWARF and prints an operation that it
#   does not know by its number; for the ABI byte of AMD's code objects it has AMD's name or a number.
# Instead: the tables of every AMD kernel hold a CFA in an address space, an operation 0xe9 of LLVM's
#   own range followed by an operation code. The description of the table raises KeyError: 233,
#   and with it all that is to be printed. Reading the entries works, so it is not noticed before.
#   The header of the same file is named ARM's: the number 64 of the ABI byte is HSA's for AMD GPUs
#   and ARM's EABI for ARM, and pyelftools does not look at the machine.
# Seen:
#   machine EM_AMDGPU, OS ABI ELFOSABI_ARM_AEABI
#   frame entries read: 2, expression of the CFA: 30 36 e9 02
#   describing them: KeyError 233
# Why it matters: a reader of code objects that shows unwind tables, or prints DWARF expressions in a
#   listing, dies of every kernel with line tables. One that asks for AMD's ABI by name finds no AMD
#   code object at all.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0 pyelftools==0.33
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/kernel.py" <<'PY'
import io

import triton
import triton.language as tl
from elftools.dwarf.descriptions import describe_CFI_instructions
from elftools.elf.elffile import ELFFile
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def one(a):
    tl.store(a, 1.0)


made = triton.compile(ASTSource(fn=one, signature={"a": "*fp32"}), target=GPUTarget("hip", "gfx942", 64),
                      options={"num_warps": 1})
elf = ELFFile(io.BytesIO(made.asm["hsaco"]))
print(f"machine {elf['e_machine']}, OS ABI {elf['e_ident']['EI_OSABI']}")
entries = list(elf.get_dwarf_info().CFI_entries())
expression = next(one.args[0] for entry in entries for one in entry.instructions if one.opcode == 0x0F)
print(f"frame entries read: {len(entries)}, expression of the CFA:", bytes(expression).hex(" "))
try:
    text = [describe_CFI_instructions(entry) for entry in entries]
except KeyError as error:
    text = None
    print("describing them: KeyError", *error.args)
    assert error.args == (0xE9,)
assert text is None
assert elf["e_machine"] == "EM_AMDGPU" and elf["e_ident"]["EI_OSABI"] == "ELFOSABI_ARM_AEABI"
print("as described")
PY
"$dir/venv/bin/python" "$dir/kernel.py"
