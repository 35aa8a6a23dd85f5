"""Hidden latency by the reference's rule is exactly the reference's."""

import numpy as np

from rcv_py.analysis.latency.hidden_latency import HIDDEN
from rcv_py.model.modes import ReferenceRule
from tests.analysis.test_hidden_latency import test_a_wave_that_is_alone_hides_nothing  # noqa: F401
from tests.support.read_twice import GoldenCase


def test_the_reference_rule_is_exactly_the_reference(case: GoldenCase) -> None:
    found = HIDDEN[ReferenceRule.REFERENCE].of(case.trace, case.batches)
    code, golden = case.trace.code, case.golden
    expected = np.zeros((3, len(code)), dtype=np.int64)
    for number, parts in golden["hidden_by_line_idle_stall_issue"].items():
        expected[:, code.row_of_number[int(number)]] = parts
    for part, column in zip((found.idle, found.stall, found.issue), expected, strict=True):
        np.testing.assert_array_equal(part, column)
    assert expected.sum(axis=1).tolist() == golden["hidden_total"]
    assert int(found.hidden(code).sum()) == golden["totals"]["hidden_clamped"]
    assert int(found.nonhidden(code).sum()) == golden["totals"]["nonhidden"]
