"""Waves in each state over time, against timelines added up cycle by cycle and the reference's numbers."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rcv_py.analysis.core.parcels import alone
from rcv_py.analysis.device.wave_states import LIVING, StateCurves, state_curves
from rcv_py.formats.input.files import try_json
from rcv_py.model.ids import WaveId
from rcv_py.model.kinds import WaveState
from rcv_py.model.trace import Trace
from rcv_py.model.waves import TracedWave, WaveBatch
from tests.analysis import build
from tests.support import drawing
from tests.support.fixtures import fixture_of
from tests.support.opened import VARIED, sample_trace, traces_of
from tests.support.python_calls import python_calls


def batch(*timelines: tuple[int, str], row: int = 0) -> WaveBatch:
    """A wave a timeline: (begin, letters of states); the first one has that row of the wave index."""
    waves = []
    for slot, (begin, text) in enumerate(timelines):
        wave = build.wave("v" * max(1, len(text)), begin=begin, row=row + slot, place=(slot % 2, 0, slot, 0))
        waves.append(wave._replace(states=drawing.states(text, base=begin)))
    return build.batch(*waves)


def at(curves: StateCurves, time: int) -> list[int]:
    row = int(np.searchsorted(curves.time, time, "right")) - 1
    return curves.count[:, row].tolist() if row >= 0 else [0] * len(WaveState)


def test_two_waves_add_up() -> None:
    curves = build.of(state_curves(), [batch((10, "EEWWI"), (12, "ESS"))])
    assert curves.time.tolist() == [10, 12, 13, 14, 15]
    assert curves.count[WaveState.EXEC].tolist() == [1, 1, 0, 0, 0]
    assert curves.count[WaveState.WAIT].tolist() == [0, 1, 1, 0, 0]
    assert curves.count[WaveState.STALL].tolist() == [0, 0, 1, 1, 0]
    assert curves.count[WaveState.IDLE].tolist() == [0, 0, 0, 1, 0]
    assert curves.cycles.tolist() == [0, 1, 3, 2, 2]
    assert curves.shares.sum() == pytest.approx(1.0)


def test_one_shader_engine() -> None:
    made = batch((0, "EEE"), (0, "WWW"), (1, "S"))
    assert build.of(state_curves(0), [made]).cycles.tolist() == [0, 0, 3, 0, 1]
    assert build.of(state_curves(1), [made]).cycles.tolist() == [0, 0, 0, 3, 0]
    assert build.of(state_curves(7), [made]).waves == 0


def test_no_waves() -> None:
    curves = build.of(state_curves(), [])
    assert (len(curves), curves.waves, curves.cycles.tolist()) == (0, 0, [0] * len(WaveState))
    assert curves.shares.tolist() == [0.0] * len(WaveState)


@given(
    st.lists(st.tuples(st.integers(0, 12), st.text("IEWS", min_size=1, max_size=20)), max_size=6),
    st.integers(1, 9),
)
def test_every_cycle_has_the_waves_that_are_in_a_state(timelines: list[tuple[int, str]], many: int) -> None:
    parts = ((0, timelines[:2]), (2, timelines[2:]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rcv_py.analysis.device.wave_states.AT_ONCE", many)
        curves = build.of(state_curves(), [batch(*part, row=row) for row, part in parts if part])
    letter = {"I": WaveState.IDLE, "E": WaveState.EXEC, "W": WaveState.WAIT, "S": WaveState.STALL}
    for time in range(40):
        expected = [0] * len(WaveState)
        for begin, text in timelines:
            if begin <= time < begin + len(text):
                expected[letter[text[time - begin]]] += 1
        assert at(curves, time) == expected
    assert (np.diff(curves.time) > 0).all()


trace = traces_of(VARIED)


def read(trace: Trace) -> list[WaveBatch]:
    rows = list(range(len(trace.waves)))
    return [trace.reader.read(rows[i : i + 64]) for i in range(0, len(rows), 64)]


def unaligned(trace: Trace, batches: Sequence[WaveBatch]) -> WaveBatch:
    """The waves on the clocks of their own shader engines."""
    return build.batch(*(_moved(trace, wave) for one in batches for wave in one.waves))


def _moved(trace: Trace, wave: TracedWave) -> TracedWave:
    back = trace.clock.offsets.get(wave.id.se, 0)
    return wave._replace(states=replace(wave.states, base=wave.states.base - back))


def test_areas_are_the_sums_over_the_timelines_and_the_writer_s_curves(trace: Trace) -> None:
    batches = read(trace)
    sums = np.zeros(len(WaveState), np.int64)
    for wave in (wave for one in batches for wave in one.waves):
        sums += np.bincount(wave.states.state, wave.states.duration, len(WaveState)).astype(np.int64)
    curves = build.of(state_curves(), batches)
    assert curves.waves == len(trace.waves)
    assert curves.cycles.tolist() == sums.tolist()
    assert curves.shares.tolist() == pytest.approx([0, *(sums[1:] / sums[1:].sum())])
    apart = [build.of(state_curves(int(se)), batches).cycles for se in np.unique(trace.waves.se)]
    assert np.sum(apart, axis=0).tolist() == sums.tolist()
    raw = build.of(state_curves(), [unaligned(trace, batches)])
    for state in LIVING:
        written = try_json(trace.path, f"wstates{int(state)}.json", [])
        times = np.array(written["time"], np.int64)
        found = [at(raw, time)[state] for time in times.tolist()] if len(times) < 4000 else None
        rows = np.searchsorted(raw.time, times, "right") - 1
        assert raw.count[state][rows].tolist() == written["state"]
        assert found is None or found == written["state"]
        assert int((np.diff(times) * np.array(written["state"])[:-1]).sum()) == int(curves.cycles[state])


many = fixture_of(sample_trace, "vector_add")  # A capture of hundreds of waves


def test_many_waves_take_few_steps_each(many: Trace) -> None:
    curves, batches = state_curves(), read(many)
    assert curves.of(many, batches).waves == len(many.waves) > 300
    calls = python_calls(lambda: [curves.map(many, parcel) for parcel in alone(batches)])
    assert calls < 3 * len(many.waves)


def test_an_unknown_state_is_no_state() -> None:
    made = batch((0, "EEWW"))
    wave = made.waves[0]
    odd = np.where(wave.states.state == WaveState.WAIT, 9, wave.states.state).astype(np.uint8)
    changed = build.batch(wave._replace(id=WaveId(0, 0, 0, 0), states=replace(wave.states, state=odd)))
    assert build.of(state_curves(), [changed]).cycles.tolist() == [0, 0, 2, 0, 0]
