#!/usr/bin/env bash
# Package: iree-base-compiler 3.13.0 (compiles for AMD GPUs without one).
# Expected: a matrix product is tiled through LDS on every GPU. RDNA has no matrix instruction for FP32 and uses v_fma
#   instead, but the tile saves the same there: a workgroup loads each number once.
# Instead: without a matrix instruction for the type, IREE uses no LDS either. On gfx1100 and gfx1201 each lane loads
#   both operands of its 16 results from memory, and its neighbours load the same rows and columns again: 17 numbers
#   for 16 multiplications, with a wait before nearly every fourth of them. Size does not matter. FP16 on the
#   same GPUs, and FP32 on gfx942, go through LDS.
# Seen (the kernel: bytes of LDS; numbers that a lane loads, its multiplications, waits for loads):
#   gfx1201 FP32   256, 1024 and 4096:  0; 544, 512, 126
#   gfx1100 FP32   256, 1024 and 4096:  0; 544, 512
#   gfx1201 FP16  1024: 17408; 64 for 32 matrix instructions
#   gfx942  FP32  1024: 50176; 96 for 256 matrix instructions
# Why it matters: the vector cache limits such a product to a small part of the FP32 rate. Its trace is full of memory
#   waits that look like cache misses, although the same numbers are loaded again and again. A comparison of FP16
#   with FP32 on RDNA compares tiled with untiled code, not two formats.
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
func.func @product(%a: tensor<NxNxTYPE>, %b: tensor<NxNxTYPE>) -> tensor<NxNxf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<NxNxf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<NxNxf32>) -> tensor<NxNxf32>
  %c = linalg.matmul ins(%a, %b : tensor<NxNxTYPE>, tensor<NxNxTYPE>)
                     outs(%start : tensor<NxNxf32>) -> tensor<NxNxf32>
  return %c : tensor<NxNxf32>
}
"""
WIDTHS = {"b128": 4, "dwordx4": 4, "b64": 2, "dwordx2": 2, "b32": 1, "dword": 1}


def facts(target, kind, size):
    """Bytes of LDS, numbers that a lane loads, its FP32 multiplications, waits for loads, matrix instructions."""
    made = folder / f"{target}_{kind}_{size}"
    made.mkdir()
    (made / "product.mlir").write_text(PRODUCT.replace("TYPE", kind).replace("N", str(size)))
    subprocess.run(
        [folder / "venv/bin/iree-compile", "--iree-hal-target-device=hip", f"--iree-rocm-target={target}",
         made / "product.mlir", "-o", made / "product.vmfb", f"--iree-hal-dump-executable-files-to={made}"],
        check=True,
    )
    text = next(made.glob("*.rocmasm")).read_text()
    lds = int(re.search(r"\.group_segment_fixed_size:\s+(\d+)", text)[1])
    loads = sum(WIDTHS[width] for width in re.findall(r"^\s+(?:buffer|global)_load_(\w+)", text, re.M))
    products = len(re.findall(r"\bv_(?:dual_)?(?:fmac|fma)_f32", text))
    waits = len(re.findall(r"^\s+s_wait_loadcnt", text, re.M))
    return lds, loads, products, waits, len(re.findall(r"^\s+v_(?:mfma|wmma)", text, re.M))


for size in 256, 1024, 4096:
    newer, older = facts("gfx1201", "f32", size), facts("gfx1100", "f32", size)
    print("FP32", size, "gfx1201", newer, "gfx1100", older)
    assert newer == (0, 544, 512, 126, 0)
    assert older[:3] == (0, 544, 512) and older[4] == 0
half, instinct = facts("gfx1201", "f16", 1024), facts("gfx942", "f32", 1024)
print("gfx1201 FP16", half, "gfx942 FP32", instinct)
assert half[0] == 17408 and half[4] == 32
assert instinct[:2] == (50176, 96) and instinct[4] == 256
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
