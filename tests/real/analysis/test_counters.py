"""Raw counters of a capture with reference results."""

from rcv_py.analysis.counters.counters import counters
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from tests.analysis.test_counters import (
    test_an_engine_with_fewer_clock_samples_is_no_garbage,  # noqa: F401
    test_one_tflops_curve_at_the_rate_the_trace_states,  # noqa: F401
    test_without_a_clock_a_rate_says_why,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of

operations = fixture_of(lambda: open_trace(captures.synthetic_path("counters_gfx9")))


def test_interval_and_names_are_the_reference_s(operations: Trace) -> None:
    golden = captures.golden("synthetic/counters_gfx9.rcv.json")["counters"]
    found = counters(operations)
    assert [counter.name for counter in found.raw] == golden["names"]
    assert {counter.interval for counter in found.raw} == {golden["delta"]}
