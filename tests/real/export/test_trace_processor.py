"""Traces of real captures answer queries."""

import pytest

from rcv_py.model.trace import Trace
from tests.export.test_trace_processor import test_a_trace_answers_queries  # noqa: F401 - collected here, too
from tests.real.captures import real_trace


@pytest.fixture(params=["pa_mqa_small", "vec_add"])
def trace(request: pytest.FixtureRequest) -> Trace:
    return real_trace(request.param)
