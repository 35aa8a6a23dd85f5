#!/usr/bin/env bash
# Package: llvmlite 0.50.0 (its LLVM 22.1 compiles for AMD GPUs).
# Expected: clearing an array takes as many stores as copying one of its size, and 16 bytes go at once where
#   the alignment is 16. Four bytes more are a store more.
# Instead: up to 1024 bytes memset is a row of 16-byte stores. From 1025 on, and for each length that is not
#   a constant, it is a loop that stores one byte each time round, with the address computed anew by other
#   instructions. Alignment, value and the optimizer's passes do not change it; nor does it matter whether
#   the bytes lie in memory, LDS or scratch, nor for which generation. memcpy of the same size is a loop
#   as well, but of 16 bytes a load and a store, 16 of each a round where the length is a constant. A loop
#   of the source that stores 16 bytes of zero at once stays what it is.
# Seen (all five targets; stores that a lane executes to clear, and to copy):
#   1024 bytes:   64 (16 bytes each)   64 (in scratch of gfx90a 256 each, of 4 bytes)
#   1028 bytes: 1028 ( 1 byte  each)   65 (in scratch of gfx90a 257)
#   gfx942, memory: the loop has 6 instructions, 6168 for 1028 bytes
# Why it matters: "float block[257] = {}" is such a memset. A trace shows a hot loop of byte stores and
#   additions on the line of a declaration, sixteen times the store instructions that its size suggests. The
#   code got shorter by it: the listing of 257 elements is smaller than that of 256. Clear with a loop over
#   vectors, or in pieces of at most 1024 bytes.
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
declare void @llvm.memset.p{space}.i64(ptr addrspace({space}), i8, i64, i1)
declare void @llvm.memcpy.p{space}.p{space}.i64(ptr addrspace({space}), ptr addrspace({space}), i64, i1)
define void @function(ptr addrspace({space}) noalias %to, ptr addrspace({space}) noalias %from, i64 %n, i8 %value) {{
{body}
  ret void
}}
"""
CLEAR = (
    "  call void @llvm.memset.p{space}.i64(ptr addrspace({space}) align {align} %to,"
    " i8 {value}, i64 {size}, i1 false)"
)
COPY = (
    "  call void @llvm.memcpy.p{space}.p{space}.i64(ptr addrspace({space}) align {align} %to,"
    " ptr addrspace({space}) align {align} %from, i64 {size}, i1 false)"
)
BY_HAND = """
  br label %round
round:
  %i = phi i64 [ 0, %0 ], [ %next, %round ]
  %at = getelementptr inbounds <4 x i32>, ptr addrspace({space}) %to, i64 %i
  store <4 x i32> zeroinitializer, ptr addrspace({space}) %at, align 16
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 300
  br i1 %more, label %round, label %done
done:
"""
WIDTH = {"byte": 1, "b8": 1, "dword": 4, "b32": 4, "dwordx4": 16, "b128": 16, "b64": 16}  # b64: ds_write2_b64
STORE = re.compile(r"(?:global|flat|buffer|scratch|ds)_(?:store|write2?)_(\w+)")


def stores(processor, space, body, size, align=16, value=0, optimize=False):
    """Widths in bytes of the stores, in front of, in and behind loops, and the instructions of each loop."""
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=processor, opt=3)
    body = body.format(space=space, size=size, align=align, value=value)
    module = llvm.parse_assembly(PROGRAM.format(space=space, body=body))
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    if optimize:
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        builder.getModulePassManager().run(module, builder)
    text = machine.emit_assembly(module).split("\nfunction:")[1].split(".Lfunc_end")[0]
    lines = [" ".join(line.split(";")[0].split()) for line in text.splitlines()]
    loops = []
    for end, line in enumerate(lines):
        target = line.split()[1] + ":" if line.startswith("s_cbranch") else None
        if target in lines[:end]:
            loops.append([each for each in lines[lines.index(target) : end + 1] if re.match(r"[a-z]+_", each)])
    widths = [[WIDTH[found[1]] for each in part if (found := STORE.match(each))] for part in (lines, *loops)]
    return widths[0], widths[1:], loops


for processor in "gfx90a", "gfx942", "gfx1100", "gfx1201", "gfx1250":
    for space, name in (1, "memory"), (3, "LDS"), (5, "scratch"):
        wide = 4 if (processor, name) == ("gfx90a", "scratch") else 16
        below, no_loop, _ = stores(processor, space, CLEAR, 1024)
        assert below == [wide] * (1024 // wide) and not no_loop, below
        copied, in_loop, _ = stores(processor, space, COPY, 1024)
        assert copied == below and not in_loop, copied
        for variant in (
            {}, {"align": 1}, {"value": 255}, {"value": "%value"}, {"optimize": True}, {"size": 1025}, {"size": "%n"},
        ):
            above, in_loop, loops = stores(processor, space, CLEAR, **{"size": 1028, **variant})
            assert above == [1] and in_loop == [[1]], (variant, above, in_loop)
        _, _, loops = stores(processor, space, CLEAR, 1028)
        copied, in_loop, _ = stores(processor, space, COPY, 1028)
        assert in_loop == [[wide] * (256 // wide)] and copied == in_loop[0] + [4], (copied, in_loop)
        _, in_loop, _ = stores(processor, space, COPY, "%n")
        assert in_loop[0] == [wide] * (16 // wide) and in_loop[1:] == [[1]], in_loop
        for optimize in False, True:
            by_hand, in_loop, _ = stores(processor, space, BY_HAND, 4800, optimize=optimize)
            assert set(by_hand) == {wide} and in_loop, by_hand
        print(f"{processor:7} {name:7}: {1024 // wide} stores for 1024 bytes, 1028 for 1028:", len(loops[0]), "a round")
        if (processor, name) == ("gfx942", "memory"):
            assert len(loops[0]) == 6, loops
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
