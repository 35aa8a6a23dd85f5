#!/usr/bin/env bash
# Package: iree-base-compiler 3.13.0 (compiles for AMD GPUs without one).
# Expected: products of BF16 and of FP16 matrices run alike on MI200: the data sheet has one peak for both, as the
#   tile, the bytes and the sums in FP32 are the same.
# Instead: IREE multiplies BF16 for gfx90a by the instruction that MI100 had, v_mfma_f32_16x16x8bf16. It takes
#   the time of v_mfma_f32_16x16x16f16 and does half the work, which is why MI200 got another one,
#   v_mfma_f32_16x16x16bf16_1k. The kernel has the tile of the FP16 one and twice its matrix instructions.
#   For gfx908 that is the best there is; gfx942 gets v_mfma_f32_16x16x16_bf16, as many as for FP16.
# Seen (1024 x 1024 x 1024: matrix instructions, bytes of LDS, VGPRs):
#   gfx90a  FP16: v_mfma_f32_16x16x16f16   128, 50688, 196    BF16: v_mfma_f32_16x16x8bf16   256, 50688, 196
#   gfx942  FP16: v_mfma_f32_16x16x16_f16  128, 50688, 159    BF16: v_mfma_f32_16x16x16_bf16 128, 50688, 160
# Why it matters: the best that such a product can reach on MI250X is half of the peak, however well it is tiled, and
#   the matrix units look busy all the time in a trace and in MfmaUtil. Only the name of the instruction
#   tells. Converted to FP16 where the range allows, the same product has the other instruction.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps iree-base-compiler==3.13.0
cat > "$dir/see.py" <<'PY'
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

folder = Path(sys.argv[1])
PRODUCT = """
func.func @product(%a: tensor<1024x1024xTYPE>, %b: tensor<1024x1024xTYPE>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %c = linalg.matmul ins(%a, %b : tensor<1024x1024xTYPE>, tensor<1024x1024xTYPE>)
                     outs(%start : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %c : tensor<1024x1024xf32>
}
"""


def facts(target, kind):
    """The matrix instructions and their number, bytes of LDS, VGPRs."""
    made = folder / f"{target}_{kind}"
    made.mkdir()
    (made / "product.mlir").write_text(PRODUCT.replace("TYPE", kind))
    subprocess.run(
        [folder / "venv/bin/iree-compile", "--iree-hal-target-device=hip", f"--iree-rocm-target={target}",
         made / "product.mlir", "-o", made / "product.vmfb", f"--iree-hal-dump-executable-files-to={made}"],
        check=True,
    )
    text = next(made.glob("*.rocmasm")).read_text()
    ((name, count),) = Counter(re.findall(r"^\s+(v_mfma\w+)", text, re.M)).items()
    sizes = [int(re.search(rf"\.{word}:\s+(\d+)", text)[1]) for word in ("group_segment_fixed_size", "vgpr_count")]
    return name, count, *sizes


SEEN = {
    ("gfx90a", "f16"): ("v_mfma_f32_16x16x16f16", 128, 50688, 196),
    ("gfx90a", "bf16"): ("v_mfma_f32_16x16x8bf16", 256, 50688, 196),
    ("gfx942", "f16"): ("v_mfma_f32_16x16x16_f16", 128, 50688, 159),
    ("gfx942", "bf16"): ("v_mfma_f32_16x16x16_bf16", 128, 50688, 160),
}
for case, expected in SEEN.items():
    found = facts(*case)
    print(*case, *found)
    assert found == expected, expected
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
