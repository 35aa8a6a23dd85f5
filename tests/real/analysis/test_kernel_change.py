"""No prediction for a real capture is above its bound."""

import pytest

from rcv_py.formats.uiout.run_files import facts_about
from rcv_py.work.findings import findings_of_trace
from tests.analysis.test_whatif_limits import hold
from tests.real.captures import THREAD_TRACES, real_trace


@pytest.mark.parametrize("name", THREAD_TRACES)
def test_no_prediction_is_above_its_bound(name: str) -> None:
    trace = real_trace(name)
    hold(findings_of_trace(trace, facts_about(trace), predict=True))
