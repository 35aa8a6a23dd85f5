"""Waits and causes charge the same operations on real captures, and on the case that once told them apart."""

import pytest

from rcv_py.formats.open import open_trace
from tests.analysis.test_combined_waits import assert_same, caused, charged
from tests.real import captures


@pytest.mark.parametrize("name", captures.THREAD_TRACES)
def test_waits_and_causes_charge_the_same_operations(name: str) -> None:
    trace = captures.real_trace(name)
    assert_same(trace, trace.reader.read(list(range(len(trace.waves)))))


def test_an_lds_read_that_takes_60_cycles_is_not_charged_with_700() -> None:
    """One `s_waitcnt vmcnt(0) lgkmcnt(0)`: the load was last."""
    trace = open_trace(captures.SHARED / "cases/wait_blame_differs/mixed_wait/ui_output_agent_1_dispatch_1")
    batch = trace.reader.read(list(range(len(trace.waves))))
    assert charged(trace, batch)[9, 7] == caused(trace, batch)[9, 7] == (88_320, 0)
    assert (9, 8) not in charged(trace, batch)
