"""Findings made of answers of reductions over files are those made of waves in memory."""

from __future__ import annotations

import pytest

from rcv_py.analysis.findings.detect import findings, of_inputs
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.findings.inputs import OF_ALL, OF_COUNTED, FindingInputs
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.work import reduce
from rcv_py.work.reduce import reduced
from tests.support.captures import trace_path
from tests.support.same import differences


def by_answers(trace: Trace, waves: str) -> Findings:
    inputs = FindingInputs(trace, waves=waves)
    reduced(trace, OF_ALL, inputs.wanted, likely=OF_COUNTED, workers=0)
    return of_inputs(inputs)


@pytest.mark.parametrize("waves", ["working", "all"])
@pytest.mark.parametrize("name", ["flash_attn_small_after", "pa_mqa_big", "vec_add"])
def test_findings_of_files_are_those_of_memory(
    name: str, waves: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduce, "SLAB_BYTES", 100_000)  # many slabs
    trace = open_trace(trace_path(name))
    whole = findings(trace, [trace.reader.read(range(len(trace.waves)))], waves=waves)
    assert not differences(whole, by_answers(trace, waves))
