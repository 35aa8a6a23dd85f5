"""A recording of a real capture plays as it was."""

import pytest

from rcv_py.model.trace import Trace
from tests.analysis.test_replay import test_experiments_play_as_in_the_slow_replay  # noqa: F401
from tests.analysis.test_whatif import test_a_recording_plays_as_it_was  # noqa: F401
from tests.real import captures


@pytest.fixture(params=captures.THREAD_TRACES)
def trace(request: pytest.FixtureRequest) -> Trace:
    return captures.real_trace(request.param)
