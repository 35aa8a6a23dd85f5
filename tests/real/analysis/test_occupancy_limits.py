"""Limits of occupancy of real captures, and what their tables and barriers tell of workgroups."""

import shutil
from pathlib import Path

import pytest

from rcv_py.analysis.device.occupancy_limits import occupancy_limits, waves_on_simd
from rcv_py.analysis.waves.workgroups import WORKGROUPS
from rcv_py.formats.open import open_trace
from rcv_py.formats.uiout.run_files import run_facts
from rcv_py.model.resources import RunFacts
from rcv_py.work.occupancy import limits_of as limits_of_work
from tests.real import captures
from tests.support.opened import load_all


@pytest.mark.parametrize(
    ("name", "fit", "binding", "peak"),
    [
        ("pa_mqa_big", 5, "vector registers", 2),
        ("flash_attn_small_after", 2, "vector registers", 1),
        ("mla_decode", 2, "vector registers", 2),
        ("preshuffle_gemm", 3, "vector registers", 3),
        ("moe_reduce", 8, None, 8),
    ],
)
def test_real_captures(name: str, fit: int, binding: str | None, peak: int) -> None:
    trace = captures.real_trace(name)
    found = occupancy_limits(trace, run_facts(trace.path, trace.kernel_name, trace.target))
    assert (found.waves, found.resident.peak) == (fit, peak)
    assert (found.binding.name if found.binding else None) == binding
    assert found.resident.peak <= found.waves
    assert 0 < found.resident.mean <= peak


def test_barriers_tell_how_many_waves_a_workgroup_puts_on_a_simd(tmp_path: Path) -> None:
    """What the barriers of a capture without tables tell is what its table says."""
    for name in ("flash_attn_small_after", "flash_attn_small_before", "pa_mqa_big"):
        source = captures.trace_path(name)
        told = run_facts(source, open_trace(source).kernel_name).kernel
        alone = tmp_path / name / "x" / "y"
        alone.parent.mkdir(parents=True)
        shutil.copytree(source, alone)
        trace = open_trace(alone)
        assert run_facts(alone, trace.kernel_name).kernel is None
        found = waves_on_simd(trace, WORKGROUPS.of(trace, load_all(trace, workers=0)))
        assert found in (0, -(-told.threads // 256))
        assert limits_of_work(trace, RunFacts()).waves >= 1
