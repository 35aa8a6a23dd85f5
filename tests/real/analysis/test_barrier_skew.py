"""Barriers of real captures: the reference numbers.

Where the reference has the upper of two middle values, the median is their mean.
"""

import statistics

import pytest

from rcv_py.analysis.latency.barrier_skew import BARRIER_SKEW
from tests.real import captures


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_skew_is_the_reference_number(name: str) -> None:
    golden = captures.golden(f"beyond/{name}.json")["barriers"]
    trace = captures.real_trace(name)
    found = BARRIER_SKEW.of(trace, [trace.reader.read(list(range(len(trace.waves))))])
    assert len(found) == golden["instances"]
    if len(found):
        skew = found.skew.tolist()
        assert statistics.median_high(skew) == golden["arrival_skew_median"]
        assert found.median == statistics.median(skew)
        assert found.skew.max() == golden["arrival_skew_max"]
        assert found.spread.max() == golden["release_spread_max"]
