#!/usr/bin/env bash
# Package: tilelang 0.1.15 (its reader of the compiler's remarks on registers), ziglang 0.17.1 (whose clang 22.1
#   compiles HIP's device code and makes the remarks).
# Expected: n_regs and n_spills, which TileLang reads for AMD GPUs to compare kernels, are the registers that a kernel
#   allocates and those that it spills, as in the metadata of its code object.
# Instead: n_spills is the number of spilled registers plus the words of scratch, to which these same registers are
#   spilled. An array that lies in scratch without any spill counts as spills, too. n_regs leaves out
#   accumulation registers, although MI200 and MI300 take both kinds from one file of 512.
# Seen (n_regs, n_spills | metadata: VGPRs, spilled, words of scratch | waves that fit on a SIMD, by the same remarks):
#   gfx942  a kernel that spills        128, 501 | 128, 332, 169 | 4
#   gfx942  an array in scratch          42, 260 |  42,   0, 260 | 8
#   gfx942  16 tiles of accumulators    256,   0 | 290,   0,   0 | 1
#   gfx90a  the same                    127, 489; 45, 260; 256, 0 | 127, 320, 169; 45, 0, 260; 306, 0, 0
# Why it matters: Triton's number of the same name is the words of scratch, so a kernel of TileLang seems to spill three
#   times as much as the same kernel of Triton, and a rule of "no spills" rejects kernels without any. With 256
#   registers two waves fit on a SIMD; the third kernel has 290, and one fits.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-compile tilelang==0.1.15 \
    ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
cat > "$dir/kernels.hip" <<'HIP'
typedef float v16 __attribute__((ext_vector_type(16)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
#define LANE __builtin_amdgcn_workitem_id_x()
#define KERNEL(name, size) extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(size, size))) \
    void name
KERNEL(spills, 1024)(const v16 *a, v16 *b, int n) {
    v16 s[12];
    for (int i = 0; i < 12; i++) s[i] = a[LANE + 1024 * i];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 12; i++) s[i] = s[i] * s[(i + 1) % 12] + s[(i + 5) % 12];
    for (int i = 0; i < 12; i++) b[LANE + 1024 * i] = s[i];
}
KERNEL(array, 64)(const float *a, float *b, const int *at) {
    float t[256];
    for (int i = 0; i < 256; i++) t[i] = a[LANE + 64 * i];
    b[LANE] = t[at[LANE] & 255];
}
KERNEL(tiles, 64)(const h4 *a, const h4 *b, v16 *c, int n) {
    v16 s[16] = {};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 16; i++) {
            h4 x = a[k * 256 + LANE + 64 * (i / 4)], y = b[k * 256 + LANE + 64 * (i % 4)];
            s[i] = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, s[i], 0, 0, 0);
        }
    for (int i = 0; i < 16; i++) c[LANE + 64 * i] = s[i];
}
HIP
cat > "$dir/see.py" <<'PY'
import importlib.util
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

folder = Path(sys.argv[1])
# The reader is one file of the standard library's means; the package around it needs PyTorch.
path = Path(sysconfig.get_paths()["purelib"], "tilelang/contrib/hip_resource_info.py")
spec = importlib.util.spec_from_file_location("hip_resource_info", path)
reader = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)


def compiled(target):
    """What the reader makes of the remarks, and what the metadata says, by kernel."""
    made = subprocess.run(
        [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
         f"--offload-arch={target}", "-O3", "-fno-color-diagnostics", reader.hipcc_remark_flag(), "-S", "-o", "-",
         folder / "kernels.hip"],
        check=True, capture_output=True, text=True,
    )
    reader.reset_recorder()
    reader.filter_and_record(made.stderr)
    read = {name: (usage.n_regs, usage.n_spills) for name, usage in reader.pop_recorded().items()}
    words = {}
    notes = made.stdout[made.stdout.index(".amdgpu_metadata") :]
    for part in notes.split("  - .agpr_count:")[1:]:
        def number(key):
            return int(re.search(rf"\.{key}:\s+(\d+)", part)[1])
        name = re.search(r"\.name:\s+(\w+)\n\s+\.private", part)[1]
        words[name] = number("vgpr_count"), number("vgpr_spill_count"), number("private_segment_fixed_size") // 4
    occupancy = dict(re.findall(r"Function Name: (\w+).*?Occupancy \[waves/SIMD\]: (\d+)", made.stderr, re.S))
    return read, words, occupancy


SEEN = {
    "gfx90a": {"spills": ((127, 489), (127, 320, 169), "4"), "array": ((45, 260), (45, 0, 260), "8"),
               "tiles": ((256, 0), (306, 0, 0), "1")},
    "gfx942": {"spills": ((128, 501), (128, 332, 169), "4"), "array": ((42, 260), (42, 0, 260), "8"),
               "tiles": ((256, 0), (290, 0, 0), "1")},
}
for target, kernels in SEEN.items():
    read, words, occupancy = compiled(target)
    assert set(read) == set(kernels)
    for name, expected in kernels.items():
        found = read[name], words[name], occupancy[name]
        print(target, name, *found)
        assert found == expected, expected
        assert read[name][1] == words[name][1] + words[name][2]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
