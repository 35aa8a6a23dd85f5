#!/usr/bin/env bash
# Package: wafer-core 0.1.62 (static analysis of AMD kernels for coding agents), without most of what it
#   depends on; httpx 0.28.1.
# Expected: waves_per_cu is the number of waves that a compute unit holds, and limiting_factor the resource
#   that allows the fewest. A compute unit of MI300 has four SIMDs, each with 8 slots for waves and 512
#   VGPRs a lane, and 64 KB of LDS; MI350 has 160 KB.
# Instead: registers and slots are those of one SIMD (with 10 slots), LDS is that of the compute unit, and
#   the smallest of these numbers is the result. It is never above 10. Where registers limit, it is a
#   quarter of the truth. Where LDS limits, registers are mostly blamed, as they stand there with a quarter
#   of their waves. And LDS of MI350 ends at 64 KB: a kernel that takes more has no wave at all.
# Seen (workgroups of 256; the package | by hand):
#   gfx942 128 VGPRs,  4 KB LDS:  4 vgpr | 16 vgpr
#   gfx942  96 VGPRs, 16 KB LDS:  5 vgpr | 16 lds
#   gfx942  64 VGPRs, 32 KB LDS:  8 vgpr |  8 lds
#   gfx942  24 VGPRs,  0 KB LDS: 10 max  | 32 max
#   gfx950 128 VGPRs, 80 KB LDS:  0 lds  |  8 lds
# Why it matters: an agent that is told "5 waves, vgpr" saves registers of a kernel that LDS limits, gets a
#   better number, and no wave more. "0 waves" rejects what uses the LDS of MI350, and the package's
#   warning of fewer than 4 waves on a compute unit comes at 136 VGPRs, where there are 12.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check httpx==0.28.1
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps wafer-core==0.1.62
cat > "$dir/see.py" <<'PY'
from wafer_core.lib.kernel_scope.metrics.occupancy import compute_occupancy

WORKGROUP, SIMDS, SLOTS, REGISTERS = 256, 4, 8, 512
LDS = {"gfx942": 64 << 10, "gfx950": 160 << 10}


def by_hand(target, vgprs, lds):
    """Waves of a compute unit by each resource, and the least of them: registers go by 8."""
    allocated = -(-vgprs // 8) * 8
    slots = SIMDS * SLOTS
    limits = {"max": slots, "vgpr": SIMDS * min(REGISTERS // allocated, SLOTS)}
    limits["lds"] = LDS[target] // lds * (WORKGROUP // 64) if lds else slots
    name = min(limits, key=limits.get)  # "max" where none limits
    return limits[name], name


KERNELS = {
    ("gfx942", 128, 4 << 10): ((4, "vgpr"), (16, "vgpr")),
    ("gfx942", 96, 16 << 10): ((5, "vgpr"), (16, "lds")),
    ("gfx942", 64, 32 << 10): ((8, "vgpr"), (8, "lds")),
    ("gfx942", 24, 0): ((10, "max"), (32, "max")),
    ("gfx950", 128, 80 << 10): ((0, "lds"), (8, "lds")),
}
for (target, vgprs, lds), (package, truth) in KERNELS.items():
    found = compute_occupancy(vgprs, 32, lds, target, WORKGROUP)
    seen, hand = (found.waves_per_cu, found.limiting_factor), by_hand(target, vgprs, lds)
    print(f"{target} {vgprs:3} VGPRs, {lds >> 10:2} KB LDS: {seen[0]:2} {seen[1]:4} | {hand[0]:2} {hand[1]}")
    assert seen == package and hand == truth, (seen, hand)
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
