"""`rcv isa` on real captures: numbers, and rules of tests/features/isa/test_command.py."""

import csv
import io

from tests.features.isa.test_command import (
    test_blocks_hold_all_costs,  # noqa: F401
    test_the_listing_is_in_program_order_or_ranked,  # noqa: F401
)
from tests.real.captures import TRACES, trace_path
from tests.support.command_runs import printed
from tests.support.fixtures import fixture_of, fixture_of_each

capture = fixture_of_each(trace_path, TRACES)
listed = fixture_of(trace_path, "pa_mqa_small")


def test_numbers_that_name_are_not_grouped_and_samples_are_no_cycles() -> None:
    lines = printed("isa", trace_path("flash_attn_small_after"), "--top", 2).splitlines()
    assert [line.split()[:3] for line in lines[1:3]] == [["3", "8", "11,608"], ["2069", "8", "9,548"]]
    jumps = printed("isa", trace_path("pa_mqa_small"), "--branches", "--top", 1).splitlines()
    assert jumps[1].split()[:6] == ["143", "149", "0", "4", "0.0", "%"]
    sampled = printed("isa", trace_path("pcsampling"), "--top", 1).splitlines()[0].split()
    assert sampled == ["#", "samples", "stalled", "share", "block", "instruction", "source"]
    assert "has no branches" in printed("isa", trace_path("vec_add"), "--branches")


def test_branches_are_counted_over_all_waves() -> None:
    text = printed("isa", trace_path("preshuffle_gemm"), "--branches", "--csv")
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["instruction"] == "346"
    assert row["target_instruction"] == "206"
    assert row["taken"] == "952"
    assert row["not_taken"] == "68"
    assert "1 of 1 branch." in printed("isa", trace_path("preshuffle_gemm"), "--branches")
