"""The rules of tests/features/findings/test_one_answer.py on real captures."""

from tests.features.findings.test_one_answer import (  # noqa: F401
    test_commands_and_pages_say_the_same,
    test_the_window_says_what_the_command_prints,
)
from tests.real.captures import trace_path
from tests.support.fixtures import fixture_of_each

NAMES = ("flash_attn_small_before", "fused_rope_cache", "pcsampling", "vec_add")


folder = fixture_of_each(trace_path, NAMES)
