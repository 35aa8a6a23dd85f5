#!/usr/bin/env bash
# Package: torch-tb-profiler 0.4.3 (PyTorch's plugin for TensorBoard), without TensorBoard; pandas 3.1.1.
# Expected: two traces of PyTorch's profiler with equal times, one of an FP16 GEMM on A100 and one of an FP16 GEMM on
#   MI300X, give equal results. The plugin leaves out what it does not know about AMD's GPUs.
# Instead: the plugin recognises kernels that use matrix units by NVIDIA's kernel names, so kernels of hipBLASLt and
#   Triton on MI300X never count: 0 %. It takes gfx942 for compute capability 9.4, which has tensor cores, and
#   advises mixed precision "to speedup by using FP16". The trace has no occupancy; the plugin shows 0 for
#   every kernel. With the category that current PyTorch writes for launches, "cuda_runtime" also for HIP,
#   launches of neither vendor are found: no operator has a kernel, its device time is 0, and the advice is gone.
# Seen (12 GEMMs of 100 us; share in matrix units | occupancy | device time of aten::mm, us | operator of the kernels):
#   "Runtime"       A100    100 % | 50 | 1200 | aten::mm
#   "Runtime"       MI300X    0 % |  0 | 1200 | aten::mm, and the advice to use FP16
#   "cuda_runtime"  A100    100 % | 50 |    0 | CallTreeRoot
#   "cuda_runtime"  MI300X    0 % |  0 |    0 | CallTreeRoot
# Why it matters: nothing is marked as unknown. A model whose kernels are all MFMA seems to use no matrix unit and to have
#   no occupancy, and a table of operators sorted by device time has no order. "MI16x16x1" in the name of the
#   kernel is the matrix instruction.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check pandas==3.1.1
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps torch-tb-profiler==0.4.3
cat > "$dir/see.py" <<'PY'
import logging

from torch_tb_profiler.profiler.data import RunProfileData

logging.disable(logging.CRITICAL)
KIND = {"totalGlobalMem": 80 << 30, "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
        "sharedMemPerBlock": 65536}
A100 = {"id": 0, "name": "NVIDIA A100", "computeMajor": 8, "computeMinor": 0, "numSms": 108, "warpSize": 32, **KIND}
MI300X = {"id": 0, "name": "AMD Instinct MI300X", "computeMajor": 9, "computeMinor": 4, "numSms": 304, "warpSize": 64,
          **KIND}
AMPERE = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_nn"
TENSILE = "Cijk_Ailk_Bljk_HHS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1"
MEASURED = {"est. achieved occupancy %": 50, "blocks per SM": 2.8, "warps per SM": 22, "registers per thread": 128}


def event(category, name, thread, start, duration, **facts):
    place = {"pid": 1 if thread == 1 else 0, "tid": thread}
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": duration, "args": facts, **place}


def trace(device, category, launch, kernel, measured):
    """Three steps of four operators, each with a launch and a kernel of 100 us."""
    events = []
    for step in range(3):
        begin = 1000 + 1000 * step
        events.append(event("user_annotation", f"ProfilerStep#{step}", 1, begin, 1000))
        for call in range(4):
            start, number = begin + 200 * call, 100 + 4 * step + call
            ids = {"correlation": number, "External id": number}
            events.append(event("cpu_op", "aten::mm", 1, start, 50, **{"External id": number}))
            events.append(event(category, launch, 1, start + 5, 10, **ids))
            facts = {"device": 0, "stream": 7, "grid": [304, 1, 1], "block": [256, 1, 1], **ids, **measured}
            events.append(event("kernel", kernel, 7, start + 60, 100, **facts))
    return {"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}


def read(*case):
    """Share of matrix units in percent, occupancy, device time of the operator, operator of the kernels, advice."""
    run = RunProfileData.from_json("worker", None, trace(*case))
    ((occupancy, count),) = run.kernel_stat[["occupancy", "count"]].values.tolist()
    (operator,) = [one for one in run.op_list_groupby_name if one.name == "aten::mm"]
    (kernel,) = run.kernel_list_groupby_name_op
    assert count == 12
    advice = any("by using FP16" in text for text in run.recommendations)
    return 100 * run.tc_used_ratio, occupancy, operator.device_duration, kernel.op_name, advice


SEEN = {
    ("Runtime", "A100"): (100, 50, 1200, "aten::mm", False),
    ("Runtime", "MI300X"): (0, 0, 1200, "aten::mm", True),
    ("cuda_runtime", "A100"): (100, 50, 0, "CallTreeRoot", False),
    ("cuda_runtime", "MI300X"): (0, 0, 0, "CallTreeRoot", False),
}
CASES = {
    "A100": (A100, "cudaLaunchKernel", AMPERE, MEASURED),
    "MI300X": (MI300X, "hipExtModuleLaunchKernel", TENSILE, {}),
}
for (category, name), expected in SEEN.items():
    device, launch, kernel, measured = CASES[name]
    found = read(device, category, launch, kernel, measured)
    print(f"{category:12} {name:6} {found[0]:.0f} % | {found[1]:.0f} | {found[2]} | {found[3]}, advice {found[4]}")
    assert found == expected, expected
triton = read(MI300X, "Runtime", "hipModuleLaunchKernel", "matmul_kernel", {})
assert triton[0] == 0 and triton[4]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
