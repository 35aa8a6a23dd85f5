"""Launches of real captures."""

from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.verdict import Verdict
from tests.analysis.in_memory import capture_costs
from tests.analysis.test_compare_launch import (
    swapped,
    test_a_launch_is_what_the_file_says,  # noqa: F401
)
from tests.real.captures import real_trace, trace_path
from tests.support.fixtures import fixture_of_each

folder = fixture_of_each(
    trace_path, ["flash_attn_small_before", "pa_mqa_small", "vec_add", "preshuffle_gemm"]
)


def real(name: str) -> CaptureCosts:
    trace = real_trace(name)
    return capture_costs(trace, [trace.reader.read(list(range(len(trace.waves))))])


def test_the_flash_pair_is_compared_by_launch() -> None:
    for found in swapped(real("flash_attn_small_before"), real("flash_attn_small_after")):
        assert found.verdict is Verdict.SAME
        assert abs(found.kernel.launch.duration.value - 1) < 0.01
        assert "80,980" in found.judgement.sentence
        assert "80,484" in found.judgement.sentence
