#!/usr/bin/env bash
# Package: iree-base-compiler 3.13.0 (compiles for AMD GPUs without one).
# Expected: --iree-rocm-target=mi300x is another spelling of gfx942. Both give a code object for gfx942 that runs on
#   MI300X, so the two are equal but for names.
# Instead: the product name tells IREE the number of compute units, and the tile depends on that number. For gfx942 the
#   number is unknown, and the tile depends on the matrices alone. The kernels differ by up to four times the VGPRs,
#   in both directions: at 1024 mi300x has the smaller tile; at 8192 it takes 468 registers, one wave a SIMD, where
#   gfx942 takes 123. mi308x, the same chip with 80 compute units, has tiles of its own.
# Seen (product of FP16 matrices: VGPRs, bytes of LDS, matrix instructions in the code):
#             gfx942            mi300x            mi308x
#   1024      159, 50688, 128   123, 25856,  32    81, 13056,  32
#   4096      123, 17664,  64   123, 17664,  64   468, 35072, 128
#   8192      123, 17664,  64   468, 35072, 128   468, 35072, 128
#   each code object names gfx942
# Why it matters: if CI compiles for "gfx942" and the trace comes from a build for mi300x, registers, occupancy and
#   listing belong to different kernels. Tile sizes tuned with one name do not hold for the other, and the code
#   object does not say which name was used.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps iree-base-compiler==3.13.0
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
PRODUCT = """
func.func @product(%a: tensor<NxNxf16>, %b: tensor<NxNxf16>) -> tensor<NxNxf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<NxNxf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<NxNxf32>) -> tensor<NxNxf32>
  %c = linalg.matmul ins(%a, %b : tensor<NxNxf16>, tensor<NxNxf16>)
                     outs(%start : tensor<NxNxf32>) -> tensor<NxNxf32>
  return %c : tensor<NxNxf32>
}
"""


def facts(target, size):
    """VGPRs, bytes of LDS, matrix instructions; the code object is for gfx942 in each case."""
    made = folder / f"{target}_{size}"
    made.mkdir()
    (made / "product.mlir").write_text(PRODUCT.replace("N", str(size)))
    subprocess.run(
        [folder / "venv/bin/iree-compile", "--iree-hal-target-device=hip", f"--iree-rocm-target={target}",
         made / "product.mlir", "-o", made / "product.vmfb", f"--iree-hal-dump-executable-files-to={made}"],
        check=True,
    )
    text = next(made.glob("*.rocmasm")).read_text()
    assert re.search(r"amdhsa\.target:\s+'?(\S+?)'?$", text, re.M)[1].endswith("gfx942")
    sizes = [int(re.search(rf"\.{word}:\s+(\d+)", text)[1]) for word in ("vgpr_count", "group_segment_fixed_size")]
    return (*sizes, len(re.findall(r"^\s+v_mfma", text, re.M)))


SEEN = {
    1024: ((159, 50688, 128), (123, 25856, 32), (81, 13056, 32)),
    4096: ((123, 17664, 64), (123, 17664, 64), (468, 35072, 128)),
    8192: ((123, 17664, 64), (468, 35072, 128), (468, 35072, 128)),
}
for size, expected in SEEN.items():
    found = tuple(facts(target, size) for target in ("gfx942", "mi300x", "mi308x"))
    print(size, *found)
    assert found == expected, expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
