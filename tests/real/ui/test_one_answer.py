"""The rules of tests/features/findings/test_one_answer.py on real captures."""

from pathlib import Path

import pytest

from tests.features.findings.test_one_answer import (  # noqa: F401
    test_commands_and_pages_say_the_same,
    test_the_window_says_what_the_command_prints,
)
from tests.real.captures import trace_path

NAMES = ("flash_attn_small_before", "fused_rope_cache", "pa_mqa_small", "pcsampling", "vec_add")


@pytest.fixture(params=NAMES)
def folder(request: pytest.FixtureRequest) -> Path:
    return trace_path(request.param)
