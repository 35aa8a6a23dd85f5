"""States of the waves of real captures, beside reference numbers; and the rules for all captures on them."""

import pytest

from rcv_py.analysis.device.wave_states import LIVING, state_curves
from rcv_py.model.kinds import WaveState
from tests.analysis import build
from tests.analysis.test_wave_states import (
    read,
    test_areas_are_the_sums_over_the_timelines_and_the_writer_s_curves,  # noqa: F401
    test_many_waves_take_few_steps_each,  # noqa: F401
    unaligned,
)
from tests.real import captures
from tests.support.fixtures import fixture_of, fixture_of_each

trace = fixture_of_each(captures.real_trace, captures.THREAD_TRACES)
many = fixture_of(captures.real_trace, "moe_reduce")


@pytest.mark.parametrize("name", captures.GOLDEN)
def test_shares_and_peaks_are_the_reference_s(name: str) -> None:
    trace = captures.real_trace(name)
    batches = read(trace)
    golden = captures.golden(f"beyond/{name}.json")
    curves, raw = build.of(state_curves(), batches), build.of(state_curves(), [unaligned(trace, batches)])
    assert {s.name: int(curves.cycles[s]) for s in WaveState if s} == golden["state_cycles"]
    for state in LIVING:
        assert 100 * curves.shares[state] == pytest.approx(golden["state_pct"][state.name], abs=0.005)
        file = golden["wstates_files"][str(int(state))]
        assert (int(raw.cycles[state]), int(raw.count[state].max())) == (file["area"], file["peak"])
