#!/usr/bin/env bash
# Package: llvmlite 0.50.0 (its LLVM 22.1 compiles for AMD GPUs).
# Expected: a kernel allocates the VGPRs that its own code needs, and the functions that it can reach.
# Instead: a kernel that calls through a pointer (a virtual function, a callback) allocates the most that
#   any function of the module needs, also one whose address nobody takes. Here another kernel calls that
#   function by its name. The code of the kernel with the pointer stays the same to the letter while its
#   registers grow with a function that it never meets. In a module without functions it gets 32.
# Seen (VGPRs of the kernel with the pointer; N values are live in the function of the other kernel):
#   gfx90a, gfx942:   no function 32, N = 40: 50, N = 100: 102, N = 200: 128
#   gfx1100, gfx1201: no function 32, N = 40: 50, N = 100: 166, N = 200: 192
#   a third kernel, which calls nothing, has 2 in each of the modules
# Why it matters: the occupancy of such a kernel falls by a change to another kernel. No line of its own
#   and no instruction of its trace says why: the highest register in its listing is far below. Compiled
#   alone, to look at its registers, it shows another number. A direct call, or a module of its own, gives
#   the registers back.
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
KERNELS = """
define amdgpu_kernel void @through_pointer(ptr %function, ptr addrspace(1) %data) {
  call void %function(ptr addrspace(1) %data)
  ret void
}
define amdgpu_kernel void @alone(ptr addrspace(1) %data) {
  store i32 1, ptr addrspace(1) %data
  ret void
}
"""
STRANGER = """
define internal void @stranger(ptr addrspace(1) %data) noinline {{
{loads}
{stores}
  ret void
}}
define amdgpu_kernel void @other(ptr addrspace(1) %data) {{
  call void @stranger(ptr addrspace(1) %data)
  ret void
}}
"""


def program(live):
    """The two kernels and, if any value is to be live, a third one that calls a function of its own."""
    if not live:
        return KERNELS
    loads = "\n".join(f"  %v{i} = load volatile i32, ptr addrspace(1) %data" for i in range(live))
    stores = "\n".join(f"  store volatile i32 %v{i}, ptr addrspace(1) %data" for i in range(live))
    return STRANGER.format(loads=loads, stores=stores) + KERNELS


def compiled(processor, live):
    """VGPRs by kernel, and the instructions of the one with the pointer."""
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=processor, opt=3)
    module = llvm.parse_assembly(program(live))
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    text = machine.emit_assembly(module)
    code = text.split("\nthrough_pointer:")[1].split("s_endpgm")[0]
    kernels = re.split(r"^  - ", text.split(".amdgpu_metadata")[1], flags=re.M)[1:]
    counts = {}
    for kernel in kernels:
        name = re.search(r"^    \.name: +(\w+)$", kernel, re.M)
        if count := re.search(r"^    \.vgpr_count: +(\d+)$", kernel, re.M):
            counts[name[1]] = int(count[1])
    return counts, [line.split(";")[0].strip() for line in code.splitlines()]


LIVE = 0, 40, 100, 200
EXPECTED = {"gfx9": [32, 50, 102, 128], "gfx1": [32, 50, 166, 192]}
for processor in "gfx90a", "gfx942", "gfx1100", "gfx1201":
    seen = [compiled(processor, live) for live in LIVE]
    pointer = [counts["through_pointer"] for counts, _ in seen]
    print(f"{processor:7} VGPRs with 0, 40, 100 and 200 live values elsewhere: {pointer}")
    assert pointer == EXPECTED["gfx1" if processor.startswith("gfx1") else "gfx9"]
    assert all(code == seen[0][1] for _, code in seen), "the code differs"
    assert all(counts["alone"] == 2 for counts, _ in seen)
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
