"""The rules of tests/analysis/test_executions.py on real captures."""

from tests.analysis.test_distribution import (
    test_hits_add_up_to_the_code_table,  # noqa: F401
    test_spreads_of_lines_are_those_of_their_hits,  # noqa: F401
)
from tests.analysis.test_executions import (
    test_next_slower_and_faster_go_through_all_in_order,  # noqa: F401
    test_the_median_is_that_of_the_files,  # noqa: F401
    test_without_idle_cycles_hits_are_the_same,  # noqa: F401
)
from tests.real.captures import trace_path
from tests.support.fixtures import fixture_of_each

folder = fixture_of_each(trace_path, ["pa_mqa_small", "vec_add", "flash_attn_small_after"])
