"""The rules of tests/analysis/test_range_costs.py on a real capture."""

from tests.analysis.test_range_costs import (  # noqa: F401
    capture,
    test_a_range_of_all_time_has_the_sums_of_all_waves,
    test_between_of_a_loop_is_that_of_single_tokens,
    test_ranges_that_touch_add_up,
    test_units_are_as_busy_as_the_command_says,
    test_what_stalls_in_a_range_is_what_its_causes_sum_up_to,
)
from tests.real.captures import real_trace
from tests.support.fixtures import fixture_of

trace = fixture_of(real_trace, "pa_mqa_small")
