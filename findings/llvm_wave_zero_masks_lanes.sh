#!/usr/bin/env bash
# Package: llvmlite 0.50.0 (its LLVM 22.1 compiles for AMD GPUs).
# Expected: wave = threadIdx.x / 64 is the same in all lanes of a wave, and the compiler either knows that or does
#   not. So a branch on wave == 0 is compiled as one on wave == 1. Bounds that leave 256 lanes and no other
#   number tell as much of it as the size itself: rows of such a workgroup have a power of two of lanes.
# Instead: where the kernel has reqd_work_group_size, wave == 1 is a scalar branch, and wave == 0, by which one
#   wave is picked for extra work, masks lanes. The backend knows of a shift of x, and of an AND without low
#   bits, that they are uniform. The optimizer's passes, which do not know it, turn wave == 0 into x < 64 and
#   wave < 2 into x < 128, and no comparison with x itself is recognised. As shifts, and without these
#   passes, both are scalar. Bounds do nothing for any of them: what is one number a wave is loaded by
#   vector memory then. (Of y they could not: rows may be short.) readfirstlane makes all of them scalar.
# Seen (gfx942, gfx1100, gfx1201; workgroups of 256 x 1 x 1, y: 128 x 2 x 1):
#                                          256 required   flat bounds "256,256"
#   branch on wave == 1, (x & 128) == 0    scalar         lanes masked
#   branch on wave == 0, wave < 2          lanes masked   lanes masked
#   load at wave, at x & ~63, at y         s_load         global_load
#   load at x / 192, at (x - 64) / 64      global_load    global_load
#   the same of readfirstlane(wave)        scalar         scalar
# Why it matters: in a trace the side of wave 0 begins with code that masks no lane, or all of them, while its
#   twin for wave 1 jumps; a change of the number alone changes the shape. __launch_bounds__(256) of HIP is
#   a bound, so such kernels have waits for vector memory, and VGPRs, for what a scalar load would bring.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check llvmlite==0.50.0
cat > "$dir/see.py" <<'PY'
import re

import llvmlite.binding as llvm

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
TRIPLE = "amdgcn-amd-amdhsa"
LOAD = """
  %index = zext i32 %value to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %index
  %loaded = load i32, ptr addrspace(1) %from
  store i32 %loaded, ptr addrspace(1) %own
  ret void
"""
BRANCH = """
  br i1 %value, label %first, label %second
first:
  store volatile i32 1, ptr addrspace(1) %own
  ret void
second:
  store volatile i32 2, ptr addrspace(1) %own
  store volatile i32 3, ptr addrspace(1) %own
  ret void
"""
KERNEL = """
declare range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
define amdgpu_kernel void @kernel(ptr addrspace(1) noalias readonly %in, ptr addrspace(1) noalias %out) {size} {{
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %lane = zext i32 %x to i64
  %own = getelementptr i32, ptr addrspace(1) %out, i64 %lane
  {value}
{use}}}
!0 = !{{i32 {width}, i32 {height}, i32 1}}
"""
NAMED, BOUNDS = "!reqd_work_group_size !0", '"amdgpu-flat-work-group-size"="256,256"'
FIRST = "%shifted = lshr i32 %x, 6\n  %wave = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %shifted)\n  "
LOADS = {  # the index, the rows of the workgroup, and whether the load is scalar with each way to give the size
    "x & ~63": ("%value = and i32 %x, -64", 1, (True, False)),
    "wave": ("%value = udiv i32 %x, 64", 1, (True, False)),
    "y": ("%value = call i32 @llvm.amdgcn.workitem.id.y()", 2, (True, False)),
    "x / 192": ("%value = udiv i32 %x, 192", 1, (False, False)),
    "(x - 64) / 64": ("%less = sub i32 %x, 64\n  %value = udiv i32 %less, 64", 1, (False, False)),
    "of readfirstlane": (FIRST + "%value = add i32 %wave, 0", 1, (True, True)),
}
WAVE = "%wave = udiv i32 %x, 64\n  "
BRANCHES = {
    "wave == 1": (WAVE + "%value = icmp eq i32 %wave, 1", 1, (True, False)),
    "(x & 128) == 0": ("%half = and i32 %x, 128\n  %value = icmp eq i32 %half, 0", 1, (True, False)),
    "wave == 0": (WAVE + "%value = icmp eq i32 %wave, 0", 1, (False, False)),
    "wave < 2": (WAVE + "%value = icmp ult i32 %wave, 2", 1, (False, False)),
    "of readfirstlane": (FIRST + "%value = icmp eq i32 %wave, 0", 1, (True, True)),
}
AS_SHIFT = "%wave = lshr i32 %x, 6\n  %value = icmp eq i32 %wave, "


def compiled(processor, use, value, rows, size, optimize=True):
    """The instructions of the kernel."""
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=processor, opt=3)
    module = llvm.parse_assembly(KERNEL.format(use=use, value=value, size=size, width=256 // rows, height=rows))
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    if optimize:
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        builder.getModulePassManager().run(module, builder)
    text = machine.emit_assembly(module).split("\nkernel:")[1].split(".Lfunc_end")[0].split("\n\t.section")[0]
    return [" ".join(line.split(";")[0].split()) for line in text.splitlines()]


def load_is_scalar(lines):
    found = [line for line in lines if re.match(r"(s|global)_load_(dword|b32) ", line)]
    assert len(found) == 1, lines
    return found[0].startswith("s_")


def branch_is_scalar(lines):
    masks = any(re.search(r"saveexec|v_cmpx|s_(and|xor|or)_b(32|64) exec", line) for line in lines)
    scalar = any(re.match(r"s_cbranch_(scc|vcc)", line) for line in lines)
    assert masks != scalar, lines
    return scalar


for processor in "gfx942", "gfx1100", "gfx1201":
    for cases, use, is_scalar in (LOADS, LOAD, load_is_scalar), (BRANCHES, BRANCH, branch_is_scalar):
        for name, (value, rows, expected) in cases.items():
            seen = tuple(is_scalar(compiled(processor, use, value, rows, size)) for size in (NAMED, BOUNDS))
            print(f"{processor:7} {name:16}", *("scalar" if each else "vector" for each in seen), sep="  ")
            assert seen == expected, (name, seen)
    for wave in 0, 1:
        assert branch_is_scalar(compiled(processor, BRANCH, f"{AS_SHIFT}{wave}", 1, NAMED, optimize=False))
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
