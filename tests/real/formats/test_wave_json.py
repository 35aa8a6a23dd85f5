"""Files of waves of real captures."""

from tests.formats.test_wave_json import test_files_of_captures_are_all_read_quickly  # noqa: F401
from tests.real.captures import THREAD_TRACES, trace_path
from tests.support.fixtures import fixture_of_each

folder = fixture_of_each(trace_path, THREAD_TRACES)  # A real capture
