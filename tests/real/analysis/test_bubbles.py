"""The rules of tests/analysis/test_bubbles.py on real captures."""

from tests.analysis.test_bubbles import (
    test_every_bubble_is_charged_exactly_once_however_waves_are_read,  # noqa: F401
    test_the_reference_s_rule_knows_no_matrix_work_and_no_end,  # noqa: F401
    test_time_under_the_end_of_a_program_is_drain_unless_another_wave_issues,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(captures.real_trace, captures.THREAD_TRACES)
