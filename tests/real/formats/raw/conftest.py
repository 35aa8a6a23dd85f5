"""Real raw captures."""

from __future__ import annotations

import pytest

from tests.real import golden_sqtt
from tests.support.sqtt_truth import Raw

DISPATCHES = [
    (name, dispatch)
    for name in golden_sqtt.NAMES
    for dispatch in ((1, 2) if "gfx1100/sync" in name else (1,))
]
ALONE = ("gfx950/gemm_run_0", "gfx1100/sync_run_0", "gfx1200/gemm_run_0")


@pytest.fixture(params=DISPATCHES, ids=lambda one: f"{one[0]}-{one[1]}")
def raw(request: pytest.FixtureRequest) -> Raw:
    """A raw capture and its truth."""
    return golden_sqtt.raw(*request.param)


@pytest.fixture(params=ALONE)
def alone(request: pytest.FixtureRequest) -> Raw:
    """A raw capture with waves of a single kernel, and its truth."""
    return golden_sqtt.raw(request.param)
