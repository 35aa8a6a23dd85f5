"""Low occupancy is a gain only as far as the launch has waves for the room, of one population at a time."""

from pathlib import Path

import pytest

from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.findings import shape
from rcv_py.analysis.findings.detect import findings_from
from rcv_py.analysis.findings.finding import Finding
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.model.resources import KernelResources, RunFacts
from tests.analysis.test_populations import EXIT, WORKS, made, read
from tests.support.pattern_kernels import PATTERNS, captured

GROUP = (256, 1, 1)
FOUR_WAVES = RunFacts(KernelResources("k", 1, -1, 0, 16, 0, 0, GROUP, GROUP, "x_kernel_trace.csv"))


def inputs_of(name: str, folder: Path, facts: RunFacts | None = None, **launch: int) -> FindingInputs:
    trace, batch = captured(PATTERNS[name], folder / "ui_output_agent_1_dispatch_1", **launch)
    return FindingInputs(InMemory(trace, [batch]), facts=facts)


def low_occupancy(inputs: FindingInputs) -> Finding | None:
    return next(shape.occupancy(inputs), None)


@pytest.mark.parametrize(("groups", "is_gain"), [(2, False), (8, True)])
def test_room_is_a_gain_only_where_workgroups_wait_for_it(groups: int, is_gain: bool, tmp_path: Path) -> None:
    """204 registers are 208 of 512: two waves fit.  Two workgroups are resident at once: none waits."""
    inputs = inputs_of("low-occupancy", tmp_path, waves=2, groups=groups)
    assert (inputs.limits.waves, inputs.limits.resident.peak) == (2, 2)
    assert inputs.launched == groups
    found = low_occupancy(inputs)
    assert (found is not None) == is_gain
    if found is not None:
        assert found.title == "Occupancy limiter: vector registers"


def test_a_workgroup_has_at_most_1024_threads(tmp_path: Path) -> None:
    """A workgroup a unit: 16 waves of 64 lanes at most, so four on each of four SIMDs, though eight fit."""
    inputs = inputs_of("exposed-vector-load", tmp_path, FOUR_WAVES)
    assert (inputs.limits.waves, inputs.limits.group, inputs.launched) == (8, 4, 1)
    assert inputs.attainable == 4
    found = low_occupancy(inputs)
    assert "8 would fit, 4 in as many workgroups of at most 1,024 threads" in found.sentence
    assert "so that each SIMD has 4 waves" in found.remedy


def test_more_waves_never_cover_all_idle_cycles(tmp_path: Path) -> None:
    """Three waves more than one, each idle in the same part q of the time: q - q ** 4 is covered at most."""
    inputs = inputs_of("exposed-vector-load", tmp_path, FOUR_WAVES)
    found, work = low_occupancy(inputs), inputs.exposure
    idle = work.nothing / work.resident
    assert found.share <= idle - idle**4 + 1e-6


def test_occupancy_is_of_the_waves_that_work() -> None:
    """Two waves work on SIMDs 0 and 1, six leave early; with these a SIMD seems to hold two waves."""
    trace = made(WORKS, WORKS, *[EXIT] * 6)
    inputs = FindingInputs(InMemory(trace, read(trace)))
    assert len(inputs.counted) == 2
    assert (inputs.limits.resident.peak, inputs.limits.resident.simds) == (2, 4)
    assert (inputs.resident.peak, inputs.resident.mean, inputs.resident.simds) == (1, 1.0, 2)
    numbers = {one.id: one for one in findings_from(InMemory(trace, read(trace))).numbers}
    assert "occupancy" not in numbers or numbers["occupancy"].text == "1.0 waves per SIMD"
