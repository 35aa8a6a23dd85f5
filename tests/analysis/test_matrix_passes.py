"""Cycles of matrix instructions by form and target, and how busy they keep the units."""

import json

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.program.matrix_forms import MATRIX, UNKNOWN_CYCLES, matrix_cycles, matrix_passes
from tests.support.code_samples import code_table
from tests.support.opened import sample_trace


@pytest.mark.parametrize(
    ("text", "target", "cycles"),
    [
        ("v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", "gfx942", 16),
        ("v_mfma_f32_32x32x8_bf16", "gfx942", 32),
        ("v_mfma_f32_16x16x32_fp8_fp8", "gfx942", 16),
        ("v_mfma_f32_32x32x16_bf8_fp8", "gfx950", 32),
        ("v_mfma_f32_32x32x16_bf16", "gfx950", 32),
        ("v_mfma_f32_16x16x32_f16", "gfx950", 16),
        ("v_mfma_i32_16x16x64_i8", "gfx950", 16),
        ("v_mfma_f32_16x16x4_f32", "gfx942", 32),
        ("v_mfma_f32_32x32x2_f32", "gfx950", 64),
        ("v_mfma_f32_32x32x4_xf32", "gfx942", 32),
        ("v_mfma_f32_32x32x4_2b_f16", "gfx942", 64),
        ("v_mfma_f32_4x4x4_16b_f16", "gfx942", 8),
        ("v_mfma_f32_32x32x8f16", "gfx90a", 64),
        ("v_mfma_f32_16x16x16bf16_1k", "gfx90a", 32),
        ("v_mfma_f64_16x16x4f64", "gfx90a", 32),
        ("v_mfma_f64_16x16x4_f64", "gfx942", 32),
        ("v_mfma_f64_16x16x4_f64", "gfx950", 64),
        ("v_smfmac_f32_16x16x32_f16", "gfx942", 16),
        ("v_smfmac_f32_32x32x16_bf16", "gfx942", 32),
        ("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3] cbsz:4 blgp:4", "gfx950", 16),
        ("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3] cbsz:4 blgp:1", "gfx950", 32),
        ("v_mfma_f32_16x16x128_f8f6f4 v[0:3]", "gfx950", 32),
        ("v_mfma_scale_f32_32x32x64_f8f6f4 v[0:3] cbsz:2 blgp:4", "gfx950", 32),
        ("v_mfma_f32_32x32x64_f8f6f4 v[0:3]", "gfx950", 64),
        ("v_wmma_f32_16x16x16_f16 v[0:7]", "gfx1100", 32),
        ("v_wmma_i32_16x16x16_iu4", "gfx1100", 16),
        ("v_wmma_f32_16x16x16_f16 v[0:7]", "gfx1201", 16),
        ("v_wmma_f32_16x16x16_fp8_bf8", "gfx1201", 8),
        ("v_swmmac_f32_16x16x32_f16", "gfx1201", 16),
        # llvm-mca 22 -mcpu=gfx1250 -instruction-info
        ("v_wmma_f32_16x16x32_bf16 v[0:7]", "gfx1250", 8),
        ("v_wmma_f32_16x16x128_f8f6f4 v[0:7]", "gfx1250", 8),
        ("v_wmma_f32_32x16x128_f4 v[0:15]", "gfx1250", 8),
        ("v_wmma_i32_16x16x64_iu8 v[0:7]", "gfx1250", 16),
        ("v_wmma_f32_16x16x4_f32 v[0:7]", "gfx1250", 16),
        # Like the devices that they stand for.
        ("v_mfma_f32_32x32x8_f16", "gfx9-4-generic", 32),
        ("v_wmma_f32_16x16x16_f16 v[0:7]", "gfx11-generic", 32),
        ("v_wmma_f32_16x16x16_f16 v[0:7]", "gfx1151", 32),
    ],
)
def test_cycles_of_a_form(text: str, target: str, cycles: int) -> None:
    assert matrix_cycles(text, target) == cycles


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("v_mfma_f32_32x32x8f16", "gfx90a"),
        ("v_mfma_f32_32x32x8_f16", "gfx942"),
        ("v_mfma_f32_32x32x16_bf16", "gfx950"),
        ("v_mfma_f32_32x32x64_f8f6f4 cbsz:4 blgp:4", "gfx950"),
    ],
)
def test_without_a_target_the_form_tells_the_generation(text: str, like: str) -> None:
    assert matrix_cycles(text, "gfx9") == matrix_cycles(text, like) is not None


@pytest.mark.parametrize(
    "text", ["v_add_f32 v0, v1, v2", "v_mfma_f32_7x7x7_f16", "v_wmma_f32_16x16x16_f16", ""]
)
def test_what_is_in_no_table_is_not_known(text: str) -> None:
    assert matrix_cycles(text, "gfx942") is None


def test_a_guess_is_named() -> None:
    code = code_table()
    known = matrix_passes(code, "gfx950")
    assert (known.cycles[4], known.unknown) == (32, ())
    assert "32 cycles" in known.assumption
    odd = replace(code, text=tuple(text.replace("32x32x16_bf16", "7x7x7_f3") for text in code.text))
    guessed = matrix_passes(odd, "gfx950")
    assert guessed.cycles[4] == UNKNOWN_CYCLES
    assert "guess for v_mfma_f32_7x7x7_f3" in guessed.assumption
    assert not np.delete(known.cycles, 4).any()
    assert "guess" not in known.assumption
    assert "all are a guess for gfx9-4-generic" in matrix_passes(code, "gfx9-4-generic").assumption


# Of the forms of the samples: a SIMD has 256 multiply-adds a cycle on gfx9 and gfx12, 128 on gfx11.
CYCLES = {
    ("matmul_small", "v_mfma_f32_32x32x8_f16"): 32 * 32 * 8 // 256,
    ("groups_512", "v_mfma_f32_32x32x8_f16"): 32 * 32 * 8 // 256,
    ("gfx11", "v_wmma_f32_16x16x16_f16"): 16 * 16 * 16 // 128,
    ("gfx12", "v_wmma_f32_16x16x16_f16"): 16 * 16 * 16 // 256,
}


@pytest.mark.parametrize(("name", "form"), CYCLES)
def test_matrix_units_are_busy_for_what_ran_while_waves_are_there(name: str, form: str) -> None:
    trace = sample_trace(name)
    rows = list(range(len(trace.waves)))
    use = MATRIX.of(trace, [trace.reader.read(rows[:2]), trace.reader.read(rows[2:])])
    code = json.loads((trace.path / "code.json").read_text())["code"]
    ran = sum(row[6] for row in code if row[0].startswith(form))
    there: dict[tuple[int, int], set[int]] = {}
    for row in rows:
        place = int(trace.waves.se[row]), int(trace.waves.simd[row])
        there.setdefault(place, set()).update(range(int(trace.waves.begin[row]), int(trace.waves.end[row])))
    assert use.executions == ran > 0
    assert use.busy == ran * CYCLES[name, form]
    assert use.resident == sum(len(cycles) for cycles in there.values())
    assert use.share == pytest.approx(use.busy / use.resident)


def test_no_wave_keeps_no_unit_busy() -> None:
    trace = sample_trace("matmul_small")
    use = MATRIX.of(trace, [])
    assert (use.busy, use.resident, use.share) == (0, 0, 0.0)
