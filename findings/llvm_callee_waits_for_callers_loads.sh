#!/usr/bin/env bash
# Package: llvmlite 0.50.0 (its LLVM 22.1 compiles for AMD GPUs).
# Expected: a load is waited for where its value is first used. A load that the caller uses after a call
#   is in flight during the call, which hides a part of its time.
# Instead: a function that is not inlined begins with a wait for all loads. So the load is waited for in
#   the callee, which has no memory instruction, and no argument that comes from memory. The caller has no
#   wait any more: it uses the value behind the call as it is. All generations do so, gfx12 by five waits.
# Seen (a kernel that loads, calls a function of two arithmetic instructions, and adds both):
#   gfx90a, gfx942, gfx1100: callee begins s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0); waits after the call: 0
#   gfx1201: callee begins s_wait_loadcnt_dscnt 0x0 and four more; waits after the call: 0
#   gfx1250: callee begins s_wait_loadcnt_dscnt 0x0, s_wait_kmcnt 0x0; waits after the call: 0
#   inlined: the wait stands after the arithmetic, in front of the addition
# Why it matters: stalls by function or source line give the memory latency of the caller to a helper that
#   only computes, and loads that are issued before a call to overlap with it do not. A helper that is
#   marked noinline to be seen in a profile changes what the profile shows.
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
define internal float @helper(float %x) {inlining} {{
  %square = fmul float %x, %x
  %more = fadd float %square, 1.0
  ret float %more
}}
define amdgpu_kernel void @caller(ptr addrspace(1) %in, ptr addrspace(1) %out, float %x) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr float, ptr addrspace(1) %in, i32 %lane
  %loaded = load float, ptr addrspace(1) %from
  %computed = call float @helper(float %x)
  %sum = fadd float %loaded, %computed
  %to = getelementptr float, ptr addrspace(1) %out, i32 %lane
  store float %sum, ptr addrspace(1) %to
  ret void
}}
"""
WAIT = re.compile(r"s_wait(cnt |_loadcnt)")


def functions(processor, inlining):
    """The instructions of each function."""
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=processor, opt=3)
    module = llvm.parse_assembly(PROGRAM.format(inlining=inlining))
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    if inlining == "alwaysinline":
        options = llvm.create_pipeline_tuning_options()
        llvm.create_pass_builder(machine, options).getModulePassManager().run(
            module, llvm.create_pass_builder(machine, options)
        )
    text = machine.emit_assembly(module)
    found = {}
    for name in "helper", "caller":
        if f"\n{name}:" in text:
            body = re.split(r"\n\.Lfunc_end|\n\t\.section", text.split(f"\n{name}:")[1])[0]
            lines = (line.split(";")[0].strip() for line in body.splitlines())
            found[name] = [line for line in lines if re.match(r"[a-z]+_", line)]
    return found


def place(lines, pattern):
    return next(i for i, line in enumerate(lines) if re.match(pattern, line))


for processor in "gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx1250":
    apart = functions(processor, "noinline")
    callee, caller = apart["helper"], apart["caller"]
    begin = callee[: place(callee, "v_mul_f32")]
    load, call = place(caller, "global_load"), place(caller, "s_swap")
    waits = [line for line in caller[load:] if WAIT.match(line)]
    print(f"{processor:7} callee begins {', '.join(begin)}; waits of the caller after its load: {len(waits)}")
    assert load < call and not waits, caller
    assert re.match(r"s_waitcnt vmcnt\(0\) expcnt\(0\) lgkmcnt\(0\)|s_wait_loadcnt_dscnt 0x0", begin[0]), begin
    assert not any(re.match(r"(global|buffer|flat|ds|s)_(load|read|store)", line) for line in callee), callee
    inlined = functions(processor, "alwaysinline")["caller"]
    assert place(inlined, "global_load") < place(inlined, "s_wait(cnt vmcnt|_loadcnt)"), inlined
    assert not any(line.startswith("s_swap") for line in inlined)
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
