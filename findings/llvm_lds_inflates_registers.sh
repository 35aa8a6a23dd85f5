#!/usr/bin/env bash
# Package: llvmlite 0.50.0 (its LLVM 22.1 compiles for AMD GPUs), pyelftools 0.33, msgpack 1.2.4.
# Expected: the VGPRs that a kernel descriptor allocates follow from the registers that the code uses.
# Instead: static LDS alone raises them. Where LDS lets only few workgroups onto a compute unit, LLVM
#   knows that occupancy can not be higher, and raises the VGPR allocation to the most that this
#   occupancy allows. A kernel that uses 3 VGPRs allocates 8, 104, 176 or 264, by its LDS.
#   The metadata note says 3 each time. No option and no attribute asked for it.
# Seen (gfx942, workgroups of 256):
#   LDS  4096 bytes: metadata 3 VGPRs, descriptor allocates   8
#   LDS 16384 bytes: metadata 3 VGPRs, descriptor allocates 104
#   LDS 32768 bytes: metadata 3 VGPRs, descriptor allocates 176
#   LDS 65536 bytes: metadata 3 VGPRs, descriptor allocates 264
# Why it matters: a profiler that takes VGPRs from the descriptor or the dispatch finds that registers
#   limit occupancy as much as LDS does, and advises to save registers. There are none to save: they
#   fall back by themselves once LDS shrinks. Triton hides this, as its LDS is dynamic. IREE shows it:
#   a matmul of iree-base-compiler 3.13.0 with 50688 bytes of LDS reports 159 VGPRs and allocates 264.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check llvmlite==0.50.0 pyelftools==0.33 msgpack==1.2.4
cat > "$dir/see.py" <<'PY'
import io
import struct

import llvmlite.binding as llvm
import msgpack
from elftools.elf.elffile import ELFFile

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
TEXT = """target triple = "amdgcn-amd-amdhsa"
@shared = internal addrspace(3) global [{count} x float] poison
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @turn(ptr addrspace(1) %data, i32 %where) #0 {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %mine = getelementptr float, ptr addrspace(1) %data, i32 %lane
  %to = getelementptr float, ptr addrspace(3) @shared, i32 %where
  %value = load float, ptr addrspace(1) %mine
  store float %value, ptr addrspace(3) %to
  %from = getelementptr float, ptr addrspace(3) @shared, i32 %lane
  %other = load float, ptr addrspace(3) %from
  store float %other, ptr addrspace(1) %mine
  ret void
}}
attributes #0 = {{ "amdgpu-flat-work-group-size"="256,256" }}
"""


def registers(lds):
    module = llvm.parse_assembly(TEXT.format(count=lds // 4))
    machine = llvm.Target.from_triple("amdgcn-amd-amdhsa").create_target_machine(cpu="gfx942", opt=3)
    elf = ELFFile(io.BytesIO(machine.emit_object(module)))
    note = next(iter(elf.get_section_by_name(".note").iter_notes()))
    kernel = msgpack.unpackb(note["n_descdata"], raw=False)["amdhsa.kernels"][0]
    first = struct.unpack_from("<I", elf.get_section_by_name(".rodata").data(), 48)[0]  # COMPUTE_PGM_RSRC1
    assert kernel[".group_segment_fixed_size"] == lds
    return kernel[".vgpr_count"], ((first & 63) + 1) * 8


seen = []
for lds in (4096, 16384, 32768, 65536):
    reported, allocated = registers(lds)
    seen.append((reported, allocated))
    print(f"LDS {lds:5} bytes: metadata {reported} VGPRs, descriptor allocates {allocated:3}")
assert len({reported for reported, _ in seen}) == 1 and seen[0][0] < 8
assert [allocated for _, allocated in seen] == [8, 104, 176, 264]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
