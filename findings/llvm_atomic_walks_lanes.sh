#!/usr/bin/env bash
# Package: llvmlite 0.50.0 (its LLVM 22.1 compiles for AMD GPUs).
# Expected: atomicAdd(&sum, x) with one sum for all and an x for each lane is one atomic instruction, whose lanes
#   the memory unit adds one after the other. Whoever wants it reduced in the wave first writes that himself.
# Instead: LLVM does it, without being asked: a loop of scalar instructions picks the lanes one by one
#   (v_readlane) and adds them, then one lane does one atomic. The loop runs once for each active lane, 64
#   or 32 times, and waits for nothing but its own chain. Where the old value is used it also writes each lane's
#   prefix (v_writelane). It is so for integers and floating point, for memory and LDS, on all generations.
#   For an equal value in all lanes a count of the lanes replaces the loop, an exchange has none, and
#   neither has an address that differs between lanes, even if all lanes hold the same one.
# Seen (the instructions of the loop on gfx942, for int32):
#   s_ff1_i32_b64, v_readlane_b32, s_add_i32, s_lshl_b64, s_andn2_b64, s_cbranch_scc1: 384 for each wave
#   with the old value used: s_mov_b32 and v_writelane_b32 besides, 512 for each wave
#   gfx1100, gfx1201: the same with s_ctz_i32_b32, 32 times
# Why it matters: in a trace the line of an atomic is hundreds of scalar instructions and few memory ones, so that
#   it looks like a loop of the source, and time that is blamed on contention is spent before the atomic. A
#   reduction in six steps across the wave, written in front of it, is many times shorter; the loop
#   then finds an equal value and goes away.
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
PROGRAM = """
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace({space}) %out, {kind} %same) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr {kind}, ptr addrspace(1) %in, i32 %lane
  %own = load {kind}, ptr addrspace(1) %from
  %to = getelementptr {kind}, ptr addrspace({space}) %out, i32 {at}
  %old = atomicrmw {operation} ptr addrspace({space}) %to, {kind} {value} syncscope("agent") monotonic, {native}
  {use}
  ret void
}}
!0 = !{{}}
"""
NATIVE = "!amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0"  # else some are compare and swap


def loop(processor, operation="add", kind="i32", space=1, at="0", value="%own", used=False):
    """Instructions of the loop that branches back, if there is one, and the number of atomics in the text."""
    use = f"store {kind} %old, ptr addrspace(1) %from" if used else ""
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=processor, opt=3)
    module = llvm.parse_assembly(PROGRAM.format(native=NATIVE, **locals()))
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    text = machine.emit_assembly(module).split("\nkernel:")[1].split("s_endpgm")[0]
    lines = [" ".join(line.split(";")[0].split()) for line in text.splitlines()]
    body, atomics = [], sum(bool(re.match(r"(global_atomic|ds_add)_", line)) for line in lines)
    for end, line in enumerate(lines):
        target = line.split()[1] + ":" if line.startswith("s_cbranch") else None
        if target in lines[:end]:
            body += [each for each in lines[lines.index(target) : end + 1] if re.match(r"[a-z]+_", each)]
    return [each for each in body if not re.match(r"s_(wait|nop|delay)", each)], atomics


for processor in "gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx1250":
    add, atomics = loop(processor)
    print(f"{processor:7} {len(add)} instructions for each lane:", ", ".join(line.split()[0] for line in add))
    assert atomics == 1 and sum(line.startswith("v_readlane") for line in add) == 1
    assert len(add) == 6 and not any(re.match(r"global|ds_", line) for line in add)
    prefix, _ = loop(processor, used=True)
    assert [line for line in prefix if line.startswith("v_writelane")] and len(prefix) > len(add), prefix
    floating = {"operation": "fadd", "kind": "float", "space": 3}
    for other in ({"space": 3}, {"kind": "i64"}, {"operation": "max"}, floating):
        found, _ = loop(processor, **other)
        assert any(line.startswith("v_readlane") for line in found), other
    for other in ({"value": "%same"}, {"value": "1"}, {"at": "%lane"}, {"operation": "xchg"}):
        assert loop(processor, **other) == ([], 1), other
assert [line.split()[0] for line in loop("gfx942")[0]] == [
    "s_ff1_i32_b64", "v_readlane_b32", "s_add_i32", "s_lshl_b64", "s_andn2_b64", "s_cbranch_scc1",
]
assert len(loop("gfx942", used=True)[0]) == 8
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
