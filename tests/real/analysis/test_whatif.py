"""A recording of a real capture plays as it was."""

from tests.analysis.test_replay import test_experiments_play_as_in_the_slow_replay  # noqa: F401
from tests.analysis.test_whatif import test_a_recording_plays_as_it_was  # noqa: F401
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(captures.real_trace, captures.THREAD_TRACES)
