"""Activity, states, busy SIMDs and the summary: against the simulator and counted cycle by cycle."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.cost.activity import SHOWN, STATE_SHARES, activity
from rcv_py.analysis.device.occupancy_curves import unit_table
from rcv_py.analysis.device.pipe_use import PIPE_USE, PIPES, covered
from rcv_py.analysis.overview.device_summary import summary_by
from rcv_py.features.summary.result import pipe_rows
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from rcv_py.synth.capture import Truth
from tests.analysis import build
from tests.support.columns import in_rows
from tests.support.fixtures import fixture_of_each
from tests.support.opened import all_waves, sample_trace
from tests.support.samples import resident, sample
from tests.support.simd_cycles import simds

CODE = build.code(["v_a"] * 9, hits=[2, 0, 1, 0, 0, 0, 0, 0, 0])
WAVES = (
    build.wave("vvVV..lLL|iI", place=(0, 0, 0, 0)),
    build.wave("mMM|bBBBB", row=1, begin=2, place=(0, 0, 1, 0)),
    build.wave("VV", row=2, begin=40, place=(0, 1, 0, 0)),
    build.wave("sS", row=3, begin=5, place=(1, 0, 0, 0), cu=3),
)


def by_cycle(waves: tuple[TracedWave, ...], kinds: set[int] | None) -> int:
    """Cycles in which any of the waves has a token of these kinds past its stall, counted one by one."""
    busy = set()
    for wave in waves:
        tokens = wave.tokens
        rows = zip(tokens.start + tokens.stall, tokens.end, tokens.kind, strict=True)
        for start, end, kind in rows:
            if kinds is None or int(kind) in kinds:
                busy |= set(range(int(start), int(end)))
    return len(busy)


name = fixture_of_each(lambda name: name, ["matmul_small", "kernels", "gfx11", "gfx12"])


@pytest.fixture
def trace(name: str) -> Trace:
    return sample_trace(name)


@pytest.fixture
def batches(trace: Trace) -> list[WaveBatch]:
    return [all_waves(trace)]


@pytest.fixture
def truth(name: str) -> Truth:
    """What the simulator knows of the capture."""
    return sample(name)[1]


def test_the_pie_is_that_of_the_simulated_lines(trace: Trace, truth: Truth) -> None:
    _, latency, stall, idle = truth.lines.sum(axis=0).tolist()
    found = activity(trace.code)
    issue = latency - stall
    assert (found.idle, found.stall, found.issue, found.total) == (idle, stall, issue, latency + idle)
    shares = [100 * part / (latency + idle) for part in (idle, stall, issue)]
    np.testing.assert_allclose(found.percent, shares, rtol=1e-12)


def test_states_are_those_of_all_timelines(trace: Trace, batches: list[WaveBatch]) -> None:
    """As the files of the waves tell them."""
    cycles: Counter[int] = Counter()
    for file in trace.waves.file:
        for state, length in json.loads((trace.path / file).read_text())["wave"]["timeline"]:
            cycles[state] += length
    found = build.of(STATE_SHARES, batches)
    assert {state: int(found.cycles[state]) for state in SHOWN} == {state: cycles[state] for state in SHOWN}
    for state in SHOWN:
        assert found.percent(state) == pytest.approx(100 * cycles[state] / cycles.total())
        assert cycles[state]


def test_busy_cycles_of_simds(batches: list[WaveBatch]) -> None:
    found = build.of(PIPE_USE, batches)
    waves: dict[tuple[int, int, int], list[TracedWave]] = {}
    for wave in (wave for batch in batches for wave in batch.waves):
        waves.setdefault((wave.id.se, wave.cu, wave.id.simd), []).append(wave)
    assert in_rows(found.se, found.cu, found.simd) == sorted(waves)
    for at, place in enumerate(sorted(waves)):
        here = tuple(waves[place])
        assert found.resident[at] == len(set().union(*(range(wave.begin, wave.end) for wave in here)))
        assert found.busy[at] == by_cycle(here, None)
    assert found.share() == found.busy.sum() / found.resident.sum()


def test_occupancy_in_the_summary(trace: Trace, truth: Truth) -> None:
    summary, waves = summary_by(None).of(trace, ()), resident(truth)
    value = {fact.id: fact.value for fact in summary.facts}
    assert summary.fact("waves_traced").of == f"of {len(truth.residencies)} waves that the trace saw"
    assert value["waves_traced"] == len(truth.waves)
    assert (value["duration"], value["peak_waves"]) == (len(waves), waves.max())
    assert value["mean_waves"] == pytest.approx(waves.mean(), abs=0.0001)
    assert value["ramp"] == np.flatnonzero(waves >= 0.9 * waves.max())[0]
    assert value["tail"] == len(waves) - 1 - np.flatnonzero(waves > waves.max() / 2)[-1]


def test_issue_and_work_stand_side_by_side_in_the_summary(trace: Trace, batches: list[WaveBatch]) -> None:
    """Cycle by cycle."""
    value = {fact.id: fact.value for fact in summary_by(None).of(trace, batches).facts}
    found = simds(trace, batches)
    whole = sum(int(simd.resident.sum()) for simd in found)
    counted = {
        "simd_busy": sum(int((simd.resident & simd.issue).sum()) for simd in found),
        "no_issue": sum(int((simd.resident & ~simd.issue).sum()) for simd in found),
        "matrix_busy": sum(int((simd.resident & simd.matrix).sum()) for simd in found),
        "nothing_happens": sum(int(simd.nothing.sum()) for simd in found),
    }
    assert all(counted.values())
    shares = {name: cycles / whole for name, cycles in counted.items()}
    assert {name: value[name] for name in counted} == pytest.approx(shares, abs=1e-6)


def test_units_add_up_to_the_waves_of_the_device(trace: Trace, truth: Truth) -> None:
    table = unit_table(trace)
    assert int(table.columns["cycles"].sum()) == resident(truth).sum()
    units = Counter((se, cu) for se, cu in truth.residencies[:, :2].tolist())
    found = zip(*(table.columns[name].tolist() for name in ("se", "cu", "waves")), strict=True)
    assert {(se, cu): waves for se, cu, waves in found} == units
    assert float(table.columns["mean"].sum()) == pytest.approx(resident(truth).mean(), abs=0.0001)
    assert (table.columns["peak"] <= table.columns["waves"]).all()
    assert int(table.columns["traced"].sum()) == len(truth.waves)


def test_each_simd_counts_its_own_waves_once() -> None:
    found = build.of(PIPE_USE, [build.batch(*WAVES)])
    assert in_rows(found.se, found.cu, found.simd) == [(0, 1, 0), (0, 1, 1), (1, 3, 0)]
    assert found.resident.tolist() == [11, 2, 2]
    assert found.busy.tolist() == [by_cycle(WAVES[:2], None), 2, 1]
    by_pipe = dict(zip(PIPES, found.pipes[0].tolist(), strict=True))
    assert by_pipe == {"Matrix": 2, "VALU": 2, "LDS": 2, "VMEM": 4, "Ray": 0, "Scalar": 0, "Other": 1}
    assert found.working.tolist() == [by_cycle(WAVES[:2], {6, 5, 13, 3}), 2, 1]
    assert found.used == ("Matrix", "VALU", "LDS", "VMEM", "Scalar", "Other")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-50, 50), st.integers(0, 30)), max_size=40))
def test_covered_is_counted_by_cycle(spans: list[tuple[int, int, int]]) -> None:
    group, start, length = (np.array([span[i] for span in spans], dtype=np.int64) for i in range(3))
    expected = [len({t for g, s, n in spans if g == at for t in range(s, s + n)}) for at in range(4)]
    assert covered(group, start, start + length, 4).tolist() == expected


def test_no_waves_is_no_use_and_no_states() -> None:
    assert len(build.of(PIPE_USE, [])) == 0
    assert build.of(PIPE_USE, []).share() == 0.0
    assert build.of(STATE_SHARES, []).total == 0
    assert build.of(STATE_SHARES, []).percent(WaveState.EXEC) == 0.0


def test_a_capture_without_anything_is_empty() -> None:
    trace = build.trace(build.code([]), [], occupancy=build.events([]))
    summary = summary_by(None).of(trace, ())
    assert summary.is_empty
    assert summary.facts == ()
    assert summary.units is None


def test_a_summary_before_waves_are_read() -> None:
    trace = build.trace(CODE, WAVES)
    before, after = summary_by(None).of(trace, ()), summary_by(None).of(trace, (build.batch(*WAVES),))
    assert (before.states, before.pipes, before.read) == (None, None, 0)
    assert before.fact("duration").value == 42
    assert (after.read, after.waves) == (4, 4)
    assert after.fact("executed").value == 2
    assert after.fact("simd_busy").value == pytest.approx((by_cycle(WAVES[:2], None) + 3) / 15, abs=1e-6)


def test_a_simd_whose_only_wave_lies_days_apart_worked_for_no_cycle() -> None:
    code = build.code(["v_add_f32 v0, v0, v1", "s_mov_b32 s0, 0", "s_endpgm"])
    near = [build.wave("VV|SS|I", [0, 1, 2], row=row, place=(0, 1, row, 0)) for row in range(5)]
    far = build.wave("VV|SS|I", [0, 1, 2], row=5, place=(1, 3, 0, 0), begin=1 << 60)
    found = summary_by(None).of(build.trace(code, [*near, far]), [build.batch(*near, far)])
    (_, _, there), (_, resident, left_out) = pipe_rows(found)
    assert resident > 0
    assert (there["no_issue"], left_out["no_issue"]) == (0, 0)


def test_numbers_of_some_waves_are_of_their_simds_while_they_are_resident() -> None:
    """Wave 0 works from 0 to 10 on SIMD 0; others issue there from 4 to 6 and 8 to 14, and on SIMD 1.

    SIMD 0 holds wave 0 for 10 cycles, issues in 0-2, 4-6 and 8-10, and does nothing in the other 4.  With all
    waves it would be 14 cycles on SIMD 0 and 4 on SIMD 1.
    """
    waves = [
        build.wave("VV......VV", [0] * 2, row=0),
        build.wave("VV", [0], row=1, begin=4, place=(0, 0, 1, 0)),
        build.wave("SSSSSS", [0], row=2, begin=8, place=(0, 0, 2, 0)),
        build.wave("VVVV", [0], row=3, place=(0, 1, 0, 0)),
    ]
    trace, batch = build.trace(build.code(["v_a"]), waves), build.batch(*waves)
    found = summary_by(frozenset({0})).of(trace, (batch,), frozenset({0}))
    assert (found.work.resident.tolist(), found.work.no_issue.tolist()) == ([10, 0], [4, 0])
    assert (found.pipes.simd.tolist(), found.pipes.resident.tolist()) == ([0], [10])
    assert (found.pipes.busy.tolist(), found.pipes.working.tolist()) == ([6], [6])
    assert (found.pipes.column("VALU").tolist(), found.pipes.column("Scalar").tolist()) == ([6], [2])
    assert {found.fact(name).of for name in ("simd_busy", "no_issue")} == {"of 10 SIMD-cycles"}
    assert (found.fact("hits").value, found.fact("hits").of) == (2, "by these waves")
    every = summary_by(None).of(trace, (batch,))
    assert every.work.resident.tolist() == [14, 4]
    assert every.fact("hits") is None, "this table of instructions records no execution"
