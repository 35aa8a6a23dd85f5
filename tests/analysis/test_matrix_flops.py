"""Operations of matrix instructions: forms worked out by hand, and all that simulated waves executed."""

import json

import pytest

from rcv_py.analysis.program.matrix_forms import flops_of, matrix_flops
from rcv_py.formats.open import open_trace
from tests.support.samples import sample


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", 2 * 32 * 32 * 8),
        ("v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]", 2 * 16 * 16 * 32),
        ("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21", 2 * 16 * 16 * 128),
        ("v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], v[0:3]", 2 * 4 * 4 * 4 * 16),
        ("v_mfma_f32_32x32x1_2b_f32 a[0:31], v0, v1, a[0:31]", 2 * 32 * 32 * 2),
        ("v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]", 2 * 32 * 32 * 2),  # spelled as on gfx908
        ("v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[0:3]", 2 * 16 * 16 * 4),
        ("v_mfma_f32_16x16x4f16 a[0:15], v[0:1], v[2:3], a[0:15]", 2 * 16 * 16 * 4 * 4),
        ("v_mfma_f64_4x4x4f64 v[0:1], v[2:3], v[4:5], v[0:1]", 2 * 4 * 4 * 4 * 4),
        ("v_mfma_f64_16x16x4f64 v[0:7], v[8:9], v[10:11], v[0:7]", 2 * 16 * 16 * 4),
        ("v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10", 2 * 16 * 16 * 32),
        ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", 2 * 16 * 16 * 16),
        ("v_fma_f32 v0, v1, v2, v3", 0),
        ("v_mfma_f32_" + "9" * 5000 + "x1x1_f32", 0),
    ],
)
def test_forms(text: str, expected: int) -> None:
    assert matrix_flops(text) == expected


def test_waves_do_what_the_simulator_let_them_execute() -> None:
    """Each executed instruction of a form multiplies a matrix of 32 × 8 with one of 8 × 32."""
    path, truth = sample("matmul_small")
    texts = [row[0] for row in json.loads((path / "code.json").read_text())["code"] if row[0][0] != ";"]
    executed = [texts[at] for wave in truth.waves.values() for at in wave.instruction.tolist()]
    ran = sum(text.startswith("v_mfma_f32_32x32x8_f16") for text in executed)
    code = open_trace(path).code
    assert code.hits @ flops_of(code) == ran * 2 * 32 * 32 * 8 > 0
