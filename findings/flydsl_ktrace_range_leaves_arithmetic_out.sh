#!/usr/bin/env bash
# Package: flydsl 0.5.0 (its compiler passes, which need no GPU), triton 3.9.0 (for the device library
#   ockl.bc that the traced kernel links).
# Expected: ktrace.range("multiply") around three matrix instructions takes a time stamp before the first
#   and after the last, so that the range is the time they took.
# Instead: the stamps are ordered against memory operations only. Arithmetic depends on neither, and the
#   compiler moves all of it out of the range: both stamps stand in front of the first instruction, and
#   the range measures the trace's own stores. It is so at gfx942 and gfx950, the two targets of ktrace.
#   A range around the loads holds them, but not their wait, which comes where the data is used.
# Seen (gfx942; what stands between the wait of the setup and the last store):
#   load, stamp, wait lgkmcnt(0), trace stores, stamp, wait lgkmcnt(0), trace stores, wait vmcnt(0),
#   mfma, mfma, mfma, store
# Why it matters: a phase of the timeline named after its matrix instructions shows about 0 and the next
#   one their time; and each stamp waits for all LDS reads and scalar loads in flight, which the kernel
#   without a trace does not. A thread trace of the same kernel has the instructions themselves.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps flydsl==0.5.0 triton==3.9.0
mkdir -p "$dir/rocm/amdgcn/bitcode"
cp "$dir"/venv/lib/python3*/site-packages/triton/backends/amd/lib/oc*.bc "$dir/rocm/amdgcn/bitcode/"
cat > "$dir/see.py" <<'PY'
import re
import sys

from flydsl._mlir import ir
from flydsl._mlir.passmanager import PassManager

PUSH = '"fly_ktrace.range_push"() {event_name = "multiply", payload_type = "uint64"} : () -> ()'
POP = '"fly_ktrace.range_pop"() {payload_type = "uint64"} : () -> ()'
MFMA = (
    '%{to} = llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x16f16"(%a, %b, %{of}, %n, %n, %n)'
    " : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>"
)
TEXT = """
module attributes {{gpu.container_module, fly_ktrace.capacity_slots = 16777215 : i32,
    fly_ktrace.partitions = 256 : i32, fly_ktrace.chip = "{chip}"}} {{
  gpu.module @device [#rocdl.target<chip = "{chip}">] {{
    gpu.func @multiply(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %trace: !fly.ptr<i8, global>) kernel {{
      %thread = gpu.thread_id x
      %i = arith.index_cast %thread : index to i32
      %n = llvm.mlir.constant(0 : i32) : i32
      %zero = llvm.mlir.constant(dense<0.0> : vector<4xf32>) : vector<4xf32>
      %from = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
      %to = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
      %loaded = llvm.load %from : !llvm.ptr<1> -> vector<4xf32>
      %halves = llvm.bitcast %loaded : vector<4xf32> to vector<8xf16>
      %a = llvm.shufflevector %halves, %halves [0, 1, 2, 3] : vector<8xf16>
      %b = llvm.shufflevector %halves, %halves [4, 5, 6, 7] : vector<8xf16>
      {body}
      llvm.store %c3, %to : vector<4xf32>, !llvm.ptr<1>
      gpu.return
    }}
  }}
}}
"""
KINDS = {
    "s_memrealtime": "stamp",
    "v_mfma": "mfma",
    "s_buffer_store": "trace store",
    "global_load": "load",
    "global_store": "store",
    "s_waitcnt": "wait",
}


def order(chip, toolkit):
    chain = [MFMA.format(to=f"c{k + 1}", of=f"c{k}" if k else "zero") for k in range(3)]
    text = TEXT.format(chip=chip, body="\n".join([PUSH, *chain, POP]))
    stages = [
        "convert-fly-ktrace-to-rocdl",
        "convert-fly-to-rocdl",
        "canonicalize",
        f"gpu.module(convert-scf-to-cf,cse,convert-gpu-to-rocdl{{chipset={chip} index-bitwidth=0 runtime=HIP"
        " use-bare-ptr-memref-call-conv=true})",
        f"rocdl-attach-target{{O=2 abi=600 chip={chip} triple=amdgcn-amd-amdhsa wave64=true}}",
        "convert-cf-to-llvm",
        "convert-arith-to-llvm",
        "reconcile-unrealized-casts",
        f'gpu-module-to-binary{{format=isa toolkit="{toolkit}"}}',
    ]
    with ir.Context():
        module = ir.Module.parse(text)
        PassManager.parse(f"builtin.module({','.join(stages)})").run(module.operation)
        isa = str(module).replace("\\0A", "\n").replace("\\09", " ")
    isa = isa[isa.index("\nmultiply:") : isa.index("s_endpgm")]
    found = re.findall(rf"^ *({'|'.join(KINDS)})", isa, re.M)
    return [KINDS[word] for word in found]


for chip in ("gfx942", "gfx950"):
    kinds = order(chip, sys.argv[1])
    kinds = kinds[kinds.index("load") :]
    print(f"{chip}: {', '.join(kinds)}")
    first, second = (k for k, kind in enumerate(kinds) if kind == "stamp")
    assert kinds.count("mfma") == 3
    assert "mfma" not in kinds[first:second], "the range holds a matrix instruction"
    assert kinds.index("mfma") > second
    assert kinds[first + 1] == kinds[second + 1] == "wait"
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir/rocm"
