"""What lies in a range of cycles: cut at its borders, against sums over all time and over single cycles."""

from itertools import pairwise

import numpy as np
import pytest

from rcv_py.analysis.attribution.attribute import ATTRIBUTION
from rcv_py.analysis.core.token_columns import batch_of
from rcv_py.analysis.device.utilization import unit_busy
from rcv_py.analysis.iterations.segments import PairDistance, between_of, pairs
from rcv_py.analysis.overview.range_costs import range_costs_of
from rcv_py.analysis.program.matrix_forms import matrix_flops
from rcv_py.features.waves.result import units
from rcv_py.model.trace import Trace
from rcv_py.model.waves import WaveBatch
from rcv_py.model.window import TimeWindow
from tests.analysis import build
from tests.support.columns import in_rows
from tests.support.opened import all_waves, traces_of

Capture = tuple[Trace, tuple[WaveBatch, ...]]


trace = traces_of(["matmul_small", "gfx12"])


@pytest.fixture
def capture(trace: Trace) -> Capture:
    return trace, (all_waves(trace),)


def test_a_range_of_all_time_has_the_sums_of_all_waves(capture: Capture) -> None:
    trace, batches = capture
    everything = TimeWindow(-(1 << 50), 1 << 50)
    found, whole = range_costs_of(everything).of(trace, batches), ATTRIBUTION.of(trace, batches)
    counted = build.counted(trace.code, batches)
    assert found.waves == len(trace.waves)
    assert found.hits.tolist() == counted.hits.tolist()
    assert (found.stall + found.busy).tolist() == counted.latency.tolist()
    assert (found.stall.tolist(), found.idle.tolist()) == (counted.stall.tolist(), counted.idle.tolist())
    for name in ("line", "cause", "producer", "stall", "idle", "count", "guessed"):
        assert getattr(found.causes, name).tolist() == getattr(whole, name).tolist(), name
    rows = zip(trace.code.text, counted.hits.tolist(), strict=True)
    assert found.flops == sum(matrix_flops(text.strip()) * times for text, times in rows)


def test_ranges_that_touch_add_up(capture: Capture) -> None:
    trace, _ = capture
    begin, end = trace.span.begin, trace.span.end
    cuts = [begin, begin + 777, (begin + end) // 2, end - 1_234, end]
    whole = range_costs_of(TimeWindow(begin, end)).of(*capture)
    parts = [range_costs_of(TimeWindow(*ends)).of(*capture) for ends in pairwise(cuts)]
    for name in ("hits", "stall", "busy", "idle"):
        assert sum(getattr(part, name) for part in parts).tolist() == getattr(whole, name).tolist(), name
    assert sum(part.wave_cycles for part in parts) == whole.wave_cycles
    assert sum(part.flops for part in parts) == whole.flops
    whole_rows = whole.causes.by_cause()
    by_cause = dict(in_rows(whole_rows.cause, whole_rows.cycles))
    again = dict.fromkeys(by_cause, 0)
    for part in parts:
        rows = part.causes.by_cause()
        for cause, cycles in in_rows(rows.cause, rows.cycles):
            again[cause] += cycles
    assert again == by_cause
    assert {one.unit: one.busy for one in whole.units} == {
        one.unit: sum(other.busy for part in parts for other in part.units if other.unit == one.unit)
        for one in whole.units
    }


def test_what_stalls_in_a_range_is_what_its_causes_sum_up_to(capture: Capture) -> None:
    trace, _ = capture
    third = trace.span.width // 3
    found = range_costs_of(TimeWindow(trace.span.begin + third, trace.span.end - third)).of(*capture)
    assert 0 < found.causes.total_stall == int(found.stall.sum())
    assert found.causes.total_idle == int(found.idle.sum())


def test_units_are_as_busy_as_the_command_says(capture: Capture) -> None:
    trace, batches = capture
    third = trace.span.width // 3
    window = TimeWindow(trace.span.begin + third, trace.span.end - third)
    found = range_costs_of(TimeWindow(window.begin, window.end)).of(*capture)
    busy = dict[str, int]()
    waves = [wave for batch in batches for wave in batch.waves]
    for place in sorted({(wave.id.se, wave.cu) for wave in waves}):
        own = [wave for wave in waves if (wave.id.se, wave.cu) == place]
        cycles = unit_busy(trace, window).of(trace, [batch_of(own)])
        for row in units(cycles, window).rows():
            unit = row["unit"].rstrip("0123456789")
            busy[unit] = busy.get(unit, 0) + row["busy"]
    told = {one.unit: one.busy for one in found.units if one.busy}
    assert told == {unit: cycles for unit, cycles in busy.items() if cycles}
    assert all(one.busy <= one.count * window.width for one in found.units)


@pytest.mark.parametrize("begin", [0, 3, 5, 9, 14, 30])
@pytest.mark.parametrize("width", [1, 4, 11])
def test_every_cycle_of_a_drawing_is_counted_once(begin: int, width: int) -> None:
    picture = "..vvvVV...sS.iiiiiII...vV"
    wave = build.wave(picture, lines=[1, 2, 3, 1])
    trace = build.trace(build.code(["; k", "v_add", "s_add", "s_waitcnt"]), [wave])
    window = TimeWindow(begin, begin + width)
    found = range_costs_of(window).of(trace, [build.batch(wave)])
    part = picture[window.begin : window.end]
    assert int(found.busy.sum()) == sum(letter.isupper() for letter in part)
    assert int(found.stall.sum()) == sum(letter.islower() for letter in part)
    assert int(found.idle.sum()) == part.count(".")
    assert found.wave_cycles == len(part)


# -- from one instruction to another ----------------------------------------------------------------------


def test_pairs_end_at_the_next_iteration_and_with_their_wave() -> None:
    line = np.array([1, 0, 2, 1, 2, 2, 1, 2, 1])
    first = np.array([0, 7, 9])
    begin, end = pairs(line, first, 1, 2)
    assert in_rows(begin, end) == [(0, 2), (3, 4)]
    begin, end = pairs(line, first, 1, 1)
    assert in_rows(begin, end) == [(0, 3), (3, 6)]
    assert not len(pairs(line, first, 1, 5)[0])
    assert not len(pairs(line[:0], first[:1], 1, 2)[0])


def test_between_is_from_the_start_of_one_to_the_end_of_the_other() -> None:
    wave = build.wave("vV.sS.vVV....sSSS", lines=[1, 2, 1, 2])
    trace = build.trace(build.code(["; k", "v_add", "s_add"]), [wave])
    assert between_of(1, 2).of(trace, [build.batch(wave)]) == PairDistance(2, 5, 8, 11, 16)
    assert between_of(2, 1).of(trace, [build.batch(wave)]) == PairDistance(1, 6, 6, 6, 6)
    assert between_of(1, 2).of(trace, []) == PairDistance(0, 0, 0.0, 0, 0)


def test_between_of_a_loop_is_that_of_single_tokens(capture: Capture) -> None:
    trace, batches = capture
    line = trace.code.hits.argmax()
    other = int(np.argsort(-trace.code.hits)[3])
    cycles = []
    for wave in (wave for batch in batches for wave in batch.waves):
        open_ = -1
        spans = in_rows(wave.tokens.line, wave.tokens.start, wave.tokens.end)
        for at, start, end in spans:
            if at == other and open_ >= 0:
                cycles.append(end - open_)
                open_ = -1
            if at == line:
                open_ = start
    assert cycles
    found = between_of(int(line), other).of(trace, batches)
    assert found == PairDistance(len(cycles), min(cycles), float(np.median(cycles)), max(cycles), sum(cycles))
