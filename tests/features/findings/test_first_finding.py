"""The class and the first finding of simulated kernels whose one cause was built in."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.device.memory_roof import memory_roof
from rcv_py.analysis.findings.bound_class import COMPUTE, ISSUE, LATENCY, LAUNCH, MEMORY
from rcv_py.analysis.findings.detect import of_inputs
from rcv_py.analysis.findings.finding import Findings
from rcv_py.analysis.findings.inputs import FindingInputs
from rcv_py.model.columns import joined
from rcv_py.model.resources import AgentFacts, RunFacts
from tests.support.pattern_kernels import PATTERNS, captured, loop

# An engine of 8 compute units, of which the simulated launches use 1.
MI300X = AgentFacts("gfx942", 8, 4, 64, 65_536, 32, "agent_info.csv", engines=4, product="MI300X")
DEVICE = RunFacts(agent=MI300X)
ALONE = RunFacts(agent=replace(MI300X, engines=0))  # nothing tells of other units


def arithmetic(count: int) -> str:
    """Instructions that depend on nothing."""
    return "\n".join(f"v_add_u32_e32 v{40 + i}, v{100 + i}, v{180 + i}" for i in range(count))


def loads(kind: str, count: int, size: int = 1) -> str:
    """Loads side by side, and a wait for all."""
    to = (f"v{4 + i}" if size == 1 else f"v[{4 + size * i}:{3 + size * (i + 1)}]" for i in range(count))
    return "\n".join([*(f"{kind} {register}, v1, s[4:5]" for register in to), "s_waitcnt vmcnt(0)"])


SCALAR_CHAIN = "\n".join(["s_load_dwordx2 s[4:5], s[4:5], 0x0\ns_waitcnt lgkmcnt(0)"] * 9)
LEAVING = "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 out  // iterations=skip\n" + PATTERNS["exposed-lds"].replace(
    "s_endpgm", "global_store_dword v1, v2, s[4:5]\nout:\ns_endpgm"
)
ONE_OF_EIGHT = (1, *[2] * 7)
SPILLS = "scratch_store_dwordx4 off, v[4:7], s32 offset:16\nscratch_load_dwordx4 v[8:11], off, s32 offset:16"


class Known(NamedTuple):
    """A kernel, and what must be said of it."""

    text: str
    bound: str
    first: str
    waves: int = 1  # a SIMD
    facts: RunFacts | None = None
    skips: tuple[int, ...] = (1,)  # by workgroup; 2: it leaves early


KERNELS = {
    "wide loads at the roof": Known(loop(loads("global_load_dwordx4", 1, 4)), MEMORY, "memory-bound", 4),
    "2-byte loads at the roof": Known(loop(loads("global_load_ushort", 8)), MEMORY, "memory-bound", 4),
    "loads at the roof beside much arithmetic": Known(
        loop(loads("global_load_dwordx3", 1, 3) + "\n" + arithmetic(64)), MEMORY, "memory-bound", 8
    ),
    "more bytes than memory has": Known(
        loop(loads("global_load_dwordx4", 8, 4)), LATENCY, "exposed-vector-load", 4
    ),
    "one load at a time": Known(PATTERNS["exposed-vector-load"], LATENCY, "exposed-vector-load"),
    "wide spills": Known(loop(f"{SPILLS}\ns_waitcnt vmcnt(0)"), LATENCY, "scratch-spills", 4),
    "arithmetic": Known(loop(arithmetic(12)), ISSUE, "issue-bound", 4),
    "half arithmetic, half loads": Known(
        loop(loads("global_load_dword", 1) + "\n" + arithmetic(32)), LATENCY, "exposed-vector-load", 8
    ),
    "a full matrix pipe": Known(PATTERNS["matrix-unit-busy"], COMPUTE, "wave-launch"),
    "a loop on an eighth of the device": Known(
        PATTERNS["exposed-lds"], LAUNCH, "grid-underfill", facts=DEVICE
    ),
    "scalar loads on an eighth of the device": Known(
        f"{SCALAR_CHAIN}\ns_endpgm", LAUNCH, "exposed-scalar-load", facts=DEVICE
    ),
    "seven of eight leave at once on an eighth of the device": Known(
        LEAVING, LAUNCH, "grid-underfill", 8, facts=DEVICE, skips=ONE_OF_EIGHT
    ),
    "scalar loads and arithmetic of a short wave": Known(
        "\n".join([SCALAR_CHAIN, *[arithmetic(60)] * 7, "s_endpgm"]), LATENCY, "exposed-scalar-load"
    ),
    "scalar loads of a short wave": Known(f"{SCALAR_CHAIN}\ns_endpgm", LATENCY, "exposed-scalar-load"),
}


def found_of(known: Known, folder: Path) -> tuple[FindingInputs, Findings]:
    trace, batch = captured(
        known.text,
        folder / "ui_output_agent_1_dispatch_1",
        waves=known.waves,
        groups=known.waves,
        skips=known.skips,
    )
    inputs = FindingInputs(InMemory(replace(trace, target="gfx942"), [batch]), facts=known.facts or ALONE)
    return inputs, of_inputs(inputs)


@pytest.mark.parametrize("name", KERNELS)
def test_class_and_first_finding_name_the_cause(name: str, tmp_path: Path) -> None:
    known = KERNELS[name]
    _, found = found_of(known, tmp_path)
    assert (found.bound_class.name, found.findings[0].name) == (known.bound, known.first)


def test_fewer_instructions_leave_a_memory_bound_kernel_its_bytes(tmp_path: Path) -> None:
    inputs, found = found_of(KERNELS["loads at the roof beside much arithmetic"], tmp_path)
    by_name = {one.name: one for one in found.findings}
    resident, issuing = inputs.exposure.resident, inputs.exposure.issuing
    rate = next(one.value for one in found.bound_class.numbers if one.id == "rate")
    roof = memory_roof(inputs.trace, inputs.facts)
    assert roof
    of_roof = rate / roof
    assert issuing > 0.6 * resident, "it issues in most cycles all the same"
    assert by_name["issue-bound"].cycles == pytest.approx(resident * (1 - of_roof), abs=1)


def test_waves_that_leave_at_once_are_no_peak_before_a_tail(tmp_path: Path) -> None:
    known = KERNELS["seven of eight leave at once on an eighth of the device"]
    inputs, found = found_of(known, tmp_path)
    assert inputs.occupancy.peak > 16
    assert inputs.occupancy.tail > 0.8
    assert inputs.working_curve.value.max() == 4
    assert "grid-tail" not in {one.name for one in found.findings}


def test_a_simd_whose_waves_all_left_at_once_got_no_work(tmp_path: Path) -> None:
    known = KERNELS["seven of eight leave at once on an eighth of the device"]
    inputs, _ = found_of(known, tmp_path)
    events = inputs.trace.occupancy
    brief = (
        inputs.working_lives.begin.min() + 100
    )  # a wave of 100 cycles on each SIMD of another compute unit
    more = events.at(np.repeat(np.flatnonzero(events.is_start)[:1], 8))
    elsewhere = replace(
        more,
        cu=more.cu + 1,
        simd=np.repeat(np.arange(4, dtype=more.simd.dtype), 2),
        is_start=np.tile([True, False], 4),
        time=np.tile([brief - 100, brief], 4),
    )
    trace = replace(inputs.trace, occupancy=joined([events, elsewhere]))
    again = FindingInputs(InMemory(trace, inputs.answers.batches), facts=known.facts)
    assert again.shape.used == 8
    assert again.working_shape.used == 4
    grid = next(one for one in of_inputs(again).findings if one.name == "grid-underfill")
    assert "28 of 32 SIMDs" in grid.sentence
    assert "never hold a wave that works" in grid.sentence


def test_fewer_instructions_leave_matrix_work(tmp_path: Path) -> None:
    matrix = "v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]\n"
    inputs, found = found_of(Known(loop(matrix + arithmetic(24)), ISSUE, "issue-bound", 2), tmp_path)
    issue = next(one for one in found.findings if one.name == "issue-bound")
    exposure = inputs.exposure
    assert exposure.matrix > 0
    assert issue.cycles == exposure.resident - exposure.nothing - exposure.matrix < exposure.issuing


def test_narrow_accesses_of_a_memory_bound_kernel_are_named(tmp_path: Path) -> None:
    _, found = found_of(KERNELS["2-byte loads at the roof"], tmp_path)
    assert "most accesses move 2 bytes per lane" in found.findings[0].remedy
