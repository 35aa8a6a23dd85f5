"""Operations of a real launch whose size is known, and the share of the peak on real captures."""

import pytest

from rcv_py.features.roofline.result import roofline_facts
from rcv_py.formats.uiout.run_files import facts_about
from tests.analysis.test_roofline import of, test_the_share_of_the_peak_is_how_busy_the_unit_is  # noqa: F401
from tests.real.captures import real_trace
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(real_trace, ["preshuffle_gemm", "pa_mqa_big", "flash_attn_small_after"])


def test_a_known_launch_computes_twice_m_n_k() -> None:
    """4096 x 4096 x 4096, by 1,024 workgroups of 4 waves, each of which makes a tile of 128 x 128."""
    trace = real_trace("preshuffle_gemm")
    run = facts_about(trace, ())
    groups = run.kernel.grid[0] * run.kernel.grid[1] // run.kernel.threads
    assert groups * 128 * 128 == 4096 * 4096
    facts = roofline_facts(trace, of(trace), run, 64)
    assert facts["launch_waves"] == 4 * groups
    assert facts["launch_flop"] == 2 * 4096**3


@pytest.mark.parametrize(
    ("name", "waves"),
    [
        ("flash_attn_small_before", None),  # the table is of a run with a larger grid: 4 times the waves
        ("flash_attn_small_after", None),
        ("pa_mqa_small", None),  # 36 waves on 4 of 32 engines, and 2,028 in the table
        ("pa_mqa_big", 2028),  # 256 waves on 4 of 32 engines: some leave at once
        ("mla_decode", 2048),
        ("fused_rope_cache", 256),
        ("vec_add", 40_000),
    ],
)
def test_a_table_of_another_launch_says_nothing_about_this_one(name: str, waves: int | None) -> None:
    trace = real_trace(name)
    facts = roofline_facts(trace, of(trace), facts_about(trace, ()), 64)
    assert facts["launch_waves"] == waves
    assert (facts["launch_flop"] is None) == (waves is None)


def test_loops_are_parts_of_the_kernel() -> None:
    """MI350X delivers 8 TB/s to 256 compute units; realtime.json has two moments of both clocks."""
    trace = real_trace("preshuffle_gemm")
    whole, *loops = of(trace, facts_about(trace)).scopes
    assert [(one.first, one.last) for one in loops] == [(206, 346)]
    assert loops[0].flop() < whole.flop()
    assert loops[0].cycles < whole.cycles
    assert whole.intensity == pytest.approx(whole.flop() / whole.bytes)
    hz = (310_444 - 6_776) / ((236_586_153_767_167 - 236_586_153_752_343) / 100e6)  # 2.05 GHz
    assert whole.ridge == pytest.approx(8192 / (8e12 / (256 * hz)), rel=1e-3)
