"""Comparisons of real captures."""

from functools import cache

import pytest
from msgspec.structs import replace

from rcv_py.analysis.compare.compare import compare
from rcv_py.analysis.compare.costs import CaptureCosts
from rcv_py.analysis.compare.verdict import Verdict
from tests.analysis.in_memory import capture_costs
from tests.analysis.test_compare_numbers import (
    test_a_recorded_capture_does_not_differ_from_itself,  # noqa: F401
    test_costs_are_the_sums_over_all_waves,  # noqa: F401
    test_every_grouping_has_the_same_sums,  # noqa: F401
)
from tests.real.captures import THREAD_TRACES, real_trace
from tests.support.fixtures import fixture_of, fixture_of_each


@cache
def real(name: str) -> CaptureCosts:
    trace = real_trace(name)
    return capture_costs(trace, [trace.reader.read(list(range(len(trace.waves))))])


trace = fixture_of_each(real_trace, [name for name in THREAD_TRACES if name != "moe_reduce"])
one = fixture_of_each(real, ["flash_attn_small_before", "pa_mqa_small", "vec_add", "fused_rope_cache"])
pair = fixture_of(lambda: (real("flash_attn_small_before"), real("flash_attn_small_after")))


def test_more_waves_of_the_same_build_are_no_regression() -> None:
    before, after = real("flash_attn_small_before"), real("flash_attn_small_after")
    totals = [int(side.sums("latency").sum()) for side in (before, after)]
    assert totals == [208060, 342176]  # two thirds more in all
    for found in (compare(before, after), compare(after, before)):
        assert found.verdict is Verdict.SAME
        assert found.kernel.at_equal_hits.value == pytest.approx(1, abs=0.02)
        assert any("totals differ by that alone" in note for note in found.notes)


def test_what_a_place_brings_with_it_is_no_noise() -> None:
    """One slot takes a fifth longer than the other in both captures, yet 7 % more in all are seen."""
    a, b = real("pa_mqa_big"), real("pa_mqa_big")
    more = replace(b, latency=b.latency + 0.15 * b.stall, stall=1.15 * b.stall)
    assert compare(a, more).verdict is Verdict.MORE
    assert a.places is not None
    elsewhere = replace(more, places=a.places + 1)  # as if nothing ran where it ran before
    assert compare(a, elsewhere).verdict is Verdict.SAME


def test_different_kernels_are_not_comparable() -> None:
    found = compare(real("flash_attn_small_before"), real("pa_mqa_big"))
    assert (found.verdict, found.kernel) == (Verdict.NOT_COMPARABLE, None)
    assert "flash_attn_func_kernel_0 and pa_mqa_logits_fp4_kernel_0" in found.judgement.sentence


def test_another_size_of_the_problem_is_not_comparable() -> None:
    """The large one goes through a loop that the small one never enters."""
    found = compare(real("pa_mqa_big"), real("pa_mqa_small"))
    assert found.verdict is Verdict.NOT_COMPARABLE
