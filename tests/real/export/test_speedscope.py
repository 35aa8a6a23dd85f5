"""Profiles of real captures add up."""

from tests.export.test_speedscope import test_profiles_add_up  # noqa: F401 - collected here, too
from tests.real.captures import trace_path
from tests.support.fixtures import fixture_of_each

folder = fixture_of_each(trace_path, ["flash_attn_small_after", "vec_add", "pa_mqa_small"])
