#!/usr/bin/env bash
# Packages: ziglang 0.17.1 (the Zig compiler, whose LLVM compiles for AMD GPUs), pyelftools 0.33.
# Expected: a code object says of SRAM ECC and of XNACK "any", as those of hipcc and Triton do unless they are
#   told otherwise, and runs on a device in whichever mode it is.
# Instead: Zig turns features that are not asked for off, and "off" is a promise to the loader: gfx908, gfx90a,
#   gfx942 and gfx950 get "sramecc-:xnack-". LLVM's rules for AMD GPUs let such an object load only
#   where ECC is off, while MI200 and MI300 run with it. -mcpu=gfx942+sramecc writes "on"; there is no
#   spelling for "any".
# Seen (e_flags): gfx942 0xa4c, amdhsa.target amdgcn-amd-amdhsa-unknown-gfx942:sramecc-:xnack-
#                 gfx942+sramecc 0xe4c; gfx90a 0xa3f; gfx1100 0x41, which has neither feature
# Why it matters: a kernel of Zig disassembles, has lines and registers as any other, and a report of it looks
#   right; the runtime says only that no code object fits the device. Look at the target of the object
#   before the launch.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1 pyelftools==0.33
export ZIG_GLOBAL_CACHE_DIR="$dir/cache" ZIG_LOCAL_CACHE_DIR="$dir/cache"
cat > "$dir/scale.zig" <<'ZIG'
export fn scale(a: [*]addrspace(.global) f32, b: [*]addrspace(.global) f32, n: u32) callconv(.amdgcn_kernel) void {
    const i = @workItemId(0) + @workGroupId(0) * @workGroupSize(0);
    if (i < n) b[i] = a[i] * 2.0;
}
ZIG
cat > "$dir/see.py" <<'PY'
import subprocess
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

MODES = ("unsupported", "any", "off", "on")
folder = Path(sys.argv[1])
SEEN = {
    "gfx908": ("off", "off"), "gfx90a": ("off", "off"), "gfx942": ("off", "off"), "gfx950": ("off", "off"),
    "gfx942+sramecc": ("on", "off"), "gfx1100": ("unsupported", "unsupported"),
}
for target, expected in SEEN.items():
    made = folder / "scale.o"
    zig = [sys.executable, "-m", "ziglang", "build-obj", "-target", "amdgcn-amdhsa-none", f"-mcpu={target}",
           "-O", "ReleaseFast", str(folder / "scale.zig"), f"-femit-bin={made}"]
    subprocess.run(zig, check=True, cwd=folder)
    with made.open("rb") as file:
        flags = ELFFile(file)["e_flags"]
    found = MODES[flags >> 10 & 3], MODES[flags >> 8 & 3]
    print(target, hex(flags), "sramecc", found[0], "xnack", found[1])
    assert found == expected, expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
