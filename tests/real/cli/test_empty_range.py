"""The rule of tests/features/range/test_empty.py on real captures."""

from tests.features.range.test_empty import test_no_wave_in_the_range  # noqa: F401
from tests.real.captures import trace_path
from tests.support.fixtures import fixture_of_each

folder = fixture_of_each(trace_path, ["pa_mqa_small", "vec_add"])
