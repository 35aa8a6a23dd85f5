"""Real raw captures."""

import pytest

from tests.real import golden_sqtt
from tests.support.sqtt_truth import Raw

DISPATCHES = [(name, 1) for name in golden_sqtt.NAMES]
DISPATCHES += [(name, 2) for name in golden_sqtt.NAMES if "gfx1100/sync" in name]
ALONE = ("gfx950/gemm_run_0", "gfx1100/sync_run_0", "gfx1200/gemm_run_0")


@pytest.fixture(params=DISPATCHES, ids=lambda one: f"{one[0]}-{one[1]}")
def raw(request: pytest.FixtureRequest) -> Raw:
    """A raw capture and its truth."""
    return golden_sqtt.raw(*request.param)


@pytest.fixture(params=ALONE)
def alone(request: pytest.FixtureRequest) -> Raw:
    """A raw capture with waves of a single kernel, and its truth."""
    return golden_sqtt.raw(request.param)
