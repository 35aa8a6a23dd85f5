#!/usr/bin/env bash
# Packages: Debian 12's llvm-19 and libllvm19 19.1.7-3~deb12u1 (llvm-mca, which estimates the cycles of assembly, and
#   opt, which prints the cost model of LLVM's optimisations), libz3-4 4.8.12-3.1. Needs Debian 12 with apt.
# Expected: llvm-mca knows the slow instructions of the GPUs that it accepts. Exponentials and reciprocals issue at a
#   quarter of the rate of additions, so do 32-bit multiplications of integers, and FP64 of Radeon cards is at 1/16
#   or below. A cycle is a cycle of the GPU.
# Instead: only matrix instructions take a unit for more than a cycle. 64 exponentials cost what 64 additions cost, but
#   for the latency of the last; and so do multiplications of integers, and FP64 on RDNA. The other cost model of the
#   same LLVM has 4 for the integer multiplication and for FP64 on RDNA, where an addition has 1. A cycle is four
#   clocks for CDNA and one for RDNA, which is said nowhere: the same load takes 80 and 320. LDS answers in 5
#   of these, 20 clocks, on MI300, and a read of 16 bytes a lane costs what one of 4 bytes costs.
# Seen (cycles of 64 independent instructions: addition, exponential, reciprocal, integer multiplication, FP64 FMA,
#   LDS reads of 4 and of 16 bytes | latency of a load | opt's cost of the integer multiplication and of FP64 addition):
#   gfx942   65, 68, 68, 65,  65, 69, 69 |  80 | 4, 1
#   gfx1030  69, 74, 74, 72,  86, 84, 84 | 320 | 4, 4
#   gfx1100  69, 74, 74, 72, 102, 84, 84 | 320 | 4, 4
#   64 v_mfma_f32_32x32x8_f16 on gfx942: 513, that is 8 a piece and 32 clocks
# Why it matters: by these numbers a softmax is bound by anything but its exponentials, and an index computed by a
#   multiplication is free. Where a trace of the same block has v_exp_f32 at 16 clocks, the estimate has 4, and the
#   difference looks like a stall.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/debs"
apt="apt-get -qq -o APT::Sandbox::User=root -o Dir::State::Lists=$dir/lists -o Dir::Cache=$dir/cache"
$apt update
version=1:19.1.7-3~deb12u1
(cd "$dir/debs" && $apt download "llvm-19=$version" "libllvm19=$version" libz3-4=4.8.12-3.1 \
    libbsd0 libedit2 libicu72 libmd0 libxml2)
for package in "$dir"/debs/*.deb; do
    dpkg -x "$package" "$dir/root"
done
cat > "$dir/see.py" <<'PY'
import os
import re
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1]) / "root/usr/lib"
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": str(root / "x86_64-linux-gnu")}
COSTS = """
define void @costs(i32 %i, double %d) {
  %product = mul i32 %i, %i
  %added = add i32 %i, %product
  %wide = fadd double %d, %d
  ret void
}
"""


def run(tool, text, *options):
    command = [root / "llvm-19/bin" / tool, *options]
    done = subprocess.run(command, input=text, check=True, capture_output=True, text=True, env=ENVIRONMENT)
    return done.stdout + done.stderr


def estimate(target, text):
    return run("llvm-mca", text, "-mtriple=amdgcn", f"-mcpu={target}", "-iterations=64")


def cycles(target, text):
    return int(re.search(r"Total Cycles: +(\d+)", estimate(target, text))[1])


def latency(target, text):
    return int(re.search(r"^ 1 +(\d+) .*global_load", estimate(target, text), re.M)[1])


def cost(target, name):
    text = run("opt", COSTS, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={target}", "-passes=print<cost-model>",
               "-cost-kind=throughput", "-disable-output")
    return int(re.search(rf"cost of (\d+) for instruction: +%{name} =", text)[1])


KINDS = (
    "v_add_f32 v1, v2, v3",
    "v_exp_f32 v1, v2",
    "v_rcp_f32 v1, v2",
    "v_mul_lo_u32 v1, v2, v3",
    "v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]",
    "ds_read_b32 v1, v2",
    "ds_read_b128 v[4:7], v2",
)
SEEN = {
    "gfx942": ((65, 68, 68, 65, 65, 69, 69), 80, (4, 1)),
    "gfx1030": ((69, 74, 74, 72, 86, 84, 84), 320, (4, 4)),
    "gfx1100": ((69, 74, 74, 72, 102, 84, 84), 320, (4, 4)),
}
for target, expected in SEEN.items():
    each = tuple(cycles(target, kind) for kind in KINDS)
    load = latency(target, "global_load_dword v1, v[2:3], off")
    costs = cost(target, "product"), cost(target, "wide")
    print(f"{target:8} {each} | {load} | {costs}")
    assert (each, load, costs) == expected, expected
    assert cost(target, "added") == 1
matrix = cycles("gfx942", "v_mfma_f32_32x32x8_f16 v[0:15], v[32:33], v[34:35], 0")
print(f"64 matrix instructions: {matrix}")
assert matrix == 513
print("as described")
PY
python3 "$dir/see.py" "$dir"
