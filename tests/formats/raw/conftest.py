"""Simulated captures as raw ones."""

import pytest

from tests.support.raw_samples import ALONE, DISPATCHES, raw_sample
from tests.support.sqtt_truth import Raw


@pytest.fixture(params=DISPATCHES, ids=lambda one: f"{one[0]}-{one[1]}")
def raw(request: pytest.FixtureRequest) -> Raw:
    """A raw capture and its truth."""
    return raw_sample(*request.param)


@pytest.fixture(params=ALONE)
def alone(request: pytest.FixtureRequest) -> Raw:
    """A raw capture with waves of a single kernel, and its truth."""
    return raw_sample(request.param)
