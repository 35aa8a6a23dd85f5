"""The rules of tests/cli/test_commands.py on real captures."""

from tests.cli.test_commands import (
    test_a_folder_of_captures_is_listed,  # noqa: F401
    test_every_command_reads_every_capture,  # noqa: F401
    test_hotspot_by_line_is_code_json_sorted,  # noqa: F401
    test_info_counts_what_is_in_the_files,  # noqa: F401
)
from tests.real.captures import THREAD_TRACES, TRACES, trace_path
from tests.support.fixtures import fixture_of, fixture_of_each

traced = fixture_of_each(trace_path, THREAD_TRACES)
capture = fixture_of_each(trace_path, TRACES)
ranked = fixture_of_each(trace_path, ["pa_mqa_small", "flash_attn_small_after", "vec_add"])
library = fixture_of(lambda: trace_path("pa_mqa_small").parents[1])
