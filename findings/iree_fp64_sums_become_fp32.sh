#!/usr/bin/env bash
# Package: iree-base-compiler 3.13.0 (compiles for AMD GPUs without one).
# Expected: a program that widens FP32 numbers to FP64, adds them up and rounds the sum once gets an FP64 sum. MI300
#   adds FP64 at half the rate of FP32, and a compiler must not lose digits without -ffast-math.
# Instead: IREE first turns each f64 of the program into f32. If arguments or results are f64, it prints a warning.
#   If only the sum is, it prints nothing: the widening, the FP64 sum and the rounding are gone, and the kernel
#   is identical to that of the FP32 sum. The option --iree-input-demote-f64-to-f32=false keeps FP64; by
#   default it is on.
# Seen (gfx942; FP32 arguments and results; instructions of the kernel, FP64 additions and products among them):
#                                  sum of rows of 4096      product of 1024 x 1024
#   FP64 inside                    152, 0, no warning        718, 0 (256 FP32 matrix instructions), no warning
#   FP32 inside                    the same text             the same text
#   FP64 inside, demotion off      230, 86                   1488, 512
# Why it matters: an FP64 sum is the usual reference for a fast kernel, and the usual way to measure the cost of more
#   digits. Here the reference has the error of the FP32 kernel, and the cost is 0. In a trace only the names of
#   the instructions show it.
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
SUM = """
func.func @sum(%a: tensor<4096x4096xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<4096xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<4096xf64>) -> tensor<4096xf64>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                          iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<4096x4096xf32>) outs(%start : tensor<4096xf64>) {
    ^bb0(%x: f32, %so_far: f64):
      %wide = arith.extf %x : f32 to f64
      %next = arith.addf %wide, %so_far : f64
      linalg.yield %next : f64
  } -> tensor<4096xf64>
  %rounded = arith.truncf %sums : tensor<4096xf64> to tensor<4096xf32>
  return %rounded : tensor<4096xf32>
}
"""
PRODUCT = """
func.func @product(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<1024x1024xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<1024x1024xf64>) -> tensor<1024x1024xf64>
  %sums = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
                        outs(%start : tensor<1024x1024xf64>) -> tensor<1024x1024xf64>
  %rounded = arith.truncf %sums : tensor<1024x1024xf64> to tensor<1024x1024xf32>
  return %rounded : tensor<1024x1024xf32>
}
"""


def in_single(text):
    """The same program with FP32 sums, for which nothing is widened or rounded."""
    lines = [line for line in text.replace("f64", "f32").split("\n") if "extf" not in line and "truncf" not in line]
    return "\n".join(lines).replace("%wide", "%x").replace("return %rounded", "return %sums")


def compiled(name, text, *options):
    """The instructions of the one kernel, with their operands; nothing else may have been said."""
    made = folder / name
    made.mkdir()
    (made / "of.mlir").write_text(text)
    told = subprocess.run(
        [folder / "venv/bin/iree-compile", "--iree-hal-target-device=hip", "--iree-rocm-target=gfx942", *options,
         made / "of.mlir", "-o", made / "of.vmfb", f"--iree-hal-dump-executable-files-to={made}"],
        check=True, capture_output=True, text=True,
    )
    assert not told.stdout and not told.stderr, told
    (assembly,) = made.glob("*.rocmasm")
    text = assembly.read_text()
    return re.findall(r"^\s+((?:v|s|ds|buffer|global)_\w+.*)$", text[: text.index(".amdhsa_kernel")], re.M)


def counts(code):
    """Instructions, sums and products of FP64, matrix instructions."""
    names = Counter(re.match(r"\w+", line)[0] for line in code)
    double = sum(count for name, count in names.items() if re.match(r"v_(add|fmac|fma|mul)_f64|v_mfma_f64", name))
    return len(code), double, sum(count for name, count in names.items() if "mfma" in name)


SEEN = {"sum": ((152, 0, 0), (230, 86, 0)), "product": ((718, 0, 256), (1488, 512, 0))}
for name, text in ("sum", SUM), ("product", PRODUCT):
    wide = compiled(f"{name}64", text)
    single = compiled(f"{name}32", in_single(text))
    kept = compiled(f"{name}64kept", text, "--iree-input-demote-f64-to-f32=false")
    print(f"{name}: FP64 inside {counts(wide)}, FP32 inside {counts(single)}, demotion off {counts(kept)}")
    assert wide == single and (counts(wide), counts(kept)) == SEEN[name]
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py" "$dir"
