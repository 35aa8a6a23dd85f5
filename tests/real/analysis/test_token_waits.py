"""The rules of tests/analysis/test_token_waits.py on real captures."""

import pytest

from rcv_py.model.trace import Trace
from tests.analysis.test_token_waits import (  # noqa: F401
    test_both_directions_agree,
    test_no_step_is_made_for_each_token,
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(captures.real_trace, ["pa_mqa_big", "preshuffle_gemm"])


@pytest.fixture
def long(trace: Trace) -> Trace:
    return trace
