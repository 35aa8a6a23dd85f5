"""Why PC samples did not issue."""

import json

import numpy as np

from rcv_py.analysis.cost.pc_samples import reason_meaning, reason_name, stall_reasons
from rcv_py.model.kinds import StallReason
from rcv_py.model.trace import Trace
from tests.analysis import build
from tests.support.fixtures import fixture_of
from tests.support.opened import sample_trace

trace = fixture_of(sample_trace, "pc_sampling")


def test_reasons_add_up_over_the_kernel_and_by_line(trace: Trace) -> None:
    rows = json.loads((trace.path / "code.json").read_text())["code"]
    whole = stall_reasons(trace.code)
    assert whole.issued == sum(row[10] for row in rows)
    assert whole.stalled == sum(row[11] for row in rows)
    assert whole.count.tolist() == np.sum([row[12] for row in rows], axis=0).tolist()
    assert whole.unknown == 0
    counts = {StallReason(number): n for number, n in enumerate(whole.count.tolist()) if n}
    assert dict(whole.ranked()) == counts
    assert whole.ranked()[0][1] == max(counts.values())
    line = max(range(len(rows)), key=lambda row: rows[row][11])
    assert stall_reasons(trace.code, slice(line, line + 1)).stalled == rows[line][11]


def test_a_thread_trace_has_none() -> None:
    found = stall_reasons(build.code(["v_a"]))
    assert (found.samples, found.ranked(), found.unknown) == (0, (), 0)


def test_every_reason_has_a_name_and_a_meaning() -> None:
    for reason in StallReason:
        assert reason_name(reason)
        assert reason_meaning(reason)
    assert reason_name(12) == "reason 12"
