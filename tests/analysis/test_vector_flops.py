"""What vector instructions compute, by their mnemonics: the rule of AMD's metric, form by form."""

import pytest

from rcv_py.analysis.core.token_columns import batch_of
from rcv_py.analysis.overview.range_costs import range_costs_of
from rcv_py.analysis.program.operations import vector_flops
from rcv_py.model.window import TimeWindow
from tests.analysis import build
from tests.support.opened import sample_trace


@pytest.mark.parametrize(
    ("text", "flops"),
    [
        ("v_add_f32_e32 v1, v2, v3", 1),
        ("v_sub_f16_sdwa v1, v2, v3 dst_sel:WORD_1", 1),
        ("v_subrev_f32_e32 v1, v2, v3", 1),
        ("v_mul_legacy_f32_e64 v1, v2, v3", 1),
        ("v_exp_f32_e32 v1, v2", 1),
        ("v_rcp_iflag_f32_e32 v1, v2", 1),
        ("v_fma_f32 v1, v2, v3, v4", 2),
        ("v_fmac_f64_e32 v[0:1], v[2:3], v[4:5]", 2),
        ("v_fmamk_f32 v1, v2, 0x3fb8aa3b, v3", 2),
        ("v_mad_mixlo_f16 v1, v2, v3, v4", 2),
        ("v_fma_mix_f32 v1, v2, v3, v4 op_sel_hi:[1,0,0]", 2),
        ("v_div_fmas_f32 v1, v2, v3, v4", 2),
        ("v_pk_mul_f32 v[0:1], v[2:3], v[4:5]", 2),
        ("v_pk_fma_f16 v1, v2, v3, v4", 4),
        ("v_pk_add_bf16 v1, v2, v3", 2),
        ("v_dot2_f32_f16 v1, v2, v3, v4", 4),
        ("v_dot2c_f32_bf16 v1, v2, v3", 4),
        ("v_dot4_f32_fp8_bf8 v1, v2, v3, v4", 8),
        ("v_dual_fmac_f32 v1, v2, v3 :: v_dual_mul_f32 v4, v5, v6", 3),
        ("v_dual_mov_b32 v1, 0 :: v_dual_add_f32 v2, v3, v4", 1),
        # what is none
        ("v_add_u32_e32 v1, v2, v3", 0),
        ("v_max_f32_e32 v1, v2, v3", 0),
        ("v_cvt_pk_bf16_f32 v1, v2, v3", 0),
        ("v_cmp_gt_f32_e32 vcc, v1, v2", 0),
        ("v_ldexp_f32 v1, v2, v3", 0),
        ("v_dot4_i32_i8 v1, v2, v3, v4", 0),
        ("v_mad_u64_u32 v[0:1], vcc, v2, v3, v[4:5]", 0),
        ("v_mfma_f32_32x32x16_bf16 v[0:15], v[16:19], v[20:23], v[0:15]", 0),
        ("s_add_f32 s1, s2, s3", 0),
        ("; v_fma_f32", 0),
        ("", 0),
    ],
)
def test_forms(text: str, flops: int) -> None:
    assert vector_flops(text) == flops


@pytest.mark.parametrize(("gfxip", "mask", "lanes"), [(9, "vcc", 64), (12, "vcc_lo", 32), (12, "vcc", 64)])
def test_a_range_counts_the_lanes_of_a_wave(gfxip: int, mask: str, lanes: int) -> None:
    texts = ["; k", "v_fma_f32 v0, v1, v2, v3", "v_pk_mul_f32 v[0:1], v[2:3], v[4:5]", f"s_mov_b32 {mask}, 0"]
    wave = build.wave("V|V|V|", [1, 2, 1], begin=100)
    trace = build.trace(build.code(texts), [wave], gfxip=gfxip)
    found = range_costs_of(TimeWindow(0, 10_000)).of(trace, [batch_of([wave])])
    assert found.vector_flops == lanes * (2 + 2 + 2)
    assert found.flops == 0


def test_a_capture_adds_up_from_its_hits() -> None:
    trace = sample_trace("vector_add")
    batches = (trace.reader.read(list(range(8))),)
    found = range_costs_of(trace.span).of(trace, batches)
    rows = zip(trace.code.text, found.hits.tolist(), strict=True)
    by_hand = sum(64 * vector_flops(text) * times for text, times in rows)
    assert found.vector_flops == by_hand > 0
