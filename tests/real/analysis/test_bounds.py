"""The rules of tests/analysis/test_bounds.py on real captures."""

from functools import cache

from tests.analysis.test_bounds import (
    Looked,
    looked_at,
    test_all_waits_of_an_instruction_are_bounded_by_exactly_those_cycles,  # noqa: F401
    test_bounds_are_sizes_of_sets,  # noqa: F401
    test_every_claimed_cycle_of_a_wave_has_one_place_in_its_wait,  # noqa: F401
    test_no_bound_exceeds_the_cycles_in_which_its_waves_wait_and_nothing_happens,  # noqa: F401
    test_ranked_findings_stay_below_what_there_is_to_win,  # noqa: F401
    test_waits_in_front_of_the_loop_are_cut_to_it,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each


@cache
def looked_at_real(name: str) -> Looked:
    return looked_at(captures.real_trace(name))


looked = fixture_of_each(looked_at_real, captures.THREAD_TRACES)
with_loop = fixture_of_each(looked_at_real, ["flash_attn_small_after", "pa_mqa_big", "preshuffle_gemm"])
