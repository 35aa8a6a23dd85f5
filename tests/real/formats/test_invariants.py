"""The rules of tests/formats/test_invariants.py on real captures, whose sums other programs counted."""

import pytest

from tests.formats.test_invariants import *  # noqa: F403 - all of its tests are collected here, too
from tests.formats.test_invariants import Loaded, load
from tests.real.captures import THREAD_TRACES, trace_path
from tests.real.measured import MEASURED


@pytest.fixture(scope="module", params=THREAD_TRACES)
def loaded(request: pytest.FixtureRequest) -> Loaded:
    """A real capture with all its waves."""
    return load(trace_path(request.param), MEASURED[request.param])
