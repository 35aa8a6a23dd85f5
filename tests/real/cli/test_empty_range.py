"""The rule of tests/features/range/test_empty.py on real captures."""

from pathlib import Path

import pytest

from tests.features.range.test_empty import test_no_wave_in_the_range  # noqa: F401
from tests.real.captures import trace_path


@pytest.fixture(
    params=["pa_mqa_small", "vec_add"]
)  # the first cycle of the second has an alignment of its own
def folder(request: pytest.FixtureRequest) -> Path:
    return trace_path(request.param)
