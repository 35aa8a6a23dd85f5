"""Simulated captures, each read in two ways."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fixtures import fixture_of_each
from tests.support.opened import VARIED
from tests.support.read_twice import READERS, Case, Opened
from tests.support.samples import sample_path

# Reads a capture: with the product's readers, and with a slow one that shares nothing with them
read = fixture_of_each(lambda name: READERS[name], READERS)


@pytest.fixture(params=VARIED)
def case(request: pytest.FixtureRequest, read: Callable[[Path], Opened]) -> Case:
    """A capture with its waves."""
    return Case(*read(sample_path(request.param)))
