"""The rules of tests/analysis/test_reductions.py on real captures."""

from tests.analysis.test_reductions import (  # noqa: F401
    Capture,
    cuts_anywhere,
    test_hundreds_of_waves_may_be_cut_apart,
    test_parcels_and_the_order_of_their_parts_do_not_matter,
    test_parcels_may_be_cut_in_time_within_waves_or_looked_at_in_pieces,
    test_pieces_of_a_parcel_have_a_bounded_number_of_tokens,
    whole_answer,
)
from tests.real.captures import real_trace, trace_path
from tests.support.fixtures import fixture_of, fixture_of_each
from tests.support.read_twice import opened

capture_for = fixture_of_each(
    lambda name: lambda _: opened(trace_path(name)),
    ["pa_mqa_small", "flash_attn_small_after"],
    scope="module",
)
short_waves = fixture_of(real_trace, "moe_reduce")
