#!/usr/bin/env bash
# Package: ziglang 0.17.1 (its clang 22.1 compiles HIP's device code for AMD GPUs).
# Expected: The more alignment the compiler knows of an LDS address, the wider the instructions. 16 bytes at a
#   multiple of 16 are one instruction; at the address of a float two or four; at the address of a char, of
#   which nothing is known, more than that.
# Instead: 16 bytes at the address of a float are two instructions of two words each, but at the address of a
#   half or a char they are one instruction of 16 bytes, as with an alignment of 16. This holds for reads and
#   writes, and for 8 bytes: one instruction of two words, or one of 8 bytes. A row whose stride is counted in
#   halves is therefore read by fewer instructions than one counted in floats. Global memory makes no such
#   difference.
# Seen (all six targets; gfx11 and later call them load and store, 2addr):
#   alignment          16            4                                1 and 2
#   read 16 bytes      ds_read_b128  ds_read2_b32 ds_read2_b32        ds_read_b128
#   write 16 bytes     ds_write_b128 ds_write2_b32 ds_write2_b32      ds_write_b128
#   read 8 bytes       ds_read_b64   ds_read2_b32                     ds_read_b64
#   global, 16 bytes   one load for each alignment
# Why it matters: Rows padded by one float against bank conflicts are aligned to 4 bytes, so the padding doubles
#   the LDS instructions of each vector access. In the listing they look like accesses to single floats, as if
#   the compiler had missed the vector. Padding by four floats keeps one instruction. This script does not
#   measure what each of them costs on a device.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
cat > "$dir/rows.hip" <<'HIP'
#define KERNEL(name) extern "C" __attribute__((global)) void name(four *out, const char *in, int stride)
#define LANE __builtin_amdgcn_workitem_id_x()
typedef float four __attribute__((ext_vector_type(4)));
typedef float two __attribute__((ext_vector_type(2)));
typedef _Float16 half;
extern __attribute__((shared)) __attribute__((aligned(16))) float lds[];

template <typename Unit, typename Value> __attribute__((device)) Value read(const Unit *from) {
    Value value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}
template <typename Unit, typename Value> __attribute__((device)) void write(Unit *to, Value value) {
    __builtin_memcpy(to, &value, sizeof value);
}
#define ROW(Unit, where) ((Unit *)(where) + stride * LANE)

KERNEL(read16_four) { out[LANE] = read<four, four>(ROW(four, lds)); }
KERNEL(read16_float) { out[LANE] = read<float, four>(ROW(float, lds)); }
KERNEL(read16_half) { out[LANE] = read<half, four>(ROW(half, lds)); }
KERNEL(read16_char) { out[LANE] = read<char, four>(ROW(char, lds)); }
KERNEL(write16_four) { write(ROW(four, lds), out[LANE]); }
KERNEL(write16_float) { write(ROW(float, lds), out[LANE]); }
KERNEL(write16_half) { write(ROW(half, lds), out[LANE]); }
KERNEL(write16_char) { write(ROW(char, lds), out[LANE]); }
KERNEL(read8_two) { ((two *)out)[LANE] = read<two, two>(ROW(two, lds)); }
KERNEL(read8_float) { ((two *)out)[LANE] = read<float, two>(ROW(float, lds)); }
KERNEL(read8_char) { ((two *)out)[LANE] = read<char, two>(ROW(char, lds)); }
KERNEL(global_four) { out[LANE] = read<four, four>(ROW(four, in)); }
KERNEL(global_float) { out[LANE] = read<float, four>(ROW(float, in)); }
KERNEL(global_char) { out[LANE] = read<char, four>(ROW(char, in)); }
KERNEL(padded) {
    __attribute__((shared)) static float tile[64][65];
    for (int k = 0; k < 64; k++) tile[k][LANE] = in[k];
    out[LANE] = read<float, four>(&tile[LANE][8]);
}
KERNEL(padded_by_four) {
    __attribute__((shared)) static __attribute__((aligned(16))) float tile[64][68];
    for (int k = 0; k < 64; k++) tile[k][LANE] = in[k];
    out[LANE] = read<four, four>((four *)&tile[LANE][8]);
}
HIP
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])


def compiled(target):
    """The memory instructions of each kernel, named as on gfx9; those of global memory only in kernels about them."""
    clang = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc",
             f"--offload-arch={target}", "-O3", "-S", "-o", "-", folder / "rows.hip"]
    text = subprocess.run(clang, check=True, capture_output=True, text=True).stdout
    for name, body in re.findall(r"^(\w+):.*?\n(.*?)\.section", text, re.M | re.S):
        wanted = "global_load" if name.startswith("global") else "ds_"
        found = re.findall(rf"^\t({wanted}\w+)", body, re.M)
        for new, old in (("ds_load", "ds_read"), ("ds_store", "ds_write"), ("_2addr_", "2_"), ("b128", "dwordx4")):
            if new != "b128" or name.startswith("global"):
                found = [each.replace(new, old) for each in found]
        yield name, found


SEEN = {
    "read16_four": ["ds_read_b128"], "read16_float": ["ds_read2_b32"] * 2, "read16_half": ["ds_read_b128"],
    "read16_char": ["ds_read_b128"], "write16_four": ["ds_write_b128"], "write16_float": ["ds_write2_b32"] * 2,
    "write16_half": ["ds_write_b128"], "write16_char": ["ds_write_b128"], "read8_two": ["ds_read_b64"],
    "read8_float": ["ds_read2_b32"], "read8_char": ["ds_read_b64"], "global_four": ["global_load_dwordx4"],
    "global_float": ["global_load_dwordx4"], "global_char": ["global_load_dwordx4"],
}
for target in "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250":
    seen = dict(compiled(target))
    reads = {name: [each for each in seen[name] if "read" in each] for name in ("padded", "padded_by_four")}
    print(target, {name: " ".join(seen[name]) for name in SEEN}, reads)
    assert {name: seen[name] for name in SEEN} == SEEN
    assert reads == {"padded": ["ds_read2_b32"] * 2, "padded_by_four": ["ds_read_b128"]}
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
