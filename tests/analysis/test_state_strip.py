"""How many waves were in each state, step by step, against one cycle after the other."""

import numpy as np
import pytest

from rcv_py.analysis.cost.activity import STATE_SHARES
from rcv_py.analysis.device.wave_states import MAX_STEPS, STATES, STRIP
from rcv_py.model.tokens import States
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.model.window import TimeWindow
from tests.analysis import build
from tests.support.columns import in_rows
from tests.support.fixtures import fixture_of
from tests.support.read_twice import Opened, opened
from tests.support.samples import sample_path

capture = fixture_of(lambda: opened(sample_path("matmul_small")), scope="module")


def slow(trace: Trace, batches: tuple[WaveBatch, ...], shift: int, steps: int) -> np.ndarray:
    """Add up segment by segment and step by step."""
    cycles = np.zeros((steps, len(STATES)), np.int64)
    for wave in (wave for batch in batches for wave in batch.waves):
        for start, length, state in in_rows(wave.states.start, wave.states.duration, wave.states.state):
            low, high = start - trace.span.begin, start - trace.span.begin + length
            for step in range(low >> shift, (high - 1 >> shift) + 1 if length else 0):
                inside = min(high, (step + 1) << shift) - max(low, step << shift)
                cycles[step, STATES.index(state)] += inside
    return cycles


def test_every_cycle_of_every_wave_is_in_one_step(capture: Opened) -> None:
    trace, batches = capture
    some = (build.batch(*batches[0].waves[:3]),)
    found = STRIP.of(trace, some)
    assert MAX_STEPS // 2 < len(found) <= MAX_STEPS
    assert (found.cycles == slow(trace, some, found.shift, len(found))).all()
    whole = STRIP.of(trace, batches)
    assert whole.cycles.sum(axis=0).tolist() == build.of(STATE_SHARES, batches).cycles[list(STATES)].tolist()


def test_pixels_share_the_cycles_whatever_their_width(capture: Opened) -> None:
    trace, batches = capture
    found = STRIP.of(trace, batches)
    for width in (1, 7, 900, 3 * MAX_STEPS):
        outer = trace.span.padded(0.01)
        waves = found.waves(outer, width)
        assert waves.shape == (width, len(STATES))
        assert waves.sum() * outer.width / width == pytest.approx(found.cycles.sum())
    step = TimeWindow(trace.span.begin + (5 << found.shift), trace.span.begin + (6 << found.shift))
    assert found.waves(step, 1)[0] == pytest.approx(found.cycles[5] / (1 << found.shift))


def test_segments_that_end_before_they_begin_are_none(capture: Opened) -> None:
    trace, batches = capture
    wave = batches[0].waves[0]
    offset = np.array([0, 1 << 40, 5, -(1 << 60)], np.int64)
    broken = wave._replace(states=States(trace.span.begin, offset, np.array([1, 2, 9, 4], np.uint8), 7))
    found = STRIP.of(trace, [build.batch(broken)])
    assert found.cycles.sum(axis=0).tolist()[0] == len(found) << found.shift
    assert (found.cycles >= 0).all()
