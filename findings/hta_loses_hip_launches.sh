#!/usr/bin/env bash
# Package: HolisticTraceAnalysis 0.5.0 (reads traces of PyTorch's profiler), without Jupyter; pandas 3.1.1,
#   plotly 7.1.0, networkx 3.6.1, PyYAML 6.0.4, psutil 7.2.2.
# Expected: two traces of the same times, one with the names and stream numbers of CUDA and one with those
#   of HIP, give the same statistics. The package knows hipLaunchKernel, and counts kernels of HIP.
# Instead: it depends on the question and on the way of launching. Statistics of launches know two names of
#   CUDA, and are empty for each of HIP. Queue lengths know hipLaunchKernel and hipExtModuleLaunchKernel,
#   but not hipModuleLaunchKernel or hipDrvLaunchKernelEx, by which Triton launches, where they know its
#   counterpart cuLaunchKernel. And kernels on stream 0, the default stream in traces of HIP (that of CUDA
#   is 7), belong to no iteration.
# Seen (8 kernels in 2 iterations: launches with statistics, depths of the queue, kernels of iteration 0):
#   cudaLaunchKernel         stream 7: 8 launches, 16 depths, 4 kernels
#   cuLaunchKernel           stream 7: 0 launches, 16 depths, 4 kernels
#   hipLaunchKernel          stream 3: 0 launches, 16 depths, 4 kernels
#   hipLaunchKernel          stream 0: 0 launches, 16 depths, 0 kernels
#   hipExtModuleLaunchKernel stream 3: 0 launches, 16 depths, 4 kernels
#   hipModuleLaunchKernel    stream 3: 0 launches,  0 depths, 4 kernels
#   hipDrvLaunchKernelEx     stream 3: 0 launches,  0 depths, 4 kernels
# Why it matters: nothing is reported as missing. The queue of a model that is half compiled by Triton seems
#   half as long, "no launch has a large delay" stands for "no launch was read", and an iteration of MI300
#   has no kernels unless they run on a side stream.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check pandas==3.1.1 plotly==7.1.0 networkx==3.6.1 \
    PyYAML==6.0.4 psutil==7.2.2
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps HolisticTraceAnalysis==0.5.0
cat > "$dir/see.py" <<'PY'
import json
import logging
import sys
from pathlib import Path

from hta.common.trace_filter import IterationFilter
from hta.trace_analysis import TraceAnalysis

logging.disable(logging.CRITICAL)
here = Path(sys.argv[1])


def event(category, name, thread, start, duration, **facts):
    place = {"pid": 0 if category == "kernel" else 1, "tid": thread}
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": duration, "args": facts, **place}


def trace(launch, stream):
    """Three steps of four operators, each with a launch and its kernel. The package omits the last step."""
    events = []
    for step in range(3):
        events.append(event("user_annotation", f"ProfilerStep#{step}", 1, 1000 + 400 * step, 400))
        for call in range(4):
            number, start = 100 + 4 * step + call, 1000 + 400 * step + 100 * call
            events.append(event("cpu_op", "aten::add", 1, start, 30))
            events.append(event("cuda_runtime", launch, 1, start + 5, 10, correlation=number))
            facts = {"device": 0, "stream": stream, "correlation": number}
            events.append(event("kernel", "add_kernel", stream, start + 40, 20, **facts))
    return {"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": events}


def read(launch, stream):
    """Launches with statistics, depths of the queue, and kernels of iteration 0."""
    path = here / f"{launch}_{stream}.json"
    path.write_text(json.dumps(trace(launch, stream)))
    analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(here))
    launches = analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)
    depths = analysis.get_queue_length_time_series(ranks=[0])
    events = analysis.t.get_trace(0)
    first = IterationFilter(0)(events)
    kernels = int((events["stream"] >= 0).sum())
    assert kernels == 8, kernels
    return len(launches.get(0, ())), len(depths.get(0, ())), int((first["stream"] >= 0).sum())


EXPECTED = {
    ("cudaLaunchKernel", 7): (8, 16, 4),
    ("cuLaunchKernel", 7): (0, 16, 4),
    ("hipLaunchKernel", 3): (0, 16, 4),
    ("hipLaunchKernel", 0): (0, 16, 0),
    ("hipExtModuleLaunchKernel", 3): (0, 16, 4),
    ("hipModuleLaunchKernel", 3): (0, 0, 4),
    ("hipDrvLaunchKernelEx", 3): (0, 0, 4),
}
for (launch, stream), expected in EXPECTED.items():
    seen = read(launch, stream)
    print(f"{launch:24} stream {stream}: {seen[0]} launches, {seen[1]:2} depths, {seen[2]} kernels")
    assert seen == expected, expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
