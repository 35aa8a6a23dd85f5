#!/usr/bin/env bash
# Package: llvmlite 0.50.0 (its LLVM 22.1 compiles for AMD GPUs).
# Expected: llvm.readcyclecounter, which __builtin_readcyclecounter and the device library's cycle counter
#   are, gives 64 bits of a counter that only grows. So the difference of two readings is the time.
# Instead: RDNA3 and 3.5 have no s_memtime; the counter is a hardware register of 20 bits there. The upper
#   half of the result is the constant 0. It begins anew every 1,048,576 cycles, that is 0.4 ms at 2.5 GHz,
#   and a difference across it is near 2^64. The GPUs before and after have 64 bits: s_memtime, two halves
#   of a register on gfx12, s_get_shader_cycles_u64 on gfx1250.
# Seen (where the counter comes from):
#   gfx90a, gfx942, gfx950, gfx1010, gfx1030: s_memtime
#   gfx1100, gfx1103, gfx1150, gfx1151:       s_getreg_b32 hwreg(HW_REG_SHADER_CYCLES, 0, 20), upper half 0
#   gfx1200, gfx1201:                         s_getreg_b32 of SHADER_CYCLES_HI, _LO and _HI again
#   gfx1250:                                  s_get_shader_cycles_u64
#   llvm.readsteadycounter:                   64 bits on all of them
# Why it matters: a kernel that takes the time of its own phases is right on MI300, RX 6000 and RX 9000. On
#   RX 7000 it gives a small, plausible number for what takes longer than a millisecond. Mask the
#   difference to 20 bits and time only what is shorter, or take the steady counter of 100 MHz.
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
declare i64 @llvm.{counter}()
define amdgpu_kernel void @stamp(ptr addrspace(1) %out) {{
  %now = call i64 @llvm.{counter}()
  store i64 %now, ptr addrspace(1) %out
  ret void
}}
"""


def instructions(processor, counter):
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=processor, opt=3)
    module = llvm.parse_assembly(PROGRAM.format(counter=counter))
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    text = machine.emit_assembly(module).split("\nstamp:")[1].split("s_endpgm")[0]
    return [line.split(";")[0].strip() for line in text.splitlines()]


def sources(lines):
    names = r"s_(memtime|memrealtime|getreg|get_shader_cycles|sendmsg_rtn_b64)"
    return [line for line in lines if re.match(names, line)]


SIXTY_FOUR = {"gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1250"}
TWENTY = {"gfx1100", "gfx1103", "gfx1150", "gfx1151"}
for processor in sorted(SIXTY_FOUR) + sorted(TWENTY) + ["gfx1200", "gfx1201"]:
    lines = instructions(processor, "readcyclecounter")
    read = sources(lines)
    steady = sources(instructions(processor, "readsteadycounter"))
    print(f"{processor:7} cycles: {', '.join(read)}; steady: {', '.join(steady)}")
    assert len(steady) == 1 and re.match(r"s_memrealtime s\[|s_sendmsg_rtn_b64 s\[", steady[0])
    if processor in TWENTY:
        assert len(read) == 1 and read[0].endswith("hwreg(HW_REG_SHADER_CYCLES, 0, 20)"), read
        stored = re.search(r"global_store_b64 \w+, v\[(\d+):(\d+)\]", "\n".join(lines))
        assert re.search(rf"v_(?:dual_)?mov_b32(?:_e32)? v{stored[2]}, 0\b", "\n".join(lines)), lines
    elif processor in SIXTY_FOUR:
        assert len(read) == 1 and re.match(r"s_memtime s\[|s_get_shader_cycles_u64 s\[", read[0]), read
    else:
        assert [re.search(r"CYCLES_(HI|LO)", line)[1] for line in read] == ["HI", "LO", "HI"], read
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
