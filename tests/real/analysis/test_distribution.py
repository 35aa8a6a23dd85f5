"""The rules of tests/analysis/test_distribution.py on real captures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.test_distribution import (
    test_hits_add_up_to_the_code_table,  # noqa: F401
    test_spreads_of_lines_are_those_of_their_hits,  # noqa: F401
)
from tests.real import captures


@pytest.fixture(params=["pa_mqa_small", "flash_attn_small_after", "vec_add"])
def folder(request: pytest.FixtureRequest) -> Path:
    return captures.trace_path(request.param)
