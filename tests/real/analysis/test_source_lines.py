"""The rule of tests/analysis/test_source_lines.py on real captures."""

import pytest

from rcv_py.model.trace import Trace
from tests.analysis.test_source_lines import test_lines_are_those_of_the_ranking  # noqa: F401
from tests.real import captures


@pytest.fixture(params=captures.TRACES)
def trace(request: pytest.FixtureRequest) -> Trace:
    return captures.real_trace(request.param)
