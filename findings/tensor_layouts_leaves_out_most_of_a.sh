#!/usr/bin/env bash
# Packages: tensor-layouts 0.3.2 (layout algebra, with the register layouts of matrix instructions), tilelang 0.1.15
#   (whose kernels use layouts of its own for the same instructions; one file of it is loaded).
# Expected: the layout of an MFMA operand says for each lane and register which element of the matrix it holds. Each
#   element of A and B has one place. Kernels that load and store by it compute the product.
# Instead: all lanes that hold the same row are given the same elements of A, as if the instruction copied them. So the
#   layouts of 16x16x16 know a quarter of A and B, those of 32x32x8 a half; only the operands of WMMA are whole. In
#   the layouts of all results, lane 1 stands four rows below lane 0, where the instruction puts it one column
#   beside it. Rows and columns of each lane are in the wrong order, but every element has a place. TileLang has the
#   order of AMD's tables: lane 16 goes on with A at k = 4, and with the result at row 4.
# Seen (v_mfma_f32_16x16x16_f16: elements of A with a place; A in the first register of lanes 1 and 16, as row, k; the
#   result there, as row, column; right elements of a product that is loaded and stored by the layouts):
#   tensor-layouts  64 of 256;  A 0, 0 and 4, 0;  result 4, 0 and 0, 4;    0 of 256
#   TileLang       256 of 256;  A 1, 0 and 0, 4;  result 0, 1 and 4, 0;  256 of 256
#   tensor-layouts 32x32x8: 128 of 256. Of its 36 MFMA layouts, 33 leave out elements of A
# Why it matters: layouts are what bank conflicts and coalescing are computed from. Here an operand has a quarter of
#   its bytes, and LDS reads of it are broadcasts that no GPU makes. The comparison with a trace then blames the
#   kernel. Test a layout by counting: each element once.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-compile tensor-layouts==0.3.2 \
    tilelang==0.1.15
cat > "$dir/see.py" <<'PY'
import importlib.util
import sys
import sysconfig
from itertools import product
from pathlib import Path
from types import SimpleNamespace

from tensor_layouts import atoms_amd

# TileLang's file of layouts is arithmetic only; what it imports beside is not installed.
stand_ins = {
    "tvm": SimpleNamespace(DataType=None),
    "tvm.runtime": SimpleNamespace(convert=list),
    "tvm.tirx": SimpleNamespace(const=int),
    "tilelang": SimpleNamespace(language=None),
    "tilelang.language": SimpleNamespace(),
}
sys.modules.update(stand_ins)
path = Path(sysconfig.get_paths()["purelib"]) / "tilelang/rocm/intrinsics/mfma_layout.py"
spec = importlib.util.spec_from_file_location("mfma_layout", path)
tilelang = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tilelang)

PLACES = list(product(range(64), range(4)))  # lanes and registers, each of one element
atom = atoms_amd.CDNA3_16x16x16_F32F16F16_MFMA


def split(layout):
    """Layouts count down the columns of A, of the result, and of B when it is transposed."""
    return {place: (layout(*place) % 16, layout(*place) // 16) for place in PLACES}


by_package = {
    "a": split(atom.a_layout),
    "b": {place: (k, column) for place, (column, k) in split(atom.b_layout).items()},
    "c": split(atom.c_layout),
}
by_tilelang = {
    "a": {place: tilelang.thread_id_shared_access_64x4_to_16x16_layout_A(*place) for place in PLACES},
    "b": {place: tilelang.thread_id_shared_access_64x4_to_16x16_layout_B(*place) for place in PLACES},
    "c": {place: tilelang.thread_id_shared_access_64x4_to_16x16_layout_C_m_n(*place) for place in PLACES},
}


def right_elements(used, hardware):
    """Load A and B by one layout, multiply as the hardware reads its registers, store by the same layout."""
    a = {(row, k): 1 + row * 16 + k for row, k in product(range(16), repeat=2)}
    b = {(k, column): 1 + (k * 7 + column * 3) % 13 for k, column in product(range(16), repeat=2)}

    def times(left, right):
        return {(i, j): sum(left[i, k] * right[k, j] for k in range(16)) for i, j in product(range(16), repeat=2)}

    read_a = {hardware["a"][place]: a[used["a"][place]] for place in PLACES}
    read_b = {hardware["b"][place]: b[used["b"][place]] for place in PLACES}
    result = times(read_a, read_b)
    stored = {used["c"][place]: result[hardware["c"][place]] for place in PLACES}
    truth = times(a, b)
    return sum(stored[one] == truth[one] for one in truth)


def facts(layouts):
    return (
        len(set(layouts["a"].values())),
        *(layouts["a"][lane, 0] for lane in (1, 16)),
        *(layouts["c"][lane, 0] for lane in (1, 16)),
        right_elements(layouts, by_tilelang),
    )


SEEN = {
    "tensor-layouts": (by_package, (64, (0, 0), (4, 0), (4, 0), (0, 4), 0)),
    "TileLang": (by_tilelang, (256, (1, 0), (0, 4), (0, 1), (4, 0), 256)),
}
for name, (layouts, expected) in SEEN.items():
    found = facts(layouts)
    print(f"{name:15} {found[0]} of 256, A {found[1:3]}, result {found[3:5]}, {found[5]} of 256 right")
    assert found == expected, expected
    assert len(set(layouts["c"].values())) == 256


def left_out(one):
    rows, _, depth = one.shape_mnk
    lanes, registers = (sum_of(part) for part in one.a_layout.shape)
    return rows * depth - len({one.a_layout(*place) for place in product(range(lanes), range(registers))})


def sum_of(shape):
    """The number of values of a layout's part, which may be nested."""
    if isinstance(shape, int):
        return shape
    number = 1
    for part in shape:
        number *= sum_of(part)
    return number


atoms = {name: one for name, one in vars(atoms_amd).items() if hasattr(one, "a_layout")}
mfma = [one for name, one in atoms.items() if name.endswith("_MFMA")]
wmma = [one for name, one in atoms.items() if name.endswith("_WMMA")]
short = sum(left_out(one) > 0 for one in mfma)
large = left_out(atoms["CDNA3_32x32x8_F32F16F16_MFMA"])
print(f"of {len(mfma)} MFMA layouts {short} leave out elements of A; 32x32x8 {large} of 256")
assert (len(mfma), short, large) == (36, 33, 128)
assert wmma and not any(left_out(one) for one in wmma)
print("as described")
PY
"$dir/venv/bin/python" "$dir/see.py"
