"""A finding that owns one of the ten hottest instructions is never folded away."""

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.findings.detect import of_inputs
from rcv_py.analysis.findings.finding import RANKED, SIMD_CYCLES, Finding, Predicted
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.model.trace import Trace
from tests.support.opened import VARIED, all_waves, traces_of

TEN = 10
LIMIT = Predicted(0.21, 0.1, 0.22)
WAITS = Finding("exposed-lds", "Waits", 100, True, 0.2, "What.", "Fix.", gain=0.22)


trace = traces_of(VARIED)


def test_the_owner_of_a_hot_instruction_is_shown(trace: Trace) -> None:
    inputs = FindingInputs(InMemory(trace, [all_waves(trace)]))
    found = of_inputs(inputs)
    code, table, patterns = trace.code, inputs.attribution, inputs.patterns
    costs = [int(cost) for cost in np.where(code.is_label, 0, code.latency + code.idle)]
    hottest = sorted(range(len(code)), key=lambda row: -costs[row])[:TEN]
    for row in (row for row in hottest if costs[row]):
        cycles: dict[int, int] = {}
        for line, pattern, spent in zip(table.line, patterns, table.cycles, strict=True):
            if line == row:
                cycles[int(pattern)] = cycles.get(int(pattern), 0) + int(spent)
        owners = [one for one in found.findings if row in one.hot]
        assert not any(one.is_small for one in owners)
        if not owners:
            continue
        owned = inputs.claimed(inputs.rows_of(max(cycles, key=lambda one: cycles[one])))
        assert row in owned.line
    assert {row for one in found.findings for row in one.hot} <= set(hottest)
    assert any(one.hot for one in found.findings)


def test_a_finding_is_small_if_bound_and_range_are() -> None:
    one = replace(WAITS, unit=SIMD_CYCLES, rank=RANKED)
    assert one.gain_row == "≤ 22 %"
    assert not replace(one, predicted=Predicted(0.016, 0.0, 0.2)).is_small, "the bound is large"
    small = replace(one, gain=0.015)
    assert small.is_small
    assert not replace(small, hot=(7,)).is_small
    about = replace(small, is_upper_bound=False)
    assert replace(about, predicted=Predicted(0.01, 0.0, 0.015)).is_small
    assert not replace(about, predicted=Predicted(0.01, 0.0, 0.2)).is_small, "the range is large"


@pytest.mark.parametrize(
    ("predicted", "limit", "row"),
    [
        (Predicted(0.016, 0.0, 0.2), None, "≤ 22 % → 1.6 % (0–20)"),
        (Predicted(0.016, -0.012, 0.2), None, "≤ 22 % → 1.6 % (−1.2 to 20)"),
        (Predicted(0.2, 0.2, 0.2), None, "≤ 22 % → 20 %"),
        (Predicted(0.004, -0.0001, 0.004), Predicted(0.21, 0.1, 0.22), "≤ 22 % → 0.4 % (0–0.4); limit 21 %"),
        (LIMIT, LIMIT, "≤ 22 % → 21 % (10–22)"),
    ],
)
def test_bound_and_prediction_stand_together(predicted: Predicted, limit: Predicted | None, row: str) -> None:
    assert replace(WAITS, predicted=predicted, limit=limit).gain_row == row
