"""Bubbles of real captures: the reference numbers, and the rules of tests/analysis/test_bubbles.py."""

import pytest

from rcv_py.analysis.latency.bubbles import BUBBLES
from rcv_py.model.modes import ReferenceRule
from tests.analysis.test_bubbles import (
    test_every_bubble_is_charged_exactly_once_however_waves_are_read,  # noqa: F401
    test_the_reference_s_rule_knows_no_matrix_work_and_no_end,  # noqa: F401
    test_time_under_the_end_of_a_program_is_drain_unless_another_wave_issues,  # noqa: F401
)
from tests.real import captures
from tests.support.fixtures import fixture_of_each

trace = fixture_of_each(captures.real_trace, captures.THREAD_TRACES)


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_bubbles_are_the_reference_numbers(name: str) -> None:
    golden = captures.golden(f"beyond/{name}.json")["simd_issue"]
    trace = captures.real_trace(name)
    batches = [trace.reader.read(list(range(len(trace.waves))))]
    found = BUBBLES[ReferenceRule.REFERENCE].of(trace, batches)
    assert (found.resident, found.issuing, found.bubble) == (
        golden["resident"],
        golden["issue"],
        golden["bubble"],
    )
    assert round(100 * found.busy_share, 2) == golden["busy_pct"]
    for way, cycles in golden["bubble_by_kind"].items():
        assert getattr(found, way).sum() == cycles
    by_line = dict(zip(found.line.tolist(), found.total.tolist(), strict=True))
    assert all(by_line[row["line"]] == row["bubble_cycles"] for row in golden["top_lines"])
    assert found.total[:20].tolist() == [row["bubble_cycles"] for row in golden["top_lines"]]
