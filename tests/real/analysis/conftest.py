"""Captures with reference results."""

import pytest

from tests.real import captures
from tests.support.read_twice import GoldenCase, opened


@pytest.fixture(params=[*captures.GOLDEN, *captures.SYNTHETIC])
def case(request: pytest.FixtureRequest) -> GoldenCase:
    """A capture with its waves, and what the reference viewer computed from it."""
    name = request.param
    if name in captures.SYNTHETIC:
        path, golden = captures.synthetic_path(name), captures.golden(f"synthetic/{name}.rcv.json")
    else:
        path, golden = captures.trace_path(name), captures.golden(f"rcv/{name}.json")
    return GoldenCase(*opened(path), golden)
