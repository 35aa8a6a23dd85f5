"""Captures with reference results, each read in two ways."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real import captures
from tests.support.fixtures import fixture_of_each
from tests.support.read_twice import READERS, GoldenCase, Opened

# Reads a capture: with the product's readers, and with a slow one that shares nothing with them
read = fixture_of_each(lambda name: READERS[name], READERS)


@pytest.fixture(params=[*captures.GOLDEN, *captures.SYNTHETIC])
def case(request: pytest.FixtureRequest, read: Callable[[Path], Opened]) -> GoldenCase:
    """A capture with its waves, and what the reference viewer computed from it."""
    name = request.param
    if name in captures.SYNTHETIC:
        path, golden = captures.synthetic_path(name), captures.golden(f"synthetic/{name}.rcv.json")
    else:
        path, golden = captures.trace_path(name), captures.golden(f"rcv/{name}.json")
    return GoldenCase(*read(path), golden)
