"""What limits a kernel: on numbers, on kernels whose limit was built in, and the shape of launches."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from rcv_py.analysis.core.occupancy import residencies
from rcv_py.analysis.core.reduction import InMemory
from rcv_py.analysis.device.memory_roof import memory_roof
from rcv_py.analysis.findings.bound_class import (
    CLASS_NAMES,
    CLASSES,
    COMPUTE,
    ISSUE,
    LATENCY,
    LAUNCH,
    MEMORY,
    SHOWN_NAMES,
    LoadNumbers,
    bound_class,
    class_of,
)
from rcv_py.analysis.findings.detect import findings, gain_of
from rcv_py.analysis.findings.finding import BoundClass
from rcv_py.analysis.findings.inputs import FindingInputs, launch_shape
from rcv_py.model.device import Clock
from rcv_py.model.resources import AgentFacts, RunFacts
from tests.support.fixtures import fixture_of_each
from tests.support.opened import sample_trace, sample_waves
from tests.support.pattern_kernels import PATTERNS, captured, loop

NONE = LoadNumbers(0.3, 0.1, 0.6, 0.1, 0.0, 0.2, 2.1, 13.0)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, LATENCY),
        ({"empty": 0.5}, LAUNCH),
        ({"empty": 0.49}, LATENCY),
        ({"matrix": 0.6, "nothing": 0.3}, COMPUTE),
        ({"rate": 7.8, "waits": 0.5}, MEMORY),
        ({"rate": 7.8, "waits": 0.49}, LATENCY),
        ({"rate": None, "waits": 0.9}, LATENCY),
        ({"roof": None, "waits": 0.9}, LATENCY),
        ({"issue": 0.6, "nothing": 0.3}, ISSUE),
        ({"issue": 0.55, "nothing": 0.45}, LATENCY),
        ({"rate": 19.4, "waits": 0.9}, MEMORY),
        ({"rate": 19.6, "waits": 0.9}, LATENCY),
        ({"matrix": 0.45, "issue": 0.3, "nothing": 0.4}, COMPUTE),
        ({"matrix": 0.45, "issue": 0.5, "nothing": 0.4}, COMPUTE),
        ({"empty": 0.9, "matrix": 0.9}, LAUNCH),
    ],
)
def test_the_first_rule_that_holds(changes: dict[str, float | None], name: str) -> None:
    found = bound_class(replace(NONE, **changes))
    assert found.name == name
    assert found.sentence.startswith(name.capitalize())
    assert found.sentence.endswith(".")
    assert len(found.sentence.split()) <= 12
    assert {one.id for one in found.numbers} <= set(SHOWN_NAMES)
    assert {rule.name for rule in CLASSES} == set(CLASS_NAMES)


def test_sentences_carry_the_numbers() -> None:
    assert bound_class(replace(NONE, nothing=0.61, matrix=0.16)).detail == (
        "SIMDs do nothing in 61 % of their cycles, although neither the matrix pipe "
        "(16 % busy) nor memory (at most 2.1 of 13.0 bytes/cycle per CU) is near its roof."
    )
    unknown = bound_class(replace(NONE, nothing=0.61, matrix=0.16, rate=14.6, roof=None)).detail
    assert unknown == (
        "SIMDs do nothing in 61 % of their cycles, while the matrix pipe is 16 % busy; how "
        "near memory is to its roof is not known: waves request at most 14.6 bytes/cycle per CU."
    )
    assert "is near its roof" not in bound_class(replace(NONE, rate=None)).detail
    cached = bound_class(replace(NONE, rate=27.4, waits=0.9)).detail
    assert "up to 27.4 bytes/cycle per CU, of which memory delivers at most 13.0, so caches serve" in cached
    near = bound_class(replace(NONE, matrix=0.909)).detail
    assert near == "The matrix pipe is busy in 91 % of SIMD cycles: within 9 % of its ceiling."
    assert "ceiling" not in bound_class(replace(NONE, matrix=0.7)).detail


def test_the_memory_roof_is_bandwidth_by_units_and_clock() -> None:
    def roof(target: str, product: str = "", cus: int = 0, ghz: float = 0.0) -> float | None:
        agent = AgentFacts(target, 8, 4, 64, 65_536, cus, "agent_info.csv", product=product)
        clock = Clock(ticks_per_cycle=0.1 / ghz if ghz else 0.0)  # ticks of 10 ns
        trace = replace(sample_trace("matmul_small"), target=target, clock=clock)
        return memory_roof(trace, RunFacts(agent=agent) if product or cus else None)

    assert roof("gfx942", "AMD Instinct MI300X") == pytest.approx(5300 / (304 * 2.1))  # 8.3
    assert roof("gfx942", "AMD Instinct MI300A") == pytest.approx(5300 / (228 * 2.1))  # 11.1
    assert roof("gfx942", "AMD Instinct MI325X") == pytest.approx(6000 / (304 * 2.1))  # 9.4
    assert roof("gfx950", "AMD Instinct MI350X") == pytest.approx(8000 / (256 * 2.2))  # 14.2
    assert roof("gfx950", "AMD Instinct MI355X") == pytest.approx(8000 / (256 * 2.4))  # 13.0
    assert roof("gfx1100", "AMD Radeon RX 7900 XT", 84) == pytest.approx(800 / (84 * 2.4))
    assert roof("gfx1100", "AMD Radeon RX 7900 XT/7900 XTX/7900M", 96) == pytest.approx(960 / (96 * 2.499))
    assert roof("gfx1201", "AMD Radeon Graphics", 64) == pytest.approx(640 / (64 * 2.97))
    assert roof("gfx1151", "AMD Radeon 8060S Graphics", 40) == pytest.approx(256 / (40 * 2.9))
    # Memory does not slow with the shader: at 2.04 GHz each cycle carries more bytes.
    assert roof("gfx950", "AMD Instinct MI350X", ghz=2.04) == pytest.approx(8000 / (256 * 2.04))  # 15.3
    assert roof("gfx950", ghz=2.04) == pytest.approx(8000 / (256 * 2.04)), "both devices agree"
    assert roof("gfx950") is None, "two devices, two clocks"
    assert roof("gfx942", ghz=2.1) is None, "three devices, three bandwidths"
    assert roof("gfx942", "AMD Instinct MI308X") is None
    assert roof("gfx1150", "AMD Radeon 890M", 16) is None
    assert roof("gfx9") is None


MFMA = "v_mfma_f32_32x32x8_f16 v[{0}:{1}], v[4:5], v[6:7], v[{0}:{1}]"
MATRIX = "\n".join(MFMA.format(16 * i, 16 * i + 15) for i in range(1, 13))
ARITHMETIC = "\n".join(f"v_add_u32_e32 v{40 + i}, v{60 + i}, v{80 + i}" for i in range(16))


def of_kernel(text: str, folder: Path, **launch: object) -> BoundClass:
    trace, batch = captured(text, folder / "ui_output_agent_1_dispatch_1", **launch)  # type: ignore[arg-type]
    return class_of(FindingInputs(InMemory(trace, [batch])))


def test_kernels_of_known_class(tmp_path: Path) -> None:
    matrix = of_kernel(loop(MATRIX), tmp_path / "matrix", rounds=(60,))
    assert matrix.name == COMPUTE
    assert matrix.evidence.value > 0.85, "nothing but matrix instructions"
    assert "of its ceiling" in matrix.detail
    issue = of_kernel(loop(ARITHMETIC), tmp_path / "issue", waves=4, groups=4, rounds=(40,))
    assert issue.name == ISSUE
    load = of_kernel(PATTERNS["exposed-vector-load"], tmp_path / "load")
    assert load.name == LATENCY
    assert load.evidence.id == "nothing"
    assert load.evidence.value > 0.5


def test_a_tiny_launch_is_launch_bound(tmp_path: Path) -> None:
    """Workgroups for one of eight compute units of an engine: seven of eight SIMDs never hold a wave."""
    trace, batch = captured(PATTERNS["exposed-lds"], tmp_path / "ui_output_agent_1_dispatch_1")
    agent = AgentFacts("gfx950", 8, 4, 64, 65_536, 32, "agent_info.csv", engines=4)
    found = class_of(FindingInputs(InMemory(trace, [batch]), facts=RunFacts(agent=agent)))
    assert found.name == LAUNCH
    assert found.evidence.id == "empty"
    assert found.evidence.value == pytest.approx(7 / 8, abs=0.01)
    assert "88 % of them never get one" in found.detail
    assert class_of(FindingInputs(InMemory(trace, [batch]))).name == LATENCY, "other units are unknown"


def test_a_kernel_of_loads_is_memory_bound_where_the_roof_is_known(tmp_path: Path) -> None:
    body = "\n".join(f"global_load_short_d16 v{i}, v1, s[4:5]" for i in range(1, 9))
    folder = tmp_path / "ui_output_agent_1_dispatch_1"
    trace, batch = captured(loop(f"{body}\ns_waitcnt vmcnt(0)"), folder, waves=5, groups=5)
    assert class_of(FindingInputs(InMemory(trace, [batch]))).name == LATENCY, "gfx9 is several devices"
    known = replace(trace, target="gfx942")
    assert class_of(FindingInputs(InMemory(known, [batch]))).name == LATENCY, "and so is gfx942"
    facts = RunFacts(agent=replace(AGENT, cus=304, engines=0))
    found = class_of(FindingInputs(InMemory(known, [batch]), facts=facts))
    assert found.name == MEMORY
    shown = {one.id: one.value for one in found.numbers}
    loads = [row for row, text in enumerate(known.code.text) if text.startswith("global_load")]
    assert len({(wave.id.se, wave.cu) for wave in batch.waves}) == 1
    cycles = max(wave.end for wave in batch.waves) - min(wave.begin for wave in batch.waves)
    assert shown["rate"] == pytest.approx(int(known.code.hits[loads].sum()) * 2 * 64 / cycles)
    assert shown["rate"] > 5300 / (304 * 2.1)


AGENT = AgentFacts("gfx942", 8, 4, 64, 65_536, 32, "agent_info.csv", engines=4, product="MI300X")
SIMDS = 8 * 4  # of an engine of that device


@cache
def looked_at(name: str) -> FindingInputs:
    trace, batch = sample_waves(name)
    return FindingInputs(InMemory(trace, [batch]), facts=RunFacts(agent=AGENT))


launched = fixture_of_each(looked_at, ["matmul_small", "kernels", "vector_add"])
# A launch that leaves most of the device empty
underfilled = fixture_of_each(looked_at, ["matmul_small", "kernels"])


def test_the_shape_of_a_launch_cycle_by_cycle(launched: FindingInputs) -> None:
    inputs = launched
    trace, shape = inputs.trace, inputs.shape
    lives = residencies(trace.occupancy)
    simds: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    columns = (lives.se, lives.sa, lives.cu, lives.simd, lives.begin, lives.end)
    for se, sa, cu, simd, begin, end in zip(*(column.tolist() for column in columns), strict=True):
        simds.setdefault((se, sa, cu, simd), []).append((begin, end))
    low, high = int(lives.begin.min()), int(lives.end.max())
    assert shape.duration == high - low
    assert shape.used == len(simds)
    engines = len(set(lives.se.tolist()))
    assert shape.simds == SIMDS * engines, "8 compute units an engine, by the table of agents"
    occupied = 0
    for spans in simds.values():
        here = np.zeros(high - low, dtype=bool)
        for begin, end in spans:
            here[begin - low : end - low] = True
        occupied += int(here.sum())
    assert shape.occupied == occupied
    working = np.zeros(high - low + 1, dtype=bool)
    for begin, end in zip(trace.waves.begin.tolist(), trace.waves.end.tolist(), strict=True):
        working[max(0, begin - low) : end - low] = True
    assert shape.working == int(working.sum())
    assert launch_shape(trace).simds == shape.used, "without the table only those that were seen"
    unrecorded = replace(trace, occupancy=trace.occupancy.at(np.arange(0)))
    assert launch_shape(unrecorded, inputs.facts).unused_share == 0, "traced units say nothing of others"


def test_a_record_of_occupancy_that_lost_its_end_says_nothing_of_a_launch() -> None:
    trace = sample_trace("matmul_small")
    lives = residencies(trace.occupancy)
    early = replace(lives, end=np.minimum(lives.end, lives.begin.min() + 100))
    shape = launch_shape(trace, lives=early.at(early.begin < early.end))
    assert shape.duration == trace.waves.end.max() - trace.waves.begin.min() > 100
    assert shape == launch_shape(replace(trace, occupancy=trace.occupancy.at(np.arange(0))))
    assert 0 < shape.working_share <= 1


def test_gains_are_shares_of_the_duration(underfilled: FindingInputs) -> None:
    inputs = underfilled
    shape = inputs.shape
    found = findings(inputs.trace, inputs.answers.batches, facts=inputs.facts)
    by_name = {one.name: one for one in found.findings}
    wait = by_name["exposed-scalar-load"]
    shared = 1 - wait.gain if "mostly once" in wait.title else 1.0
    assert by_name["grid-underfill"].gain == pytest.approx((1 - shape.used / shape.simds) * shared)
    resident = inputs.exposure.resident
    assert wait.gain == pytest.approx(wait.cycles / resident * shape.working / shape.duration)
    assert by_name["ramp-up"].gain == pytest.approx(by_name["ramp-up"].cycles / shape.duration)
    assert all(gain_of(one, shape) == one.gain for one in found.findings)
    assert found.sentence == found.bound_class.sentence
    assert found.findings[0].name == "grid-underfill"
    assert all(one.title in found.small_text for one in found.small)
    assert not set(found.small) & set(found.in_full)
