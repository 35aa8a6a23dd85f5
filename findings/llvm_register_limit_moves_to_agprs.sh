#!/usr/bin/env bash
# Package: llvmlite 0.50.0 (its LLVM 22.1 compiles for AMD GPUs), pyelftools 0.33, msgpack 1.2.4.
# Expected: "amdgpu-num-vgpr"="128", which __attribute__((amdgpu_num_vgpr(128))) of a HIP kernel becomes,
#   limits what the kernel allocates to 128 registers, so that four waves fit on a SIMD of gfx942. What
#   does not fit is spilled, and .vgpr_spill_count says so.
# Instead, where there are accumulation registers: the limit holds for the plain VGPRs only. What exceeds
#   it is moved to AGPRs by v_accvgpr instructions, and the metadata counts no spill. On gfx90a and later
#   both kinds come from one file: the kernel allocates as good as all that it did without the limit, no
#   wave more fits, and it pays for the moves. RDNA and gfx906 do what is expected.
#   .vgpr_count is also not one thing: the sum of both kinds on gfx90a and later, plain VGPRs alone on gfx908.
# Seen (a kernel that holds 200 values; limit 128):
#   gfx906   .vgpr_count 128  .agpr_count   -  .vgpr_spill_count 76  moves to and from AGPRs   0
#   gfx908   .vgpr_count 127  .agpr_count  77  .vgpr_spill_count  0  moves to and from AGPRs 154
#   gfx90a   .vgpr_count 202  .agpr_count  74  .vgpr_spill_count  0  moves to and from AGPRs  74
#   gfx942   .vgpr_count 207  .agpr_count  79  .vgpr_spill_count  0  moves to and from AGPRs  79
#   gfx950   .vgpr_count 207  .agpr_count  79  .vgpr_spill_count  0  moves to and from AGPRs  79
#   gfx1100  .vgpr_count 128  .agpr_count   -  .vgpr_spill_count 85  moves to and from AGPRs   0
# Why it matters: "no spills" hides 70 to 150 vector instructions, a sum of .vgpr_count and .agpr_count counts
#   AGPRs twice on MI200 and MI300 and is right on MI100, and a limit set for occupancy gains none.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check llvmlite==0.50.0 pyelftools==0.33 msgpack==1.2.4
cat > "$dir/see.py" <<'PY'
import io

import llvmlite.binding as llvm
import msgpack
from elftools.elf.elffile import ELFFile

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
HELD = 200


def source(limit):
    lines = [
        'target triple = "amdgcn-amd-amdhsa"',
        "declare i32 @llvm.amdgcn.workitem.id.x()",
        "define amdgpu_kernel void @hold(ptr addrspace(1) %from, ptr addrspace(1) %to) #0 {",
        "  %lane = call i32 @llvm.amdgcn.workitem.id.x()",
        "  %in = getelementptr float, ptr addrspace(1) %from, i32 %lane",
        "  %out = getelementptr float, ptr addrspace(1) %to, i32 %lane",
    ]
    for k in range(HELD):
        lines += [
            f"  %in{k} = getelementptr float, ptr addrspace(1) %in, i32 {64 * k}",
            f"  %read{k} = load volatile float, ptr addrspace(1) %in{k}",
            f"  %value{k} = fmul float %read{k}, %read{k}",
        ]
    for k in range(HELD):
        lines += [
            f"  %out{k} = getelementptr float, ptr addrspace(1) %out, i32 {64 * k}",
            f"  store volatile float %value{k}, ptr addrspace(1) %out{k}",
        ]
    limit = f'"amdgpu-num-vgpr"="{limit}"' if limit else ""
    return "\n".join([*lines, "  ret void", "}", f'attributes #0 = {{ "amdgpu-flat-work-group-size"="64,64" {limit} }}'])


def compiled(chip, limit):
    machine = llvm.Target.from_triple("amdgcn-amd-amdhsa").create_target_machine(cpu=chip, opt=3)
    module = llvm.parse_assembly(source(limit))
    elf = ELFFile(io.BytesIO(machine.emit_object(module)))
    note = next(iter(elf.get_section_by_name(".note").iter_notes()))
    kernel = msgpack.unpackb(note["n_descdata"], raw=False)["amdhsa.kernels"][0]
    moves = machine.emit_assembly(module).count("v_accvgpr_")
    return kernel[".vgpr_count"], kernel.get(".agpr_count"), kernel[".vgpr_spill_count"], moves


seen = {}
for chip in ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100"):
    free, seen[chip] = compiled(chip, 0), compiled(chip, 128)
    vgprs, agprs, spills, moves = seen[chip]
    print(
        f"{chip:8} .vgpr_count {vgprs}  .agpr_count {'-' if agprs is None else agprs:>3}  "
        f".vgpr_spill_count {spills:2}  moves to and from AGPRs {moves:3}"
    )
    assert free[2:] == (0, 0), "without a limit nothing is spilled or moved"
    if chip in {"gfx90a", "gfx942", "gfx950"}:
        assert vgprs > 128 and 512 // vgprs == 512 // free[0] == 2, "the limit gains a wave"
for chip in ("gfx906", "gfx1100"):
    assert seen[chip][0] == 128 and seen[chip][2] > 70 and seen[chip][3] == 0
for chip in ("gfx908", "gfx90a", "gfx942", "gfx950"):
    assert seen[chip][2] == 0 and seen[chip][1] > 70 and seen[chip][3] > 70
assert seen["gfx908"][0] <= 128
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
