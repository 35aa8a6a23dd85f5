"""Findings made of answers of reductions over files are those made of waves in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rcv_py.analysis.core.answers import AnyReduction, Rows
from rcv_py.analysis.findings.detect import findings, of_inputs
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.formats.open import open_trace
from rcv_py.model.trace import Trace
from rcv_py.work import reduce
from rcv_py.work.reduce import Reading
from tests.support.captures import trace_path
from tests.support.same import differences


def by_answers(trace: Trace, waves: str, workers: int = 0) -> Findings:
    with Reading(trace, workers=workers) as answers:
        return of_inputs(FindingInputs(trace, waves=waves, answers=answers))


@pytest.mark.parametrize("waves", ["working", "all"])
@pytest.mark.parametrize("name", ["flash_attn_small_after", "pa_mqa_big", "vec_add"])
def test_findings_of_files_are_those_of_memory(
    name: str, waves: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduce, "SLAB_BYTES", 100_000)  # many slabs
    trace = open_trace(trace_path(name))
    whole = findings(trace, [trace.reader.read(range(len(trace.waves)))], waves=waves)
    assert not differences(whole, by_answers(trace, waves))


def test_files_are_read_in_few_steps_by_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduce, "SLAB_BYTES", 1_000_000)
    trace = open_trace(trace_path("pa_mqa_big"))
    looks: list[int] = []
    look = Reading._look

    def counted(self: Reading, reductions: Sequence[AnyReduction], rows: Rows) -> Sequence[Any]:
        looks.append(len(reductions))
        return look(self, reductions, rows)

    monkeypatch.setattr(Reading, "_look", counted)
    whole = findings(trace, [trace.reader.read(range(len(trace.waves)))])
    assert not differences(whole, by_answers(trace, "working", workers=1))
    assert len(looks) <= 3
