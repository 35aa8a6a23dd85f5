#!/usr/bin/env bash
# Package: iree-base-compiler 3.13.0 (compiles for AMD GPUs without one).
# Expected: BF16 and FP16 matrix products are equally fast on MI200: its data sheet has one peak rate for both, and
#   tile, bytes and FP32 sums are the same.
# Instead: for gfx90a IREE multiplies BF16 with the instruction of MI100, v_mfma_f32_16x16x8bf16. It takes as long as
#   v_mfma_f32_16x16x16f16 and does half the work; therefore MI200 has v_mfma_f32_16x16x16bf16_1k. The kernel
#   has the tile of the FP16 kernel and twice its matrix instructions. On gfx908 nothing better exists; gfx942
#   gets v_mfma_f32_16x16x16_bf16, as many as for FP16.
# Seen (1024 x 1024 x 1024: matrix instructions, bytes of LDS, VGPRs):
#   gfx90a  FP16: v_mfma_f32_16x16x16f16   128, 50688, 196    BF16: v_mfma_f32_16x16x8bf16   256, 50688, 196
#   gfx942  FP16: v_mfma_f32_16x16x16_f16  128, 50688, 159    BF16: v_mfma_f32_16x16x16_bf16 128, 50688, 160
# Why it matters: such a product reaches at most half of MI250X's peak, however well it is tiled. The matrix units look
#   busy in a trace and in MfmaUtil; only the name of the instruction gives it away. Where its range suffices,
#   use FP16.
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
