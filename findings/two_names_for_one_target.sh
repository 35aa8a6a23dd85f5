#!/usr/bin/env bash
# Packages: triton 3.9.0 and llvmlite 0.50.0 (LLVM 22.1), which both compile for AMD GPUs without one;
#   pyelftools 0.33 and msgpack 1.2.4 to read the notes.
# Expected: amdhsa.target in the note of a code object for gfx942 is amdgcn-amd-amdhsa--gfx942, as each
#   reader takes apart: the processor follows the two dashes.
# Instead: Triton's newer LLVM calls the architecture by the processor's version and the environment
#   "unknown", and there are no two dashes. Machine and flags of the header are the same for both.
# Seen:
#   llvmlite gfx942  amdgcn-amd-amdhsa--gfx942            flags 0x54c
#   triton   gfx942  amdgpu9.42-amd-amdhsa-unknown-gfx942 flags 0x54c
#   llvmlite gfx1100 amdgcn-amd-amdhsa--gfx1100             flags 0x41
#   triton   gfx1100 amdgpu11.00-amd-amdhsa-unknown-gfx1100 flags 0x41
# Why it matters: a reader that splits the target at "--", or that looks for "amdgcn", has no GPU for
#   such kernels, so that it chooses no table of latencies, no disassembler, and no peak. What
#   follows the last dash works for both, and the header's flags do.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0 llvmlite==0.50.0 pyelftools==0.33 \
    msgpack==1.2.4
export TRITON_HOME="$dir" TRITON_CACHE_DIR="$dir/cache" TRITON_DEFAULT_FP_FUSION=1
cat > "$dir/by_llvmlite.py" <<'PY'
import sys

import llvmlite.binding as llvm

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
module = llvm.parse_assembly("""target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @one(ptr addrspace(1) %a) {
  store float 1.0, ptr addrspace(1) %a
  ret void
}
""")
machine = llvm.Target.from_triple("amdgcn-amd-amdhsa").create_target_machine(cpu=sys.argv[1])
sys.stdout.buffer.write(machine.emit_object(module))
PY
cat > "$dir/by_triton.py" <<'PY'
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def one(a):
    tl.store(a, 1.0)


target = GPUTarget("hip", sys.argv[1], int(sys.argv[2]))
made = triton.compile(ASTSource(fn=one, signature={"a": "*fp32"}), target=target, options={"num_warps": 1})
sys.stdout.buffer.write(made.asm["hsaco"])
PY
cat > "$dir/see.py" <<'PY'
import sys

import msgpack
from elftools.elf.elffile import ELFFile

for target, old, new in (
    ("gfx942", "amdgcn-amd-amdhsa--gfx942", "amdgpu9.42-amd-amdhsa-unknown-gfx942"),
    ("gfx1100", "amdgcn-amd-amdhsa--gfx1100", "amdgpu11.00-amd-amdhsa-unknown-gfx1100"),
):
    flags = set()
    for maker, expected in (("llvmlite", old), ("triton", new)):
        with open(f"{sys.argv[1]}/{maker}.{target}", "rb") as file:
            elf = ELFFile(file)
            note = next(one for one in elf.get_section_by_name(".note").iter_notes() if one["n_name"] == "AMDGPU")
            found = msgpack.unpackb(note["n_descdata"], raw=False)["amdhsa.target"]
            print(f"{maker:8} {target:7} {found} flags {elf['e_flags']:#x}")
            flags.add(elf["e_flags"])
        assert found == expected and found.rsplit("-", 1)[1] == target
    assert len(flags) == 1
print("as described")
PY
for target in "gfx942 64" "gfx1100 32"; do
    read -r name wave <<< "$target"
    "$dir/venv/bin/python" "$dir/by_llvmlite.py" "$name" > "$dir/llvmlite.$name"
    "$dir/venv/bin/python" "$dir/by_triton.py" "$name" "$wave" > "$dir/triton.$name"
done
"$dir/venv/bin/python" "$dir/see.py" "$dir"
