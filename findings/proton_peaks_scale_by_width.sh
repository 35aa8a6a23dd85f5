#!/usr/bin/env bash
# Packages: triton 3.9.0 with its profiler Proton, and llnl-hatchet 2026.2.0, which its viewer needs;
#   xprof 2.24.2 as a second opinion.
# Expected: a kernel that does what AMD's data sheet calls the peak has a "util" of 1 in proton-viewer.
# Instead: for AMD the viewer knows one rate for each architecture, that of FP8, and takes a half, a
#   quarter and an eighth of it for 16, 32 and 64 bits. AMD's rates do not follow the width. MI200 has no
#   FP8, INT8 stands in for it, and that is as fast as FP16 there. FP32 and FP64 matrix rates of MI300 and
#   MI350 are far below a quarter and an eighth.
# Seen (util of a GEMM at the peak of the data sheet; FLOPs a cycle and compute unit in AMD's data sheets):
#   gfx90a  16 bits 2.000 (1024)   32 bits 1.000 (256)   64 bits 2.000 (256)
#   gfx942  16 bits 1.000 (2048)   32 bits 0.250 (256)   64 bits 0.500 (256)
#   gfx950  16 bits 1.000 (4096)   32 bits 0.125 (256)   64 bits 0.125 (128)
#   peak of 16 bits, 104 compute units of MI250 at 1.7 GHz: Proton 90.5 TFLOPS, XProf 181.0
# Why it matters: an FP32 GEMM at the peak of MI355X reads 0.125, which sends people to tune it, and an FP16
#   one that reads 1 on MI250 uses half of what there is. Of two kernels at the peak of FP64, that on MI355X
#   seems four times worse than that on MI300X. The rates in TFLOPS of the same viewer are right.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check triton==3.9.0 llnl-hatchet==2026.2.0
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps xprof==2.24.2
cat > "$dir/see.py" <<'PY'
import json
import sys
from pathlib import Path

from triton.profiler import specs, viewer
from xprof.convert import _pywrap_profiler_plugin as xprof

here = Path(sys.argv[1])
GPUS = {"gfx90a": (110, 1_700_000), "gfx942": (304, 2_100_000), "gfx950": (256, 2_400_000)}  # CUs, kHz
SHEET = {
    "gfx90a": {16: 1024, 32: 256, 64: 256},  # MI250X, one of its two dies: 191.5, 47.9 and 47.9 TFLOPS
    "gfx942": {16: 2048, 32: 256, 64: 256},  # MI300X: 1307.4, 163.4 and 163.4 TFLOPS
    "gfx950": {16: 4096, 32: 256, 64: 128},  # MI355X: 2516.6, 157.3 and 78.6 TFLOPS
}


def util(arch, width):
    """What the viewer calls the use of the GPU by a GEMM of 1 ms at the peak of the data sheet."""
    units, clock = GPUS[arch]
    flops = SHEET[arch][width] * units * clock  # clock in kHz: FLOPs of a millisecond
    metrics = {"time (ns)": 1_000_000, "count": 1, f"flops{width}": flops, "bytes": 0}
    metrics |= {"device_id": "0", "device_type": "HIP"}
    gemm = {"frame": {"name": "gemm", "type": "function"}, "metrics": metrics, "children": []}
    root = {"frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0}, "children": [gemm]}
    device = {"arch": arch, "num_sms": units, "clock_rate": clock, "memory_clock_rate": 0, "bus_width": 0}
    path = here / "profile.hatchet"
    path.write_text(json.dumps([root, {"HIP": {"0": device}}]))
    frame, _ = viewer.parse(["util"], str(path))
    return float(frame.dataframe.loc[frame.dataframe["name"] == "gemm", "util"].iloc[0])


def number(value):
    """A number as protobuf writes it: seven bits a byte."""
    low, rest = value & 127, value >> 7
    return bytes([low | 128]) + number(rest) if rest else bytes([low])


def field(tag, value):
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    data = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(data)) + data


def second_opinion(name, units, clock):
    """The peak in TFLOPS that XProf gives the GPU, from a trace with the properties of the device."""
    facts = {"clock_rate": clock, "core_count": units, "memory_bandwidth": 1 << 40, "memory_size": 1 << 36}
    facts |= {"compute_cap_major": 9, "compute_cap_minor": 0, "device_vendor": "AMD", "gpu_device_name": name}
    plane = field(1, 1) + field(2, "/device:GPU:0")
    for key, (fact, value) in enumerate(facts.items(), 1):
        plane += field(5, field(1, key) + field(2, field(1, key) + field(2, fact)))
        plane += field(6, field(1, key) + field(3 if isinstance(value, int) else 5, value))
    path = here / "host.xplane.pb"
    path.write_bytes(field(1, plane))
    tables = json.loads(xprof.xspace_to_tools_data([str(path)], "roofline_model", {})[0])
    return float(tables[0]["p"]["peak_flop_rate"]) / 1000


seen = {(arch, width): util(arch, width) for arch in GPUS for width in SHEET[arch]}
for arch in GPUS:
    parts = (f"{width} bits {seen[arch, width]:.3f} ({rate})" for width, rate in SHEET[arch].items())
    print(f"{arch:7}", "   ".join(parts))
proton = specs.max_flops("HIP", "gfx90a", 16, 104, 1_700_000) / 1e12
other = second_opinion("gfx90a", 104, 1_700_000)
print(f"peak of 16 bits, 104 compute units of MI250 at 1.7 GHz: Proton {proton:.1f} TFLOPS, XProf {other:.1f}")
expected = {"gfx90a": (2, 1, 2), "gfx942": (1, 0.25, 0.5), "gfx950": (1, 0.125, 0.125)}
for arch, values in expected.items():
    for width, value in zip(SHEET[arch], values, strict=True):
        assert abs(seen[arch, width] - value) < 1e-6, (arch, width, seen[arch, width])
assert abs(proton - 90.5) < 0.1 and abs(other - 181) < 0.1
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir" 2> "$dir/messages" || { cat "$dir/messages"; exit 1; }
