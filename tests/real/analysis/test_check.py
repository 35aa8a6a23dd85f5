"""Nothing contradicts itself inside real captures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.test_check import test_nothing_is_wrong_with_whole_captures  # noqa: F401
from tests.real import captures


@pytest.fixture(params=[*captures.GOLDEN, "vec_add", "mla_decode", "fused_rope_cache"])
def folder(request: pytest.FixtureRequest) -> Path:
    return captures.trace_path(request.param)
