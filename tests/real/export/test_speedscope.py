"""Profiles of real captures add up."""

from pathlib import Path

import pytest

from tests.export.test_speedscope import test_profiles_add_up  # noqa: F401 - collected here, too
from tests.real.captures import trace_path


@pytest.fixture(params=["flash_attn_small_after", "vec_add", "pa_mqa_small"])
def folder(request: pytest.FixtureRequest) -> Path:
    return trace_path(request.param)
