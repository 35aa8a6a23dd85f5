"""Activity, states, busy SIMDs and the summary: against the reference results and counted cycle by cycle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rcv_py.analysis.core.occupancy import steps
from rcv_py.analysis.cost.activity import SHOWN, activity, state_shares
from rcv_py.analysis.device.pipe_use import PIPES, covered, pipe_use
from rcv_py.analysis.device.unit_table import unit_table
from rcv_py.analysis.overview.device_summary import device_summary
from rcv_py.model.kinds import WaveState
from rcv_py.model.waves import Wave
from rcv_py.results.summary import pipe_rows
from tests.analysis import build
from tests.support import captures
from tests.support.read_twice import opened
from tests.support.simd_cycles import simds

CODE = build.code(["v_a"] * 9, hits=[2, 0, 1, 0, 0, 0, 0, 0, 0])
WAVES = (
    build.wave("vvVV..lLL|iI", place=(0, 0, 0, 0)),
    build.wave("mMM|bBBBB", row=1, begin=2, place=(0, 0, 1, 0)),
    build.wave("VV", row=2, begin=40, place=(0, 1, 0, 0)),
    build.wave("sS", row=3, begin=5, place=(1, 0, 0, 0), cu=3),
)


@pytest.fixture(params=captures.GOLDEN)
def real(request: pytest.FixtureRequest):
    """A capture, its waves and what is known of it."""
    trace, batches = opened(captures.trace_path(request.param))
    name = request.param
    return trace, batches, captures.golden(f"rcv/{name}.json"), captures.golden(f"beyond/{name}.json")


def test_the_pie_is_the_reference_s(real) -> None:
    trace, _, golden, _ = real
    expected = {name: share for name, share in golden["pie"]}
    found = activity(trace.code)
    assert len(expected) == 3
    np.testing.assert_allclose(found.percent, list(expected.values()), rtol=3e-7)
    assert found.total == golden["totals"]["latency"] + golden["totals"]["idle"]


def test_states_are_those_of_all_timelines(real) -> None:
    _, batches, _, beyond = real
    found = state_shares(batches)
    assert {state.name: int(found.cycles[state]) for state in SHOWN} == beyond["state_cycles"]
    for state in SHOWN:
        assert found.percent(state) == pytest.approx(beyond["state_pct"][state.name], abs=0.005)


def test_busy_cycles_of_simds(real) -> None:
    _, batches, _, beyond = real
    found, golden = pipe_use(batches), beyond["simd_issue"]
    assert int(found.resident.sum()) == golden["resident"]
    assert int(found.busy.sum()) == golden["issue"]
    assert 100 * found.share() == pytest.approx(golden["busy_pct"], abs=0.005)


def test_occupancy_in_the_summary(real) -> None:
    trace, batches, _, beyond = real
    summary = device_summary(trace, batches)
    value = {fact.id: fact.value for fact in summary.facts}
    assert summary.fact("waves_traced").of == f"of {beyond['waves_total']} waves on the device"
    assert (value["duration"], value["peak_waves"]) == (beyond["span"], beyond["peak_waves"])
    assert value["mean_waves"] == pytest.approx(beyond["avg_waves"], abs=0.005)
    assert 100 * value["tail"] / value["duration"] == pytest.approx(beyond["tail_below_half_pct"], abs=0.005)


def test_issue_and_work_stand_beside_each_other_in_the_summary(real) -> None:
    """Cycle by cycle; the reference also counts the time in which a wave waits in s_endpgm as issue."""
    trace, batches, _, beyond = real
    value = {fact.id: fact.value for fact in device_summary(trace, batches).facts}
    found = simds(trace, batches)
    whole = sum(int(simd.resident.sum()) for simd in found)
    counted = {
        "simd_busy": sum(int((simd.resident & simd.issue).sum()) for simd in found),
        "no_issue": sum(int((simd.resident & ~simd.issue).sum()) for simd in found),
        "matrix_busy": sum(int((simd.resident & simd.matrix).sum()) for simd in found),
        "nothing_happens": sum(int(simd.nothing.sum()) for simd in found),
    }
    assert {name: value[name] for name in counted} == pytest.approx(
        {name: cycles / whole for name, cycles in counted.items()}, abs=1e-6
    )
    assert value["simd_busy"] < beyond["simd_issue"]["busy_pct"] / 100
    assert 100 * value["matrix_busy"] == pytest.approx(
        beyond["mfma_model"]["pct_of_resident_simd_cycles"], abs=0.005
    )


def test_units_add_up_to_the_curve(real) -> None:
    trace, _, _, beyond = real
    table = unit_table(trace)
    assert table is not None
    curve = steps(trace.occupancy)[-1]
    assert int(table.column("cycles").sum()) == curve.area
    assert int(table.column("waves").sum()) == beyond["waves_total"]
    assert float(table.column("mean").sum()) == pytest.approx(beyond["avg_waves"], abs=0.005)
    assert (table.column("peak") <= table.column("waves")).all()
    assert int(table.column("traced").sum()) == len(trace.waves)


def by_cycle(waves: tuple[Wave, ...], kinds: set[int] | None) -> int:
    """Cycles in which any of the waves has a token of these kinds past its stall, counted one by one."""
    busy = set()
    for wave in waves:
        tokens = wave.tokens
        rows = zip(tokens.start + tokens.stall, tokens.end, tokens.kind, strict=True)
        for start, end, kind in rows:
            if kinds is None or int(kind) in kinds:
                busy |= set(range(int(start), int(end)))
    return len(busy)


def test_each_simd_counts_its_own_waves_once() -> None:
    found = pipe_use([build.batch(*WAVES)])
    assert list(zip(found.se.tolist(), found.cu.tolist(), found.simd.tolist(), strict=True)) == [
        (0, 1, 0),
        (0, 1, 1),
        (1, 3, 0),
    ]
    assert found.resident.tolist() == [11, 2, 2]
    assert found.busy.tolist() == [by_cycle(WAVES[:2], None), 2, 1]
    by_pipe = dict(zip(PIPES, found.pipes[0].tolist(), strict=True))
    assert by_pipe == {"Matrix": 2, "VALU": 2, "LDS": 2, "VMEM": 4, "Ray": 0, "Scalar": 0, "Other": 1}
    assert found.working.tolist() == [by_cycle(WAVES[:2], {6, 5, 13, 3}), 2, 1]
    assert found.used == ("Matrix", "VALU", "LDS", "VMEM", "Scalar", "Other")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-50, 50), st.integers(0, 30)), max_size=40))
def test_covered_is_counted_by_cycle(spans: list[tuple[int, int, int]]) -> None:
    group, start, length = (np.array([span[i] for span in spans], dtype=np.int64) for i in range(3))
    expected = [
        len({t for g, s, n in spans if g == group_number for t in range(s, s + n)})
        for group_number in range(4)
    ]
    assert covered(group, start, start + length, 4).tolist() == expected


def test_no_waves_is_no_use_and_no_states() -> None:
    assert len(pipe_use([])) == 0
    assert pipe_use([]).share() == 0.0
    assert state_shares([]).total == 0
    assert state_shares([]).percent(WaveState.EXEC) == 0.0


def test_a_capture_without_anything_is_empty() -> None:
    trace = build.trace(build.code([]), [], occupancy=build.events([]))
    summary = device_summary(trace, ())
    assert summary.is_empty
    assert summary.facts == ()
    assert summary.units is None


def test_a_summary_before_waves_are_read() -> None:
    trace = build.trace(CODE, WAVES)
    before, after = device_summary(trace, ()), device_summary(trace, (build.batch(*WAVES),))
    assert (before.states, before.pipes, before.read) == (None, None, 0)
    assert before.fact("duration").value == 42
    assert (after.read, after.waves) == (4, 4)
    assert after.fact("executed").value == 2
    assert after.fact("simd_busy").value == pytest.approx((by_cycle(WAVES[:2], None) + 3) / 15, abs=1e-6)


def test_a_simd_whose_only_wave_lies_days_apart_worked_for_no_cycle() -> None:
    code = build.code(["v_add_f32 v0, v0, v1", "s_mov_b32 s0, 0", "s_endpgm"])
    near = [build.wave("VV|SS|I", [0, 1, 2], row=row, place=(0, 1, row, 0)) for row in range(5)]
    far = build.wave("VV|SS|I", [0, 1, 2], row=5, place=(1, 3, 0, 0), begin=1 << 60)
    found = device_summary(build.trace(code, [*near, far]), [build.batch(*near, far)])
    (_, _, there), (_, resident, left_out) = pipe_rows(found)
    assert resident > 0
    assert (there["no_issue"], left_out["no_issue"]) == (0, 0)
