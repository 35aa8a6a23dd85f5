"""Why the samples of a real capture did not issue."""

from rcv_py.analysis.cost.pc_samples import stall_reasons
from rcv_py.model.kinds import StallReason
from rcv_py.model.trace import Trace
from tests.analysis.test_stall_reasons import (
    test_reasons_add_up_over_the_kernel_and_by_line,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of

trace = fixture_of(captures.real_trace, "pcsampling")


def test_most_found_their_pipe_stalled(trace: Trace) -> None:
    assert stall_reasons(trace.code).ranked()[0] == (StallReason.PIPE_STALLED, 777)
