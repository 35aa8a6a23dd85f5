"""Who made waits of real captures wait, beside reference numbers; and the rules for all captures on them."""

import statistics
from collections import defaultdict

import pytest

from rcv_py.analysis.attribution.wait_costs import WAITS
from rcv_py.analysis.core.token_columns import columns_of
from rcv_py.analysis.waits.wait_latency import ages, measured
from rcv_py.analysis.waits.waitcnt.replay import replay
from rcv_py.model.trace import Trace
from tests.analysis.test_wait_costs import (
    blocking_rows,
    latency_rows,
    read,
    test_batches_add_up,  # noqa: F401
    test_no_stall_is_lost_or_charged_twice,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(captures.real_trace, captures.THREAD_TRACES)


def exact_samples(trace: Trace) -> dict[int, list[int]]:
    """The latencies, by code line, at waits that stalled for a single kind of operation."""
    tokens, found = columns_of(read(trace)), defaultdict[int, list[int]](list)
    links = replay(tokens, trace.code, trace.architecture)
    age, is_exact = ages(tokens, links, trace.architecture), measured(tokens, links)[0]
    for line, cycles in zip(
        tokens.line[links.newest[is_exact]].tolist(), age[is_exact].tolist(), strict=True
    ):
        found[line].append(max(0, cycles))
    return found


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_latencies_are_those_of_the_reference_numbers(name: str) -> None:
    trace = captures.real_trace(name)
    table = WAITS.of(trace, [read(trace)]).latency
    expected = captures.golden(f"beyond/{name}.json")["lat_top"]
    found, samples = latency_rows(table), exact_samples(trace)
    for row in expected:
        numbers = {key: float(row[key]) for key in ("exact", "censored", "p10", "median", "p90", "mean")}
        # The reference has the upper of two middle values.
        assert statistics.median_high(samples[row["line"]]) == numbers["median"]
        numbers["median"] = statistics.median(samples[row["line"]])
        assert found[row["line"]] == tuple(numbers.values()), row["line"]
    assert table.exact[: len(expected)].tolist() == [row["exact"] for row in expected]


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_stalls_are_charged_as_in_the_reference_numbers(name: str) -> None:
    trace = captures.real_trace(name)
    found = blocking_rows(WAITS.of(trace, [read(trace)]).blocking)
    expected = captures.golden(f"beyond/{name}.json")["wait_top"]
    for mine, row in zip(found[: len(expected)], expected, strict=True):
        assert mine[:4] == (row["line"], row["hits"], row["stall"], row["blocked"])
        assert mine[4][:3] == [(one["line"], one["n"], one["stall"]) for one in row["blocking"]]
