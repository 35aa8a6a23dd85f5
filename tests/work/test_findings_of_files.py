"""Findings of files are those of waves in memory, however the waves are cut, and by whichever processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rcv_py.analysis.findings.detect import findings, findings_from
from rcv_py.formats.open import open_trace
from rcv_py.work import load, reduce
from rcv_py.work.reduce import Reading
from tests.support.captures import trace_path
from tests.support.same import differences
from tests.support.samples import write_sample


@pytest.mark.parametrize("waves", ["working", "all"])
@pytest.mark.parametrize("name", ["flash_attn_small_after", "mixed_populations", "vec_add"])
def test_findings_of_files_are_those_of_memory(
    name: str, waves: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduce, "SLAB_BYTES", 100_000)  # many slabs
    monkeypatch.setattr(load, "IN_PROCESS_BYTES", 0)
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    if name == "mixed_populations":
        write_sample(name, folder)
    trace = open_trace(folder if name == "mixed_populations" else trace_path(name))
    whole = findings(trace, [trace.reader.read(list(range(len(trace.waves))))], waves=waves)
    for workers in (0, 2):
        with Reading(trace, workers=workers) as found:
            assert not differences(whole, findings_from(found, waves=waves))
